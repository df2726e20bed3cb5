/* Counting bits, by the compiler's functions and by functions of the program that have their names. */
#include "show.h"
#define N 70

static int popcount(unsigned x) {
  int ones = 0;
  for (; x; x &= x - 1)
    ones++;
  return ones;
}
static int clz(int x) { return 40 - __builtin_clz(x | 1); }

int main(int argc, char **argv) {
  unsigned u[N];
  unsigned long long w[N];
  signed char c[N];
  int ones[N], zeros[N], other[N], own[N], counts[65] = {0};
#pragma nomp init(argc, argv)
  for (int i = 0; i < N; i++)
    u[i] = 2654435761u * i, w[i] = 0x9e3779b97f4a7c15ull * i, c[i] = 3 - i;
  u[1] = 0x80000000u, w[1] = 1ull << 63, u[2] = -1, w[2] = -1;
#pragma nomp update(to : u, w, c, ones, zeros, other, own, counts)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    ones[i] = __builtin_popcount(u[i]) + 100 * __builtin_popcountl(w[i]) + 10000 * __builtin_popcountll(c[i]);
    zeros[i] = __builtin_clz(u[i] | 1) + 100 * __builtin_clzl(w[i] | 1) + 10000 * __builtin_clzll(c[i] | 1LL);
    zeros[i] = zeros[i] * 5 + __builtin_ctz(u[i] | 1 << 31);
    zeros[i] += 2 * __builtin_ctzl(w[i] | 64) + 3 * __builtin_ctzll(c[i] | 8);
    other[i] = __builtin_parity(c[i]) + 2 * __builtin_parityll(w[i]);
    other[i] += 4 * __builtin_ffs(u[i]) + 128 * __builtin_ffsl(w[i]);
    other[i] += __builtin_popcount(255) + __builtin_popcountll(255) + __builtin_ctz(__builtin_ctzl(1L << 48));
    own[i] = popcount(u[i]) + 100 * clz(i);
  }
#pragma nomp for
  for (int i = 0; i < N; i++)
    counts[__builtin_popcountll(w[i])]++;
#pragma nomp update(from : ones, zeros, other, own, counts)
#pragma nomp finalize
  SHOW("%d", ones, N);
  SHOW("%d", zeros, N);
  SHOW("%d", other, N);
  SHOW("%d", own, N);
  SHOW("%d", counts, 65);
  return 0;
}
