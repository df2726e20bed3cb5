/* Pointers to one struct: of the program, of the loop's body, in other structs, and of an array; and what they keep. */
#include "show.h"
#define N 24

struct vec {
  double x;
  int a;
  float w[3];
};
struct box {
  short k;
  struct vec v;
  const int *table;
  union {
    int i;
    float f;
  };
};

static double size(const struct vec *p) { return p->x * p->x + p->a + (*p).w[p->a & 1]; }
static void bump(struct vec *p, int by) {
  struct vec *q = p;
  q->a += by;
  p->x = p->x / 2 + q[0].a;
  (*q).w[by & 1] += 1;
}
static int look(const struct box *b, int i) { return b->table[i] * b->k + b->i + (int)size(&b->v); }
static double twice(struct vec *p) {
  bump(p, 1);
  return 2 * size(p);
}

static int find(const int *a, const int *end, int x) {
  int n = 0;
  while (a + n < end && a[n] != x)
    n++;
  return &a[n] - a;
}

static struct vec shared = {3, 2, {1, 2, 3}};
static double total(int i) { return (&shared)->x * i + size(&shared); }

int main(int argc, char **argv) {
  struct vec p[N], s = {1.5, 2, {1, 2, 3}}, t = {0.5, 1, {0}};
  double o[N], e[N], u[N];
  int r[N], table[N];
  struct box box = {3, {2.5, 4, {4, 5, 6}}, table, {7}}, *b = &box;
#pragma nomp init(argc, argv)
  for (int i = 0; i < N; i++) {
    p[i] = (struct vec){i * 0.5, i, {i, i + 1, i + 2}};
    r[i] = i * 7 % N, table[i] = 3 * i % 8, e[i] = o[i] = u[i] = 0;
  }
#pragma nomp update(to : p, o, e, u, r, table, s.w, box.v.w, shared.w)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    const struct vec *ps = &s;
    o[i] = ps->x + (*ps).a + ps[0].w[i % 3] + (&s)->a + (*&s).x + size(&s) + size(ps);
    struct vec own = {i, 2 * i, {1, 2}}, *q = &own, copy = *q;
    q->x += size(&copy);
    bump(q, i);
    copy.a = q->a;
    o[i] += twice(&own) + copy.a + own.w[1] + look(&box, i) + size(&b->v) + total(i);
    struct box *const all = &box;
    const struct vec *inner = &all->v;
    o[i] += inner->w[2] + (&(&all->v)->a)[0];
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int k = r[i];
    struct vec *v = &p[k], *next = p + r[(i + 1) % N];
    double *z = &e[k], *end = e + r[N - 1 - i];
    k = 0;
    v->x += 1 + k;
    v->w[2] = next->w[0];
    float *w = v->w;
    w[1] += 1;
    v->w[1] *= 2;
    w[1] += w - &p[0].w[2] + v->w[1];
    bump(v, i);
    *z += size(next);
    end[0] += i;
    r[i] = k;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    struct vec *v = &t;
    v->a += i;
    int *a = &v->a;
    *a -= v->a > 9 ? 8 : 0;
    for (int j = 0; j < v->a; j++) {
      v->x = v->x / 2 + j;
      if (v->x > 5)
        v->a--;
    }
    bump(&box.v, 1);
    b->k++;
    u[i] = t.x + t.a + box.v.x;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    const struct vec *v = &p[r[i]], *last = p + i;
    double *z = e + i, *y = &e[N - i];
    e[i] = (v - last) + 100 * (v < last) + 200 * (v == &p[3]) + 1000 * (y - z) + 50000 * (z >= y) + (&e[i] != e + 5);
    e[i] += 1000000 * find(r, r + i, 7);
  }
  struct vec d;
#pragma nomp for
  for (int i = 0; i < N; i++) {
    struct vec *q = &d;
    q->a = i, q->x = u[i];
    u[i] += q->a;
  }
#pragma nomp update(from : p, o, e, u, box.v.w)
#pragma nomp finalize
  SHOW("%g", o, N);
  SHOW("%g", e, N);
  SHOW("%g", u, N);
  for (int i = 0; i < N; i++)
    printf("%g %d %g %g %g\n", p[i].x, p[i].a, p[i].w[0], p[i].w[1], p[i].w[2]);
  printf("%g %d %g %d %d %d %g %g\n", t.x, t.a, box.v.x, box.v.a, box.k, d.a, d.x, box.v.w[1]);
  return 0;
}
