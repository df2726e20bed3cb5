/* Infinity and NaN as arguments of functions, in float and in double, as values of a jit clause, and in functions. */
#include "show.h"
#include <math.h>
#define N 20

static double least(double x) {
  double m = INFINITY;
  for (int i = 0; i < 3; i++)
    m = fmin(m, x + i);
  while (m > 5)
    m = fmax(-INFINITY, m - 3);
  return fmin(m, INFINITY) + fmaxf(-INFINITY, x);
}

static float near(float x) {
  while (x > 3)
    x = fminf(INFINITY, x - 1);
  return copysignf(INFINITY, x) > 1 ? x : fmaxf(x, -INFINITY);
}

static void fixed(double x, float y, double *r) {
#pragma nomp for jit(x, y)
  for (int i = 0; i < 4; i++) {
    r[i] = fmin(fmax(x, i), 50) + fmaxf(fminf(y, i), -50) + (x > y) + isnan(x) * 10 + isinf(y) * 100 + 1000 * !!signbit(y);
    if (i == 3 && isfinite(x))
      r[i] += copysign(1, x) + copysignf(2, y) + (float)x;
  }
}

int main(int argc, char **argv) {
  double d[N], r[N], s[N];
  float f[N];
#pragma nomp init(argc, argv)
  for (int i = 0; i < N; i++)
    d[i] = i - 7, f[i] = 0.5f * i - 3, r[i] = s[i] = 0;
#pragma nomp update(to : d, f, r, s)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int k = 0;
    double z = d[i];
    while (k++ < 3) {
      z = fmin(z + k, INFINITY);
      z = fmaxf(fmax(z, -HUGE_VAL), NAN);
    }
    float high = i & 1 ? -INFINITY : f[i];
    double low = i & 1 ? INFINITY : d[i];
    r[i] = fmin(d[i], INFINITY) + fmaxf(f[i], -INFINITY) + fmin(INFINITY, f[i]) + fmax(NAN, d[i]) + z;
    r[i] += copysign(INFINITY, d[i]) > 0 ? least(d[i]) : near(f[i]);
    r[i] += 100 * (hypot(INFINITY, d[i]) > 5) + atan2(0 * d[i], INFINITY) + pow(INFINITY, 0) + (sqrt(INFINITY) > 1);
    r[i] += 1000 * isinf(high) + 4000 * isinf(low) + (isnan(NAN) ? 2 : f[i]) + fmax(high, low > 1 ? 1 : low);
  }
  fixed(NAN, 1, s);
  fixed(INFINITY, -INFINITY, s + 4);
  fixed(1, INFINITY, s + 8);
  fixed(-0.0, -0.0f, s + 12);
  fixed(0, 0, s + 16);
#pragma nomp update(from : r, s)
#pragma nomp finalize
  SHOW("%g", r, N);
  SHOW("%g", s, N);
  return 0;
}
