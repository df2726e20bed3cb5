/* The sum of a[i] b[i] */
#include "bench.h"

static double dot(int n, double a[restrict n], double b[restrict n]) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
#pragma nomp for reduce(+ : sum)
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

int main(int argc, char **argv) {
  int n = bench_size(argc, argv, 40000, 4000000, 20000000);
  double *a = bench_data(n), *b = bench_data(n), sum = 0;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, n], b[0, n])
  while (bench_again())
    sum = dot(n, a, b);
#pragma nomp update(free : a[0, n], b[0, n])
#pragma nomp finalize
  bench_end("dot", sum);
  return 0;
}
