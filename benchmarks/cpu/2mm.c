/* D = alpha A B C + beta D, by way of T = alpha A B */
#include "bench.h"

static void two_products(int n, double alpha, double beta, double A[restrict n][n], double B[restrict n][n],
                         double C[restrict n][n], double D[restrict n][n], double T[restrict n][n]) {
#pragma omp parallel for
#pragma nomp for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      T[i][j] = 0;
      for (int k = 0; k < n; k++)
        T[i][j] += alpha * A[i][k] * B[k][j];
    }
#pragma omp parallel for
#pragma nomp for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < n; k++)
        D[i][j] += T[i][k] * C[k][j];
    }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 32, 200, 480);
  double(*A)[n] = bench_data(n * n), (*B)[n] = bench_data(n * n), (*C)[n] = bench_data(n * n);
  double(*D)[n] = bench_data(n * n), (*T)[n] = bench_data(n * n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : A[0, n], B[0, n], C[0, n], D[0, n])
#pragma nomp update(alloc : T[0, n])
  while (bench_again()) {
    two_products(n, 1.5, 0.5, A, B, C, D, T);
#pragma nomp sync
  }
#pragma nomp update(from : D[0, n])
#pragma nomp update(free : A[0, n], B[0, n], C[0, n], D[0, n], T[0, n])
#pragma nomp finalize
  bench_end("2mm", bench_norm(n * n, *D));
  return 0;
}
