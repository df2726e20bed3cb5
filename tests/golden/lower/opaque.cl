static int nomp_clamp(int x, int half__own)
{
  if (x > half__own) {
    return half__own;
  }
  return x;
}

static long nomp_power(int x, int y)
{
  long r = 1l;
  while (y > 0) {
    r = r * (long)(nomp_clamp(x, 9));
    y = y - 1;
  }
  return r;
}

static int nomp_table(int x)
{
  int t[4];
  for (int k = 0; k < 4; k += 1) {
    t[k] = k * x;
  }
  return t[(x & 3)];
}

#define lid(N) ((long) get_local_id(N))
#define gid(N) ((long) get_group_id(N))

__kernel void __attribute__ ((reqd_work_group_size(1, 1, 1))) opaque(long const _trips, long const _share, long const _items, __global int *out)
{
  long _first;
  long _last;
  long i_lb;
  long i_trips;
  int steps;
  int t;

  _first = gid(0) * _share;
  _last = ((_first + _share < _trips) ? _first + _share : _trips);
  i_lb = _first;
  i_trips = ((_first < _last) ? _last - _first : 0l);
  for (long i = 0; i <= -1 + i_trips; ++i)
  {
    steps = 0;
    t = out[i + i_lb];
    while ((t > 1) && (steps < 60)) {
      if ((t % 2) == 0) {
        t = t / 2;
      }
      else {
        t = (t * 3) + 1;
      }
      steps = steps + 1;
    }
    out[i + i_lb] = nomp_clamp(steps, 3);
  }
}
