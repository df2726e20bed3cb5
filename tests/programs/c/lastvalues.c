/* Variables and counters declared before the loop, as C89 has them, with schedules: their last values survive. */
#include "show.h"
#include <math.h>
#define N 24

int main(int argc, char **argv) {
  double a[N], b[N], t = -1, u = -1;
  int start[N + 1], i, j = -1, k, none = 7;
  unsigned m;
  for (i = 0; i < N; i++)
    a[i] = i * i % 7, b[i] = 0, start[i] = i * (i + 1) / 24;
  start[N] = N;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, b, start)
#pragma nomp for transform("schedules", "rows")
  for (i = 0; i < N; i++) {
    t = a[i] * 2;
    if (t > 3)
      u = sqrt(t);
    else
      u = t;
    b[i] = t + u;
  }
  printf("%g %g %d\n", t, u, i);
#pragma nomp for transform("schedules", "rows")
  for (i = 0; i < N; i++)
    for (j = start[i]; j < start[i + 1]; j++)
      b[i] += a[j];
  printf("%d\n", j);
#pragma nomp for transform("schedules", "rows")
  for (i = 1; i <= N - 2; i += 3) {
    for (j = 0; j < N; j++)
      if (a[j] == i % 7)
        break;
    k = j;
    b[i] += k;
  }
  printf("%d %d %d\n", i, j, k);
#pragma nomp for transform("schedules", "rows")
  for (i = 5; i < argc; i++) {
    none = i;
    b[i] = none;
  }
  printf("%d %d\n", i, none);
#pragma nomp for transform("schedules", "rows")
  for (i = N; i > 3; i -= 2) {
    m = i;
    b[m - 1] += 1;
  }
  printf("%u %d\n", m, i);
  for (int rows = 0; rows < 3; rows += 2) { /* with no rows, the variables keep what they had */
#pragma nomp for transform("schedules", "rows")
    for (i = 0; i < N; i++)
      for (int l = 0; l < rows; l++)
        for (int r = 2; r > 0; r--) {
          t = a[i] + l;
          b[i] += t * r;
        }
    printf("%g\n", t);
#pragma nomp for
    for (i = 0; i < N; i++)
      for (int l = 0; l < rows; l++) {
        u = a[i] * l;
        b[i] -= u;
      }
    printf("%g\n", u);
  }
#pragma nomp for
  for (i = 0; i < N / 2; i++) { /* a subscript that each iteration sets: independent, then not */
    j = 2 * i;
    b[j] = b[j + 1] + a[i];
  }
  printf("%d\n", j);
#pragma nomp for
  for (i = 0; i < N - 1; i++) {
    j = i + 1;
    b[j] = b[i] + a[j];
  }
  printf("%d\n", j);
#pragma nomp update(from : b)
#pragma nomp finalize
  SHOW("%g", b, N);
  return 0;
}
