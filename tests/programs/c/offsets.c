/* Conditions that compare the counter plus or minus a constant, at the ends of types, and zero trips. */
#include "show.h"
#include <limits.h>
#include <stddef.h>
#define N 40

#define RUN(type, first, condition, step)                                                                              \
  for (type i = first; condition; step)                                                                                \
    a[i] = a[i] * 2 + __LINE__ % 9;

int main(int argc, char **argv) {
  int a[N] = {0}, b[N] = {0}, few = 9, least = INT_MIN;
  long n = N, low = LONG_MIN, high = LONG_MAX;
  unsigned un = 30, uone = 1;
  size_t size = 21, two = 2;
  int last, inner;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, b)
#pragma nomp for
  RUN(int, 0, i + 2 <= n, i++)
#pragma nomp for
  RUN(int, 3, 2 + i < few, i += 2)
#pragma nomp for
  RUN(int, 0, n >= i + 2, i += 3)
#pragma nomp for
  RUN(int, 0, i + 3 <= least, i++)
#pragma nomp for
  RUN(int, 0, i + 3 <= low, i++)
#pragma nomp for
  RUN(int, 9, i - 3 >= high, i--)
#pragma nomp for
  RUN(int, 9, i - 3 > least + INT_MAX - 3, i -= 2)
#pragma nomp for
  RUN(int, 9, i - 1 >= 0, i--)
#pragma nomp for
  RUN(long, 9, i - 3 >= n - 38, i -= 2)
#pragma nomp for
  RUN(unsigned, 0, i + 2 <= un, i++)
#pragma nomp for
  RUN(unsigned, 0, i + 2 <= uone, i++)
#pragma nomp for
  RUN(int, 0, i + 5 < un, i++)
#pragma nomp for
  RUN(int, 0, i + sizeof(int) <= size, i++)
#pragma nomp for
  RUN(size_t, 0, i + 2 <= two, i++)
#pragma nomp for
  RUN(size_t, 0, i + 2 < two, i++)
#pragma nomp for
  RUN(size_t, 1, i + 3 <= size - 1, i += 4)
#pragma nomp for
  RUN(unsigned char, 0, i + 3 <= few, i++)
#pragma nomp for
  RUN(unsigned short, 1, i + 3 <= un, i++)
#pragma nomp for
  RUN(short, 0, i - 1 < few, i++)
#pragma nomp for
  for (last = 0; last + 3 < few; last += 2)
    b[last] = 5;
#pragma nomp for
  for (int i = 1; i + 1 < N; i++) {
    for (int j = 0; j + 1 < i; j++)
      b[i] += j;
    for (inner = i; inner - 2 > 0; inner--)
      b[i] += inner;
    for (size_t j = 5; j + 1 < 8; j--)
      b[i] += 100;
    b[i] += 1000 * inner;
  }
#pragma nomp update(from : a, b)
#pragma nomp finalize
  SHOW("%d", a, N);
  SHOW("%d", b, N);
  printf("%d %d\n", last, inner);
  return 0;
}
