/* attention.c by hand: a block a group, a thread a query, whose vector and result are in registers; keys and values of a
   block in shared memory. */
#include <cfloat>

#include "block.cuh"
#include "attention.h"

__global__ void __launch_bounds__(QUERIES)
    attend(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ k, const float *__restrict__ v,
           const int *__restrict__ chosen) {
  __shared__ float4 keys[KEYS][FEATURES / 4], values[KEYS][FEATURES / 4];
  const size_t row = ((size_t)blockIdx.x * QUERIES + threadIdx.x) * FEATURES;
  const float scale = rsqrtf(FEATURES);
  float mine[FEATURES], out[FEATURES], top = -FLT_MAX, weight = 0;
#pragma unroll
  for (int d = 0; d < FEATURES; d++) mine[d] = x[row + d] * scale, out[d] = 0;
  for (int b = 0; b < MOST; b++) {
    const size_t first = (size_t)chosen[blockIdx.x * MOST + b] * KEYS * FEATURES / 4;
    __syncthreads();
    for (int t = threadIdx.x; t < KEYS * FEATURES / 4; t += QUERIES) {
      keys[0][t] = ((const float4 *)k)[first + t];
      values[0][t] = ((const float4 *)v)[first + t];
    }
    __syncthreads();
    for (int j = 0; j < KEYS; j++) {
      float score = 0;
#pragma unroll
      for (int d = 0; d < FEATURES / 4; d++) {
        const float4 key = keys[j][d];
        score += mine[4 * d] * key.x + mine[4 * d + 1] * key.y + mine[4 * d + 2] * key.z + mine[4 * d + 3] * key.w;
      }
      const float higher = fmaxf(top, score), old = expf(top - higher), fresh = expf(score - higher);
#pragma unroll
      for (int d = 0; d < FEATURES / 4; d++) {
        const float4 value = values[j][d];
        out[4 * d] = out[4 * d] * old + fresh * value.x, out[4 * d + 1] = out[4 * d + 1] * old + fresh * value.y;
        out[4 * d + 2] = out[4 * d + 2] * old + fresh * value.z, out[4 * d + 3] = out[4 * d + 3] * old + fresh * value.w;
      }
      weight = weight * old + fresh, top = higher;
    }
  }
#pragma unroll
  for (int d = 0; d < FEATURES; d++) y[row + d] = out[d] / weight;
}

int main(int argc, char **argv) {
  const int groups = argc > 1 ? atoi(argv[1]) : 64;
  const size_t queries = (size_t)groups * QUERIES * FEATURES, keys = 2 * (size_t)groups * KEYS * FEATURES;
  float *host = numbers(queries, 1), *x = on_device(host, queries), *y = on_device(host, queries);
  float *k = on_device(numbers(keys, 2), keys), *v = on_device(numbers(keys, 3), keys);
  int *chosen = on_device(choice(groups), (size_t)groups * MOST);
  MEASURE("attention", (attend<<<groups, QUERIES>>>(y, x, k, v, chosen), check(cudaDeviceSynchronize())), 0);
  check(cudaMemcpy(host, y, queries * sizeof *host, cudaMemcpyDeviceToHost));
  double none = 0;
  show("results", &none, 1, norm(queries, host));
  return 0;
}
