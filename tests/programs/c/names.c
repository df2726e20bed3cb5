/* Names that C allows and isl, device languages or nomp itself may trip on. */
#include "show.h"
#define N 8

static int f(int as_int32) { return 2 * as_int32 + 1; }
static int __kernel(int mod) { return f(mod) - 1; }

int main(int argc, char **argv) {
  int q[N] = {0}, max = N, MIN = 1, mod = 2, größe = 3, a$b = 4, nomp_f = 5, __local = 6, convert_x_ = 7;
#pragma nomp init(argc, argv)
#pragma nomp update(to : q)
#pragma nomp for
  for (int min = MIN; min < max; min += mod)
    for (int floor = 0; floor < min + größe; floor++)
      q[min] += floor * a$b;
#pragma nomp for
  for (int exists = 0; exists < max; exists++)
    for (int or = mod; or <= exists && a$b > 1; or++)
      q[exists] += or;
#pragma nomp for
  for (int ä = 0; ä < größe; ä++) {
    int ö = ä, $ = f(ö) + __kernel(ö) + nomp_f;
    q[ä] += ö + $ + __local + convert_x_;
  }
#pragma nomp for name("as_int32")
  for (int not= 0; not< N; not++)
    q[not] += f(not);
#pragma nomp for name("__kernel")
  for (int rat = 0; rat < N; rat++)
    q[rat] += __kernel(rat);
#pragma nomp for name("nomp_f") reduce("max", "max") reduce("mod", "+")
  for (int i = 0; i < N; i++) {
    max = q[i] > max ? q[i] : max;
    mod += f(q[i]);
  }
#pragma nomp for name("sin")
  for (int and = 0; and < N; and ++) {
    int ceil[2] = {and, 1}, floord = ceil[0];
    while (floord > 3)
      floord -= ceil[1];
    q[and] += floord;
  }
#pragma nomp update(from : q)
#pragma nomp finalize
  printf("%d %d\n", max, mod);
  SHOW("%d", q, N);
  return 0;
}
