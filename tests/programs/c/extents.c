/* Arrays of variable length: extents of all integer operations, and variables of them that change later. */
#include <stdio.h>

static void computed(int n, unsigned m, long k)
{
  int a[n / 2][m % 7 + 1], b[k >> 1][(n << 1) - n], c[n & ~1][n | 1], d[-n + 20][n ^ 3], e[n > 5 ? n : 5][sizeof(int)];
  int(*f)[n / 3] = (int(*)[n / 3])&b[0][0];
  for (int i = 0; i < n / 2; i++)
    for (int j = 0; j < (int)(m % 7 + 1); j++)
      a[i][j] = i * j;
#pragma nomp update(to : a)
#pragma nomp update(alloc : b, c, d, e)
#pragma nomp for
  for (int i = 0; i < n / 2; i++)
    for (unsigned j = 0; j < m % 7 + 1; j++)
      a[i][j] += i + j;
#pragma nomp for
  for (int i = 0; i < k >> 1; i++)
    for (int j = 0; j < n; j++)
      b[i][j] = i - j;
#pragma nomp for
  for (int i = 0; i < (n & ~1); i++)
    for (int j = 0; j < (n | 1); j++)
      c[i][j] = i + 2 * j;
#pragma nomp for
  for (int i = 0; i < 20 - n; i++)
    for (int j = 0; j < (n ^ 3); j++)
      d[i][j] = i * 3 - j;
#pragma nomp for
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 4; j++)
      e[i][j] = i - 2 * j;
#pragma nomp for
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < n / 3; j++)
      f[i][j] *= 2;
#pragma nomp update(from : a, b, c, d, e)
#pragma nomp update(free : a, b, c, d, e)
  printf("%d %d %d %d %d\n", a[n / 2 - 1][1], b[1][2], c[3][4], d[5][6], e[7][3]);
}

static void changed(int m)
{
  int *first = &m;
  int a[m][m];
  for (int i = 0; i < m * m; i++)
    (&a[0][0])[i] = i;
  *first = 3;
  int b[m][m], *second = &m;
#pragma nomp update(to : a)
#pragma nomp update(alloc : b)
#pragma nomp for
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      b[i][j] = a[i][j];
  *second = 2;
#pragma nomp for
  for (int i = 0; i < 3; i++)
    b[i][1] += a[i + 1][1];
#pragma nomp update(from : b)
#pragma nomp update(free : a, b)
  for (int i = 0; i < 9; i++)
    printf("%d ", (&b[0][0])[i]);
  printf("%d\n", m);
}

int main(int argc, char **argv)
{
#pragma nomp init(argc, argv)
  computed(11, 10, 9);
  changed(4);
#pragma nomp finalize
  return 0;
}
