/* Functions that take pointers, write variables of the program or read its tables; results through pointers. */
#include "show.h"
#include <math.h>
#define N 10

static const double weights[4] = {0.5, 1.5, 2.5, 3.5};
static const int width = 4;
static double total;

static double dot(const double *a, const double *b, int n) {
  double s = 0;
  int j;
  for (j = 0; j < n; j++)
    s += a[j] * b[j];
  return s;
}

static double pick(const double *w, int i) { return w[i] * weights[i % width]; }

static void both(double x, double *s, double *c) {
  *s = sin(x);
  *c = cos(x);
}

static void scale(double v[3], double f) {
  for (int i = 0; i < 3; i++)
    v[i] *= f;
  f = 0;
  v[0] += f;
}

static double norm(double x) {
  double v[3] = {x, 1, 2}, r = 0;
  scale(v, x);
  for (int i = 0; i < 3; i++)
    r += v[i];
  return r;
}

static void add(double d) { total += d; }

static double row(double (*r)[3], int i) { return r[i][0] + (*r)[2]; }

int main(int argc, char **argv) {
  double x[N], y[N], z[4 * N], m[N][3];
  double s = 0;
  for (int i = 0; i < N; i++) {
    x[i] = i, y[i] = 2 - i;
    for (int j = 0; j < 3; j++)
      m[i][j] = i * j;
  }
  for (int i = 0; i < 4 * N; i++)
    z[i] = i % 7;
#pragma nomp init(argc, argv)
#pragma nomp update(to : x, y, z, m)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    double c;
    both(x[i], &s, &c);
    y[i] = s + 2 * c + dot(x, z + i * 4, width) + pick(x, i) + norm(i) + weights[i % width];
    if (dot(&m[i][0], m[0], 3) > 5)
      y[i] += dot(z, z, 3) * pick(z, (int)pick(z, 3));
    else if (row(m, i) > 2)
      y[i] -= row(&m[i], 0);
    add(y[i]);
    scale(m[i], dot(x, x, i));
    scale(&z[3 * i], 0.5);
  }
  double *end = y + N;
#pragma nomp for
  for (int i = -N; i < 0; i++)
    end[i] = nearbyint(end[i]) + end[i] / 1024;
#pragma nomp update(from : y, z, m)
#pragma nomp finalize
  SHOW("%.10g", y, N);
  SHOW("%.10g", z, 4 * N);
  SHOW("%.10g", m[2], 3);
  printf("%.10g %.10g\n", total, s);
  return 0;
}
