/* libraries.c by cuBLAS and cuSPARSE, which are loaded when the program runs: their headers need not be there.
   Ends with status 3, and says why, if a library is missing. */
#include <dlfcn.h>

#include <cstdint>

#include "block.cuh"
#include "libraries.h"

/* The function NAME of LIBRARY, of whatever version. */
static void *function(const char *library, const char *name) {
  char file[64];
  void *found = 0;
  for (int version = 14; version > 10 && !found; version--) {
    snprintf(file, sizeof file, "%s.so.%d", library, version);
    found = dlopen(file, RTLD_NOW);
  }
  void *made = found ? dlsym(found, name) : 0;
  if (!made) fprintf(stderr, "%s\n", dlerror()), exit(3);
  return made;
}

/* NAME as a function whose arguments are those of the call, and whose status is checked. */
template <class... Arguments> static void call(const char *library, const char *name, Arguments... arguments) {
  int status = ((int (*)(Arguments...))function(library, name))(arguments...);
  if (status) fprintf(stderr, "%s: status %d\n", name, status), exit(1);
}

static void result(size_t count, double *host, const double *device) {
  check(cudaMemcpy(host, device, count * sizeof *host, cudaMemcpyDeviceToHost));
  double none = 0;
  show("results", &none, 1, norm(count, host));
}

static int of_dense(int n) {
  typedef int gemm(void *, int, int, int, int, int, const double *, const double *, int, const double *, int,
                   const double *, double *, int);
  const size_t size = (size_t)n * n;
  double *a = on_device(dense(n), size), *b = on_device(dense(n), size), *host = dense(n), *c = on_device(host, size);
  const double one = 1, zero = 0;
  void *handle = 0;
  call("libcublas", "cublasCreate_v2", &handle);
  gemm *multiply = (gemm *)function("libcublas", "cublasDgemm_v2");
  /* By columns: c' = b' a'. */
  MEASURE("product", (multiply(handle, 0, 0, n, n, n, &one, b, n, a, n, &zero, c, n), check(cudaDeviceSynchronize())), 0);
  result(size, host, c);
  return 0;
}

static int of_sparse(const char *kind, int n) {
  enum { NO_TRANSPOSE = 0, INTS = 2, FROM_ZERO = 0, DOUBLES = 1, DEFAULT = 0 };
  typedef int spmv(void *, int, const void *, void *, void *, const void *, void *, int, int, void *);
  struct sparse m = made(kind, n);
  int *first = on_device(m.start, n + 1), *column = on_device(m.column, m.entries);
  double *value = on_device(m.value, m.entries), *x = on_device(m.x, n), *y = on_device(m.y, n);
  const double one = 1, zero = 0;
  const char *library = "libcusparse";
  const int64_t rows = n, entries = m.entries;
  void *handle = 0, *a = 0, *from = 0, *to = 0, *buffer = 0;
  size_t size = 0;
  call(library, "cusparseCreate", &handle);
  call(library, "cusparseCreateCsr", &a, rows, rows, entries, (void *)first, (void *)column, (void *)value, (int)INTS,
       (int)INTS, (int)FROM_ZERO, (int)DOUBLES);
  call(library, "cusparseCreateDnVec", &from, rows, (void *)x, (int)DOUBLES);
  call(library, "cusparseCreateDnVec", &to, rows, (void *)y, (int)DOUBLES);
  call(library, "cusparseSpMV_bufferSize", handle, (int)NO_TRANSPOSE, (const void *)&one, a, from, (const void *)&zero, to,
       (int)DOUBLES, (int)DEFAULT, &size);
  check(cudaMalloc(&buffer, size ? size : 1));
  spmv *prepare = (spmv *)function(library, "cusparseSpMV_preprocess");
  spmv *multiply = (spmv *)function(library, "cusparseSpMV");
  prepare(handle, NO_TRANSPOSE, &one, a, from, &zero, to, DOUBLES, DEFAULT, buffer);
  MEASURE(kind, (multiply(handle, NO_TRANSPOSE, &one, a, from, &zero, to, DOUBLES, DEFAULT, buffer),
                 check(cudaDeviceSynchronize())), 0);
  result(n, m.y, y);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 3) return fprintf(stderr, "usage: %s product|banded|uniform|power SIZE\n", argv[0]), 2;
  return strcmp(argv[1], "product") ? of_sparse(argv[1], atoi(argv[2])) : of_dense(atoi(argv[2]));
}
