/* The lower triangle of C = alpha A A' + beta C */
#include "bench.h"

static void syrk(int n, double alpha, double beta, double A[restrict n][n], double C[restrict n][n]) {
#pragma omp parallel for schedule(dynamic)
#pragma nomp for
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < n; k++)
        C[i][j] += alpha * A[i][k] * A[j][k];
    }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 64, 240, 640);
  double(*A)[n] = bench_data(n * n), (*C)[n] = bench_data(n * n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : A[0, n], C[0, n])
  while (bench_again()) {
    syrk(n, 1.5, 0.5, A, C);
#pragma nomp sync
  }
#pragma nomp update(from : C[0, n])
#pragma nomp update(free : A[0, n], C[0, n])
#pragma nomp finalize
  bench_end("syrk", bench_norm(n * n, *C));
  return 0;
}
