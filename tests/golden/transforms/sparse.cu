extern "C" __global__ void __launch_bounds__(256) _nomp_kernel_l2_rows(long const _trips, long const _groups, int const *__restrict__ start, double const *__restrict__ value, double const *__restrict__ x, int const *__restrict__ column, double *__restrict__ y)
{
  long _alone__trips;
  int _begin;
  int _begin_;
  int _behind;
  int _behind_;
  int _block;
  double _block_;
  __shared__ double _blocks[256];
  long _done_trips;
  int _end;
  int _end_;
  __shared__ int _ends[64];
  int _entry;
  int _first;
  int _first__;
  int _head;
  __shared__ double _lanes[64 * 4];
  int _last;
  int _left;
  long _length_;
  int _number;
  int _number_;
  long _once__trips;
  double _own_;
  double _own__;
  int _place;
  int _row;
  int _row_;
  __shared__ int _starts[64];
  int _tail;
  double _term;
  __shared__ double _terms[1024];
  long _trip__;
  long _trip_____;
  long _trip_______;
  long _trip____trips;
  long _turn_trips;
  int cond;
  int cond_;
  int cond__;
  int cond___;
  int cond____;
  int e_;
  int e__;
  int i_;
  int i__;
  int i___;
  double sum_;
  double sum__;
  double sum___;

  _lanes[4 * tIdx(y) + tIdx(x)] = copysign(0.0, -1.0);
  _row = (int) (0ll + bIdx(x) * 64ll * 1ll);
  _first = start[_row];
  if (tIdx(x) == 0)
    _ends[tIdx(y)] = _first;
  _row_ = (int) (0ll + (((bIdx(x) * 64ll + 64ll < _trips) ? bIdx(x) * 64ll + 64ll : _trips) + -1ll) * 1ll);
  _last = start[1 + _row_];
  _done_trips = ((0ll < ((_first < _last) ? (long) (_last) - (long) (_first) : 0ll)) ? ((((_first < _last) ? (long) (_last) - (long) (_first) : 0ll) + -1ll) / 1024ll) + 1ll : 0ll);
  if (tIdx(x) == 0)
    _starts[tIdx(y)] = _first;
  _trip__ = bIdx(x) * 64ll + tIdx(y);
  _once__trips = ((0ll < ((_trip__ < _trips) ? 1ll : 0ll)) ? ((_trip__ < _trips) ? 1ll : 0ll) : 0ll);
  if (tIdx(x) == 0)
    _trip_____ = bIdx(x) * 64ll + tIdx(y);
  if (tIdx(x) == 0)
    _trip_______ = bIdx(x) * 64ll + tIdx(y);
  if (tIdx(x) == 0)
    cond = ((_trip_____ < _trips) ? 1 : 0);
  if (tIdx(x) == 0)
    cond____ = ((_trip_______ < _trips) ? 1 : 0);
  if (cond != 0 && tIdx(x) == 0)
  {
    i__ = (int) (0ll + _trip_____ * 1ll);
    _ends[tIdx(y)] = ((_first <= start[i__] && start[1 + i__] <= _last) ? start[1 + i__] : _first);
    _starts[tIdx(y)] = ((_first <= start[i__] && start[1 + i__] <= _last) ? start[i__] : _first);
  }
  if (cond____ != 0 && tIdx(x) == 0)
    i___ = (int) (0ll + _trip_______ * 1ll);
  if (cond != 0 && tIdx(x) == 0)
    sum__ = 0.0;
  if (cond____ != 0 && tIdx(x) == 0)
    sum___ = 0.0;
  #pragma unroll 1
  for (long _once_ = 0; _once_ <= -1 + _once__trips; ++_once_)
  {
    _own_ = copysign(0.0, -1.0);
    i_ = (int) (0ll + _trip__ * 1ll);
    _alone__trips = ((0ll < ((_first <= start[i_] && start[1 + i_] <= _last) ? 0ll : 1ll)) ? ((_first <= start[i_] && start[1 + i_] <= _last) ? 0ll : 1ll) : 0ll);
    _first__ = start[i_];
    sum_ = 0.0;
    #pragma unroll 1
    for (long _alone_ = 0; _alone_ <= -1 + _alone__trips; ++_alone_)
    {
      _length_ = ((_first__ < start[1 + i_]) ? (long) (start[1 + i_]) - (long) (_first__) : 0ll);
      _trip____trips = ((tIdx(x) < _length_) ? ((_length_ - tIdx(x) + -1ll) / 4ll) + 1ll : 0ll);
      #pragma unroll 1
      for (long _trip___ = 0; _trip___ <= -1 + _trip____trips; ++_trip___)
      {
        e_ = (int) ((long) (_first__) + (tIdx(x) + 4 * _trip___) * 1ll);
        _own_ = _own_ + __ldcs(value + e_) * x[__ldcs(column + e_)];
      }
    }
    _lanes[4 * tIdx(y) + tIdx(x)] = _own_;
  }
  __syncthreads();
  for (long _done = 0; _done <= -1 + _done_trips; ++_done)
  {
    _begin = (int) ((long) (_first) + 1024 * _done);
    _entry = ((_starts[tIdx(y)] > _begin) ? _starts[tIdx(y)] : _begin);
    _left = (int) (((((_first < _last) ? (long) (_last) - (long) (_first) : 0ll) - 1024 * _done < 1024ll) ? ((_first < _last) ? (long) (_last) - (long) (_first) : 0ll) - 1024 * _done : 1024ll));
    _end = _begin + _left;
    _behind_ = ((_ends[tIdx(y)] < _end) ? _ends[tIdx(y)] : _end);
    _begin_ = ((_entry < _behind_) ? _entry - _begin : 0);
    _block = ((_begin_ + 3) / 4);
    _end_ = ((_entry < _behind_) ? _behind_ - _begin : 0);
    _behind = (_end_ / 4);
    _head = ((_block * 4 < _end_) ? _block * 4 : _end_);
    _number = (int) (tIdx(y) * 4ll + tIdx(x));
    _number_ = (int) (tIdx(y) * 4ll + tIdx(x));
    _own__ = _lanes[4 * tIdx(y) + tIdx(x)];
    _tail = ((_behind * 4 > _head) ? _behind * 4 : _head);
    _turn_trips = ((0ll < (long) (((_behind - _block + (3 - (int) (tIdx(x)))) / 4))) ? (long) (((_behind - _block + (3 - (int) (tIdx(x)))) / 4)) : 0ll);
    cond__ = (((int) (tIdx(x)) < _head - _begin_) ? 1 : 0);
    cond___ = (((int) (tIdx(x)) < _end_ - _tail) ? 1 : 0);
    __syncthreads();
    #pragma unroll
    for (long _turn_ = 0; _turn_ <= 3; ++_turn_)
    {
      _place = (int) (_turn_ * 256ll) + _number;
      _term = copysign(0.0, -1.0);
      cond_ = ((_place < _left) ? 1 : 0);
      if (cond_ != 0)
      {
        e__ = _begin + _place;
        _term = _term + __ldcs(value + e__) * x[__ldcs(column + e__)];
      }
      _terms[_place] = _term;
    }
    __syncthreads();
    _block_ = _terms[4 * _number_];
    _block_ = _block_ + _terms[1 + 4 * _number_];
    _block_ = _block_ + _terms[2 + 4 * _number_];
    _block_ = _block_ + _terms[3 + 4 * _number_];
    _blocks[_number_] = _block_;
    if (cond__ != 0)
      _own__ = _own__ + _terms[tIdx(x) + _begin_];
    __syncthreads();
    #pragma unroll 8
    for (long _turn = 0; _turn <= -1 + _turn_trips; ++_turn)
      _own__ = _own__ + _blocks[tIdx(x) + 4 * _turn + _block];
    if (cond___ != 0)
      _own__ = _own__ + _terms[tIdx(x) + _tail];
    _lanes[4 * tIdx(y) + tIdx(x)] = _own__;
  }
  __syncthreads();
  if (1 - tIdx(x) >= 0)
    _lanes[4 * tIdx(y) + tIdx(x)] = _lanes[4 * tIdx(y) + tIdx(x)] + _lanes[4 * tIdx(y) + 2 + tIdx(x)];
  __syncthreads();
  if (tIdx(x) == 0)
    _lanes[4 * tIdx(y)] = _lanes[4 * tIdx(y)] + _lanes[4 * tIdx(y) + 1];
  if (cond____ != 0 && tIdx(x) == 0)
  {
    sum___ = sum___ + _lanes[4 * tIdx(y)];
    y[i___] = sum___;
  }
}
