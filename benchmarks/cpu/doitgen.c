/* A[r][q][:] = A[r][q][:] W, in place */
#include "bench.h"

static void doitgen(int n, double A[restrict n][n][n], double W[restrict n][n]) {
#pragma omp parallel for
#pragma nomp for jit(n)
  for (int r = 0; r < n; r++)
    for (int q = 0; q < n; q++) {
      double row[n];
      for (int p = 0; p < n; p++) {
        row[p] = 0;
        for (int s = 0; s < n; s++)
          row[p] += A[r][q][s] * W[s][p];
      }
      for (int p = 0; p < n; p++)
        A[r][q][p] = row[p];
    }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 20, 64, 120);
  double(*A)[n][n] = bench_data(n * n * n), (*W)[n] = bench_data(n * n);
  for (int s = 0; s < n; s++) /* so that A stays of the same size from run to run */
    for (int p = 0; p < n; p++)
      W[s][p] *= 2.0 / n;
#pragma nomp init(argc, argv)
#pragma nomp update(to : A[0, n], W[0, n])
  while (bench_again()) {
    doitgen(n, A, W);
#pragma nomp sync
  }
#pragma nomp update(from : A[0, n])
#pragma nomp update(free : A[0, n], W[0, n])
#pragma nomp finalize
  bench_end("doitgen", bench_norm(n * n * n, **A));
  return 0;
}
