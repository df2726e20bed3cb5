/* A x = b for a sparse symmetric matrix in compressed rows, by conjugate gradients with the diagonal as preconditioner.
   The matrix: diffusion on a graph of n vertices, each joined with a few others near and far. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINKS = 6 }; /* links that each vertex begins; it has about as many again that others begin */

struct matrix {
  int n;
  int *start, *column; /* row i has its entries from start[i] up to, but not including, start[i + 1] */
  double *value, *diagonal;
};

static unsigned next(unsigned *state) { return *state = *state * 1664525u + 1013904223u; }

static int other_end(int n, int i, int link, unsigned *state) {
  return link < LINKS / 2 ? (i + 1 + link) % n : (int)(next(state) % (unsigned)n);
}

/* Both directions of each link, -1 for each, and on the diagonal the number of links and a little more. */
static struct matrix diffusion(int n) {
  struct matrix a = {n, calloc(n + 1, sizeof(int)), malloc(2 * LINKS * n * sizeof(int) + n * sizeof(int)),
                     malloc((2 * LINKS + 1) * n * sizeof(double)), malloc(n * sizeof(double))};
  int *count = calloc(n, sizeof(int));
  unsigned state = 1;
  for (int i = 0; i < n; i++)
    for (int link = 0; link < LINKS; link++)
      count[i]++, count[other_end(n, i, link, &state)]++;
  for (int i = 0; i < n; i++)
    a.start[i + 1] = a.start[i] + count[i] + 1;
  for (int i = 0; i < n; i++) {
    int last = a.start[i + 1] - 1;
    a.column[last] = i, a.value[last] = a.diagonal[i] = count[i] + 0.01;
  }
  state = 1;
  for (int i = 0; i < n; i++)
    for (int link = 0; link < LINKS; link++) {
      int j = other_end(n, i, link, &state), to = a.start[i] + --count[i], from = a.start[j] + --count[j];
      a.column[to] = j, a.column[from] = i, a.value[to] = a.value[from] = -1;
    }
  free(count);
  return a;
}

static void multiply(int n, const int *start, const int *column, const double *value, const double *x, double *y) {
#pragma nomp for name("multiply") annotate("loop", "row")
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int e = start[i]; e < start[i + 1]; e++)
      sum += value[e] * x[column[e]];
    y[i] = sum;
  }
}

static double dot(int n, const double *a, const double *b) {
  double sum = 0;
#pragma nomp for name("dot") reduce("sum", "+")
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

static void step(int n, double alpha, double *x, const double *p, double *r, const double *q, double *z,
                 const double *diagonal) {
#pragma nomp for name("step") annotate("loop", "entry")
  for (int i = 0; i < n; i++) {
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    z[i] = r[i] / diagonal[i];
  }
}

static void turn(int n, double beta, double *p, const double *z) {
#pragma nomp for name("turn") annotate("loop", "entry")
  for (int i = 0; i < n; i++)
    p[i] = z[i] + beta * p[i];
}

int main(int argc, char **argv) {
  int n = argc > 1 && argv[1][0] != '-' ? atoi(argv[1]) : 100000, most = 200;
  struct matrix a = diffusion(n);
  double *x = calloc(n, sizeof *x), *p = calloc(n, sizeof *p), *q = calloc(n, sizeof *q);
  double *r = malloc(n * sizeof *r), *z = malloc(n * sizeof *z);
  for (int i = 0; i < n; i++)
    r[i] = i % 7 == 0 ? 1 : -0.125, z[i] = r[i] / a.diagonal[i];
#pragma nomp init(argc, argv)
#pragma nomp update(to : a.start[0, n + 1], a.column[0, a.start[n]], a.value[0, a.start[n]], a.diagonal[0, n])
#pragma nomp update(to : x[0, n], p[0, n], q[0, n], r[0, n], z[0, n])
  double rz = dot(n, r, z), first = sqrt(dot(n, r, r)), beta = 0;
  printf("%d rows, %d entries\niteration  residual\n", n, a.start[n]);
  for (int k = 1; k <= most; k++) {
    turn(n, beta, p, z);
    multiply(n, a.start, a.column, a.value, p, q);
    step(n, rz / dot(n, p, q), x, p, r, q, z, a.diagonal);
    double before = rz, norm = sqrt(dot(n, r, r));
    rz = dot(n, r, z), beta = rz / before;
    if (k % 5 == 0)
      printf("%9d  %.12e\n", k, norm / first);
    if (norm < 1e-6 * first)
      break;
  }
#pragma nomp update(from : x[0, n])
#pragma nomp update(free : x[0, n], p[0, n], q[0, n], r[0, n], z[0, n])
#pragma nomp update(free : a.start[0, n + 1], a.column[0, a.start[n]], a.value[0, a.start[n]], a.diagonal[0, n])
#pragma nomp finalize
  double largest = 0;
  for (int i = 0; i < n; i++)
    largest = fmax(largest, fabs(x[i]));
  printf("largest entry of x %.6e\n", largest);
  free(a.start), free(a.column), free(a.value), free(a.diagonal);
  free(x), free(p), free(q), free(r), free(z);
  return 0;
}
