"""Calls that the front end refuses: `CALLS` of the functions `CALLEES`, in a function as in `refused`."""

CALLEES = """\
#include <stdarg.h>
double *where(double *a) { return a; }
int odd(int n);
int even(int n) { return n == 0 || odd(n - 1); }
int odd(int n) { return n != 0 && even(n - 1); }
int many(int n, ...) { return n; }
struct V { double x; } vec;
int shared;
void bump(void) { shared++; }
struct V twice(struct V v) { return v; }
double byvalue(struct V v) { return v.x; }
int first(const int *k, int n) {
  for (int i = 0; i < n; i++)
    if (k[i]) return i;
  return n;
}
void clear(double v[2][3]) { v[0][0] = 0; }
int count(void) {
  static int calls;
  return ++calls;
}
int sum(const int *k, int n) { int s = 0; for (int i = 0; i < n; i++) s += k[i]; return s; }
double set(double *a) { a[0] = 1; goto out; out: return 2; }
double hidden(int i) { return g[i]; }
void resize(double *a, int n) { double w[n]; w[0] = a[0]; a[1] = w[0]; }
int steps(int n) { int s = 0; for (double *q = 0; q; q++) s++; return s; }
"""
CALLS = """\
#pragma nomp for
  for (shared = 0; shared < n; shared++) {
    a[shared] = 0;
    bump();
  }
#pragma nomp for
  for (int i = 0; i < n; i++) {
    a[i] = where(a)[0];
    k[i] = even(i);
    k[i] = many(1, 2);
    vec = twice(vec);
    a[i] = byvalue(vec);
    k[i] = first(k, n);
    clear(a);
    k[i] = count();
    while (sum(k, n) > i) k[i]--;
    a[i] = i && sum(k, n);
    set(a);
    resize(a, n);
    k[i] = steps(i);
    do {
      if (k[i]) continue;
    } while (sum(k, n) > i);
  }
#pragma nomp for
  for (int i = 0; i < sum(k, n); i++) a[i] = 0;
  int g = 0;
#pragma nomp for
  for (int i = g; i < n; i++) a[i] = hidden(i);"""
