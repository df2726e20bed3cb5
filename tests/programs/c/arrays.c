/* Arrays: 2-D and 3-D, VLA parameters, pointers to arrays, locals in the body, interior pointers, members of structs. */
#include "show.h"
#include <stdlib.h>
#define N 6
#define M 5

struct mesh {
  int n;
  double *x;
  double y[N];
};

static void vla(int n, int m, double a[n][m], const double (*b)[M]) {
#pragma nomp for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] += b[i][j] * (i + 1);
}

static void interior(double *restrict p, const double *q, int n) {
#pragma nomp for
  for (int i = 0; i < n; i++)
    p[i] = q[i + 1] + *(q + i);
#pragma nomp for
  for (int i = -2; i < 0; i++)
    p[i] = 100 + i;
#pragma nomp for
  for (int i = 0; i < 1; i++)
    *p += 0.5;
#pragma nomp for
  for (int i = 0; i < 4; i++) {
    int v[5] = {[3] = i, 2, [0] = 7, 8}, w[3][2] = {[1] = {3, 4}, {5}};
    p[i] += v[i] + 10 * w[i % 3][i % 2];
  }
}

int main(int argc, char **argv) {
  double a[N][M], b[N][M], c[2][3][4], line[20], other[20];
  double *heap = malloc(N * sizeof *heap);
  struct mesh mesh = {N, heap, {0}}, *m = &mesh;
  for (int i = 0; i < N; i++) {
    heap[i] = i, mesh.y[i] = 2 * i;
    for (int j = 0; j < M; j++)
      a[i][j] = i, b[i][j] = j;
  }
  for (int i = 0; i < 24; i++)
    (&c[0][0][0])[i] = i;
  for (int i = 0; i < 20; i++)
    line[i] = i * i, other[i] = -i;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, N], b[0, N], c[0, 2], line[0, 20], other[0, 20])
#pragma nomp update(to : m->x[0, N], mesh.y[0, N])
  vla(N, M, a, (const double(*)[M])b);
  interior(line + 4, other + 2, 9);
#pragma nomp for
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 4; k++)
        c[i][j][k] = c[i][j][k] * 10 + i + j + k;
#pragma nomp for
  for (int i = 0; i < m->n; i++) {
    double part[3], square[2][2] = {{1, 2}, {3, 4}};
    for (int k = 0; k < 3; k++)
      part[k] = m->x[i] * k;
    mesh.y[i] += part[0] + part[1] * part[2] + square[1][i % 2];
  }
#pragma nomp update(from : a[0, N], c[0, 2], line[0, 20], mesh.y[0, N])
#pragma nomp finalize
  for (int i = 0; i < N; i++)
    SHOW("%g", a[i], M);
  SHOW("%g", &c[0][0][0], 24);
  SHOW("%g", line, 20);
  SHOW("%g", mesh.y, N);
  free(heap);
  return 0;
}
