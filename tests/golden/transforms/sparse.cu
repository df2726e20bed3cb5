extern "C" __global__ void __launch_bounds__(64) _nomp_kernel_l2_rows(long const _trips, long const _groups, int const *__restrict__ start, double const *__restrict__ value, double const *__restrict__ x, int const *__restrict__ column, double *__restrict__ y)
{
  int _first_;
  __shared__ double _lanes[8 * 8];
  long _length_;
  long _once__lb;
  long _once__trips;
  double _own_;
  long _trip__;
  long _trip_____;
  long _trip____trips;
  int cond;
  int e_;
  int i_;
  int i__;
  double sum_;
  double sum__;

  _trip__ = bIdx(x) * 8ll + tIdx(y);
  _once__lb = _trip__;
  _once__trips = ((_trip__ < ((_trip__ + 1ll < _trips) ? _trip__ + 1ll : _trips)) ? ((_trip__ + 1ll < _trips) ? _trip__ + 1ll : _trips) - _trip__ : 0ll);
  if (tIdx(x) == 0)
  {
    _trip_____ = bIdx(x) * 8ll + tIdx(y);
    cond = ((_trip_____ < _trips) ? 1 : 0);
    if (cond != 0)
    {
      i__ = (int) (0ll + _trip_____ * 1ll);
      sum__ = 0.0;
    }
  }
  for (long _once_ = 0; _once_ <= -1 + _once__trips; ++_once_)
  {
    _own_ = copysign(0.0, -1.0);
    i_ = (int) (0ll + _trip__ * 1ll);
    _first_ = start[i_];
    _length_ = ((_first_ < start[1 + i_]) ? (long) (start[1 + i_]) - (long) (_first_) : 0ll);
    _trip____trips = ((tIdx(x) < _length_) ? ((_length_ - tIdx(x) + -1ll) / 8ll) + 1ll : 0ll);
    sum_ = 0.0;
    for (long _trip___ = 0; _trip___ <= -1 + _trip____trips; ++_trip___)
    {
      e_ = (int) ((long) (_first_) + (tIdx(x) + 8 * _trip___) * 1ll);
      _own_ = _own_ + value[e_] * x[column[e_]];
    }
    _lanes[8 * tIdx(y) + tIdx(x)] = _own_;
  }
  __syncthreads();
  if (3 - tIdx(x) >= 0)
    _lanes[8 * tIdx(y) + tIdx(x)] = _lanes[8 * tIdx(y) + tIdx(x)] + _lanes[8 * tIdx(y) + 4 + tIdx(x)];
  __syncthreads();
  if (1 - tIdx(x) >= 0)
    _lanes[8 * tIdx(y) + tIdx(x)] = _lanes[8 * tIdx(y) + tIdx(x)] + _lanes[8 * tIdx(y) + 2 + tIdx(x)];
  __syncthreads();
  if (tIdx(x) == 0)
    _lanes[8 * tIdx(y)] = _lanes[8 * tIdx(y)] + _lanes[8 * tIdx(y) + 1];
  if (cond != 0 && tIdx(x) == 0)
  {
    sum__ = sum__ + _lanes[8 * tIdx(y)];
    y[i__] = sum__;
  }
}
