/* Launches that repeat themselves, and what changes between them: values, pointers, maps, sizes, variables, threads. */
#include <stdio.h>
#include <stdlib.h>

static double total, weight = 0.5;

static void step(int n, double *to, const double *from, double factor, float shift) {
#pragma nomp for
  for (int i = 1; i < n - 1; i++)
    to[i] = from[i - 1] * factor + from[i + 1] * weight + shift;
}

static double dot(int n, const double *x, const double *y) {
  double sum = 0.25;
#pragma nomp for reduce("sum", "+")
  for (int i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}

static long count(int n, const double *x, long *at) {
  int i;
  long found = 0;
#pragma nomp for
  for (i = 0; i < n; i++) {
    total += x[i];
    if (x[i] > 2)
      found++;
  }
  *at += i;
  return found;
}

static int table(int n, int *out, int which) {
  int weights[4] = {which, 1, 2, 3}, last = 0;
#pragma nomp update(to : weights[0, 4])
#pragma nomp for
  for (int i = 0; i < n; i++)
    out[i] += weights[i % 4];
#pragma nomp for
  for (int i = 0; i < n; i++)
    last = out[i] * which;
#pragma nomp update(free : weights[0, 4])
  return last;
}

static void show(const char *what, int n, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++)
    sum += x[i] * (i + 1);
  printf("%s %.17g\n", what, sum);
}

int main(int argc, char **argv) {
  enum { N = 200 };
  double *a = malloc(2 * N * sizeof *a), *b = malloc(2 * N * sizeof *b);
  int out[N] = {0};
  for (int i = 0; i < 2 * N; i++)
    a[i] = i % 7, b[i] = i % 5;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, N], b[0, N], out[0, N])
  for (int k = 0; k < 20; k++) { /* two arrays that are swapped, a factor and a shift that change */
    step(N, b, a, 1.0 / (k + 1), (float)k / 3);
    double *swap = a;
    a = b, b = swap;
  }
  for (int k = 0; k < 12; k++) { /* a few sizes in turn, and a global value */
    weight = k < 6 ? 0.25 : 1;
    step(10 + 10 * (k % 3), a, b, 0.5, 0);
  }
  for (int k = 0; k < 30; k++) /* more sizes than are remembered */
    step(N - k, b, a, 0.5, 1), step(N - k, b, a, 0.25, 2);
#pragma nomp update(from : a[0, N], b[0, N])
  show("a", N, a), show("b", N, b);

  double sums = 0;
  for (int k = 0; k < 6; k++) {
    sums = sums * 0.5 + dot(N, a, b) + dot(N, a, a);
    if (k == 3) { /* the host changes an element */
      a[7] = 1000;
#pragma nomp update(to : a[7, 8])
    }
  }
  long at = 0, found = 0;
  for (int k = 0; k < 5; k++)
    found = found * 3 + count(N - (k > 3), b, &at);
  printf("%.12g %ld %ld %.12g\n", sums, at, found, total);

  for (int k = 0; k < 4; k++) /* the map grows: the same pointers, other buffers */
    step(N, b, a, 0.5, 0);
#pragma nomp update(to : a[0, 2 * N], b[N, 2 * N])
  for (int k = 0; k < 4; k++)
    step(N, b, a, 0.5, 0), step(2 * N, b, a, 0.5, 0);
#pragma nomp update(from : b[0, 2 * N])
  show("grown", 2 * N, b);
#pragma nomp update(free : a[0, 2 * N]) /* other values at the same addresses */
  for (int i = 0; i < 2 * N; i++)
    a[i] = i;
#pragma nomp update(to : a[0, 2 * N])
  for (int k = 0; k < 3; k++)
    step(2 * N, b, a, 0.5, 0);
#pragma nomp update(from : b[0, 2 * N])
  show("again", 2 * N, b);

  int last = 0;
  for (int k = 0; k < 6; k++)
    last = last * 2 + table(N, out, k / 2);
#pragma nomp update(from : out[0, N])
  printf("%d %d %d\n", last, out[0], out[N - 1]);
#pragma nomp finalize
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, N], b[0, N])
  for (int k = 0; k < 4; k++)
    step(N, b, a, 0.5, (float)k);
#pragma nomp update(from : b[0, N])
  show("in a second life", N, b);
#pragma nomp finalize
  free(a), free(b);
  return 0;
}
