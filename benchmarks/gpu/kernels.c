/* A stencil, a product of matrices, sums of rows and a sparse product, by the transforms that come with nomp; kernels.cu
   has them by hand.  kernels [SCALE]: sizes, 96 if it is left out. */
#include "kernels.h"
#include "product.h"

static void heat(int nx, int ny, int nz, double v[nz][ny][nx], const double u[nz][ny][nx], double c) {
#pragma omp parallel for
#pragma nomp for name("heat") transform("stencil", "column", loops = "x y z")
  for (int z = 1; z < nz - 1; z++)
    for (int y = 1; y < ny - 1; y++)
      for (int x = 1; x < nx - 1; x++)
        v[z][y][x] = u[z][y][x] + c * (u[z][y][x - 1] + u[z][y][x + 1] + u[z][y - 1][x] + u[z][y + 1][x] +
                                       u[z - 1][y][x] + u[z + 1][y][x] - 6 * u[z][y][x]);
#pragma nomp sync
}

static void rows(int n, double *y, const double a[n][n], const double *x) {
#pragma omp parallel for
#pragma nomp for name("rows") transform("reduce", "rows", row = "i", over = "j")
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++)
      sum += a[i][j] * x[j];
    y[i] = sum;
  }
#pragma nomp sync
}

static void sparse(int n, double *y, const int *start, const int *column, const double *value, const double *x) {
#pragma omp parallel for
#pragma nomp for name("sparse")
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int e = start[i]; e < start[i + 1]; e++)
      sum += value[e] * x[column[e]];
    y[i] = sum;
  }
#pragma nomp sync
}

int main(int argc, char **argv) {
  struct data d = made(argc > 1 && argv[1][0] != '-' ? atoi(argv[1]) : 96);
  const int m = d.m, n = d.n, r = d.r;
#pragma nomp init(argc, argv)
#pragma nomp update(to : d.u[0, m * m * m], d.v[0, m * m * m], d.a[0, n * n], d.b[0, n * n], d.x[0, r])
#pragma nomp update(to : d.start[0, r + 1], d.column[0, d.start[r]], d.value[0, d.start[r]])
#pragma nomp update(alloc : d.c[0, n * n], d.y[0, r])
  MEASURE("heat", heat(m, m, m, (void *)d.v, (void *)d.u, 0.1), m);
  MEASURE("product", product(n, (void *)d.c, (void *)d.a, (void *)d.b), n);
  MEASURE("rows", rows(n, d.y, (void *)d.a, d.x), n);
#pragma nomp update(from : d.y[0, r])
  double first = total(n, d.y);
  MEASURE("sparse", sparse(r, d.y, d.start, d.column, d.value, d.x), r);
#pragma nomp update(from : d.v[0, m * m * m], d.c[0, n * n], d.y[0, r])
  double none = 0;
  show("results", &none, 1, total(m * m * m, d.v) + total(n * n, d.c) + first + total(r, d.y));
#pragma nomp finalize
  return 0;
}
