/* The kernels of STREAM and a dot product, on nomp's device; stream.cu has them by hand, and gcc -fopenmp makes
   threads of them.  stream [POWER]: of two, how many doubles; 27 if it is left out.  By default the annotations do
   nothing; points.py has the transform grid do what they ask for. */
#include "timing.h"

typedef long index;

static void copy(index n, double *c, const double *a) {
#pragma omp parallel for
#pragma nomp for annotate("points", "i")
  for (index i = 0; i < n; i++)
    c[i] = a[i];
#pragma nomp sync
}

static void mul(index n, double *b, const double *c, double s) {
#pragma omp parallel for
#pragma nomp for annotate("points", "i")
  for (index i = 0; i < n; i++)
    b[i] = s * c[i];
#pragma nomp sync
}

static void add(index n, double *c, const double *a, const double *b) {
#pragma omp parallel for
#pragma nomp for annotate("points", "i")
  for (index i = 0; i < n; i++)
    c[i] = a[i] + b[i];
#pragma nomp sync
}

static void triad(index n, double *a, const double *b, const double *c, double s) {
#pragma omp parallel for
#pragma nomp for annotate("points", "i")
  for (index i = 0; i < n; i++)
    a[i] = b[i] + s * c[i];
#pragma nomp sync
}

static double dot(index n, const double *a, const double *b) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
#pragma nomp for reduce("sum", "+")
  for (index i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

static void nothing(index n, double *a, const double *b, const double *c, double s) {
#pragma omp parallel for
#pragma nomp for
  for (index i = 0; i < n; i++)
    a[i] = b[i] + s * c[i];
}

int main(int argc, char **argv) {
  const index n = 1L << (argc > 1 && argv[1][0] != '-' ? atoi(argv[1]) : 27);
  double *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c), sum = 0;
  for (index i = 0; i < n; i++)
    a[i] = i % 7, b[i] = i % 5, c[i] = 0;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, n], b[0, n], c[0, n])
  MEASURE("copy", copy(n, c, a), 0);
  MEASURE("mul", mul(n, b, c, 0.4), 0);
  MEASURE("add", add(n, c, a, b), 0);
  MEASURE("triad", triad(n, a, b, c, 0.4), 0);
  MEASURE("dot", sum = dot(n, a, b), sum);
  for (int k = 0; k < 10; k++)
    nothing(1, a, b, c, 0.4);
#pragma nomp sync
  double start = seconds();
  for (int k = 0; k < 1000; k++)
    nothing(1, a, b, c, 0.4);
  double enqueued = (seconds() - start) / 1000;
#pragma nomp sync
  show("enqueue", &enqueued, 1, 0);
#pragma nomp update(free : a[0, n], b[0, n], c[0, n])
#pragma nomp finalize
  return 0;
}
