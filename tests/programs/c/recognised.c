/* Reductions that no clause names: integers are reduced in parallel, floating-point numbers keep their order. */
#include "show.h"
#define N 1000

int main(int argc, char **argv) {
  int a[N], s = 3, m = -1, c = 0;
  long long product = 1;
  unsigned char narrow = 250;
  unsigned x = 7;
  double q = 0.1;
  for (int k = 0; k < N; k++)
    a[k] = k * 37 % 101;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    s += a[i];
    if (a[i] > m)
      m = a[i];
    if (a[i] % 3 == 0)
      c++;
    x ^= (unsigned)(a[i] * i);
    product *= a[i] | 1;
    narrow -= a[i];
  }
#pragma nomp for
  for (int i = 0; i < N; i++)
    q -= a[i] * 0.1;
#pragma nomp for
  for (int i = 0; i < N; i++) {
    s = a[i];
    a[i] = s + 1;
  }
#pragma nomp finalize
  printf("%d %d %d %u %llx %d %.17g\n", s, m, c, x, (unsigned long long)product, narrow, q);
  return 0;
}
