/* Structs chosen by '?:', and structs assigned to several others at once. */
#include "show.h"
#define N 20

struct vec {
  double x;
  int a;
  float w[3];
};

int main(int argc, char **argv) {
  struct vec p[N], q[N], s = {1.5, 2, {1, 2, 3}};
  double o[N];
#pragma nomp init(argc, argv)
  for (int i = 0; i < N; i++)
    p[i] = (struct vec){i * 0.5, i % 7, {i, i + 1, i + 2}}, q[i] = s, o[i] = 0;
#pragma nomp update(to : p, q, o, s.w)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int k = i;
    struct vec l = i % 3 ? i % 2 ? s : p[i] : q[(i + 1) % N], a, b, *e = &q[i];
    q[i] = l.a > 3 ? (struct vec){i, 2, {3}} : l;
    l = i % 2 && k++ > 4 ? p[k++ % N] : (k -= 2, i) > 9 ? *e : q[(k += 3) % N];
    a = *e = b = i % 4 ? l : *e;
    a.x += 1;
    o[i] = l.x + k * 100 + a.x + b.x + e->w[2];
  }
#pragma nomp for
  for (int i = 0; i < N; i++) { /* where a struct stands in a chain may depend on what the chain writes */
    struct vec l = {i, i % N, {4}}, a, *e = &q[q[i].a];
    int k = i;
    a = q[q[i].a] = l;
    o[i] += a.a + 100 * a.x;
    l.a = (i + 3) % N;
    a = q[q[i].a] = i % 2 ? l : q[(q[i].a + 1) % N];
    o[i] += a.a + 100 * a.x + e->a;
    a = q[(k += 2) % N] = l;
    o[i] += a.w[0] * k;
    o[k % N] += 1000 * k;
  }
#pragma nomp update(from : q, o)
#pragma nomp finalize
  SHOW("%g", o, N);
  for (int i = 0; i < N; i++)
    printf("%g %d %g %g %g\n", q[i].x, q[i].a, q[i].w[0], q[i].w[1], q[i].w[2]);
  return 0;
}
