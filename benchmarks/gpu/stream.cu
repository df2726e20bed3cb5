/* stream.c by hand: one thread an element; the dot product in two stages. */
#include "block.cuh"
#include "timing.h"

typedef long long index_t;

__global__ void copy_kernel(index_t n, double *__restrict__ c, const double *__restrict__ a) {
  index_t i = (index_t)blockIdx.x * ITEMS + threadIdx.x;
  if (i < n) c[i] = a[i];
}

__global__ void mul_kernel(index_t n, double *__restrict__ b, const double *__restrict__ c, double s) {
  index_t i = (index_t)blockIdx.x * ITEMS + threadIdx.x;
  if (i < n) b[i] = s * c[i];
}

__global__ void add_kernel(index_t n, double *__restrict__ c, const double *__restrict__ a, const double *__restrict__ b) {
  index_t i = (index_t)blockIdx.x * ITEMS + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void triad_kernel(index_t n, double *__restrict__ a, const double *__restrict__ b,
                             const double *__restrict__ c, double s) {
  index_t i = (index_t)blockIdx.x * ITEMS + threadIdx.x;
  if (i < n) a[i] = b[i] + s * c[i];
}

__global__ void dot_kernel(index_t n, const double *__restrict__ a, const double *__restrict__ b, double *part) {
  double x = 0;
  for (index_t i = (index_t)blockIdx.x * ITEMS + threadIdx.x; i < n; i += (index_t)PARTS * ITEMS) x += a[i] * b[i];
  x = sum_of_block(x);
  if (threadIdx.x == 0) part[blockIdx.x] = x;
}

static void wait(void) { check(cudaDeviceSynchronize()); }

static double dot(index_t n, const double *a, const double *b, double *part, double *sum) {
  double result;
  dot_kernel<<<PARTS, ITEMS>>>(n, a, b, part);
  sum_parts<<<1, ITEMS>>>(part, sum);
  check(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
  return result;
}

int main(int argc, char **argv) {
  const index_t n = 1LL << (argc > 1 ? atoi(argv[1]) : 27);
  const unsigned groups = n / ITEMS;
  double *host = (double *)malloc(n * sizeof *host), *a, *b, *c, *part, *sum, result = 0;
  check(cudaMalloc(&a, n * sizeof *a)), check(cudaMalloc(&b, n * sizeof *b)), check(cudaMalloc(&c, n * sizeof *c));
  check(cudaMalloc(&part, PARTS * sizeof *part)), check(cudaMalloc(&sum, sizeof *sum));
  for (index_t i = 0; i < n; i++) host[i] = i % 7;
  check(cudaMemcpy(a, host, n * sizeof *host, cudaMemcpyHostToDevice));
  for (index_t i = 0; i < n; i++) host[i] = i % 5;
  check(cudaMemcpy(b, host, n * sizeof *host, cudaMemcpyHostToDevice));
  MEASURE("copy", (copy_kernel<<<groups, ITEMS>>>(n, c, a), wait()), 0);
  MEASURE("mul", (mul_kernel<<<groups, ITEMS>>>(n, b, c, 0.4), wait()), 0);
  MEASURE("add", (add_kernel<<<groups, ITEMS>>>(n, c, a, b), wait()), 0);
  MEASURE("triad", (triad_kernel<<<groups, ITEMS>>>(n, a, b, c, 0.4), wait()), 0);
  MEASURE("dot", result = dot(n, a, b, part, sum), result);
  double start = seconds();
  for (int k = 0; k < 1000; k++) triad_kernel<<<1, ITEMS>>>(1, a, b, c, 0.4);
  double enqueued = (seconds() - start) / 1000;
  wait();
  show("enqueue", &enqueued, 1, 0);
  return 0;
}
