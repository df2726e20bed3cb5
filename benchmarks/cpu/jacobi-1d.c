/* Pairs of steps of the mean over three neighbours on a line */
#include "bench.h"

static void jacobi(int n, int steps, double a[restrict n], double b[restrict n]) {
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for
#pragma nomp for annotate("stencil", "i")
    for (int i = 1; i < n - 1; i++)
      b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
#pragma omp parallel for
#pragma nomp for annotate("stencil", "i")
    for (int i = 1; i < n - 1; i++)
      a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3;
  }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 8000, 500000, 4000000), steps = bench_size(argc, argv, 10, 20, 20);
  double *a = bench_data(n), *b = bench_data(n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, n], b[0, n])
  while (bench_again()) {
    jacobi(n, steps, a, b);
#pragma nomp sync
  }
#pragma nomp update(from : a[0, n])
#pragma nomp update(free : a[0, n], b[0, n])
#pragma nomp finalize
  bench_end("jacobi-1d", bench_norm(n, a));
  return 0;
}
