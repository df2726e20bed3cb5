"""C that the front end refuses, by the name of the golden file with the messages.

Each of `ERRORS` stands in a function that begins with `HEAD`, in a file that begins with `PREFIX`.
"""

PREFIX = """\
#include <math.h>
#include <stdio.h>
struct P { double x; double *q; unsigned bits : 3; int n; };
int own(int x);
double g[4];
"""
HEAD = """\
void f(int n, int m, double *a, double *b, int *k, struct P *p, struct P s, double **pp) {
  int i, j; double t = 0;
"""

ERRORS = {
    "compile": """\
  undeclared = 3;
  int z = ;""",
    "no-loop-while": """\
#pragma nomp for
  while (n) n--;""",
    "no-loop-block": """\
#pragma nomp for
  { n = 0; }""",
    "no-loop-end": "#pragma nomp for",
    "no-loop-declaration": """\
#pragma nomp for
  int z = 0;
  for (i = 0; i < n; i++) a[i] = z;""",
    "no-loop-line": """\
#pragma nomp for
#pragma nomp for
  for (i = 0; i < n; i++) a[i] = 0;""",
    "no-loop-call": """\
#pragma nomp for
  own(n);""",
    "macro-holds-more": """\
#define TWO(x) x; n = 2
#pragma nomp for
  for (int i = 0; i < n; i++) TWO(a[i] = 3);""",
    "define-inside": """\
#pragma nomp for
  for (int i = 0; i < n; i++) {
#define Z 3
    a[i] = Z;
  }
  m = Z;""",
    "ifdef-inside": """\
#pragma nomp for
  for (int i = 0; i < n; i++)
#ifndef Z
    a[i] = 0;
#else
    a[i] = 1;
#endif""",
    "from-macro": """\
#define LOOP _Pragma("nomp for") for
  LOOP (int i = 0; i < n; i++) a[i] = 0;""",
    "from-macro-argument": """\
#define DO(x) _Pragma(#x)
  DO(nomp sync)""",
    "nested": """\
#pragma nomp for
  for (int i = 0; i < n; i++) {
#pragma nomp sync
    a[i] = 0;
  }""",
    "one-statement": """\
  if (n)
#pragma nomp sync
    n = 0;""",
    "header-two-declared": """\
#pragma nomp for
  for (int i = 0, j = 1; i < n; i++) a[i] = j;""",
    "header-two-counters": """\
#pragma nomp for
  for (i = 0, j = 1; i < n; i++) a[i] = 0;""",
    "header-two-steps": """\
#pragma nomp for
  for (int i = 0; i < n; i++, j++) a[i] = 0;""",
    "header-missing": """\
#pragma nomp for
  for (;;) a[0] = 0;""",
    "header-no-start": """\
#pragma nomp for
  for (int i; i < n; i++) a[i] = 0;""",
    "header-start-element": """\
#pragma nomp for
  for (k[0] = 0; k[0] < n; k[0]++) a[0] = 0;""",
    "header-start-other": """\
#pragma nomp for
  for (n; i < n; i++) a[i] = 0;""",
    "header-decrement-in-condition": """\
#pragma nomp for
  for (int i = n; i-- > 0; i--) a[i] = 0;""",
    "header-condition": """\
#pragma nomp for
  for (int i = 0; i < n && a[i] > 0; i++) a[i] = 0;""",
    "header-equal": """\
#pragma nomp for
  for (int i = 0; i == n; i++) a[i] = 0;""",
    "header-step": """\
#pragma nomp for
  for (int i = 1; i < n; i *= 2) a[i] = 0;""",
    "header-step-other": """\
#pragma nomp for
  for (int i = 1; i < n; i = n + 1) a[i] = 0;""",
    "header-step-zero": """\
#pragma nomp for
  for (int i = 1; i < n; i += 0) a[i] = 0;""",
    "header-step-float": """\
#pragma nomp for
  for (int i = 1; i < n; i += 0.5) a[i] = 0;""",
    "header-bound-of-counter": """\
#pragma nomp for
  for (int i = 0; i < n - i; i++) a[i] = 0;""",
    "header-unsigned-offset": """\
#pragma nomp for
  for (unsigned u = 3; u - 2 < (unsigned)n; u++) a[u] = 0;
#pragma nomp for
  for (unsigned u = 3; u + 2 < 9; u--) a[u] = 0;
#pragma nomp for
  for (unsigned u = n; u + 2 < 9; u++) a[u] = 0;
#pragma nomp for
  for (int i = 0; i + 2 != n; i++) a[i] = 0;
#pragma nomp for
  for (long e = -1; e + 1 <= (unsigned long)n; e++) a[e] = 0;
#pragma nomp for
  for (long e = -1; (unsigned long)n + 1 >= e + 1; e++) a[e] = 0;
#pragma nomp for
  for (unsigned u = 9; u - 1 >= (unsigned)n; u--) a[u] = 0;""",
    "header-float-counter": """\
#pragma nomp for
  for (double x = 0; x < n; x++) a[0] = x;""",
    "header-wraps": """\
#pragma nomp for
  for (unsigned short u = 65533; u != 2; u++) a[u] = 0;""",
    "header-wraps-below-zero": """\
#pragma nomp for
  for (unsigned u = n; u != (unsigned)-1; u--) a[u] = 0;""",
    "header-may-wrap-unseen": """\
#pragma nomp for
  for (unsigned u = m; u != k[0]; u++) a[u] = 0;""",
    "header-float-bound": """\
#pragma nomp for
  for (int i = 0; i < 0.5 * n; i++) a[i] = 0;""",
    "header-pointer": """\
#pragma nomp for
  for (double *q = a; q < b; q++) *q = 0;""",
    "counter-changes": """\
#pragma nomp for
  for (int i = 0; i < n; i++) { a[i] = 0; i++; }""",
    "counter-twice": """\
#pragma nomp for
  for (i = 0; i < n; i++) for (i = 0; i < n; i++) a[i] = 0;""",
    "bound-changes": """\
#pragma nomp for
  for (int i = 0; i < k[0]; i++) k[i] = 0;""",
    "jumps": """\
#pragma nomp for
  for (int i = 0; i < n; i++) {
    if (a[i]) break;
    switch (n) { case 1: break; if (m) { case 2: break; default: ; } }
    switch (n) { case 0 ... 10000: ; }
    goto x;
    x: a[i] = 0;
    return;
    __asm__("nop");
  }""",
    "loops": """\
#define LOOP for (;;
#pragma nomp for
  for (int i = 0; i < n; i++) {
    while (n-- > 0) a[i] = 0;
    for (double *q = a; q < b; q++) *q = 0;
    for (;;) break;
    LOOP m++) break;
  }""",
    "calls": """\
#pragma nomp for
  for (int i = 0; i < n; i++) {
    printf("%d", i);
    a[i] = own(i) + fmodl(i, 1) + ldexp(a[i], 2) + frexp(a[i], k);
  }""",
    "call-pointer": """\
  int (*h)(int) = own;
#pragma nomp for
  for (int i = 0; i < n; i++) k[i] = h(i);""",
    "function-as-value": """\
#pragma nomp for
  for (int i = 0; i < n; i++) k[i] = own != 0;""",
    "values-in-header": """\
#pragma nomp for
  for (int i = 0; i < n--; i++) a[i] = 0;""",
    "types": """\
  volatile int v = 0, *pv = &v; long double q = 1;
#pragma nomp for
  for (int i = 0; i < n; i++) {
    pv[i] = v;
    double _Complex c = 0;
    __int128 big = 1;
    static int z;
    a[i] = p->bits + q;
    double *r;
    struct P o;
    o.x = 1;
    r = a + z;
  }""",
    "structs": """\
#pragma nomp for
  for (int i = 0; i < n; i++) {
    a[i] = p[i].q[0];
    a[i] = p[i].bits;
    a[i] = pp[i][0];
    s = *p;
  }""",
    "struct-layouts": """\
  struct __attribute__((packed)) T { char c; double x; } *u = 0;
  struct { union { int i; float f; } u; long double w; } *v = 0;
#pragma nomp for
  for (int i = 0; i < n; i++) {
    a[i] = u[i].x;
    v[i].u.i = 1;
    a[i] = v[i].w;
  }""",
    "struct-alias": """\
  struct P *r = p;
#pragma nomp for
  for (int i = 0; i < n; i++) p[i].x = r->x;""",
    "struct-values": """\
  struct V { double x; int n; } u, v[4];
#pragma nomp for
  for (int i = 0; i < n; i++) {
    struct V w;
    w = v[m++] = u;
    w = (m++, u);
  }""",
    "struct-pointers": """\
  struct Q { struct P p; } *g = 0, *h = 0;
#pragma nomp for
  for (int i = 0; i < n; i++) {
    struct P *z = &s, *y = &g->p;
    a[i] = z[1].x + (z + i)->x + (&s)[i].n + z->bits;
    y->n = h->p.n;
  }""",
    "pointers": """\
#pragma nomp for
  for (int i = 0; i < n; i++) {
    a[i] = ((float *)a)[i];
    a[i] = a == b;
    a[i] = b - a;
    if (a) a[i] = *(a + 1 > a ? a : b);
  }""",
    "pointer-changes": """\
#pragma nomp for
  for (int i = 0; i < n; i++) *a++ = 0;""",
    "pointer-moves": """\
#pragma nomp for
  for (int i = 0; i < n; i++) { a[0] = 0; a++; }""",
    "local-pointers": """\
#pragma nomp for
  for (int i = 0; i < n; i++) {
    int z = i;
    double *q = a + i, *r = a + z, *u = a + k[i];
    float *v = a;
    *q++ = *r + *u + *v;
  }""",
    "alias": """\
#pragma nomp for
  for (int i = 0; i < n; i++) {
    p->n += i;
    a[i] = s.n;
    k[i] = s.n;
  }""",
    "union": """\
  union { float f; int i; } u;
#pragma nomp for
  for (int i = 0; i < n; i++) { u.i = i; a[i] = u.f; }""",
    "union-structs": """\
  struct two { int c, d; };
  struct U { union { struct { int a, b; }; struct two in; }; int k; } u, *v = 0;
#pragma nomp for
  for (int i = 0; i < n; i++) { u.a = i; a[i] = u.in.c; }
#pragma nomp for
  for (int i = 0; i < n; i++) { u.in.d = i; a[i] = u.b; }
#pragma nomp for
  for (int i = 0; i < n; i++) v[i].a = v[i].in.c;
#pragma nomp for
  for (int i = 0; i < n; i++) { struct two t = {i, i}; v[i].in = t; k[i] = v[i].b; }""",
    "many-elements": """\
  struct big { int x[1000000000]; } *v = 0;
#pragma nomp for
  for (int i = 0; i < n; i++) { int t[1000000000] = {0}; a[i] = t[i]; }
#pragma nomp for
  for (int i = 0; i < n; i++) v[i] = v[i + 1];""",
    "odd-types": """\
  _Float16 h = 1;
#pragma nomp for
  for (int i = 0; i < n; i++) { _Float16 g = a[i]; a[i] = g; }
#pragma nomp for
  for (int i = 0; i < n; i++) { __int128 w = k[i]; a[i] = w + h; }
#pragma nomp for
  for (int i = 0; i < n; i++) { _Complex double z = a[i]; __float128 q = 1; a[i] = q; }""",
    "scalar-written": """\
#pragma nomp for transform("module", "function")
  for (int i = 0; i < n; i++) if (a[i] > 0) t = a[i];""",
    "counter-used": """\
#pragma nomp for
  for (i = 0; i < k[i]; i++) a[i] = 0;""",
    "counter-call": """\
#pragma nomp for
  for (i = 0; i < (int)sqrt(t); i++) a[i] = 0;""",
    "counter-data": """\
#pragma nomp for
  for (i = 0; i < k[0]; i++) a[i] = 0;""",
    "local-size": """\
#pragma nomp for
  for (int i = 0; i < n; i++) { double w[m]; w[0] = 1; a[i] = w[0]; }""",
    "reduce-unknown": """\
#pragma nomp for reduce("tt", "+")
  for (int i = 0; i < n; i++) t += a[i];""",
    "reduce-operator": """\
#pragma nomp for reduce("t", "*")
  for (int i = 0; i < n; i++) t += a[i];""",
    "reduce-read": """\
#pragma nomp for reduce("t", "+")
  for (int i = 0; i < n; i++) { t += a[i]; b[i] = t; }""",
    "reduce-min-as-max": """\
#pragma nomp for reduce("t", "max")
  for (int i = 0; i < n; i++) if (a[i] < t) t = a[i];""",
    "reduce-truncates": """\
#pragma nomp for reduce("n", "+")
  for (int i = 0; i < m; i++) n += 0.5;""",
    "reduce-unwritten": """\
#pragma nomp for reduce("n", "+")
  for (int i = 0; i < n; i++) a[i] = 0;""",
    "reduce-many": """\
#pragma nomp for reduce("a", "+")
  for (int i = 0; i < n; i++) a[i] += b[i];""",
    "reduce-call": """\
#pragma nomp for reduce("a", "+")
  for (int i = 0; i < n; i++) a[(int)sqrt(t)] += b[i];""",
    "reduce-two": """\
#pragma nomp for reduce("a", "+")
  for (int i = 0; i < n; i++) { a[0] += b[i]; a[1] += b[i]; }""",
    "reduce-other-element": """\
#pragma nomp for reduce("a[1]", "+")
  for (int i = 0; i < n; i++) a[0] += b[i];""",
    "jit-unknown": """\
#pragma nomp for jit(nn)
  for (int i = 0; i < n; i++) a[i] = 0;""",
    "jit-array": """\
#pragma nomp for jit(a)
  for (int i = 0; i < n; i++) a[i] = 0;""",
    "jit-written": """\
#pragma nomp for jit(t)
  for (int i = 0; i < n; i++) t = a[i];""",
    "section-unknown": "#pragma nomp update(to : a[0, n], bb[0, n])",
    "section-extent": "#pragma nomp update(to : a, p->q, s)",
    "expressions": """\
#define ONE {[1][0] = 9}
#pragma nomp for
  for (int i = 0; i < n; i++) {
    a[i] = L"abc"[i];
    a[i] = ({ n; });
    a[i] = sizeof(int[n]);
    a[i] = _Generic(1, int: n);
    a[i] = n ?: 2;
    double w[2][2] = {1, {2}};
    double v[2][2][2] = {[1][0][0] = 2, {3, 4}};
    double u[2][2] = ONE;
    struct { int z, w[2]; } o = {.w[0] = 1, 2};
    struct { int w[2][2]; } y = {.w[0 ... 1] = {1, 2}};
    struct { int w[2]; } x = {.w[0 ... 1] = 3};
  }""",
    "declared-functions": """\
  double expect(double, double), finite_(double), signbit_(double), popcount(double); int abs_(int), ffs(int);
#pragma nomp for
  for (int i = 0; i < n; i++) {
    a[i] = expect(i, 2);
    a[i] = finite_(b[i]);
    a[i] = signbit_(i);
    a[i] = popcount(i);
    a[i] = abs_(-i);
    a[i] = ffs(i);
  }""",
    "literal-in-header": """\
#pragma nomp for
  for (int i = 0; i < (int[]){1, 2}[n]; i++) a[i] = 0;""",
    "pragma-and-loop": """\
#pragma nomp fro
#pragma nomp for
  for (int i = 0; i < n; i++) a[i] = own(i);""",
}
