/* Nests of loops: perfect, imperfect, triangular, siblings with one counter name, shadowing, data-dependent bounds. */
#include "show.h"
#define N 9
#define M 7

int main(int argc, char **argv) {
  int a[N][M], t[N * N], f[N], g[N], y[N];
  int start[N + 1], column[N * M];
  double value[N * M], x[M], z[N];
  start[0] = 0;
  for (int i = 0; i < N; i++) {
    f[i] = i, g[i] = y[i] = 0, z[i] = 0.5;
    start[i + 1] = start[i] + i % 4;
    for (int j = 0; j < M; j++)
      a[i][j] = i - j;
    for (int k = start[i]; k < start[i + 1]; k++)
      column[k] = (k * 3) % M, value[k] = 0.25 * k;
  }
  for (int j = 0; j < M; j++)
    x[j] = 1 + j;
  for (int i = 0; i < N * N; i++)
    t[i] = -1;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, N], t[0, N * N], f[0, N], g[0, N], y[0, N], start[0, N + 1], column[0, start[N]])
#pragma nomp update(to : value[0, start[N]], x[0, M], z[0, N])
#pragma nomp for
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      a[i][j] = a[i][j] * 2 + i * j;
#pragma nomp for
  for (int i = 0; i < N; i++)
    for (int j = i; j < N; j++)
      t[i * N + j] = i + 10 * j;
#pragma nomp for
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++)
      t[i * N + j] += 1000;
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int sum = f[i];
    for (int j = 0; j < M; j++)
      sum += a[i][j];
    g[i] = sum;
    for (int j = M - 1; j >= 0; j--)
      sum = 2 * sum - a[i][j];
    y[i] = sum % 1000;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int v = i;
    {
      int v = 5;
      f[i] += v;
    }
    for (int i = 0; i < 3; i++)
      v += i;
    f[i] += 100 * v;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    double sum = z[i];
    for (int k = start[i]; k < start[i + 1]; k++)
      sum += value[k] * x[column[k]];
    z[i] = sum;
  }
#pragma nomp update(from : a[0, N], t[0, N * N], f[0, N], g[0, N], y[0, N], z[0, N])
#pragma nomp finalize
  for (int i = 0; i < N; i++)
    SHOW("%d", a[i], M);
  SHOW("%d", t, N * N);
  SHOW("%d", f, N);
  SHOW("%d", g, N);
  SHOW("%d", y, N);
  SHOW("%g", z, N);
  return 0;
}
