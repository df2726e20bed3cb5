/* Constants that are equal and not the same: 0.0 and -0.0, and 0 or 1 of several types; also as jit values and in text. */
#include "show.h"
#include <math.h>
#define N 12

static void divided(double *q, double z, int n) {
#pragma nomp for jit(z)
  for (int i = 0; i < n; i++)
    q[i] = (i % 2 ? 1 / z : 1 / 0.0) + (z == 0);
}

static void carried(float *q, float z, int n) {
#pragma nomp for jit(z)
  for (int i = 0; i < n; i++) {
    float w = -0.0f;
    int k = 0;
    while (k++ < i)
      w = k % 2 ? 0.0f : -0.0f;
    q[i] = copysignf(1, w) + copysignf(3, i % 3 ? -0.0f : 0.0f) + copysignf(5, z);
  }
}

int main(int argc, char **argv) {
  double d[N], e[N];
  float f[N];
  int k[N];
  for (int i = 0; i < N; i++)
    d[i] = i % 3 ? 0.0 : -0.0, e[i] = 0;
#pragma nomp init(argc, argv)
#pragma nomp update(to : d, e)
#pragma nomp update(alloc : f, k)
  double zeros[2] = {0.0, -0.0};
  for (int z = 0; z < 2; z++) {
    divided(e, zeros[z], N);
    carried(f, zeros[z], N);
#pragma nomp update(from : e, f)
    SHOW("%g", e, N);
    SHOW("%g", f, N);
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    double a = i % 2 ? -0.0 : 0.0, b = d[i] + 0.0, c = d[i] + -0.0, m = d[i] * -1, n = 0 - d[i], o = -d[i];
    e[i] = copysign(1, a) + copysign(2, b) + copysign(4, c) + copysign(8, m) + copysign(16, n) + copysign(32, o);
    float g = i % 2 ? 0.0f : -0.0f;
    f[i] = (i % 3 ? 1 / g : 1 / 0.0f) + (g == -0.0f);
    _Bool t = i % 2 ? 1 : 0;
    unsigned u = i % 2 ? 1 : 0;
    long l = i % 2 ? 1 : 0;
    double x = i % 2 ? 1 : 0;
    k[i] = t + 2 * (u - 2 > 5) + 4 * (l - 2 > 5) + 8 * (x - 2 > 5) + 16 * ((i % 2 ? 0.1f : 0.2f) == 0.1);
    k[i] += 32 * ((1.0f / 3 + 0.0) == 1.0 / 3) + 64 * ((i % 2 ? 1.0f : 0.0f) / 2 > 0) + 128 * !!signbit(i * -0.0);
  }
#pragma nomp update(from : e, f, k)
#pragma nomp finalize
  SHOW("%g", e, N);
  SHOW("%g", f, N);
  SHOW("%d", k, N);
  return 0;
}
