/* The data of libraries.c and libraries.cu: two dense matrices, and three kinds of sparse ones, in compressed rows. */
#include <string.h>

#include "timing.h"

struct sparse {
  int entries, *start, *column; /* [n + 1], [entries] */
  double *value, *x, *y;        /* [entries], [n], [n] */
};

static unsigned state = 12345;

static double uniform(void) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) / 16777216.0;
}

/* banded: 27 neighbours of the diagonal; uniform: 16 anywhere; power: 1 to 4096 anywhere, 23 on average. */
static int entries_of_row(const char *kind) {
  if (strcmp(kind, "banded") == 0) return 27;
  if (strcmp(kind, "uniform") == 0) return 16;
  int count = (int)(3 / (uniform() + 1 / 2048.)) + 1;
  return count < 4096 ? count : 4096;
}

static struct sparse made(const char *kind, int n) {
  struct sparse a = {0, (int *)malloc((n + 1) * sizeof(int)), 0, 0, 0, 0};
  a.start[0] = 0;
  for (int i = 0; i < n; i++) a.start[i + 1] = a.start[i] + entries_of_row(kind);
  a.entries = a.start[n];
  a.column = (int *)malloc(a.entries * sizeof(int)), a.value = (double *)malloc(a.entries * sizeof(double));
  a.x = (double *)malloc(n * sizeof(double)), a.y = (double *)malloc(n * sizeof(double));
  for (int i = 0; i < n; i++) {
    for (int e = a.start[i]; e < a.start[i + 1]; e++) {
      int near = i + e - a.start[i] - 13;
      a.column[e] = strcmp(kind, "banded") ? (int)(n * uniform()) : near < 0 ? 0 : near < n ? near : n - 1;
      a.value[e] = uniform();
    }
    a.x[i] = uniform();
  }
  return a;
}

static double *dense(int n) {
  double *a = (double *)malloc((size_t)n * n * sizeof(double));
  for (size_t i = 0; i < (size_t)n * n; i++) a[i] = uniform();
  return a;
}

static double norm(size_t count, const double *a) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += (1 + i % 7) * a[i];
  return sum;
}
