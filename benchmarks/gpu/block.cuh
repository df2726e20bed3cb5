/* Sums over the threads of a block, copies, and errors: what the programs by hand in this folder share. */
#include <cstdio>
#include <cstdlib>

enum { ITEMS = 256, PARTS = 1056 }; /* threads a block; blocks that sum, each a part */

static void check(cudaError_t status) {
  if (status) fprintf(stderr, "%s\n", cudaGetErrorString(status)), exit(1);
}

/* A copy of the COUNT elements of HOST on the device. */
template <class T> static T *on_device(const T *host, size_t count) {
  T *made;
  check(cudaMalloc(&made, count * sizeof *made));
  check(cudaMemcpy(made, host, count * sizeof *made, cudaMemcpyHostToDevice));
  return made;
}

/* The sum of all threads' X, in thread 0. */
static __device__ double sum_of_block(double x) {
  __shared__ double warps[ITEMS / 32];
  for (int step = 16; step; step /= 2) x += __shfl_down_sync(~0u, x, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
  __syncthreads();
  x = threadIdx.x < ITEMS / 32 ? warps[threadIdx.x] : 0;
  for (int step = ITEMS / 64; step; step /= 2) x += __shfl_down_sync(~0u, x, step);
  return x;
}

/* *SUM is the sum of the PARTS of blocks. */
__global__ void sum_parts(const double *part, double *sum) {
  double x = 0;
  for (int i = threadIdx.x; i < PARTS; i += ITEMS) x += part[i];
  x = sum_of_block(x);
  if (threadIdx.x == 0) *sum = x;
}
