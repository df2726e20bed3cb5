/* Transform scripts: arguments, ragged sizes, zero trips, unsigned bounds, jit values, two-dimensional groups. */
#include "show.h"
#define N 37
#define M 19

static void scale(double *a, double s, unsigned n) {
#pragma nomp for transform("schedules", "rows", block=16)
  for (unsigned i = 0; i < n; i++)
    a[i] *= s;
}

static void add(int n, int m, double c[n][m], double a[n][m], double b[n][m]) {
#pragma nomp for transform("schedules", "tiles", x=4) jit("m")
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      c[i][j] += a[i][j] - 2 * b[i][j];
}

static void gather(double *y, const double *x, const int *start, int n) {
#pragma nomp for name("gather") transform("schedules", "rows")
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = start[i]; k < start[i + 1]; k++)
      sum += x[k] * (i + 1);
    y[i] = sum;
  }
}

static void mixed(int *p, int n) {
#pragma nomp for transform("schedules", "rows", block=8)
  for (int i = 0; i < n; i++) { /* loops that loopy sees, beside one that it carries as text */
    for (long k = 2; k <= 4; k++)
      p[i] = k + i;
    int w = 0;
    do {
      p[i] += 1;
    } while (++w < i % 4);
    for (long k = 0; k < i % 3; k++)
      p[i] *= 2;
  }
}

int main(int argc, char **argv) {
  static double a[N][M], b[N][M], c[N][M], y[N], x[N * 3];
  int start[N + 1], p[N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i][j] = i + j, b[i][j] = i - j, c[i][j] = 1;
  for (int i = 0; i <= N; i++)
    start[i] = i * 5 / 2;
  for (int i = 0; i < 3 * N; i++)
    x[i] = 0.5 * i;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, b, c, x, start)
#pragma nomp update(alloc : y)
  scale(&a[0][0], 3, N * M);
  scale(&a[0][0], 100, 0);
  scale(&a[2][3], 0.5, 45);
  add(N, M, c, a, b);
  add(N - 1, M, c, a, b);
  gather(y, x, start, N);
#pragma nomp update(alloc : p)
  mixed(p, N);
#pragma nomp update(from : c, y, p)
#pragma nomp finalize
  SHOW("%g", &c[0][0], N *M);
  SHOW("%g", y, N);
  SHOW("%d", p, N);
  return 0;
}
