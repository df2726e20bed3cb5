/* Clauses and spellings: jit values that change, names, _Pragma, loops without braces around them, static inline. */
#include "show.h"
#define N 12

static inline void axpy(double *y, const double *x, double a, int n) {
#pragma nomp for jit("n") name("axpy")
  for (int i = 0; i < n; i++)
    y[i] += a * x[i];
}

static void powers(double *y, int n, int k) {
  const int always = 2; /* a constant with or without a clause */
#pragma nomp for jit(k, n, always)
  for (int i = 0; i < n; i++) {
    double t[k];
    t[0] = 1;
    for (int j = 1; j < k; j++)
      t[j] = always * t[j - 1];
    y[i] += t[k - 1];
  }
}

static void flagged(int *z, int n, _Bool twice, unsigned char most) {
#pragma nomp for jit(twice, most)
  for (int i = 0; i < n; i++) {
    int k = 0;
    while (k < most + twice)
      z[i * twice] += twice + k++;
  }
}

static int choose(int *z, int n, int way) {
  if (way)
#pragma nomp for
    for (int i = 0; i < n; i++)
      z[i] += 1;
  else
#pragma nomp for
    for (int i = 0; i < n; i++)
      z[i] -= 1;
  for (int k = 0; k < 2; k++)
    // clang-format off
    _Pragma("nomp for name(\"other\")") for (int i = 0; i < n; i++) z[i] *= 2;
  // clang-format on
  return __LINE__;
}

int main(int argc, char **argv) {
  double x[N], y[N];
  int z[N];
  for (int i = 0; i < N; i++)
    x[i] = i, y[i] = 0, z[i] = i;
#pragma nomp init(argc, argv)
#pragma nomp update(to : x, y, z)
  axpy(y, x, 2, N);
  axpy(y, x, 3, N / 2);
  axpy(y, x, 4, N);
  powers(y, N, 3);
  powers(y, N - 1, 6);
  int line = choose(z, N, 1);
  choose(z, N, 0);
  flagged(z, N, 1, 2);
  flagged(z, N, 0, 255);
#pragma nomp update(from : y, z)
#pragma nomp finalize
  SHOW("%g", y, N);
  SHOW("%d", z, N);
  printf("%d %d\n", line, __LINE__);
  return 0;
}
