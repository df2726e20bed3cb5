/* update: both spellings of a section, bare arrays, parts, alloc, free and mapping again, other units, host in between. */
#include "show.h"
#include <stdlib.h>
#define N 20

int main(int argc, char **argv) {
  int a[N], b[N], rows[4][3];
  double *p = malloc(N * sizeof(double));
  int n = N;
  for (int i = 0; i < N; i++)
    a[i] = i, b[i] = 100 + i, p[i] = i;
  for (int i = 0; i < 12; i++)
    rows[i / 3][i % 3] = i;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[5, 15]) /* elements 5 to 14: host indices on the device too */
#pragma nomp for
  for (int i = 5; i < 15; i++)
    a[i] *= 2;
#pragma nomp update(from : a[7 : 3]) // elements 7, 8, 9 alone
  SHOW("%d", a + 7, 3);
#pragma nomp update(from : a[5, 15])
#pragma nomp update(free : a[5, 15])
  SHOW("%d", a, N);
#pragma nomp update(to : a, b)
#pragma nomp for
  for (int i = 0; i < n; i++)
    b[i] += a[i];
#pragma nomp update(from : b)
#pragma nomp update(alloc : p[0, n])
#pragma nomp for
  for (int i = 0; i < n; i++)
    p[i] = b[i] * 0.5;
#pragma nomp update(from : p[n / 2, n - 1])
  SHOW("%g", p + n / 2, n - 1 - n / 2);
  for (int i = 0; i < N; i++)
    a[i] = -i;
#pragma nomp update(to : a[0, \
                          n / 2])
#pragma nomp for
  for (int i = 0; i < n / 2; i++)
    b[i] = a[i];
#pragma nomp update(from : b)
#pragma nomp update(to : rows[1, 3])
#pragma nomp for
  for (int i = 1; i < 3; i++)
    for (int j = 0; j < 3; j++)
      rows[i][j] += 50;
#pragma nomp sync
#pragma nomp update(from : rows[1, 3])
#pragma nomp update(to : p[n, n])
#pragma nomp update(free : a, b)
#pragma nomp finalize
  SHOW("%d", b, N);
  SHOW("%d", &rows[0][0], 12);
  free(p);
  return 0;
}
