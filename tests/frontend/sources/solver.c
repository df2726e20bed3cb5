/* A solver in the style of many: typedefs, globals, CSR, VLA parameters, struct members, macros. */
#include <math.h>
#include <stddef.h>
#include "sizes.h"

typedef double scalar;
struct grid {
  int n;
  scalar *u;
  scalar weights[ORDER];
  struct grid *coarse;
  struct {
    float tau;
  } step;
};
enum { FIRST = 1, LAST = ORDER - 1 };

#define SQUARE(x) ((x) * (x))
#define AT(i, j) [(i) * (n) + (j)]
#define EACH(i, n) for (int i = 0; i < (n); i++)

static scalar work[8][ORDER];
static const scalar *table;

void smooth(struct grid *g, const int n, scalar omega) {
#pragma nomp for transform("smooth", "rows", b = 32) annotate("kind", "stencil") jit(n) name("smooth")
  for (int i = FIRST; i < n - 1; i++) {
    scalar old = g->u[i], around = g->u[i - 1] + g->u[i + 1];
    g->coarse->u[i / 2] = old + omega * g->step.tau * (0.5 * around - old) * g->weights[i % ORDER];
  }
}

void product(int rows, const size_t *start, const unsigned *column, const float *value, const scalar *x, scalar *y) {
#pragma nomp for
  for (int r = 0; r < rows; r++) {
    scalar sum = 0;
    for (size_t k = start[r]; k < start[r + 1]; k++)
      sum += value[k] * x[column[k]];
    for (size_t k = start[r]; k < start[r + 1]; k++)
      if (value[k] == 0)
        break;
      else
        sum -= SQUARE(value[k]);
    y[r] = sum;
  }
}

void tensor(int m, int n, scalar w[m][n][n], scalar (*restrict d)[n], scalar *flat) {
  int i, j, width = 2 * n;
  scalar local[ORDER][3], strip[width + 1];
#pragma nomp for jit(n)
  for (i = 0; i < m; i++) {
    scalar t[n][ORDER];
    for (j = 0; j < n; j++) {
      int k;
      for (k = LAST; k >= 0; --k)
        t[j][k] = d[j][k] + local[k][1] + strip[k];
      for (k = 0; k < j; k++)
        w[i][j][k] = t[j][0] + table[k] + work[i][k] + flat AT(j, k) + (*(w + i))[k][j];
    }
  }
}

scalar norms(int n, const scalar *x, scalar *out, scalar s) {
  scalar sum = 0, low = x[0];
  long count = 0;
  scalar pair[2] = {0, 0};
#pragma nomp for reduce("sum", "+") reduce(min : low) reduce("count", "+") reduce("pair[1]", "max") reduce("out", "*")
  EACH(i, n) {
    sum += SQUARE(x[i]) - s;
    if (x[i] < low)
      low = x[i];
    if (x[i] > 0)
      count++;
    pair[1] = fmax(pair[1], x[i]);
    *out = x[i] * *out;
  }
  scalar last = 0;
#pragma nomp for
  for (int i = 0; i < n; i++)
    last = x[i];
  return sum + low + count + last + pair[1];
}
