/* attention.c by hand: a block a group; queries, keys, values and scores are in shared memory.  A thread has four queries
   by four keys, then, of one query, all scores, then four queries by eight features, which stay in its registers. */
#include <cfloat>

#include "block.cuh"
#include "attention.h"

enum { ROWS = 16, COLUMNS = 8, THREADS = ROWS * COLUMNS, PAD = 4 };
enum { MINE = QUERIES / ROWS, NEAR = KEYS / COLUMNS, WIDE = FEATURES / COLUMNS };

/* COUNT rows of FEATURES numbers, to rows that are STRIDE apart, by all threads. */
template <int STRIDE> static __device__ void copy(float *to, const float *from, int count) {
  for (int t = threadIdx.x; t < count * FEATURES / 4; t += THREADS)
    *(float4 *)&to[t / (FEATURES / 4) * STRIDE + t % (FEATURES / 4) * 4] = ((const float4 *)from)[t];
}

__global__ void __launch_bounds__(THREADS)
    attend(float *__restrict__ y, const float *__restrict__ x, const float *__restrict__ k, const float *__restrict__ v,
           const int *__restrict__ chosen) {
  __shared__ __align__(16) float query[QUERIES][FEATURES + PAD], keys[KEYS][FEATURES + PAD], values[KEYS][FEATURES];
  __shared__ __align__(16) float scores[QUERIES][KEYS + PAD];
  __shared__ float olds[QUERIES], weights[QUERIES];
  const int thread = threadIdx.x, column = thread % COLUMNS, row = thread / COLUMNS;
  const size_t first = (size_t)blockIdx.x * QUERIES * FEATURES;
  const float scale = rsqrtf(FEATURES);
  float out[MINE][WIDE] = {}, top = -FLT_MAX, weight = 0;
  copy<FEATURES + PAD>(query[0], x + first, QUERIES);
  for (int b = 0; b < MOST; b++) {
    const size_t place = (size_t)chosen[blockIdx.x * MOST + b] * KEYS * FEATURES;
    __syncthreads();
    copy<FEATURES + PAD>(keys[0], k + place, KEYS), copy<FEATURES>(values[0], v + place, KEYS);
    __syncthreads();
    float sum[MINE][NEAR] = {};
#pragma unroll 2
    for (int d = 0; d < FEATURES; d += 4) {
      float4 q[MINE], key[NEAR];
#pragma unroll
      for (int i = 0; i < MINE; i++) q[i] = *(float4 *)&query[row + ROWS * i][d];
#pragma unroll
      for (int j = 0; j < NEAR; j++) key[j] = *(float4 *)&keys[column + COLUMNS * j][d];
#pragma unroll
      for (int i = 0; i < MINE; i++)
#pragma unroll
        for (int j = 0; j < NEAR; j++)
          sum[i][j] += q[i].x * key[j].x, sum[i][j] += q[i].y * key[j].y, sum[i][j] += q[i].z * key[j].z,
              sum[i][j] += q[i].w * key[j].w;
    }
#pragma unroll
    for (int i = 0; i < MINE; i++)
#pragma unroll
      for (int j = 0; j < NEAR; j++) scores[row + ROWS * i][column + COLUMNS * j] = sum[i][j] * scale;
    __syncthreads();
    if (thread < QUERIES) {
      float mine[KEYS], higher = top, total = 0;
#pragma unroll
      for (int j = 0; j < KEYS; j++) mine[j] = scores[thread][j], higher = fmaxf(higher, mine[j]);
#pragma unroll
      for (int j = 0; j < KEYS; j++) total += mine[j] = expf(mine[j] - higher), scores[thread][j] = mine[j];
      const float old = expf(top - higher);
      olds[thread] = old, weight = weight * old + total, top = higher;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < MINE; i++)
#pragma unroll
      for (int d = 0; d < WIDE; d++) out[i][d] *= olds[row + ROWS * i];
#pragma unroll 8
    for (int j = 0; j < KEYS; j++) {
      float value[WIDE];
#pragma unroll
      for (int d = 0; d < WIDE; d += 4) *(float4 *)&value[d] = *(float4 *)&values[j][COLUMNS * d + 4 * column];
#pragma unroll
      for (int i = 0; i < MINE; i++)
#pragma unroll
        for (int d = 0; d < WIDE; d++) out[i][d] += scores[row + ROWS * i][j] * value[d];
    }
  }
  if (thread < QUERIES) weights[thread] = weight;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < MINE; i++)
#pragma unroll
    for (int d = 0; d < WIDE; d++)
      y[first + (row + ROWS * i) * FEATURES + COLUMNS * (d & ~3) + 4 * column + d % 4] = out[i][d] / weights[row + ROWS * i];
}

int main(int argc, char **argv) {
  const int groups = argc > 1 ? atoi(argv[1]) : 64;
  const size_t queries = (size_t)groups * QUERIES * FEATURES, keys = 2 * (size_t)groups * KEYS * FEATURES;
  float *host = numbers(queries, 1), *x = on_device(host, queries), *y = on_device(host, queries);
  float *k = on_device(numbers(keys, 2), keys), *v = on_device(numbers(keys, 3), keys);
  int *chosen = on_device(choice(groups), (size_t)groups * MOST);
  MEASURE("attention", (attend<<<groups, THREADS>>>(y, x, k, v, chosen), check(cudaDeviceSynchronize())), 0);
  check(cudaMemcpy(host, y, queries * sizeof *host, cudaMemcpyDeviceToHost));
  double none = 0;
  show("results", &none, 1, norm(queries, host));
  return 0;
}
