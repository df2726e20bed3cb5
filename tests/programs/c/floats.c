/* Floating point in the type that C gives it: float and double mixed, casts both ways, mathematical functions. */
#include "show.h"
#include <math.h>
#define N 12

int main(int argc, char **argv) {
  float f[N], g[N];
  double d[N], e[N], h[N];
  int k[N];
  for (int i = 0; i < N; i++)
    f[i] = 0.1f * i, d[i] = 1.0 / (i + 1), g[i] = 0, e[i] = h[i] = 0, k[i] = i - 5;
  const float scale = 3;
#pragma nomp init(argc, argv)
#pragma nomp update(to : f[0, N], g[0, N], d[0, N], e[0, N], h[0, N], k[0, N])
#pragma nomp for
  for (int i = 0; i < N; i++) {
    e[i] = f[i] * 0.1;
    g[i] = f[i] * 0.1f;
    h[i] = f[i] / scale + k[i] / 2 + k[i] / 2.0;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    k[i] = (int)(d[i] * 100) + (int)-2.7 + (int)(float)1e3;
    g[i] += (float)d[i] + 1e-3f + .5f + 0x1p-2f;
    e[i] += (double)(float)d[i] - (k[i] > 20);
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    h[i] += sqrt(d[i]) + fabs(-d[i]) + floor(2.5 * d[i]) + ceil(d[i]) + fmax(d[i], 0.3) + fmin(d[i], 0.3);
    h[i] += exp(d[i]) + log(1 + d[i]) + sin(d[i]) + cos(d[i]) + pow(d[i], 2.5) + atan2(d[i], 2.0) + fmod(5.3, d[i]);
    g[i] += sqrtf(f[i]) + fabsf(f[i] - 1) + powf(f[i], 2.0f) + (float)sqrt(2);
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    double half = k[i] / 4.0 - 2;
    k[i] += lround(half) + 10 * lrint(half) + 100 * llroundf((float)half) + 1000 * (int)llrint(-half);
    if (__builtin_expect(!!(k[i] > 3), 1))
      k[i] += sizeof lround(half);
  }
#pragma nomp for
  for (int i = 0; i < N; i++)
    d[i] = d[i] < 0.2 ? -d[i] : d[i] > 0.5 ? 1 : d[i] * d[i];
#pragma nomp update(from : f[0, N], g[0, N], d[0, N], e[0, N], h[0, N], k[0, N])
#pragma nomp finalize
  SHOW("%.6g", g, N);
  SHOW("%.12g", d, N);
  SHOW("%.12g", e, N);
  SHOW("%.12g", h, N);
  SHOW("%d", k, N);
  return 0;
}
