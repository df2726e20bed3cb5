/* A product of matrices, and a sparse one; libraries.cu has them by cuBLAS and cuSPARSE.
   libraries product|banded|uniform|power SIZE: rows. */
#include "libraries.h"
#include "product.h"

static void multiply(int n, int mean, double *y, const int *start, const int *column, const double *value,
                     const double *x) {
#pragma nomp for name("multiply") annotate("loop", "row") annotate("entries", "mean") jit(mean)
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int e = start[i]; e < start[i + 1]; e++)
      sum += value[e] * x[column[e]];
    y[i] = sum;
  }
#pragma nomp sync
}

static int of_dense(int n) {
  double *a = dense(n), *b = dense(n), *c = dense(n);
  const size_t size = (size_t)n * n;
#pragma nomp update(to : a[0, size], b[0, size])
#pragma nomp update(alloc : c[0, size])
  MEASURE("product", product(n, (void *)c, (void *)a, (void *)b), 0);
#pragma nomp update(from : c[0, size])
#pragma nomp update(free : a[0, size], b[0, size], c[0, size])
  double none = 0;
  show("results", &none, 1, norm(size, c));
  return 0;
}

static int of_sparse(const char *kind, int n) {
  struct sparse a = made(kind, n);
  const int entries = a.entries, mean = entries / n;
  double *value = a.value, *x = a.x, *y = a.y;
  int *first = a.start, *column = a.column;
#pragma nomp update(to : first[0, n + 1], column[0, entries], value[0, entries], x[0, n])
#pragma nomp update(alloc : y[0, n])
  MEASURE(kind, multiply(n, mean, y, first, column, value, x), 0);
#pragma nomp update(from : y[0, n])
#pragma nomp update(free : first[0, n + 1], column[0, entries], value[0, entries], x[0, n], y[0, n])
  double none = 0;
  show("results", &none, 1, norm(n, y));
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return fprintf(stderr, "usage: %s product|banded|uniform|power SIZE\n", argv[0]), 2;
#pragma nomp init(argc, argv)
  const int status = strcmp(argv[1], "product") ? of_sparse(argv[1], atoi(argv[2])) : of_dense(atoi(argv[2]));
#pragma nomp finalize
  return status;
}
