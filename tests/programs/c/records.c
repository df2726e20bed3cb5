/* Whole structs: variables of the loop, initialisers, assignments from and to elements and outer variables. */
#include "show.h"
#define N 9

struct vec {
  double x, y;
  short t[2];
  struct {
    float a;
    int b;
  } in;
};

static void copy(struct vec *to, const struct vec *from, int i) {
  struct vec v = from[i];
  v.in.b += 100;
  *to = v;
}

static double length(const struct vec *v) {
  struct vec w = *v, zero = {0};
  w.x -= zero.x;
  return w.x * w.x + w.y * w.y;
}

int main(int argc, char **argv) {
  struct vec p[N], q[N], s = {1, 2, {3, 4}, {5, 6}}, *one = &s, last = {0};
  double w[N];
  for (int i = 0; i < N; i++) {
    p[i] = (struct vec){i, 2 * i, {i, -i}, {0.5 * i, i}};
    q[i] = s;
    w[i] = 0;
  }
#pragma nomp init(argc, argv)
#pragma nomp update(to : p, q, w, s, last)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    struct vec d = {1, i, {7}, {2, 3}}, e = p[i], g = {.y = 3, .t = {1, 2}, .in = {4}}, h = s, z;
    e.x += d.y + g.y + h.x;
    e.in.b += g.t[1] + h.t[1] + g.in.a + g.x;
    z = e;
    z.t[0] = z.in.b;
    q[i] = z;
    w[i] = length(p + i) + length(&q[i]);
    if (i % 2)
      copy(&p[i], q, i);
    else
      p[i] = q[i], p[i].y = 3;
    last = e;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    const struct vec h = *one;
    w[i] += h.x + h.in.a;
  }
#pragma nomp update(from : p, q, w, last)
#pragma nomp finalize
  for (int i = 0; i < N; i++) {
    printf("%g %g %d %d %g %d\n", p[i].x, p[i].y, p[i].t[0], p[i].t[1], p[i].in.a, p[i].in.b);
    printf("%g %g %d %d %g %d\n", q[i].x, q[i].y, q[i].t[0], q[i].t[1], q[i].in.a, q[i].in.b);
  }
  printf("%g %g %d %d %g %d\n", last.x, last.y, last.t[0], last.t[1], last.in.a, last.in.b);
  SHOW("%g", w, N);
  return 0;
}
