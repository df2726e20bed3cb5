/* Loops inside the annotated one: while, do, any for header, counters and bounds that change, counters that are used
   after their loop. */
#include "show.h"
#define N 12

static int collatz(long k) {
  int steps = 0;
  while (k != 1) {
    k = k % 2 ? 3 * k + 1 : k / 2;
    steps++;
  }
  return steps;
}

int main(int argc, char **argv) {
  int start[N + 1], k[N], first[N];
  double z[4 * N];
  int j = -1, q = -1, bound = 3;
  for (int i = 0; i < N; i++)
    start[i] = i * (i + 1) / 4, k[i] = 7 * i % 5, first[i] = 0;
  start[N] = 3 * N;
  for (int i = 0; i < 4 * N; i++)
    z[i] = i;
#pragma nomp init(argc, argv)
#pragma nomp update(to : start, k, first, z)
#pragma nomp for
  for (int i = 0; i < N; i++)
    for (j = start[i]; j < start[i + 1]; j++)
      z[j] += i;
#pragma nomp for
  for (int i = 0; i < N; i++) {
    for (j = 0; j < N; j++)
      if (k[j] == i)
        break;
    first[i] = j;
    if (i % 2)
      for (j = N - 1; j >= 0; j -= 2)
        first[i] += k[j];
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    for (int a = 0, b = 5; a < b; a++, b--) {
      if (a == 1)
        continue;
      z[i] += a * b;
    }
    for (q = 1; q < 100; q *= 2)
      z[i] += q;
    for (int a = 0; a < k[i]; a++)
      if (a == 2)
        k[i]--;
    for (int a = 0; a < 9; a++) {
      if (a == i)
        a += 3;
      switch (a) {
      case 4:
        continue;
      }
      k[i] += a;
    }
    int c = 3, odd = 0;
    do {
      c--;
      if (c == 1)
        continue;
      z[i] += c;
    } while (c);
    while (c < i) {
      if (c == 7)
        break;
      for (int a = 0; a < c; a++)
        odd ^= a;
      c++;
    }
    for (;;) {
      bound--;
      if (bound < 0 || odd > 3)
        break;
      for (; c > 2; c--)
        z[i] += 0.5;
    }
    k[i] = 100 * k[i] + collatz(i + c + 1);
  }
#pragma nomp update(from : first, k, z)
#pragma nomp finalize
  SHOW("%g", z, 4 * N);
  SHOW("%d", first, N);
  SHOW("%d", k, N);
  printf("%d %d %d\n", j, q, bound);
  return 0;
}
