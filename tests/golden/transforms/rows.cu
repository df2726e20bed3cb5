extern "C" __global__ void __launch_bounds__(128, 1) _nomp_kernel_l2_rows(long const _length, long const _trips, long const _groups, double const *__restrict__ a, double const *__restrict__ x, double *__restrict__ y, long const m)
{
  int _first_;
  __shared__ double _lanes[4 * 32];
  long _once__trips;
  double _own_;
  long _trip__;
  long _trip_____;
  int cond;
  int i_;
  int i__;
  int j_;
  double sum_;
  double sum__;

  _trip__ = bIdx(x) * 4ll + tIdx(y);
  _once__trips = ((0ll < ((_trip__ < _trips) ? 1ll : 0ll)) ? ((_trip__ < _trips) ? 1ll : 0ll) : 0ll);
  if (tIdx(x) == 0)
  {
    _trip_____ = bIdx(x) * 4ll + tIdx(y);
    cond = ((_trip_____ < _trips) ? 1 : 0);
    if (cond != 0)
    {
      i__ = (int) (0ll + _trip_____ * 1ll);
      sum__ = 0.0;
    }
  }
  for (long _once_ = 0; _once_ <= -1 + _once__trips; ++_once_)
  {
    _first_ = 0;
    _own_ = copysign(0.0, -1.0);
    i_ = (int) (0ll + _trip__ * 1ll);
    sum_ = 0.0;
    for (long _trip___ = 0; _trip___ <= -1 - tIdx(x) + loopy_floor_div_pos_b_int64(31 + _length + 31 * tIdx(x), 32); ++_trip___)
    {
      j_ = (int) ((long) (_first_) + (tIdx(x) + 32 * _trip___) * 1ll);
      _own_ = _own_ + a[m * (long) (i_) + (long) (j_)] * x[j_];
    }
    _lanes[32 * tIdx(y) + tIdx(x)] = _own_;
  }
  __syncthreads();
  if (15 - tIdx(x) >= 0)
    _lanes[32 * tIdx(y) + tIdx(x)] = _lanes[32 * tIdx(y) + tIdx(x)] + _lanes[32 * tIdx(y) + 16 + tIdx(x)];
  __syncthreads();
  if (7 - tIdx(x) >= 0)
    _lanes[32 * tIdx(y) + tIdx(x)] = _lanes[32 * tIdx(y) + tIdx(x)] + _lanes[32 * tIdx(y) + 8 + tIdx(x)];
  __syncthreads();
  if (3 - tIdx(x) >= 0)
    _lanes[32 * tIdx(y) + tIdx(x)] = _lanes[32 * tIdx(y) + tIdx(x)] + _lanes[32 * tIdx(y) + 4 + tIdx(x)];
  __syncthreads();
  if (1 - tIdx(x) >= 0)
    _lanes[32 * tIdx(y) + tIdx(x)] = _lanes[32 * tIdx(y) + tIdx(x)] + _lanes[32 * tIdx(y) + 2 + tIdx(x)];
  __syncthreads();
  if (tIdx(x) == 0)
    _lanes[32 * tIdx(y)] = _lanes[32 * tIdx(y)] + _lanes[32 * tIdx(y) + 1];
  if (cond != 0 && tIdx(x) == 0)
  {
    sum__ = sum__ + _lanes[32 * tIdx(y)];
    y[i__] = sum__;
  }
}
