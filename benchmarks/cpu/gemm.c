/* C = alpha A B + beta C */
#include "bench.h"

static void gemm(int n, double alpha, double beta, double A[restrict n][n], double B[restrict n][n],
                 double C[restrict n][n]) {
#pragma omp parallel for
#pragma nomp for
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      C[i][j] *= beta;
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 72, 320, 768);
  double(*A)[n] = bench_data(n * n), (*B)[n] = bench_data(n * n), (*C)[n] = bench_data(n * n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : A[0, n], B[0, n], C[0, n])
  while (bench_again()) {
    gemm(n, 1.5, 0.5, A, B, C);
#pragma nomp sync
  }
#pragma nomp update(from : C[0, n])
#pragma nomp update(free : A[0, n], B[0, n], C[0, n])
#pragma nomp finalize
  bench_end("gemm", bench_norm(n * n, *C));
  return 0;
}
