/* Assignments whose value is used: chains, increments in subscripts and conditions, commas. */
#include "show.h"
#define N 20

static int next(int *state) { return *state = (*state * 5 + 3) % 64; }

static int digits(unsigned x) {
  int count = 0;
  do
    count++;
  while (x /= 10);
  return count;
}

int main(int argc, char **argv) {
  int k[N], m[N], packed[2 * N], count = 0, state = 1, seen;
  signed char c[N];
  double a[N], b[N];
  for (int i = 0; i < N; i++)
    k[i] = i * 37 % 19 - 5, m[i] = 0, a[i] = b[i] = i, c[i] = i;
  for (int i = 0; i < 2 * N; i++)
    packed[i] = -1;
#pragma nomp init(argc, argv)
#pragma nomp update(to : k, m, packed, a, b, c)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    if (k[i] > 3)
      packed[count++] = i;
    m[i] = c[i] = (int)(b[i] = a[i] * 33.5);
    int left = k[i], sum = 0;
    while (left-- > 0)
      sum += left;
    for (int j = 5; j-- > 0;) {
      if (j == 2)
        continue;
      sum += 10 * j;
    }
    while ((left += 2) < 9)
      if (left == 7)
        break;
      else
        sum++;
    do {
      sum += 1000;
    } while (--left > 4 && sum < 9000);
    for (seen = 0; next(&state) > 20; seen++)
      if (seen > 3)
        continue;
      else
        sum ^= state;
    if ((seen = sum) % 2)
      sum -= seen / 2;
    switch (seen++ % 3) {
    case 0:
      sum += seen;
    }
    int q = (sum++, sum), r = ++q, t = q--;
    m[i] += sum + q * r - t + digits(sum > 0 ? sum : -sum);
    a[i] = (b[i] -= 0.5) + (k[i] |= 1) + next(&state);
    packed[N + (i & 7)] += k[i] <<= 1;
  }
#pragma nomp update(from : k, m, packed, a, b, c)
#pragma nomp finalize
  SHOW("%d", k, N);
  SHOW("%d", m, N);
  SHOW("%d", packed, 2 * N);
  SHOW("%g", a, N);
  SHOW("%g", b, N);
  SHOW("%d", c, N);
  printf("%d %d %d\n", count, state, seen);
  return 0;
}
