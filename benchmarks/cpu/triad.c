/* a = b + s c */
#include "bench.h"

static void triad(int n, double s, double a[restrict n], double b[restrict n], double c[restrict n]) {
#pragma omp parallel for
#pragma nomp for
  for (int i = 0; i < n; i++)
    a[i] = b[i] + s * c[i];
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 100000, 4000000, 20000000);
  double *a = bench_data(n), *b = bench_data(n), *c = bench_data(n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, n], b[0, n], c[0, n])
  while (bench_again()) {
    triad(n, 0.4, a, b, c);
#pragma nomp sync
  }
#pragma nomp update(from : a[0, n])
#pragma nomp update(free : a[0, n], b[0, n], c[0, n])
#pragma nomp finalize
  bench_end("triad", bench_norm(n, a));
  return 0;
}
