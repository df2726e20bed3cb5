/* Sums along rows, which items of a GPU share: of whole numbers, so that their order does not matter. */
#include <stdio.h>

#define N 37

static double a[2000], b[N], c[N];
static int start[N + 1], column[200];

static void product(int n, int m, int *least) {
#pragma nomp for
  for (int i = 0; i < n; i++) {
    double sum = 0;
    int smallest = 99;
    for (int j = m - 1; j >= 0; j--) {
      int x = (int)a[i * m + j];
      sum += x * (j % 2 ? 1 : -1);
      if (x < smallest)
        smallest = x;
    }
    c[i] += sum;
    if (sum > 2)
      c[i] += 1;
    least[i] = smallest;
  }
}

int main(int argc, char **argv) {
  int i, j = -5, least[N];
  for (i = 0; i < 2000; i++)
    a[i] = i * i % 13;
  for (i = 0; i < N; i++)
    start[i + 1] = start[i] + i % 9, b[i] = 1;
  for (i = 0; i < 200; i++)
    column[i] = 7 * i % 50;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, b, c, start, column)
#pragma nomp update(alloc : least)
#pragma nomp for
  for (i = 0; i < N; i++)
    for (j = start[i]; j < start[i + 1]; j++)
      b[i] += a[j] * a[column[j]];
  printf("%d %d\n", i, j);
  for (int m = 0; m <= 50; m += 5)
    product(N, m, least);
  product(0, 40, least);
#pragma nomp update(from : b, c, least)
  for (i = 0; i < N; i++)
    printf("%g %g %d\n", b[i], c[i], least[i]);
#pragma nomp finalize
  return 0;
}
