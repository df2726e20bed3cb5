/* Members of unnamed structs, in elements, tables, whole structs and designators (no '...' among these);
   comparisons that NaN makes false. */
#include "show.h"
#include <math.h>
#define N 8

struct item {
  int k;
  struct {
    int a;
    double b;
  };
  int z[3];
};

struct nested {
  union {
    struct {
      int a, b;
    };
    int same;
  };
  int k;
  struct {
    int z;
    double w[2];
  };
};

static const struct item table[2] = {{1, {2, 3}, {4, 5, 6}}, {7, {8, 9}, {10, 0, 0}}};

struct lists {
  int a;
  struct {
    int b;
    struct {
      int c, d[2];
    };
    struct {
      int e[2];
    } in;
  };
  int f;
};

int main(int argc, char **argv) {
  struct item p[N], q[N];
  double r[N];
  for (int i = 0; i < N; i++)
    p[i] = q[i] = (struct item){i, {2 * i, 3 * i}, {i, 0, 0}}, r[i] = 0;
  struct nested u = {{{1, 2}}, 5, {7, {0.5, 1.5}}}, *v = &u;
#pragma nomp init(argc, argv)
#pragma nomp update(to : p, q, r)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    struct item d = q[N - 1 - i], e = {1, {2, 3}, {4, 0, 0}};
    d.b += e.b + table[i & 1].b + table[i & 1].z[2];
    d.a = e.a;
    p[i] = d;
    r[i] = isgreater(d.b, 30.0) + 2 * isunordered(d.b, NAN) + 4 * islessgreater(d.b, 31);
  }
#pragma nomp update(to : u.w)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    r[i] += u.b + u.same * 10 + u.k * 100 + v->a * 1000 + v->k * 10000 + u.w[i % 2];
    u.z += i;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    struct lists s = {.b = i, .in.e[1] = 7, .d[1] = 2, .f = 1}, t = {1, {2, {3, {4, 5}}, {{6}}}, 8};
    s = i % 3 ? s : t;
    t = (struct lists){.c = s.b, .in = {.e = {s.a}}, .in.e[1] = s.f};
    r[i] += s.a + s.b * 2 + s.c * 3 + s.d[0] * 5 + s.d[1] * 7 + s.in.e[0] * 11 + s.in.e[1] * 13 + s.f * 17;
    r[i] += 1000 * (t.a + t.b * 2 + t.c * 3 + t.d[0] * 5 + t.d[1] * 7 + t.in.e[0] * 11 + t.in.e[1] * 13 + t.f * 17);
  }
#pragma nomp update(from : p, r)
#pragma nomp finalize
  for (int i = 0; i < N; i++)
    printf("%d %d %g %d\n", p[i].k, p[i].a, p[i].b, p[i].z[0]);
  SHOW("%.12g", r, N);
  printf("%d\n", u.z);
  return 0;
}
