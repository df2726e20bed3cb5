/* Matrices that pointers step through beyond the end of a row: loops whose iterations meet in another row. */
#include <stdio.h>

#define R 300
#define C 700

static void carry(int m, unsigned a[R][m])
{
#pragma nomp for
  for (int i = 0; i < R - 1; i++) {
    unsigned *row = a[i];
    row[m] = row[0] + i;
  }
}

static unsigned above(const unsigned column[C], int k) { return column[k - C]; }

int main(int argc, char **argv)
{
  static unsigned a[R][C];
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++)
      a[i][j] = 7 * i + 3 * j;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a)
  unsigned *flat = &a[0][0];
#pragma nomp for
  for (int k = C; k < R * C; k++)
    flat[k] += flat[k - C];
#pragma nomp for
  for (int k = 1; k < R * C; k++)
    (&a[0][0])[k] ^= (&a[0][0])[k - 1];
#pragma nomp for
  for (int i = 0; i < R - 1; i++) {
    unsigned *row = &a[i][0];
    *(row + C + 1) = a[i][1] + 1;
    row[C + 2] = row[2] + 1;
  }
#pragma nomp for
  for (int k = C; k < R * C; k++)
    flat[k] += above(&a[0][0], k);
  carry(C, a);
#pragma nomp for
  for (int i = 0; i < R; i++) {
    unsigned *row = a[i];
    for (int j = 0; j < C; j++)
      row[j] *= 2;
  }
#pragma nomp for
  for (int i = 1; i < R; i++) { /* a statement that leaves its row, and one that does not */
    (&a[0][0])[i * C - 1] = i;
    a[i][C - 1] += 7;
  }
#pragma nomp update(from : a)
#pragma nomp finalize
  unsigned sum = 0;
  for (int i = 0; i < R; i++)
    for (int j = 0; j < C; j++)
      sum = sum * 31 + a[i][j];
  printf("%u %u %u\n", a[1][0], a[R - 1][C - 1], sum);
  return 0;
}
