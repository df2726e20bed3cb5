/* Constants that are equal in value and differ in type, in one kernel */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  float f[8], g[8];
  double d[8], e[8];
  int k[8];
  long l[8];
  unsigned u[8];
  for (int i = 0; i < 8; i++)
    f[i] = i / 3.0f, d[i] = -i / 7.0, k[i] = (i - 4) * 500000000, l[i] = i, u[i] = i;
#pragma nomp init(0, 0)
#pragma nomp update(to : f, d, k, l, u)
#pragma nomp update(alloc : g, e)
#pragma nomp for
  for (int i = 0; i < 8; i++) {
    l[i] = (l[i] - 1) * 3 - (k[i] - 1 < 0);
    g[i] = fabsf(f[i] - 1) - sqrtf(f[i] - 0.0f + 1) + (f[i] - 0.1f);
    e[i] = fabs(d[i] - 1) - sqrt(d[i] * d[i] - 0) + (f[i] - 0.1) + (d[i] - 0.1f);
    u[i] = u[i] - 1 - (unsigned)abs(k[i] % 7 - 1);
    k[i] = abs(k[i] / 3 - 1) - 2147483647 - 1;
  }
#pragma nomp update(from : g, e, k, l, u)
  for (int i = 0; i < 8; i++)
    printf("%.9g %.17g %d %ld %u\n", g[i], e[i], k[i], l[i], u[i]);
#pragma nomp finalize
  return 0;
}
