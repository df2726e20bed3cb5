/* Pairs of explicit steps of the heat equation in a cube */
#include "bench.h"

static void heat(int n, int steps, double A[restrict n][n][n], double B[restrict n][n][n]) {
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for
#pragma nomp for annotate("stencil", "k j i")
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          B[i][j][k] = A[i][j][k] + 0.125 * (A[i + 1][j][k] - 2 * A[i][j][k] + A[i - 1][j][k]) +
                       0.125 * (A[i][j + 1][k] - 2 * A[i][j][k] + A[i][j - 1][k]) +
                       0.125 * (A[i][j][k + 1] - 2 * A[i][j][k] + A[i][j][k - 1]);
#pragma omp parallel for
#pragma nomp for annotate("stencil", "k j i")
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          A[i][j][k] = B[i][j][k] + 0.125 * (B[i + 1][j][k] - 2 * B[i][j][k] + B[i - 1][j][k]) +
                       0.125 * (B[i][j + 1][k] - 2 * B[i][j][k] + B[i][j - 1][k]) +
                       0.125 * (B[i][j][k + 1] - 2 * B[i][j][k] + B[i][j][k - 1]);
  }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 16, 64, 140), steps = bench_size(argc, argv, 5, 20, 20);
  double(*A)[n][n] = bench_data(n * n * n), (*B)[n][n] = bench_data(n * n * n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : A[0, n], B[0, n])
  while (bench_again()) {
    heat(n, steps, A, B);
#pragma nomp sync
  }
#pragma nomp update(from : A[0, n])
#pragma nomp update(free : A[0, n], B[0, n])
#pragma nomp finalize
  bench_end("heat-3d", bench_norm(n * n * n, **A));
  return 0;
}
