/* Scripts that put sequential loops in another order, where the results allow it. */
#include "show.h"
#define N 37

int main(int argc, char **argv) {
  static double a[N][N], b[N][N], c[N][N];
  int k[N], n = N;
  for (int i = 0; i < N; i++) {
    k[i] = i;
    for (int j = 0; j < N; j++)
      a[i][j] = (i * 7 + j * 3) % 11 - 5, b[i][j] = (i * 5 + j) % 13 - 6, c[i][j] = i - j;
  }
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, b, c, k)
#pragma nomp for transform("schedules", "nested", order="i, k, j")
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
#pragma nomp for transform("schedules", "squares")
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = a[i - 1][j] * 0.5 + b[i][j];
#pragma nomp for transform("schedules", "nested", order="j, i")
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n; j++) {
      double t = b[i][j] + c[j][i];
      if (t > 0) {
        b[i][j] = t * 0.25;
        k[i] += j;
      }
    }
#pragma nomp for transform("schedules", "nested", order="j, i")
  for (int i = n - 1; i > 0; i -= 2)
    for (int j = 3; j < n; j += 3)
      a[i][j] = a[i][j - 3] + a[i - 1][j] * 0.125;
#pragma nomp for transform("schedules", "squares")
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        c[i][j] -= a[i][k] * b[k][j];
  /* A loop that is only split keeps its order. */
#pragma nomp for transform("schedules", "strips")
  for (int i = 1; i < n; i++)
    k[i] += 3 * k[i - 1] % 1000;
#pragma nomp for transform("schedules", "strips", unrolled=1)
  for (int i = 0; i < n; i++)
    k[0] = k[i] + i;
#pragma nomp for transform("schedules", "strips")
  for (int i = 1; i < n; i++)
    while (k[i] > 1 + (k[i - 1] & 7))
      k[i] /= 2;
#pragma nomp update(from : a, b, c, k)
#pragma nomp finalize
  for (int i = 0; i < N; i += 9) {
    SHOW("%.17g", a[i], N);
    SHOW("%.17g", b[i], N);
    SHOW("%.17g", c[i], N);
  }
  SHOW("%d", k, N);
  return 0;
}
