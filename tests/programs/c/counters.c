/* Counters that wrap around in their type, that a pointer or a function sees, and calls that change what they return. */
#include "show.h"
#define N 12

static int seen;

static int with_seen(int k) { return seen + k; }

static int taken(int *from, int k) { return from[k & 3]++; }

static int taken_with(int *from, int k) { return taken(from, k) * 10 + k; }

int main(int argc, char **argv) {
  int q[N] = {0}, r[N], up = 2, down = -3;
  unsigned char first = 250;
  for (int i = 0; i < N; i++)
    r[i] = i % 4;
#pragma nomp init(argc, argv)
#pragma nomp update(to : q, r)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    for (signed char k = 126; k >= 19; k += up)
      q[i] += k;
    for (unsigned char k = first; 19 < k; k = k + up)
      q[i] += 1;
    for (unsigned k = 12; k <= 4294967289u; k += down)
      q[i] += k > 100 ? 1000 : 1;
    for (signed char k = 113; k != 10; k -= up + 237)
      q[i] += 7;
    for (unsigned char k = 250; k > 3; k += 3)
      q[i] += k;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int k, *p = &k;
    for (k = 0; k < 5; k++)
      q[i] += *p;
    for (k = 0; k < 9; k++)
      *p += i % 2;
    q[i] += k * 100;
  }
#pragma nomp for
  for (int i = 0; i < N; i++)
    for (seen = 0; seen < 3; seen++)
      q[i] += with_seen(i);
#pragma nomp for
  for (int i = 0; i < N; i++)
    q[i] += taken_with(r, r[i & 3]);
#pragma nomp update(from : q, r)
#pragma nomp finalize
  SHOW("%d", q, N);
  SHOW("%d", r, N);
  printf("%d\n", seen);
  return 0;
}
