extern "C" __global__ void __launch_bounds__(64, 1) attend(long const groups, long const most, float const scale, float const *__restrict__ k, int const *__restrict__ chosen, float const *__restrict__ v, float const *__restrict__ x, float *__restrict__ y)
{
  float higher;
  __shared__ float keys[32 * 32];
  float new_;
  float old;
  float out[32];
  float score;
  float top;
  __shared__ float values[32 * 32];
  float weight;

  top = -3.4028234663852886e+38f;
  weight = 0.0f;
  #pragma unroll
  for (long d = 0; d <= 31; ++d)
    out[d] = 0.0f;
  for (long b = 0; b <= -1 + most; ++b)
  {
    __syncthreads();
    if (31 - tIdx(x) >= 0)
      for (long j = 0; j <= 31; ++j)
      {
        long const d__outer = 0;

        keys[32 * j + tIdx(x)] = k[32 * (long) (chosen[most * bIdx(x) + b] * 32 + (int) (j)) + tIdx(x)];
        values[32 * j + tIdx(x)] = v[32 * (long) (chosen[most * bIdx(x) + b] * 32 + (int) (j)) + tIdx(x)];
      }
    __syncthreads();
    for (long j_ = 0; j_ <= 31; ++j_)
    {
      score = 0.0f;
      #pragma unroll
      for (long d__ = 0; d__ <= 31; ++d__)
        score = score + x[32 * (64 * bIdx(x) + tIdx(x)) + d__] * keys[32 * j_ + d__];
      higher = fmaxf(top, score * scale);
      new_ = expf(score * scale - higher);
      old = expf(top - higher);
      top = higher;
      weight = weight * old + new_;
      #pragma unroll
      for (long d___ = 0; d___ <= 31; ++d___)
        out[d___] = out[d___] * old + new_ * values[32 * j_ + d___];
    }
  }
  #pragma unroll
  for (long d____ = 0; d____ <= 31; ++d____)
    y[32 * (64 * bIdx(x) + tIdx(x)) + d____] = out[d____] / weight;
}
