/* Pointers that overlap: the scripts' schedules would be wrong for some of these calls. */
#include "show.h"
#define N 40

static void shift(int n, double *to, const double *from) {
#pragma nomp for transform("schedules", "rows")
  for (int i = 0; i < n; i++)
    to[i] = from[i] + 1;
}

static void scale(int n, double *to, const double *from) {
#pragma nomp for transform("schedules", "rows")
  for (int i = 0; i < n; i++)
    to[i] = 2 * from[i];
}

static void twice(int n, double *to, double *from) {
#pragma nomp for
  for (int i = 0; i < n; i++) {
    to[3 * i + 1] -= 1;
    from[3 * i + 1] = from[3 * i + 1] / 2;
    to[3 * i + 1] = i - to[3 * i + 1];
    from[3 * i + 1] *= 0.25;
  }
}

static void gather(int n, int *to, const int *from, const int *place) {
#pragma nomp for transform("schedules", "rows")
  for (int i = 0; i < n; i++)
    to[i] = from[place[i]];
}

int main(int argc, char **argv) {
  double a[N], b[N];
  int c[3 * N];
  for (int i = 0; i < N; i++)
    a[i] = i, b[i] = -i, c[i] = (i * 7) % N, c[N + i] = i, c[2 * N + i] = 0;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, b, c)
  shift(N, a, b);
  shift(N - 1, a + 1, a);
  shift(N - 1, b, b + 1);
  shift(N / 2, b, b + N / 2);
  scale(N, a, a);
  scale(N / 2, a + N / 4, a);
  twice(N / 3, a, a);
  twice(N / 3, a, b);
  gather(N, c + 2 * N, c + N, c);
  gather(N, c + N, c + N, c);
#pragma nomp update(from : a, b, c)
#pragma nomp finalize
  SHOW("%g", a, N);
  SHOW("%g", b, N);
  SHOW("%d", c, 3 * N);
  return 0;
}
