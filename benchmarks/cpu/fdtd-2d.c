/* Maxwell's equations in a square, on staggered grids, with a field that is given on one side */
#include "bench.h"

static void fdtd(int n, int steps, double ex[restrict n][n], double ey[restrict n][n], double hz[restrict n][n]) {
  for (int t = 0; t < steps; t++) {
#pragma omp parallel for
#pragma nomp for annotate("stencil", "j")
    for (int j = 0; j < n; j++)
      ey[0][j] = t;
#pragma omp parallel for
#pragma nomp for annotate("stencil", "j i")
    for (int i = 1; i < n; i++)
      for (int j = 0; j < n; j++)
        ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
#pragma omp parallel for
#pragma nomp for annotate("stencil", "j i")
    for (int i = 0; i < n; i++)
      for (int j = 1; j < n; j++)
        ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
#pragma omp parallel for
#pragma nomp for annotate("stencil", "j i")
    for (int i = 0; i < n - 1; i++)
      for (int j = 0; j < n - 1; j++)
        hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 64, 600, 1600), steps = bench_size(argc, argv, 10, 20, 20);
  double(*ex)[n] = bench_data(n * n), (*ey)[n] = bench_data(n * n), (*hz)[n] = bench_data(n * n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : ex[0, n], ey[0, n], hz[0, n])
  while (bench_again()) {
    fdtd(n, steps, ex, ey, hz);
#pragma nomp sync
  }
#pragma nomp update(from : ex[0, n], ey[0, n], hz[0, n])
#pragma nomp update(free : ex[0, n], ey[0, n], hz[0, n])
#pragma nomp finalize
  bench_end("fdtd-2d", bench_norm(n * n, *ex) + bench_norm(n * n, *ey) + bench_norm(n * n, *hz));
  return 0;
}
