/* Conjugate gradients of examples/02_spectral_cg by hand in CUDA: the operator with one element a block and one thread a
   node, as Nekbone's; stands in the place of the example's cg.c.  For order 7. */
extern "C" {
#include "sem.h"
}
#include "block.cuh"

enum { N = 8, NODES = N * N * N };

__global__ void __launch_bounds__(NODES)
    laplacian(double *__restrict__ w, const double *__restrict__ u, const double *__restrict__ g,
              const double *__restrict__ derivative) {
  __shared__ double d[N][N], su[N][N][N], ur[N][N][N], us[N][N][N], ut[N][N][N];
  const int i = threadIdx.x, j = threadIdx.y, k = threadIdx.z;
  const size_t e = blockIdx.x, node = e * NODES + (k * N + j) * N + i;
  if (k == 0) d[j][i] = derivative[j * N + i];
  su[k][j][i] = u[node];
  __syncthreads();
  double r = 0, s = 0, t = 0;
  for (int l = 0; l < N; l++) {
    r += d[i][l] * su[k][j][l];
    s += d[j][l] * su[k][l][i];
    t += d[k][l] * su[l][j][i];
  }
  const double *factor = g + e * 6 * NODES + (k * N + j) * N + i;
  const double rr = factor[0], rs = factor[NODES], rt = factor[2 * NODES];
  const double ss = factor[3 * NODES], st = factor[4 * NODES], tt = factor[5 * NODES];
  ur[k][j][i] = rr * r + rs * s + rt * t;
  us[k][j][i] = rs * r + ss * s + st * t;
  ut[k][j][i] = rt * r + st * s + tt * t;
  __syncthreads();
  double sum = 0;
  for (int l = 0; l < N; l++) sum += d[l][i] * ur[k][j][l] + d[l][j] * us[k][l][i] + d[l][k] * ut[l][j][i];
  w[node] = sum;
}

__global__ void sum_copies(int n, const int *__restrict__ start, const int *__restrict__ node, double *w) {
  int p = blockIdx.x * ITEMS + threadIdx.x;
  if (p >= n) return;
  double sum = 0;
  for (int c = start[p]; c < start[p + 1]; c++) sum += w[node[c]];
  for (int c = start[p]; c < start[p + 1]; c++) w[node[c]] = sum;
}

__global__ void set_zero(int n, const int *__restrict__ node, double *w) {
  int p = blockIdx.x * ITEMS + threadIdx.x;
  if (p < n) w[node[p]] = 0;
}

__global__ void add_times(int n, double *__restrict__ y, double a, const double *__restrict__ x) {
  int i = blockIdx.x * ITEMS + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

__global__ void times_and_add(int n, double *__restrict__ y, double a, const double *__restrict__ x) {
  int i = blockIdx.x * ITEMS + threadIdx.x;
  if (i < n) y[i] = a * y[i] + x[i];
}

__global__ void dot_parts(int n, const double *__restrict__ a, const double *__restrict__ b,
                          const double *__restrict__ weight, double *part) {
  double x = 0;
  for (int i = blockIdx.x * ITEMS + threadIdx.x; i < n; i += PARTS * ITEMS) x += a[i] * b[i] * weight[i];
  x = sum_of_block(x);
  if (threadIdx.x == 0) part[blockIdx.x] = x;
}

static double *part, *sum;

static double weighted(int n, const double *a, const double *b, const double *weight) {
  double result;
  dot_parts<<<PARTS, ITEMS>>>(n, a, b, weight, part);
  sum_parts<<<1, ITEMS>>>(part, sum);
  check(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
  return result;
}

static int groups(int n) { return (n + ITEMS - 1) / ITEMS; }

extern "C" void conjugate_gradients(struct mesh *mesh, scalar *host_u, scalar *host_r, int iterations) {
  static double *factors, *derivative, *weight;
  static int *start, *node, *boundary;
  const int n = mesh->nlocal, shared = mesh->nshared, edge = mesh->nboundary;
  if (mesh->nx != N) fprintf(stderr, "only order %d\n", N - 1), exit(1);
  if (!factors) { /* what the mesh has on nomp's device before the solver starts */
    factors = on_device(mesh->factors, (size_t)6 * n), weight = on_device(mesh->weight, n);
    derivative = on_device(mesh->derivative, N * N), boundary = on_device(mesh->boundary, edge);
    start = on_device(mesh->shared_start, shared + 1), node = on_device(mesh->shared_node, mesh->shared_start[shared]);
    check(cudaMalloc(&part, PARTS * sizeof *part)), check(cudaMalloc(&sum, sizeof *sum));
  }
  double *u = on_device(host_u, n), *r = on_device(host_r, n), *p = on_device(host_u, n), *w;
  check(cudaMalloc(&w, n * sizeof *w));
  double rr = weighted(n, r, r, weight), beta = 0;
  const double rounding_level = 1e-32 * rr;
  for (int iteration = 1; iteration <= iterations && rr > rounding_level; iteration++) {
    times_and_add<<<groups(n), ITEMS>>>(n, p, beta, r);
    laplacian<<<mesh->nelt, dim3(N, N, N)>>>(w, p, factors, derivative);
    if (shared) sum_copies<<<groups(shared), ITEMS>>>(shared, start, node, w);
    if (edge) set_zero<<<groups(edge), ITEMS>>>(edge, boundary, w);
    double alpha = rr / weighted(n, p, w, weight);
    add_times<<<groups(n), ITEMS>>>(n, u, alpha, p);
    add_times<<<groups(n), ITEMS>>>(n, r, -alpha, w);
    double rr_before = rr;
    rr = weighted(n, r, r, weight);
    beta = rr / rr_before;
  }
  check(cudaMemcpy(host_u, u, n * sizeof *u, cudaMemcpyDeviceToHost));
  check(cudaMemcpy(host_r, r, n * sizeof *r, cudaMemcpyDeviceToHost));
  check(cudaFree(u)), check(cudaFree(r)), check(cudaFree(p)), check(cudaFree(w));
}
