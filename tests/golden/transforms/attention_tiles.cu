extern "C" __global__ void __launch_bounds__(128, 1) _nomp_kernel_l4(long const n, long const most, double const *__restrict__ k, int const *__restrict__ chosen, double const *__restrict__ v, double const *__restrict__ x, double *__restrict__ y)
{
  double higher;
  __shared__ double keys[16 * 68];
  __shared__ double old[32];
  double out[2 * 2 * 4];
  double score[2 * 2];
  __shared__ double scores[32 * 20];
  double sum;
  double top;
  __shared__ double values[16 * 68];
  __shared__ double weight[32];
  __shared__ double x_here[32 * 68];

  if (3 - tIdx(y) >= 0)
  {
    weight[8 * tIdx(y) + tIdx(x)] = 0.0;
    top = -1e+300;
  }
  #pragma unroll 16
  for (long x_1_outer = 0; x_1_outer <= 7; ++x_1_outer)
  {
    #pragma unroll 16
    for (long x_0_outer = 0; x_0_outer <= 1; ++x_0_outer)
      x_here[68 * (16 * x_0_outer + tIdx(y)) + 8 * x_1_outer + tIdx(x)] = x[64 * (32 * bIdx(x) + 16 * x_0_outer + tIdx(y)) + 8 * x_1_outer + tIdx(x)];
  }
  out[0] = 0.0;
  out[4] = 0.0;
  out[8] = 0.0;
  out[12] = 0.0;
  out[1] = 0.0;
  out[5] = 0.0;
  out[9] = 0.0;
  out[13] = 0.0;
  out[2] = 0.0;
  out[6] = 0.0;
  out[10] = 0.0;
  out[14] = 0.0;
  out[3] = 0.0;
  out[7] = 0.0;
  out[11] = 0.0;
  out[15] = 0.0;
  for (long b = 0; b <= -1 + most; ++b)
  {
    if (3 - tIdx(y) >= 0)
    {
      sum = 0.0;
      higher = top;
    }
    __syncthreads();
    {
      long const j_outer = 0;

      #pragma unroll 16
      for (long d__outer = 0; d__outer <= 7; ++d__outer)
      {
        values[68 * tIdx(y) + 8 * d__outer + tIdx(x)] = v[64 * (long) (chosen[most * bIdx(x) + b] * 16 + (int) (tIdx(y) + j_outer * 16)) + 8 * d__outer + tIdx(x)];
        keys[68 * tIdx(y) + 8 * d__outer + tIdx(x)] = k[64 * (long) (chosen[most * bIdx(x) + b] * 16 + (int) (tIdx(y) + j_outer * 16)) + 8 * d__outer + tIdx(x)];
      }
    }
    score[0] = 0.0;
    score[2] = 0.0;
    score[1] = 0.0;
    score[3] = 0.0;
    __syncthreads();
    #pragma unroll 16
    for (long d__ = 0; d__ <= 63; ++d__)
    {
      score[0] = score[0] + x_here[68 * tIdx(y) + d__] * keys[68 * tIdx(x) + d__];
      score[2] = score[2] + x_here[68 * tIdx(y) + d__] * keys[68 * (8 + tIdx(x)) + d__];
      score[1] = score[1] + x_here[68 * (16 + tIdx(y)) + d__] * keys[68 * tIdx(x) + d__];
      score[3] = score[3] + x_here[68 * (16 + tIdx(y)) + d__] * keys[68 * (8 + tIdx(x)) + d__];
    }
    scores[20 * tIdx(y) + tIdx(x)] = score[0];
    scores[20 * tIdx(y) + 8 + tIdx(x)] = score[2];
    scores[20 * (16 + tIdx(y)) + tIdx(x)] = score[1];
    scores[20 * (16 + tIdx(y)) + 8 + tIdx(x)] = score[3];
    __syncthreads();
    if (3 - tIdx(y) >= 0)
    {
      #pragma unroll
      for (long j__ = 0; j__ <= 15; ++j__)
        higher = fmax(higher, scores[20 * (8 * tIdx(y) + tIdx(x)) + j__]);
      old[8 * tIdx(y) + tIdx(x)] = exp(top - higher);
      top = higher;
      #pragma unroll
      for (long j___ = 0; j___ <= 15; ++j___)
      {
        scores[20 * (8 * tIdx(y) + tIdx(x)) + j___] = exp(scores[20 * (8 * tIdx(y) + tIdx(x)) + j___] - higher);
        sum = sum + scores[20 * (8 * tIdx(y) + tIdx(x)) + j___];
      }
      weight[8 * tIdx(y) + tIdx(x)] = weight[8 * tIdx(y) + tIdx(x)] * old[8 * tIdx(y) + tIdx(x)] + sum;
    }
    __syncthreads();
    out[0] = out[0] * old[tIdx(y)];
    out[4] = out[4] * old[tIdx(y)];
    out[8] = out[8] * old[16 + tIdx(y)];
    out[12] = out[12] * old[16 + tIdx(y)];
    out[1] = out[1] * old[tIdx(y)];
    out[5] = out[5] * old[tIdx(y)];
    out[9] = out[9] * old[16 + tIdx(y)];
    out[13] = out[13] * old[16 + tIdx(y)];
    out[2] = out[2] * old[tIdx(y)];
    out[6] = out[6] * old[tIdx(y)];
    out[10] = out[10] * old[16 + tIdx(y)];
    out[14] = out[14] * old[16 + tIdx(y)];
    out[3] = out[3] * old[tIdx(y)];
    out[7] = out[7] * old[tIdx(y)];
    out[11] = out[11] * old[16 + tIdx(y)];
    out[15] = out[15] * old[16 + tIdx(y)];
    #pragma unroll 16
    for (long j____ = 0; j____ <= 15; ++j____)
    {
      out[0] = out[0] + scores[20 * tIdx(y) + j____] * values[68 * j____ + 4 * tIdx(x)];
      out[4] = out[4] + scores[20 * tIdx(y) + j____] * values[68 * j____ + 32 + 4 * tIdx(x)];
      out[8] = out[8] + scores[20 * (16 + tIdx(y)) + j____] * values[68 * j____ + 4 * tIdx(x)];
      out[12] = out[12] + scores[20 * (16 + tIdx(y)) + j____] * values[68 * j____ + 32 + 4 * tIdx(x)];
      out[1] = out[1] + scores[20 * tIdx(y) + j____] * values[68 * j____ + 4 * tIdx(x) + 1];
      out[5] = out[5] + scores[20 * tIdx(y) + j____] * values[68 * j____ + 32 + 4 * tIdx(x) + 1];
      out[9] = out[9] + scores[20 * (16 + tIdx(y)) + j____] * values[68 * j____ + 4 * tIdx(x) + 1];
      out[13] = out[13] + scores[20 * (16 + tIdx(y)) + j____] * values[68 * j____ + 32 + 4 * tIdx(x) + 1];
      out[2] = out[2] + scores[20 * tIdx(y) + j____] * values[68 * j____ + 4 * tIdx(x) + 2];
      out[6] = out[6] + scores[20 * tIdx(y) + j____] * values[68 * j____ + 32 + 4 * tIdx(x) + 2];
      out[10] = out[10] + scores[20 * (16 + tIdx(y)) + j____] * values[68 * j____ + 4 * tIdx(x) + 2];
      out[14] = out[14] + scores[20 * (16 + tIdx(y)) + j____] * values[68 * j____ + 32 + 4 * tIdx(x) + 2];
      out[3] = out[3] + scores[20 * tIdx(y) + j____] * values[68 * j____ + 4 * tIdx(x) + 3];
      out[7] = out[7] + scores[20 * tIdx(y) + j____] * values[68 * j____ + 32 + 4 * tIdx(x) + 3];
      out[11] = out[11] + scores[20 * (16 + tIdx(y)) + j____] * values[68 * j____ + 4 * tIdx(x) + 3];
      out[15] = out[15] + scores[20 * (16 + tIdx(y)) + j____] * values[68 * j____ + 32 + 4 * tIdx(x) + 3];
    }
  }
  __syncthreads();
  y[64 * (32 * bIdx(x) + tIdx(y)) + 4 * tIdx(x)] = out[0] / weight[tIdx(y)];
  y[64 * (32 * bIdx(x) + tIdx(y)) + 32 + 4 * tIdx(x)] = out[4] / weight[tIdx(y)];
  y[64 * (32 * bIdx(x) + 16 + tIdx(y)) + 4 * tIdx(x)] = out[8] / weight[16 + tIdx(y)];
  y[64 * (32 * bIdx(x) + 16 + tIdx(y)) + 32 + 4 * tIdx(x)] = out[12] / weight[16 + tIdx(y)];
  y[64 * (32 * bIdx(x) + tIdx(y)) + 4 * tIdx(x) + 1] = out[1] / weight[tIdx(y)];
  y[64 * (32 * bIdx(x) + tIdx(y)) + 32 + 4 * tIdx(x) + 1] = out[5] / weight[tIdx(y)];
  y[64 * (32 * bIdx(x) + 16 + tIdx(y)) + 4 * tIdx(x) + 1] = out[9] / weight[16 + tIdx(y)];
  y[64 * (32 * bIdx(x) + 16 + tIdx(y)) + 32 + 4 * tIdx(x) + 1] = out[13] / weight[16 + tIdx(y)];
  y[64 * (32 * bIdx(x) + tIdx(y)) + 4 * tIdx(x) + 2] = out[2] / weight[tIdx(y)];
  y[64 * (32 * bIdx(x) + tIdx(y)) + 32 + 4 * tIdx(x) + 2] = out[6] / weight[tIdx(y)];
  y[64 * (32 * bIdx(x) + 16 + tIdx(y)) + 4 * tIdx(x) + 2] = out[10] / weight[16 + tIdx(y)];
  y[64 * (32 * bIdx(x) + 16 + tIdx(y)) + 32 + 4 * tIdx(x) + 2] = out[14] / weight[16 + tIdx(y)];
  y[64 * (32 * bIdx(x) + tIdx(y)) + 4 * tIdx(x) + 3] = out[3] / weight[tIdx(y)];
  y[64 * (32 * bIdx(x) + tIdx(y)) + 32 + 4 * tIdx(x) + 3] = out[7] / weight[tIdx(y)];
  y[64 * (32 * bIdx(x) + 16 + tIdx(y)) + 4 * tIdx(x) + 3] = out[11] / weight[16 + tIdx(y)];
  y[64 * (32 * bIdx(x) + 16 + tIdx(y)) + 32 + 4 * tIdx(x) + 3] = out[15] / weight[16 + tIdx(y)];
}
