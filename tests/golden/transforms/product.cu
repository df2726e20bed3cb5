extern "C" __global__ void __launch_bounds__(256) _nomp_kernel_l2(long const n, long const m, long const p, double const *__restrict__ a, double const *__restrict__ b, double *__restrict__ c)
{
  __shared__ double a_here[32 * 16];
  __shared__ double b_here[16 * 32];
  double sum[2 * 2];

  /* bulk slab for 'i_outer' */
  /* bulk slab for 'j_outer' */
  if (-1 + p >= 0 && -33 + -32 * bIdx(x) + m >= 0 && -33 + -32 * bIdx(y) + n >= 0)
  {
    sum[0] = 0.0;
    sum[1] = 0.0;
    sum[2] = 0.0;
    sum[3] = 0.0;
    /* bulk slab for 'k_outer' */
    for (long k_outer = 0; k_outer <= -2 + loopy_floor_div_pos_b_int64(15 + p, 16); ++k_outer)
    {
      __syncthreads();
      for (long b_1_outer = 0; b_1_outer <= 1; ++b_1_outer)
        b_here[32 * tIdx(y) + 16 * b_1_outer + tIdx(x)] = b[m * (16 * k_outer + tIdx(y)) + 32 * bIdx(x) + 16 * b_1_outer + tIdx(x)];
      for (long a_0_outer = 0; a_0_outer <= 1; ++a_0_outer)
        a_here[16 * (16 * a_0_outer + tIdx(y)) + tIdx(x)] = a[p * (32 * bIdx(y) + 16 * a_0_outer + tIdx(y)) + 16 * k_outer + tIdx(x)];
      __syncthreads();
      #pragma unroll
      for (long k_inner = 0; k_inner <= 15; ++k_inner)
      {
        sum[0] = sum[0] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + tIdx(x)];
        sum[1] = sum[1] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
        sum[2] = sum[2] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + tIdx(x)];
        sum[3] = sum[3] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
      }
    }
    /* final slab for 'k_outer' */
    {
      long const k_outer = loopy_floor_div_pos_b_int64(-1 + p, 16);

      __syncthreads();
      if (-1 + -16 * k_outer - tIdx(y) + p >= 0)
        for (long b_1_outer = 0; b_1_outer <= 1; ++b_1_outer)
          b_here[32 * tIdx(y) + 16 * b_1_outer + tIdx(x)] = b[m * (16 * k_outer + tIdx(y)) + 32 * bIdx(x) + 16 * b_1_outer + tIdx(x)];
      if (-1 + -16 * k_outer - tIdx(x) + p >= 0)
        for (long a_0_outer = 0; a_0_outer <= 1; ++a_0_outer)
          a_here[16 * (16 * a_0_outer + tIdx(y)) + tIdx(x)] = a[p * (32 * bIdx(y) + 16 * a_0_outer + tIdx(y)) + 16 * k_outer + tIdx(x)];
      __syncthreads();
      #pragma unroll
      for (long k_inner = 0; k_inner <= -1 + p + -16 * k_outer; ++k_inner)
      {
        sum[0] = sum[0] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + tIdx(x)];
        sum[1] = sum[1] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
        sum[2] = sum[2] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + tIdx(x)];
        sum[3] = sum[3] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
      }
    }
    c[m * (32 * bIdx(y) + tIdx(y)) + 32 * bIdx(x) + tIdx(x)] = sum[0];
    c[m * (32 * bIdx(y) + tIdx(y)) + 32 * bIdx(x) + 16 + tIdx(x)] = sum[1];
    c[m * (32 * bIdx(y) + 16 + tIdx(y)) + 32 * bIdx(x) + tIdx(x)] = sum[2];
    c[m * (32 * bIdx(y) + 16 + tIdx(y)) + 32 * bIdx(x) + 16 + tIdx(x)] = sum[3];
  }
  /* final slab for 'j_outer' */
  if (-1 + p >= 0 && 32 + 32 * bIdx(x) - m >= 0 && -33 + -32 * bIdx(y) + n >= 0)
  {
    if (-1 + -32 * bIdx(x) - tIdx(x) + m >= 0)
    {
      sum[0] = 0.0;
      if (-17 + -32 * bIdx(x) - tIdx(x) + m >= 0)
        sum[1] = 0.0;
      sum[2] = 0.0;
      if (-17 + -32 * bIdx(x) - tIdx(x) + m >= 0)
        sum[3] = 0.0;
    }
    /* bulk slab for 'k_outer' */
    for (long k_outer = 0; k_outer <= -2 + loopy_floor_div_pos_b_int64(15 + p, 16); ++k_outer)
    {
      __syncthreads();
      if (-1 - tIdx(x) + -32 * bIdx(x) + m >= 0)
        for (long b_1_outer = 0; b_1_outer <= -1 - tIdx(x) + -2 * bIdx(x) + (15 + m + 15 * tIdx(x)) / 16; ++b_1_outer)
          b_here[32 * tIdx(y) + 16 * b_1_outer + tIdx(x)] = b[m * (16 * k_outer + tIdx(y)) + 32 * bIdx(x) + 16 * b_1_outer + tIdx(x)];
      for (long a_0_outer = 0; a_0_outer <= 1; ++a_0_outer)
        a_here[16 * (16 * a_0_outer + tIdx(y)) + tIdx(x)] = a[p * (32 * bIdx(y) + 16 * a_0_outer + tIdx(y)) + 16 * k_outer + tIdx(x)];
      __syncthreads();
      if (-1 - tIdx(x) + -32 * bIdx(x) + m >= 0)
      {
        #pragma unroll
        for (long k_inner = 0; k_inner <= 15; ++k_inner)
        {
          sum[0] = sum[0] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + tIdx(x)];
          if (-17 - tIdx(x) + -32 * bIdx(x) + m >= 0)
            sum[1] = sum[1] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
          sum[2] = sum[2] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + tIdx(x)];
          if (-17 - tIdx(x) + -32 * bIdx(x) + m >= 0)
            sum[3] = sum[3] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
        }
      }
    }
    /* final slab for 'k_outer' */
    {
      long const k_outer = loopy_floor_div_pos_b_int64(-1 + p, 16);

      __syncthreads();
      if (-1 - tIdx(x) + -32 * bIdx(x) + m >= 0 && -1 + -16 * k_outer - tIdx(y) + p >= 0)
        for (long b_1_outer = 0; b_1_outer <= -1 - tIdx(x) + -2 * bIdx(x) + (15 + m + 15 * tIdx(x)) / 16; ++b_1_outer)
          b_here[32 * tIdx(y) + 16 * b_1_outer + tIdx(x)] = b[m * (16 * k_outer + tIdx(y)) + 32 * bIdx(x) + 16 * b_1_outer + tIdx(x)];
      if (-1 + -16 * k_outer - tIdx(x) + p >= 0)
        for (long a_0_outer = 0; a_0_outer <= 1; ++a_0_outer)
          a_here[16 * (16 * a_0_outer + tIdx(y)) + tIdx(x)] = a[p * (32 * bIdx(y) + 16 * a_0_outer + tIdx(y)) + 16 * k_outer + tIdx(x)];
      __syncthreads();
      if (-1 - tIdx(x) + -32 * bIdx(x) + m >= 0)
      {
        #pragma unroll
        for (long k_inner = 0; k_inner <= -1 + p + -16 * k_outer; ++k_inner)
        {
          sum[0] = sum[0] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + tIdx(x)];
          if (-17 - tIdx(x) + -32 * bIdx(x) + m >= 0)
            sum[1] = sum[1] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
          sum[2] = sum[2] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + tIdx(x)];
          if (-17 - tIdx(x) + -32 * bIdx(x) + m >= 0)
            sum[3] = sum[3] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
        }
      }
    }
    if (-1 + -32 * bIdx(x) - tIdx(x) + m >= 0)
    {
      c[m * (32 * bIdx(y) + tIdx(y)) + 32 * bIdx(x) + tIdx(x)] = sum[0];
      if (-17 + -32 * bIdx(x) - tIdx(x) + m >= 0)
        c[m * (32 * bIdx(y) + tIdx(y)) + 32 * bIdx(x) + 16 + tIdx(x)] = sum[1];
      c[m * (32 * bIdx(y) + 16 + tIdx(y)) + 32 * bIdx(x) + tIdx(x)] = sum[2];
      if (-17 + -32 * bIdx(x) - tIdx(x) + m >= 0)
        c[m * (32 * bIdx(y) + 16 + tIdx(y)) + 32 * bIdx(x) + 16 + tIdx(x)] = sum[3];
    }
  }
  /* final slab for 'i_outer' */
  /* bulk slab for 'j_outer' */
  if (-1 + p >= 0 && -33 + -32 * bIdx(x) + m >= 0 && 32 + 32 * bIdx(y) - n >= 0)
  {
    if (-1 + -32 * bIdx(y) - tIdx(y) + n >= 0)
    {
      sum[0] = 0.0;
      sum[1] = 0.0;
      if (-17 + -32 * bIdx(y) - tIdx(y) + n >= 0)
      {
        sum[2] = 0.0;
        sum[3] = 0.0;
      }
    }
    /* bulk slab for 'k_outer' */
    for (long k_outer = 0; k_outer <= -2 + loopy_floor_div_pos_b_int64(15 + p, 16); ++k_outer)
    {
      __syncthreads();
      for (long b_1_outer = 0; b_1_outer <= 1; ++b_1_outer)
        b_here[32 * tIdx(y) + 16 * b_1_outer + tIdx(x)] = b[m * (16 * k_outer + tIdx(y)) + 32 * bIdx(x) + 16 * b_1_outer + tIdx(x)];
      if (-1 - tIdx(y) + -32 * bIdx(y) + n >= 0)
        for (long a_0_outer = 0; a_0_outer <= -1 - tIdx(y) + -2 * bIdx(y) + (15 + n + 15 * tIdx(y)) / 16; ++a_0_outer)
          a_here[16 * (16 * a_0_outer + tIdx(y)) + tIdx(x)] = a[p * (32 * bIdx(y) + 16 * a_0_outer + tIdx(y)) + 16 * k_outer + tIdx(x)];
      __syncthreads();
      if (-1 - tIdx(y) + -32 * bIdx(y) + n >= 0)
      {
        #pragma unroll
        for (long k_inner = 0; k_inner <= 15; ++k_inner)
        {
          sum[0] = sum[0] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + tIdx(x)];
          sum[1] = sum[1] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
          if (-17 - tIdx(y) + -32 * bIdx(y) + n >= 0)
          {
            sum[2] = sum[2] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + tIdx(x)];
            sum[3] = sum[3] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
          }
        }
      }
    }
    /* final slab for 'k_outer' */
    {
      long const k_outer = loopy_floor_div_pos_b_int64(-1 + p, 16);

      __syncthreads();
      if (-1 + -16 * k_outer - tIdx(y) + p >= 0)
        for (long b_1_outer = 0; b_1_outer <= 1; ++b_1_outer)
          b_here[32 * tIdx(y) + 16 * b_1_outer + tIdx(x)] = b[m * (16 * k_outer + tIdx(y)) + 32 * bIdx(x) + 16 * b_1_outer + tIdx(x)];
      if (-1 - tIdx(y) + -32 * bIdx(y) + n >= 0 && -1 + -16 * k_outer - tIdx(x) + p >= 0)
        for (long a_0_outer = 0; a_0_outer <= -1 - tIdx(y) + -2 * bIdx(y) + (15 + n + 15 * tIdx(y)) / 16; ++a_0_outer)
          a_here[16 * (16 * a_0_outer + tIdx(y)) + tIdx(x)] = a[p * (32 * bIdx(y) + 16 * a_0_outer + tIdx(y)) + 16 * k_outer + tIdx(x)];
      __syncthreads();
      if (-1 - tIdx(y) + -32 * bIdx(y) + n >= 0)
      {
        #pragma unroll
        for (long k_inner = 0; k_inner <= -1 + p + -16 * k_outer; ++k_inner)
        {
          sum[0] = sum[0] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + tIdx(x)];
          sum[1] = sum[1] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
          if (-17 - tIdx(y) + -32 * bIdx(y) + n >= 0)
          {
            sum[2] = sum[2] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + tIdx(x)];
            sum[3] = sum[3] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
          }
        }
      }
    }
    if (-1 + -32 * bIdx(y) - tIdx(y) + n >= 0)
    {
      c[m * (32 * bIdx(y) + tIdx(y)) + 32 * bIdx(x) + tIdx(x)] = sum[0];
      c[m * (32 * bIdx(y) + tIdx(y)) + 32 * bIdx(x) + 16 + tIdx(x)] = sum[1];
      if (-17 + -32 * bIdx(y) - tIdx(y) + n >= 0)
      {
        c[m * (32 * bIdx(y) + 16 + tIdx(y)) + 32 * bIdx(x) + tIdx(x)] = sum[2];
        c[m * (32 * bIdx(y) + 16 + tIdx(y)) + 32 * bIdx(x) + 16 + tIdx(x)] = sum[3];
      }
    }
  }
  /* final slab for 'j_outer' */
  if (-1 + p >= 0 && 32 + 32 * bIdx(x) - m >= 0 && 32 + 32 * bIdx(y) - n >= 0)
  {
    if (-1 + -32 * bIdx(x) - tIdx(x) + m >= 0 && -1 + -32 * bIdx(y) - tIdx(y) + n >= 0)
    {
      sum[0] = 0.0;
      if (-17 + -32 * bIdx(x) - tIdx(x) + m >= 0)
        sum[1] = 0.0;
      if (-17 + -32 * bIdx(y) - tIdx(y) + n >= 0)
      {
        sum[2] = 0.0;
        if (-17 + -32 * bIdx(x) - tIdx(x) + m >= 0)
          sum[3] = 0.0;
      }
    }
    /* bulk slab for 'k_outer' */
    for (long k_outer = 0; k_outer <= -2 + loopy_floor_div_pos_b_int64(15 + p, 16); ++k_outer)
    {
      __syncthreads();
      if (-1 - tIdx(x) + -32 * bIdx(x) + m >= 0)
        for (long b_1_outer = 0; b_1_outer <= -1 - tIdx(x) + -2 * bIdx(x) + (15 + m + 15 * tIdx(x)) / 16; ++b_1_outer)
          b_here[32 * tIdx(y) + 16 * b_1_outer + tIdx(x)] = b[m * (16 * k_outer + tIdx(y)) + 32 * bIdx(x) + 16 * b_1_outer + tIdx(x)];
      if (-1 - tIdx(y) + -32 * bIdx(y) + n >= 0)
        for (long a_0_outer = 0; a_0_outer <= -1 - tIdx(y) + -2 * bIdx(y) + (15 + n + 15 * tIdx(y)) / 16; ++a_0_outer)
          a_here[16 * (16 * a_0_outer + tIdx(y)) + tIdx(x)] = a[p * (32 * bIdx(y) + 16 * a_0_outer + tIdx(y)) + 16 * k_outer + tIdx(x)];
      __syncthreads();
      if (-1 - tIdx(y) + -32 * bIdx(y) + n >= 0 && -1 - tIdx(x) + -32 * bIdx(x) + m >= 0)
      {
        #pragma unroll
        for (long k_inner = 0; k_inner <= 15; ++k_inner)
        {
          sum[0] = sum[0] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + tIdx(x)];
          if (-17 - tIdx(x) + -32 * bIdx(x) + m >= 0)
            sum[1] = sum[1] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
          if (-17 - tIdx(y) + -32 * bIdx(y) + n >= 0)
          {
            sum[2] = sum[2] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + tIdx(x)];
            if (-17 - tIdx(x) + -32 * bIdx(x) + m >= 0)
              sum[3] = sum[3] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
          }
        }
      }
    }
    /* final slab for 'k_outer' */
    {
      long const k_outer = loopy_floor_div_pos_b_int64(-1 + p, 16);

      __syncthreads();
      if (-1 - tIdx(x) + -32 * bIdx(x) + m >= 0 && -1 + -16 * k_outer - tIdx(y) + p >= 0)
        for (long b_1_outer = 0; b_1_outer <= -1 - tIdx(x) + -2 * bIdx(x) + (15 + m + 15 * tIdx(x)) / 16; ++b_1_outer)
          b_here[32 * tIdx(y) + 16 * b_1_outer + tIdx(x)] = b[m * (16 * k_outer + tIdx(y)) + 32 * bIdx(x) + 16 * b_1_outer + tIdx(x)];
      if (-1 - tIdx(y) + -32 * bIdx(y) + n >= 0 && -1 + -16 * k_outer - tIdx(x) + p >= 0)
        for (long a_0_outer = 0; a_0_outer <= -1 - tIdx(y) + -2 * bIdx(y) + (15 + n + 15 * tIdx(y)) / 16; ++a_0_outer)
          a_here[16 * (16 * a_0_outer + tIdx(y)) + tIdx(x)] = a[p * (32 * bIdx(y) + 16 * a_0_outer + tIdx(y)) + 16 * k_outer + tIdx(x)];
      __syncthreads();
      if (-1 - tIdx(x) + -32 * bIdx(x) + m >= 0 && -1 - tIdx(y) + -32 * bIdx(y) + n >= 0)
      {
        #pragma unroll
        for (long k_inner = 0; k_inner <= -1 + p + -16 * k_outer; ++k_inner)
        {
          sum[0] = sum[0] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + tIdx(x)];
          if (-17 - tIdx(x) + -32 * bIdx(x) + m >= 0)
            sum[1] = sum[1] + a_here[16 * tIdx(y) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
          if (-17 - tIdx(y) + -32 * bIdx(y) + n >= 0)
          {
            sum[2] = sum[2] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + tIdx(x)];
            if (-17 - tIdx(x) + -32 * bIdx(x) + m >= 0)
              sum[3] = sum[3] + a_here[16 * (16 + tIdx(y)) + k_inner] * b_here[32 * k_inner + 16 + tIdx(x)];
          }
        }
      }
    }
    if (-1 + -32 * bIdx(x) - tIdx(x) + m >= 0 && -1 + -32 * bIdx(y) - tIdx(y) + n >= 0)
    {
      c[m * (32 * bIdx(y) + tIdx(y)) + 32 * bIdx(x) + tIdx(x)] = sum[0];
      if (-17 + -32 * bIdx(x) - tIdx(x) + m >= 0)
        c[m * (32 * bIdx(y) + tIdx(y)) + 32 * bIdx(x) + 16 + tIdx(x)] = sum[1];
      if (-17 + -32 * bIdx(y) - tIdx(y) + n >= 0)
      {
        c[m * (32 * bIdx(y) + 16 + tIdx(y)) + 32 * bIdx(x) + tIdx(x)] = sum[2];
        if (-17 + -32 * bIdx(x) - tIdx(x) + m >= 0)
          c[m * (32 * bIdx(y) + 16 + tIdx(y)) + 32 * bIdx(x) + 16 + tIdx(x)] = sum[3];
      }
    }
  }
}
