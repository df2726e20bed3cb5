/* The covariance of the columns of X, whose rows are observations */
#include "bench.h"

static void covariance(int n, double X[restrict n][n], double C[restrict n][n], double mean[restrict n]) {
#pragma omp parallel for
#pragma nomp for
  for (int j = 0; j < n; j++) {
    mean[j] = 0;
    for (int i = 0; i < n; i++)
      mean[j] += X[i][j];
    mean[j] /= n;
  }
#pragma omp parallel for
#pragma nomp for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      X[i][j] -= mean[j];
#pragma omp parallel for schedule(dynamic)
#pragma nomp for
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++) {
      C[i][j] = 0;
      for (int k = 0; k < n; k++)
        C[i][j] += X[k][i] * X[k][j];
      C[i][j] /= n - 1;
      C[j][i] = C[i][j];
    }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 48, 224, 480);
  double(*X)[n] = bench_data(n * n), (*C)[n] = bench_data(n * n), *mean = bench_data(n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : X[0, n])
#pragma nomp update(alloc : C[0, n], mean[0, n])
  while (bench_again()) {
    covariance(n, X, C, mean);
#pragma nomp sync
  }
#pragma nomp update(from : C[0, n])
#pragma nomp update(free : X[0, n], C[0, n], mean[0, n])
#pragma nomp finalize
  bench_end("covariance", bench_norm(n * n, *C));
  return 0;
}
