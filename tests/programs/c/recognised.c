/* Reductions that no clause names: integers are reduced in parallel, floating-point numbers keep their order. */
#include "show.h"
#include <math.h>
#define N 1000
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* What looks like a reduction, but whose result depends on the order, and what only looks as if it did. */
static void ordered(const int *a) {
  _Bool sum = 0, minus = 1, parity = 1, any = 0, all = 1;
  signed char narrow = 100, exact = -100;
  int unlike = 5;
  unsigned like = 5;
#pragma nomp for
  for (int i = 0; i < N - 1; i++)
    sum += a[i] - 50;
#pragma nomp for
  for (int i = 0; i < N - 1; i++)
    minus -= a[i] > 50;
#pragma nomp for
  for (int i = 0; i < N; i++) {
    parity ^= a[i] > 50;
    any |= a[i] & 64;
    all &= a[i] | 1;
  }
#pragma nomp for
  for (int i = 0; i < N; i++)
    if (a[i] * 3 > narrow)
      narrow = a[i] * 3;
#pragma nomp for
  for (int i = 0; i < N; i++)
    exact = (signed char)(a[i] * 3) > exact ? (signed char)(a[i] * 3) : exact;
#pragma nomp for
  for (int i = 0; i < N; i++) {
    unsigned u = a[i] * 50000000u;
    if (u > unlike)
      unlike = u;
    if (u > like)
      like = u;
  }
  printf("%d %d %d %d %d %d %d %d %u\n", sum, minus, parity, any, all, narrow, exact, unlike, like);
}

/* Conversions that do not keep all values, or the order, between what is compared and what is kept. */
static void converted(void) {
  long far[2] = {50, -4294967196}, near[3] = {16777218, 16777217, 16777216}, big = 1L << 53, least = 16777219;
  int some[2] = {50, 263}, signs[2] = {0, -1}, ones[4] = {1, 1, 1, 1}, sum = 16777216, cut = 16777215, low = 10;
  double close[2] = {3.0, 2.9999999999}, apart[2] = {3.2, 3.5}, kept = 10;
  int narrow = 1000;
  unsigned char most = 3, smallest = 200;
  short longest = -5;
  _Bool flag = 1;
  float rounded = 100;
#pragma nomp update(to : far, near, some, signs, ones, close, apart)
#pragma nomp for
  for (int i = 0; i < 2; i++)
    narrow = far[i] < narrow ? far[i] : narrow;
#pragma nomp for
  for (int i = 0; i < 2; i++)
    most = some[i] > most ? some[i] : most;
#pragma nomp for
  for (int i = 0; i < 2; i++)
    flag = signs[i] < flag ? signs[i] : flag;
#pragma nomp for
  for (int i = 0; i < 4; i++)
    sum = (float)(sum + ones[i]);
#pragma nomp for
  for (int i = 0; i < 4; i++)
    big = (double)(big + ones[i]);
#pragma nomp for
  for (int i = 0; i < 4; i++)
    cut = (int)(float)cut + ones[i];
#pragma nomp for
  for (int i = 0; i < 2; i++)
    if ((float)close[i] < low)
      low = close[i];
#pragma nomp for
  for (int i = 0; i < 3; i++)
    if ((float)near[i] < least)
      least = near[i];
#pragma nomp for
  for (int i = 0; i < 2; i++)
    if ((int)apart[i] < kept)
      kept = apart[i];
#pragma nomp for reduce("smallest", "min") reduce("longest", "max")
  for (int i = 0; i < 2; i++) {
    unsigned char c = some[i];
    short h = some[i] * 3;
    smallest = smallest <= c ? smallest : c;
    longest = h > longest ? h : longest;
  }
#pragma nomp for reduce("rounded", "min")
  for (int i = 0; i < 2; i++)
    rounded = apart[i] < rounded ? apart[i] : rounded;
#pragma nomp update(free : far, near, some, signs, ones, close, apart)
  printf("%d %d\n", smallest, longest);
  printf("%d %d %d %d %ld %d %d %ld %g %.9g\n", narrow, most, flag, sum, big, cut, low, least, kept, rounded);
}

static void with_nan(void) {
  double x[N], low = NAN, high = NAN, kept = NAN, least = NAN, skipped = 1e9;
  float rounded = 3;
  for (int i = 0; i < N; i++)
    x[i] = i % 7 == 3 ? NAN : i * 37 % 101 - 50.1;
#pragma nomp update(to : x)
#pragma nomp for reduce("low", "min") reduce("high", "max")
  for (int i = 0; i < N; i++) {
    low = fmin(low, x[i]);
    high = fmax(x[i], high);
  }
#pragma nomp for reduce("kept", "min") reduce("skipped", "min") reduce("rounded", "max")
  for (int i = 0; i < N; i++) {
    if (x[i] < kept)
      kept = x[i];
    skipped = x[i] < skipped ? x[i] : skipped;
    if (rounded < x[i])
      rounded = x[i];
  }
#pragma nomp for reduce("least", "min")
  for (int i = 0; i < 3; i++)
    least = MIN(least, x[i]);
#pragma nomp update(free : x)
  printf("%g %g %g %g %g %g\n", low, high, kept, least, skipped, rounded);
}

int main(int argc, char **argv) {
  int a[N], s = 3, m = -1, c = 0;
  long long product = 1;
  unsigned char narrow = 250;
  unsigned x = 7;
  double q = 0.1;
  for (int k = 0; k < N; k++)
    a[k] = k * 37 % 101;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    s += a[i];
    if (a[i] > m)
      m = a[i];
    if (a[i] % 3 == 0)
      c++;
    x ^= (unsigned)(a[i] * i);
    product *= a[i] | 1;
    narrow -= a[i];
  }
#pragma nomp for
  for (int i = 0; i < N; i++)
    q -= a[i] * 0.1;
#pragma nomp for
  for (int i = 0; i < N; i++) {
    s = a[i];
    a[i] = s + 1;
  }
  ordered(a);
  converted();
  with_nan();
#pragma nomp finalize
  printf("%d %d %d %u %llx %d %.17g\n", s, m, c, x, (unsigned long long)product, narrow, q);
  return 0;
}
