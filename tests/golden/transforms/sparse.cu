extern "C" __global__ void __launch_bounds__(256) _nomp_kernel_l2_rows(long const _trips, long const _groups, int const *__restrict__ start, double const *__restrict__ value, double const *__restrict__ x, int const *__restrict__ column, double *__restrict__ y)
{
  long _alone__trips;
  int _begin;
  int _begin__;
  int _behind__;
  int _behind___;
  int _block_;
  double _block__;
  __shared__ double _blocks[256];
  long _done_trips;
  int _end;
  int _end__;
  int _entry_;
  int _first;
  int _first__;
  int _head_;
  __shared__ double _lanes[64 * 4];
  int _last;
  int _left;
  long _length_;
  int _number;
  int _number_;
  long _once____trips;
  long _once__trips;
  double _own_;
  double _own___;
  int _place;
  int _row;
  int _row_;
  int _tail_;
  double _term;
  __shared__ double _terms[1024];
  long _trip__;
  long _trip_____;
  long _trip_______;
  long _trip____trips;
  long _turn__trips;
  int cond;
  int cond_;
  int cond__;
  int cond___;
  int e_;
  int e__;
  int i_;
  int i__;
  int i___;
  double sum_;
  double sum__;
  double sum___;

  _row = (int) (0ll + bIdx(x) * 64ll * 1ll);
  _first = start[_row];
  _row_ = (int) (0ll + (((bIdx(x) * 64ll + 64ll < _trips) ? bIdx(x) * 64ll + 64ll : _trips) + -1ll) * 1ll);
  _last = start[1 + _row_];
  _done_trips = ((0ll < ((_first < _last) ? (long) (_last) - (long) (_first) : 0ll)) ? ((((_first < _last) ? (long) (_last) - (long) (_first) : 0ll) + -1ll) / 1024ll) + 1ll : 0ll);
  _trip__ = bIdx(x) * 64ll + tIdx(y);
  _once__trips = ((0ll < ((_trip__ < _trips) ? 1ll : 0ll)) ? ((_trip__ < _trips) ? 1ll : 0ll) : 0ll);
  if (tIdx(x) == 0)
  {
    _trip_______ = bIdx(x) * 64ll + tIdx(y);
    cond___ = ((_trip_______ < _trips) ? 1 : 0);
    if (cond___ != 0)
    {
      i___ = (int) (0ll + _trip_______ * 1ll);
      sum___ = 0.0;
    }
  }
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
        _own_ = _own_ + value[e_] * x[column[e_]];
      }
    }
    _lanes[4 * tIdx(y) + tIdx(x)] = _own_;
  }
  for (long _done = 0; _done <= -1 + _done_trips; ++_done)
  {
    _begin = (int) ((long) (_first) + 1024 * _done);
    _left = (int) (((((_first < _last) ? (long) (_last) - (long) (_first) : 0ll) - 1024 * _done < 1024ll) ? ((_first < _last) ? (long) (_last) - (long) (_first) : 0ll) - 1024 * _done : 1024ll));
    _end = _begin + _left;
    _number = (int) (tIdx(y) * 4ll + tIdx(x));
    _number_ = (int) (tIdx(y) * 4ll + tIdx(x));
    _trip_____ = bIdx(x) * 64ll + tIdx(y);
    _once____trips = ((0ll < ((_trip_____ < _trips) ? 1ll : 0ll)) ? ((_trip_____ < _trips) ? 1ll : 0ll) : 0ll);
    __syncthreads();
    #pragma unroll
    for (long _turn__ = 0; _turn__ <= 3; ++_turn__)
    {
      _place = (int) (_turn__ * 256ll) + _number;
      _term = copysign(0.0, -1.0);
      cond = ((_place < _left) ? 1 : 0);
      if (cond != 0)
      {
        e__ = _begin + _place;
        _term = _term + value[e__] * x[column[e__]];
      }
      _terms[_place] = _term;
    }
    __syncthreads();
    _block__ = _terms[4 * _number_];
    _block__ = _block__ + _terms[1 + 4 * _number_];
    _block__ = _block__ + _terms[2 + 4 * _number_];
    _block__ = _block__ + _terms[3 + 4 * _number_];
    _blocks[_number_] = _block__;
    __syncthreads();
    for (long _once___ = 0; _once___ <= -1 + _once____trips; ++_once___)
    {
      _own___ = _lanes[4 * tIdx(y) + tIdx(x)];
      i__ = (int) (0ll + _trip_____ * 1ll);
      _behind__ = ((start[1 + i__] < _end) ? start[1 + i__] : _end);
      _entry_ = ((start[i__] > _begin) ? start[i__] : _begin);
      _begin__ = ((_entry_ < _behind__ && _first <= start[i__] && start[1 + i__] <= _last) ? _entry_ - _begin : 0);
      _block_ = ((_begin__ + 3) / 4);
      _end__ = ((_entry_ < _behind__ && _first <= start[i__] && start[1 + i__] <= _last) ? _behind__ - _begin : 0);
      _behind___ = (_end__ / 4);
      _head_ = ((_block_ * 4 < _end__) ? _block_ * 4 : _end__);
      _tail_ = ((_behind___ * 4 > _head_) ? _behind___ * 4 : _head_);
      _turn__trips = ((0ll < (long) (((_behind___ - _block_ + (3 - (int) (tIdx(x)))) / 4))) ? (long) (((_behind___ - _block_ + (3 - (int) (tIdx(x)))) / 4)) : 0ll);
      cond_ = (((int) (tIdx(x)) < _head_ - _begin__) ? 1 : 0);
      if (cond_ != 0)
        _own___ = _own___ + _terms[tIdx(x) + _begin__];
      cond__ = (((int) (tIdx(x)) < _end__ - _tail_) ? 1 : 0);
      sum__ = 0.0;
      for (long _turn_ = 0; _turn_ <= -1 + _turn__trips; ++_turn_)
        _own___ = _own___ + _blocks[tIdx(x) + 4 * _turn_ + _block_];
      if (cond__ != 0)
        _own___ = _own___ + _terms[tIdx(x) + _tail_];
      _lanes[4 * tIdx(y) + tIdx(x)] = _own___;
    }
  }
  __syncthreads();
  if (1 - tIdx(x) >= 0)
    _lanes[4 * tIdx(y) + tIdx(x)] = _lanes[4 * tIdx(y) + tIdx(x)] + _lanes[4 * tIdx(y) + 2 + tIdx(x)];
  __syncthreads();
  if (tIdx(x) == 0)
    _lanes[4 * tIdx(y)] = _lanes[4 * tIdx(y)] + _lanes[4 * tIdx(y) + 1];
  if (cond___ != 0 && tIdx(x) == 0)
  {
    sum___ = sum___ + _lanes[4 * tIdx(y)];
    y[i___] = sum___;
  }
}
