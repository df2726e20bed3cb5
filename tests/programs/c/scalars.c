/* Scalars around a region: read by value, of each type; last values of outer scalars; expressions of macros and enums. */
#include "show.h"
#include <stdbool.h>
#include <stddef.h>
#define N 10
#define TWICE(x) (2 * (x))
enum { FIRST = 3, SECOND };
typedef unsigned short narrow;

static int outside = 11;

struct point {
  int x;
  double weight;
};

int main(int argc, char **argv) {
  double a[N];
  int b[N];
  char c = 'x';
  narrow s = 65000;
  bool flag = true;
  long long ll = 1LL << 40;
  size_t z = 3;
  float f = 0.25f;
  struct point p = {4, 0.75}, *pp = &p;
  for (int i = 0; i < N; i++)
    a[i] = 0, b[i] = i;
  int last = -1, copy = 9;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, N], b[0, N])
#pragma nomp for
  for (int i = 0; i < N; i++)
    a[i] = c + s * f + flag + (double)ll / 1e9 + z + outside;
#pragma nomp for
  for (int i = 0; i < N; i++) {
    a[i] += TWICE(i) + FIRST * SECOND + sizeof(double) + 'b' + 0x1f + 1u;
    a[i] += p.x + pp->weight;
  }
  copy = 9;
#pragma nomp for
  for (int i = 0; i < N; i++) {
    last = b[i] * 2;
    b[i] = last + 1;
  }
#pragma nomp update(from : a[0, N], b[0, N])
#pragma nomp finalize
  SHOW("%.10g", a, N);
  SHOW("%d", b, N);
  printf("%d %d\n", last, copy);
  return 0;
}
