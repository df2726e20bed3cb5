/* y = A' (A x), row by row of A */
#include "bench.h"

static void atax(int n, double A[restrict n][n], double x[restrict n], double y[restrict n], double t[restrict n]) {
#pragma omp parallel for
#pragma nomp for
  for (int i = 0; i < n; i++)
    y[i] = 0;
#pragma omp parallel for reduction(+ : y[ : n])
#pragma nomp for
  for (int i = 0; i < n; i++) {
    t[i] = 0;
    for (int j = 0; j < n; j++)
      t[i] += A[i][j] * x[j];
    for (int j = 0; j < n; j++)
      y[j] += A[i][j] * t[i];
  }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 240, 2200, 6000);
  double(*A)[n] = bench_data((size_t)n * n), *x = bench_data(n), *y = bench_data(n), *t = bench_data(n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : A[0, n], x[0, n])
#pragma nomp update(alloc : y[0, n], t[0, n])
  while (bench_again()) {
    atax(n, A, x, y, t);
#pragma nomp sync
  }
#pragma nomp update(from : y[0, n])
#pragma nomp update(free : A[0, n], x[0, n], y[0, n], t[0, n])
#pragma nomp finalize
  bench_end("atax", bench_norm(n, y));
  return 0;
}
