/* Loops whose counters pass zero, their type's end, or a comparison of another signedness, as C defines it. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#define N 16
#define FOR(header, k)                                                                                                 \
  for (int i = 0; i < N; i++)                                                                                          \
    for (header)                                                                                                       \
      q[(k) & 15] += i + 1;

static void show(const char *what, const int q[N])
{
  printf("%s:", what);
#pragma nomp update(from : q[0, N])
  for (int i = 0; i < N; i++)
    printf(" %d", q[i]);
  printf("\n");
}

static void compared(int q[N], unsigned m, unsigned none, int low)
{
#pragma nomp for
  for (int j = -3; j < m - 11; j++)
    q[j + 3] += 1;
#pragma nomp for
  for (int j = -7; j < m - 11; j += 2)
    q[j + 7] += 1;
#pragma nomp for
  for (int j = low; j >= 4294967290u; j--)
    q[-j] += 1;
#pragma nomp for
  for (int j = 5; j != none; j--)
    q[j] += 1;
#pragma nomp for
  FOR(int j = -3; j < m - 11; j++, j)
#pragma nomp for
  FOR(int j = low; j > 4294967290u; j--, j)
#pragma nomp for
  FOR(int j = 5; j != none; j--, j)
#pragma nomp for
  FOR(short j = -5; j < m - 11; j++, j)
#pragma nomp for
  FOR(short j = 32760; j < 40000u; j++, j)
}

static void stepped(int q[N], unsigned char step, unsigned big, int back)
{
#pragma nomp for
  for (unsigned char k = 0; k < 140; k += step)
    q[k & 15] += 1;
#pragma nomp for
  for (unsigned char k = 0; k < 140; k += 150)
    q[k & 15] += 1;
#pragma nomp for
  for (unsigned k = 0; k < 2400000000u; k += big)
    q[k & 15] += 1;
#pragma nomp for
  for (unsigned k = 10; k > 3; k += back)
    q[k & 15] += 1;
#pragma nomp for
  FOR(unsigned char k = 200; k < 250; k += 60, k)
#pragma nomp for
  FOR(unsigned k = 0; k < 2400000000u; k += big, k)
#pragma nomp for
  FOR(unsigned k = 0; k < 2400000000u; k += 2500000000u, k)
#pragma nomp for
  FOR(unsigned k = 10; k > 3; k += back, k)
#pragma nomp for
  FOR(long k = LONG_MIN; k < 0x6000000000000000; k += 0x2000000000000000, k >> 61)
#pragma nomp for
  FOR(uint64_t k = 5; k < UINT64_MAX / 4 * 3; k += 0x2000000000000000u, k >> 61)
}

static void round_the_end(int q[N], unsigned n, short high)
{
#pragma nomp for
  for (short h = -3; h != high; h++)
    q[h & 15] += 1;
#pragma nomp for
  for (uint64_t k = UINT64_MAX - 5; k < UINT64_MAX; k++)
    q[k & 15] += 1;
#pragma nomp for
  for (long k = LONG_MIN + 5; k > LONG_MIN; k--)
    q[k & 15] += 1;
#pragma nomp for
  FOR(unsigned long k = 0x7ffffffffffffffe; k < 0x8000000000000002 + n; k++, k)
#pragma nomp for
  FOR(unsigned k = n; k != (unsigned)-1; k--, k)
#pragma nomp for
  FOR(size_t k = n - 1; k < n; k--, k)
#pragma nomp for
  FOR(size_t k = i; k != (size_t)-1; k--, k)
#pragma nomp for
  FOR(unsigned k = n - 13; k != n; k++, k)
#pragma nomp for
  FOR(unsigned long k = ULONG_MAX - 3; k != 0; k++, k)
#pragma nomp for
  FOR(short h = -3; h != high; h++, h)
#pragma nomp for
  FOR(unsigned char k = 250; k != 4; k++, k)
}

int main(int argc, char **argv)
{
  int q[N] = {0};
#pragma nomp init(argc, argv)
#pragma nomp update(to : q)
  compared(q, 10, -1, -1);
  show("compared", q);
  stepped(q, 150, 2500000000u, -3);
  show("stepped", q);
  round_the_end(q, 10, 7);
  show("round the end", q);
#pragma nomp update(free : q)
#pragma nomp finalize
  return 0;
}
