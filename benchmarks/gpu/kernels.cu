/* kernels.c by hand: a thread a point; tiles of 64 by 64 with 4 by 4 elements a thread; a warp a row. */
#include "block.cuh"
#include "kernels.h"

enum { TILE = 64, DEPTH = 16, EACH = 4, SIDE = TILE / EACH };

__global__ void heat_kernel(int nx, int ny, int nz, double *__restrict__ v, const double *__restrict__ u, double c) {
  int x = 1 + blockIdx.x * blockDim.x + threadIdx.x, y = 1 + blockIdx.y * blockDim.y + threadIdx.y, z = 1 + blockIdx.z;
  if (x >= nx - 1 || y >= ny - 1) return;
  size_t row = nx, plane = (size_t)nx * ny, i = z * plane + y * row + x;
  v[i] = u[i] + c * (u[i - 1] + u[i + 1] + u[i - row] + u[i + row] + u[i - plane] + u[i + plane] - 6 * u[i]);
}

/* For n that the tile divides. */
__global__ void __launch_bounds__(SIDE *SIDE)
    product_kernel(int n, double *__restrict__ c, const double *__restrict__ a, const double *__restrict__ b) {
  __shared__ double left[TILE][DEPTH + 1], right[DEPTH][TILE];
  const int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE, row = blockIdx.y * TILE, column = blockIdx.x * TILE;
  double sum[EACH][EACH] = {};
  for (int k = 0; k < n; k += DEPTH) {
    for (int t = threadIdx.x; t < TILE * DEPTH; t += SIDE * SIDE) {
      left[t / DEPTH][t % DEPTH] = a[(size_t)(row + t / DEPTH) * n + k + t % DEPTH];
      right[t / TILE][t % TILE] = b[(size_t)(k + t / TILE) * n + column + t % TILE];
    }
    __syncthreads();
#pragma unroll
    for (int l = 0; l < DEPTH; l++)
#pragma unroll
      for (int p = 0; p < EACH; p++)
#pragma unroll
        for (int q = 0; q < EACH; q++) sum[p][q] += left[p * SIDE + ty][l] * right[l][q * SIDE + tx];
    __syncthreads();
  }
  for (int p = 0; p < EACH; p++)
    for (int q = 0; q < EACH; q++) c[(size_t)(row + p * SIDE + ty) * n + column + q * SIDE + tx] = sum[p][q];
}

static __device__ double sum_of_warp(double x) {
  for (int step = 16; step; step /= 2) x += __shfl_down_sync(~0u, x, step);
  return x;
}

__global__ void rows_kernel(int n, double *__restrict__ y, const double *__restrict__ a, const double *__restrict__ x) {
  int row = (blockIdx.x * ITEMS + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  double sum = 0;
  for (int j = lane; j < n; j += 32) sum += a[(size_t)row * n + j] * x[j];
  sum = sum_of_warp(sum);
  if (lane == 0) y[row] = sum;
}

/* Eight threads a row. */
__global__ void sparse_kernel(int n, double *__restrict__ y, const int *__restrict__ start,
                              const int *__restrict__ column, const double *__restrict__ value,
                              const double *__restrict__ x) {
  int row = (blockIdx.x * ITEMS + threadIdx.x) / 8, lane = threadIdx.x % 8;
  double sum = 0;
  if (row < n)
    for (int e = start[row] + lane; e < start[row + 1]; e += 8) sum += value[e] * x[column[e]];
  for (int step = 4; step; step /= 2) sum += __shfl_down_sync(~0u, sum, step, 8);
  if (row < n && lane == 0) y[row] = sum;
}

static void from_device(double *host, const double *device, size_t count) {
  check(cudaMemcpy(host, device, count * sizeof *host, cudaMemcpyDeviceToHost));
}

static void wait(void) { check(cudaGetLastError()), check(cudaDeviceSynchronize()); }

int main(int argc, char **argv) {
  data d = made(argc > 1 ? atoi(argv[1]) : 96);
  const int m = d.m, n = d.n, r = d.r, entries = d.start[r];
  const size_t points = (size_t)m * m * m, square = (size_t)n * n;
  if (n % TILE) return fprintf(stderr, "40 * SCALE must be a multiple of %d\n", TILE), 1;
  double *u = on_device(d.u, points), *v = on_device(d.v, points), *a = on_device(d.a, square), *c = on_device(d.c, square);
  double *b = on_device(d.b, square), *value = on_device(d.value, entries), *x = on_device(d.x, r), *y = on_device(d.y, r);
  int *first_of = on_device(d.start, r + 1), *column = on_device(d.column, entries);
  const dim3 box(64, 4), boxes((m + 61) / 64, (m + 1) / 4, m - 2);
  MEASURE("heat", (heat_kernel<<<boxes, box>>>(m, m, m, v, u, 0.1), wait()), m);
  MEASURE("product", (product_kernel<<<dim3(n / TILE, n / TILE), SIDE * SIDE>>>(n, c, a, b), wait()), n);
  MEASURE("rows", (rows_kernel<<<(n + 7) / 8, ITEMS>>>(n, y, a, x), wait()), n);
  from_device(d.y, y, r);
  double first = total(n, d.y);
  MEASURE("sparse", (sparse_kernel<<<(r + 31) / 32, ITEMS>>>(r, y, first_of, column, value, x), wait()), r);
  from_device(d.v, v, points), from_device(d.c, c, square), from_device(d.y, y, r);
  double none = 0;
  show("results", &none, 1, total(points, d.v) + total(square, d.c) + first + total(r, d.y));
  return 0;
}
