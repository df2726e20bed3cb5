/* C's integer arithmetic: signs of / and %, shifts, wrap-around, conversions, narrow types, 64 bits. */
#include "show.h"
#include <stdint.h>
#define N 16

int main(int argc, char **argv) {
  int a[N], b[N], q[N], r[N], s[N];
  unsigned u[N], v[N];
  int8_t c[N];
  uint8_t d[N];
  int16_t h[N];
  int64_t l[N];
  uint64_t m[N];
  long long w[N];
  for (int i = 0; i < N; i++) {
    a[i] = (i - 8) * 7;
    b[i] = i % 2 ? 3 : -5;
    u[i] = 4294967290u + (unsigned)i;
    q[i] = r[i] = s[i] = 0, v[i] = 0, c[i] = 0, d[i] = 0, h[i] = 0, l[i] = 0, m[i] = 0, w[i] = 0;
  }
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, N], b[0, N], q[0, N], r[0, N], s[0, N], u[0, N], v[0, N])
#pragma nomp update(to : c[0, N], d[0, N], h[0, N], l[0, N], m[0, N], w[0, N])
#pragma nomp for
  for (int i = 0; i < N; i++) {
    q[i] = a[i] / b[i];
    r[i] = a[i] % b[i];
    s[i] = (a[i] >> 2) + ((a[i] & 63) << 1) + (a[i] & 12) - (a[i] | 3) + (a[i] ^ b[i]) + ~a[i] + !a[i] - -b[i];
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    v[i] = u[i] * 3u + a[i];
    u[i] = (u[i] >> 3) / 7 + (a[i] < u[i]);
    c[i] = a[i] * 5;
    d[i] = (uint8_t)(a[i] + 300);
    h[i] = a[i] * 1000;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    l[i] = (int64_t)a[i] * 3000000000 / b[i];
    m[i] = (uint64_t)a[i] % 1000000007ull;
    w[i] = (long long)u[i] << 30 | 'a';
    l[i] += c[i] + d[i] + h[i];
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    c[i] += 100;
    d[i] -= 200;
    h[i] *= 3;
    h[i] /= 7;
    q[i] %= 4;
    r[i] >>= 1;
    s[i] &= 0xff;
    s[i] <<= 2;
    s[i] |= 010;
    s[i] ^= a[i];
    q[i]++;
    --r[i];
  }
#pragma nomp update(from : q[0, N], r[0, N], s[0, N], u[0, N], v[0, N], c[0, N], d[0, N], h[0, N], l[0, N], m[0, N])
#pragma nomp update(from : w[0, N])
#pragma nomp finalize
  SHOW("%d", q, N);
  SHOW("%d", r, N);
  SHOW("%d", s, N);
  SHOW("%u", u, N);
  SHOW("%u", v, N);
  SHOW("%d", c, N);
  SHOW("%d", d, N);
  SHOW("%d", h, N);
  for (int i = 0; i < N; i++)
    printf("%lld %llu %lld\n", (long long)l[i], (unsigned long long)m[i], w[i]);
  return 0;
}
