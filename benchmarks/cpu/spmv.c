/* y = A x, where A is sparse: compressed rows of 1 to 31 entries near the diagonal */
#include "bench.h"

static void spmv(int n, const int start[restrict n + 1], const int *restrict column, const double *restrict value,
                 const double x[restrict n], double y[restrict n]) {
#pragma omp parallel for
#pragma nomp for annotate("loop", "row") annotate("entries", "16")
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
      sum += value[k] * x[column[k]];
    y[i] = sum;
  }
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 6000, 200000, 2000000);
  int *start = bench_alloc((n + 1) * sizeof *start);
  start[0] = 0;
  for (int i = 0; i < n; i++)
    start[i + 1] = start[i] + 1 + (int)(31 * bench_random());
  int entries = start[n], *column = bench_alloc(entries * sizeof *column);
  for (int i = 0; i < n; i++)
    for (int k = start[i]; k < start[i + 1]; k++)
      column[k] = (i + (int)(2000 * bench_random())) % n;
  double *value = bench_data(entries), *x = bench_data(n), *y = bench_data(n);
#pragma nomp init(argc, argv)
#pragma nomp update(to : start[0, n + 1], column[0, entries], value[0, entries], x[0, n])
#pragma nomp update(alloc : y[0, n])
  while (bench_again()) {
    spmv(n, start, column, value, x, y);
#pragma nomp sync
  }
#pragma nomp update(from : y[0, n])
#pragma nomp update(free : start[0, n + 1], column[0, entries], value[0, entries], x[0, n], y[0, n])
#pragma nomp finalize
  bench_end("spmv", bench_norm(n, y));
  return 0;
}
