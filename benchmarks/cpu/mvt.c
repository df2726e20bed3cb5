/* u = u + A x, v = v + A' y */
#include "bench.h"

static void mvt(int n, double A[restrict n][n], double u[restrict n], double v[restrict n], double x[restrict n],
                double y[restrict n]) {
#pragma omp parallel for
#pragma nomp for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      u[i] += A[i][j] * x[j];
#pragma omp parallel for
#pragma nomp for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      v[i] += A[j][i] * y[j];
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 240, 1600, 4000);
  double(*A)[n] = bench_data((size_t)n * n), *u = bench_data(n), *v = bench_data(n), *x = bench_data(n);
  double *y = bench_data(n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : A[0, n], u[0, n], v[0, n], x[0, n], y[0, n])
  while (bench_again()) {
    mvt(n, A, u, v, x, y);
#pragma nomp sync
  }
#pragma nomp update(from : u[0, n], v[0, n])
#pragma nomp update(free : A[0, n], u[0, n], v[0, n], x[0, n], y[0, n])
#pragma nomp finalize
  bench_end("mvt", bench_norm(n, u) + bench_norm(n, v));
  return 0;
}
