/* Reductions: each operator, several types, initial values, several in one loop, array elements, guards, zero trips. */
#include "show.h"
#define N 1000

int main(int argc, char **argv) {
  int a[N];
  unsigned u[N];
  long l[N];
  float f[N];
  double d[N];
  for (int i = 0; i < N; i++)
    a[i] = (i * 37) % 101 - 50, u[i] = i | 1u, l[i] = 3000000000L * (i % 5), f[i] = i % 7, d[i] = (i % 9) * 0.5;
  int sum = 5, low = 7, high = -7, all = ~0, some = 0, odd = 0, every = 1, any = 0, empty = 42, count = 0;
  unsigned usum = 1;
  long lsum = -1, product = 3;
  float fsum = 0.5f;
  double dsum = 100, dot = 0, dlow = 1, s[3] = {1, 2, 3};
  int zero = 0;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, N], u[0, N], l[0, N], f[0, N], d[0, N])
#pragma nomp for reduce("sum", "+")
  for (int i = 0; i < N; i++)
    sum += a[i];
#pragma nomp for reduce(min : low) reduce(max : high)
  for (int i = 0; i < N; i++) {
    low = a[i] < low ? a[i] : low;
    high = a[i] > high ? a[i] : high;
  }
#pragma nomp for reduce("all", "&") reduce("some", "|") reduce("odd", "^")
  for (int i = 0; i < N; i++) {
    all &= u[i];
    some |= a[i];
    odd ^= a[i];
  }
#pragma nomp for reduce("every", "&&") reduce("any", "||")
  for (int i = 0; i < N; i++) {
    every = every && a[i] < 50;
    any = any || a[i] == 17;
  }
#pragma nomp for reduce("usum", "+") reduce("lsum", "+")
  for (int i = 0; i < N; i++) {
    usum += u[i] * 4000000u;
    lsum += l[i];
  }
#pragma nomp for reduce("product", "*")
  for (int i = 0; i < 20; i++)
    product *= i % 3 + 1;
#pragma nomp for reduce("fsum", "+")
  for (int i = 0; i < N; i++)
    fsum += f[i];
#pragma nomp for reduce("dsum", "+")
  for (int i = 0; i < N; i++)
    dsum -= d[i];
#pragma nomp for reduce("dot", "+")
  for (int i = 0; i < N; i++)
    dot = d[i] * d[i] + dot;
#pragma nomp for reduce("count", "+")
  for (int i = 0; i < N; i++)
    if (a[i] > 0)
      count++;
#pragma nomp for reduce("s[1]", "+")
  for (int i = 0; i < N; i++)
    s[1] += d[i];
#pragma nomp for reduce("empty", "+")
  for (int i = 0; i < zero; i++)
    empty += a[i];
  int names = 0, either = 5; /* the names that a reduction's own variables and arrays would have */
#pragma nomp for reduce("names", "+") reduce("either", "||")
  for (long _item = N; _item > 0; _item -= 3) {
    int _share = a[_item - 1], _trips = 2, names_partial = _share * _trips, names_partial_sum = names_partial + 1;
    int _part = names_partial_sum, either_before = _part > 90, _trip = either_before;
    names += _part + _trip;
    either = either || either_before;
  }
#pragma nomp for reduce("dlow", "min")
  for (int i = 0; i < N; i++)
    if (d[i] - 2 < dlow)
      dlow = d[i] - 2;
#pragma nomp finalize
  printf("%d %d %d %d %d %d %d %d %d %d\n", sum, low, high, all, some, odd, every, any, empty, count);
  printf("%d %d\n", names, either);
  printf("%u %ld %ld %g %g %g %g\n", usum, lsum, product, fsum, dsum, dot, dlow);
  SHOW("%g", s, 3);
  return 0;
}
