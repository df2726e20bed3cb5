/* Loops that must run in order without a script: recurrences, histograms, overlapping pointers, scans. */
#include "show.h"
#define N 50

static void shift(int *to, const int *from, int n) {
#pragma nomp for
  for (int i = 0; i < n; i++)
    to[i] = from[i] + 1;
}

int main(int argc, char **argv) {
  int a[N], b[N], count[7], scan[N], grid[6][6];
  for (int i = 0; i < N; i++)
    a[i] = 1, b[i] = (i * i) % 7, scan[i] = i;
  for (int i = 0; i < 7; i++)
    count[i] = 0;
  for (int i = 0; i < 36; i++)
    grid[i / 6][i % 6] = i % 5;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, b, count, scan, grid)
#pragma nomp for
  for (int i = 1; i < N; i++)
    a[i] = 2 * a[i - 1] % 1000 + b[i];
#pragma nomp for
  for (int i = 0; i < N; i++)
    count[b[i]]++;
  shift(b + 1, b, N - 1);
  shift(b, b + 1, 10);
  int sum = 0;
#pragma nomp for
  for (int i = 0; i < N; i++) {
    sum += scan[i];
    scan[i] = sum;
  }
#pragma nomp for
  for (int t = 0; t < 3; t++)
    for (int i = 1; i < 5; i++)
      for (int j = 1; j < 5; j++)
        grid[i][j] = (grid[i - 1][j] + grid[i][j + 1] + grid[i + 1][j] + grid[i][j - 1]) / 4 + t;
#pragma nomp update(from : a, b, count, scan, grid)
#pragma nomp finalize
  SHOW("%d", a, N);
  SHOW("%d", b, N);
  SHOW("%d", count, 7);
  SHOW("%d", scan, N);
  SHOW("%d", &grid[0][0], 36);
  printf("%d\n", sum);
  return 0;
}
