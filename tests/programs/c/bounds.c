/* Loop bounds: every relation, steps, directions, zero and negative trips, unsigned and 64-bit counters. */
#include "show.h"
#include <stddef.h>
#define N 40

static void loops(int *a, int n, int lo, unsigned un, size_t zn, long ln, int step) {
#pragma nomp for
  for (int i = lo; i <= n - 1; i++)
    a[i] += 1;
#pragma nomp for
  for (int i = n - 1; i >= lo; i--)
    a[i] += 10;
#pragma nomp for
  for (int i = n - 1; i > lo; i -= 2)
    a[i] += 100;
#pragma nomp for
  for (int i = lo; i != n; i += 1)
    a[i] += 1000;
#pragma nomp for
  for (unsigned i = 0; i < un; i += 3u)
    a[i] += 10000;
#pragma nomp for
  for (size_t i = 0; i < zn; ++i)
    a[i] += 100000;
#pragma nomp for
  for (long i = 0; ln > i; i = i + step)
    a[i] += 1000000;
}

static void empty(int *a, int zero, int negative, unsigned uzero, size_t zzero) {
#pragma nomp for
  for (int i = 0; i < zero; i++)
    a[i] = -1;
#pragma nomp for
  for (int i = 0; i < negative; i++)
    a[0] = -2;
#pragma nomp for
  for (unsigned i = 0; i < uzero; i++)
    a[i] = -3;
#pragma nomp for
  for (size_t i = 5; i < zzero; i++)
    a[i] = -4;
}

/* -1 compared with an unsigned counter is a large bound; the subtraction of unsigned values wraps around. */
static void wrapped(int *a, unsigned n) {
#pragma nomp for
  for (unsigned i = n - 3; i < n; i++)
    a[i] += 7;
#pragma nomp for
  for (unsigned char c = 250; c >= 245; c--)
    a[c - 245] += 5;
}

static int after(int *a, int n) {
  int i, j = 0;
#pragma nomp for
  for (i = 2; i < n; i += 4)
    a[i] += 3;
  j += i;
#pragma nomp for
  for (i = n; i < 2; i++)
    a[i] += 3;
  return 1000 * j + i;
}

int main(int argc, char **argv) {
  int a[N] = {0};
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, N])
  loops(a, N, 3, 37u, 20, 33, 5);
  empty(a, 0, -5, 0, 0);
  wrapped(a, N);
  int last = after(a, N - 1);
#pragma nomp update(from : a[0, N])
#pragma nomp update(free : a[0, N])
#pragma nomp finalize
  SHOW("%d", a, N);
  printf("%d\n", last);
  return 0;
}
