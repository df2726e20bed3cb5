/* The data of kernels.c and kernels.cu. */
#include "timing.h"

struct data {
  int m, n, r;         /* points in each direction; rows of dense matrices; rows of the sparse one */
  double *u, *v;       /* [m][m][m] */
  double *a, *b, *c;   /* [n][n] */
  int *start, *column; /* [r + 1], [start[r]] */
  double *value, *x, *y;
};

static struct data made(int scale) {
  struct data d = {4 * scale, 40 * scale, 20000 * scale, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const size_t points = (size_t)d.m * d.m * d.m, square = (size_t)d.n * d.n;
  d.u = (double *)malloc(points * sizeof(double)), d.v = (double *)malloc(points * sizeof(double));
  d.a = (double *)malloc(square * sizeof(double)), d.b = (double *)malloc(square * sizeof(double));
  d.c = (double *)malloc(square * sizeof(double));
  d.start = (int *)malloc((d.r + 1) * sizeof(int)), d.column = (int *)malloc((size_t)d.r * 24 * sizeof(int));
  d.value = (double *)malloc((size_t)d.r * 24 * sizeof(double));
  d.x = (double *)malloc(d.r * sizeof(double)), d.y = (double *)malloc(d.r * sizeof(double));
  for (size_t i = 0; i < points; i++) d.u[i] = d.v[i] = i % 11;
  for (size_t i = 0; i < square; i++) d.a[i] = i % 7 * 0.25, d.b[i] = i % 5 * 0.5;
  d.start[0] = 0;
  for (int i = 0; i < d.r; i++) { /* 8 to 24 entries a row, most near the diagonal */
    int count = 8 + i % 17, e = d.start[i];
    for (int k = 0; k < count; k++, e++)
      d.column[e] = (int)((i + (k < count - 2 ? k : (size_t)7919 * (i + k))) % d.r), d.value[e] = k * 0.125;
    d.start[i + 1] = e, d.x[i] = i % 3;
  }
  return d;
}

static double total(size_t count, const double *a) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += a[i];
  return sum;
}
