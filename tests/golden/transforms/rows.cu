extern "C" __global__ void __launch_bounds__(32) _nomp_kernel_l2(long const n, long const m, double const *__restrict__ a, double const *__restrict__ x, double *__restrict__ y)
{
  __shared__ double a_here[32 * 33];
  double sum;

  /* bulk slab for 'i_outer' */
  if (-1 + m >= 0 && -33 + -32 * bIdx(x) + n >= 0)
  {
    sum = 0.0;
    /* bulk slab for 'j_outer' */
    for (long j_outer = 0; j_outer <= -2 + loopy_floor_div_pos_b_int64(31 + m, 32); ++j_outer)
    {
      __syncthreads();
      #pragma unroll
      for (long a_0 = 0; a_0 <= 31; ++a_0)
        a_here[33 * a_0 + tIdx(x)] = a[m * (32 * bIdx(x) + a_0) + 32 * j_outer + tIdx(x)];
      __syncthreads();
      #pragma unroll
      for (long j_inner = 0; j_inner <= 31; ++j_inner)
        sum = sum + a_here[33 * tIdx(x) + j_inner] * x[32 * j_outer + j_inner];
    }
    /* final slab for 'j_outer' */
    {
      long const j_outer = loopy_floor_div_pos_b_int64(-1 + m, 32);

      __syncthreads();
      if (-1 + -32 * j_outer - tIdx(x) + m >= 0)
      {
        #pragma unroll
        for (long a_0 = 0; a_0 <= 31; ++a_0)
          a_here[33 * a_0 + tIdx(x)] = a[m * (32 * bIdx(x) + a_0) + 32 * j_outer + tIdx(x)];
      }
      __syncthreads();
      #pragma unroll
      for (long j_inner = 0; j_inner <= -1 + m + -32 * j_outer; ++j_inner)
        sum = sum + a_here[33 * tIdx(x) + j_inner] * x[32 * j_outer + j_inner];
    }
    y[32 * bIdx(x) + tIdx(x)] = sum;
  }
  /* final slab for 'i_outer' */
  if (-1 + m >= 0 && 32 + 32 * bIdx(x) - n >= 0)
  {
    if (-1 + -32 * bIdx(x) - tIdx(x) + n >= 0)
      sum = 0.0;
    /* bulk slab for 'j_outer' */
    for (long j_outer = 0; j_outer <= -2 + loopy_floor_div_pos_b_int64(31 + m, 32); ++j_outer)
    {
      __syncthreads();
      #pragma unroll
      for (long a_0 = 0; a_0 <= -1 + n + -32 * bIdx(x); ++a_0)
        a_here[33 * a_0 + tIdx(x)] = a[m * (32 * bIdx(x) + a_0) + 32 * j_outer + tIdx(x)];
      __syncthreads();
      if (-1 - tIdx(x) + -32 * bIdx(x) + n >= 0)
      {
        #pragma unroll
        for (long j_inner = 0; j_inner <= 31; ++j_inner)
          sum = sum + a_here[33 * tIdx(x) + j_inner] * x[32 * j_outer + j_inner];
      }
    }
    /* final slab for 'j_outer' */
    {
      long const j_outer = loopy_floor_div_pos_b_int64(-1 + m, 32);

      __syncthreads();
      if (-1 + -32 * j_outer - tIdx(x) + m >= 0)
      {
        #pragma unroll
        for (long a_0 = 0; a_0 <= -1 + n + -32 * bIdx(x); ++a_0)
          a_here[33 * a_0 + tIdx(x)] = a[m * (32 * bIdx(x) + a_0) + 32 * j_outer + tIdx(x)];
      }
      __syncthreads();
      if (-1 - tIdx(x) + -32 * bIdx(x) + n >= 0)
      {
        #pragma unroll
        for (long j_inner = 0; j_inner <= -1 + m + -32 * j_outer; ++j_inner)
          sum = sum + a_here[33 * tIdx(x) + j_inner] * x[32 * j_outer + j_inner];
      }
    }
    if (-1 + -32 * bIdx(x) - tIdx(x) + n >= 0)
      y[32 * bIdx(x) + tIdx(x)] = sum;
  }
}
