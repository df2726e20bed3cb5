extern "C" __global__ void __launch_bounds__(64, 9) _nomp_kernel_l2(long const m, double const *__restrict__ d, double const *__restrict__ u, double const *__restrict__ g, double *__restrict__ w)
{
  __shared__ double d_here[8 * 8];
  double g_mine[8];
  double r;
  double s;
  double sum;
  double t;
  __shared__ double u_here[8 * 8 * 8];
  __shared__ double ur[8 * 8 * 8];
  __shared__ double us[8 * 8 * 8];
  double ut[8];

  d_here[8 * tIdx(y) + tIdx(x)] = d[8 * tIdx(y) + tIdx(x)];
  #pragma unroll
  for (long g_1 = 0; g_1 <= 7; ++g_1)
    g_mine[g_1] = g[512 * bIdx(x) + 64 * g_1 + 8 * tIdx(y) + tIdx(x)];
  #pragma unroll
  for (long u_1 = 0; u_1 <= 7; ++u_1)
    u_here[64 * u_1 + 8 * tIdx(y) + tIdx(x)] = u[512 * bIdx(x) + 64 * u_1 + 8 * tIdx(y) + tIdx(x)];
  __syncthreads();
  #pragma unroll
  for (long k = 0; k <= 7; ++k)
  {
    r = 0.0;
    s = 0.0;
    t = 0.0;
    #pragma unroll
    for (long l = 0; l <= 7; ++l)
    {
      r = r + d_here[8 * tIdx(x) + l] * u_here[64 * k + 8 * tIdx(y) + l];
      s = s + d_here[8 * tIdx(y) + l] * u_here[64 * k + 8 * l + tIdx(x)];
      t = t + d_here[8 * k + l] * u_here[64 * l + 8 * tIdx(y) + tIdx(x)];
    }
    ur[64 * k + 8 * tIdx(y) + tIdx(x)] = g_mine[k] * r + s;
    us[64 * k + 8 * tIdx(y) + tIdx(x)] = g_mine[k] * s + t;
    ut[k] = g_mine[k] * t + r;
  }
  __syncthreads();
  #pragma unroll
  for (long k_ = 0; k_ <= 7; ++k_)
  {
    sum = 0.0;
    #pragma unroll
    for (long l_ = 0; l_ <= 7; ++l_)
      sum = sum + (d_here[8 * l_ + tIdx(x)] * ur[64 * k_ + 8 * tIdx(y) + l_] + d_here[8 * l_ + tIdx(y)] * us[64 * k_ + 8 * l_ + tIdx(x)] + d_here[k_ + 8 * l_] * ut[l_]);
    w[512 * bIdx(x) + 64 * k_ + 8 * tIdx(y) + tIdx(x)] = sum;
  }
}
