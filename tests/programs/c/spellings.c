/* Pragmas and loops as people write them: macros, comments, odd blanks, _Pragma, loops as the only statement of others. */
#include "show.h"
#define N 10
#define FOR(i, n) for (int i = 0; i < n; i++)
#define BODY(x)                                                                                                        \
  {                                                                                                                    \
    x += 1;                                                                                                            \
    x *= 2;                                                                                                            \
  }
#define END }

/* clang-format off */
static int macros(int *a, int n) {
#pragma nomp for
  FOR(i, n) a[i] = i;
#pragma nomp for
  FOR(i, n) BODY(a[i])
#pragma nomp for /* a comment
   of two lines */
  /* é comment */ FOR(i, n) { a[i] += 3; END  n = __LINE__; return n; }

int main(int argc, char **argv) {
  int a[N] = {0};
	#	pragma	nomp	init ( argc , argv )
#pragma nomp update(to : a) // the rest of the line is a comment
_Pragma("nomp for") for (int i = 0; i < N; i++) a[i] += 7; int k = 5;
  int line = macros(a, N);
  switch (k) {
  case 5:
#pragma nomp for
    for (int i = 0; i < N; i++)
      if (a[i] > 9) a[i]--; else a[i]++;
    break;
  default:
    k = 0;
  }
  do
#pragma nomp for \
    jit(k) \
    name("loop")
    for (int i = 0; i < N; i++)
      a[i] += 100 * k;
  while (k++ < 6);
again:
#pragma nomp for
  for (int i = 0; i < N; i++)
    ;
  if (k++ < 9) goto again;
#pragma nomp update(from : a)
#pragma nomp finalize
  SHOW("%d", a, N);
  printf("%d %d %d\n", k, line, __LINE__);
  return 0;
}
