/* Pairs of steps of the mean over five neighbours in a square */
#include "bench.h"

static void jacobi(int n, int steps, double A[restrict n][n], double B[restrict n][n]) {
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for
#pragma nomp for annotate("stencil", "j i")
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]);
#pragma omp parallel for
#pragma nomp for annotate("stencil", "j i")
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i - 1][j] + B[i + 1][j]);
  }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 64, 600, 1800), steps = bench_size(argc, argv, 10, 20, 20);
  double(*A)[n] = bench_data(n * n), (*B)[n] = bench_data(n * n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : A[0, n], B[0, n])
  while (bench_again()) {
    jacobi(n, steps, A, B);
#pragma nomp sync
  }
#pragma nomp update(from : A[0, n])
#pragma nomp update(free : A[0, n], B[0, n])
#pragma nomp finalize
  bench_end("jacobi-2d", bench_norm(n * n, *A));
  return 0;
}
