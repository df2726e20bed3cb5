/* y = alpha A x + beta B x */
#include "bench.h"

static void gesummv(int n, double alpha, double beta, double A[restrict n][n], double B[restrict n][n],
                    double x[restrict n], double y[restrict n]) {
#pragma omp parallel for
#pragma nomp for annotate("sums", "i j")
  for (int i = 0; i < n; i++) {
    double a = 0, b = 0;
    for (int j = 0; j < n; j++) {
      a += A[i][j] * x[j];
      b += B[i][j] * x[j];
    }
    y[i] = alpha * a + beta * b;
  }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 240, 2200, 5000);
  double(*A)[n] = bench_data((size_t)n * n), (*B)[n] = bench_data((size_t)n * n);
  double *x = bench_data(n), *y = bench_data(n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : A[0, n], B[0, n], x[0, n])
#pragma nomp update(alloc : y[0, n])
  while (bench_again()) {
    gesummv(n, 1.5, 1.2, A, B, x, y);
#pragma nomp sync
  }
#pragma nomp update(from : y[0, n])
#pragma nomp update(free : A[0, n], B[0, n], x[0, n], y[0, n])
#pragma nomp finalize
  bench_end("gesummv", bench_norm(n, y));
  return 0;
}
