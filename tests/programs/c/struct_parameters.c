/* Parameters that are arrays of structs, however they are declared, and every way to one of their members. */
#include "show.h"
#define N 6

struct record {
  int f;
  int v[4];
};

static void shuffle(int n, struct record u[], struct record c[4], const struct record d[restrict],
                    struct record (*e)) {
#pragma nomp for
  for (int i = 0; i < n - 1; i++) {
    u[i].f = c[i % 4].v[1] + d[i + 1].v[2] + (u + i)->v[3] + 1 [c].f + c->v[0] + (*(d + i)).f + e[i].v[2];
    (&u[i])->v[3] = i;
    u[i + 1] = d[i];
    struct record copy = c[2];
    u[i].v[1] = copy.v[0] + (*u).v[3] + (i + e)->f;
    const struct record *next = u + i + 1;
    e[i].v[0] = next->v[1] - next[-1].f;
  }
}

int main(int argc, const char **argv) {
#pragma nomp init(argc, argv)
  struct record u[N], c[4], d[N], e[N];
  for (int i = 0; i < N; i++) {
    u[i].f = i, d[i].f = 7 * i, e[i].f = i * i;
    for (int k = 0; k < 4; k++)
      u[i].v[k] = i + k, d[i].v[k] = i - k, e[i].v[k] = 3 * i + k;
  }
  for (int i = 0; i < 4; i++) {
    c[i].f = 10 + i;
    for (int k = 0; k < 4; k++)
      c[i].v[k] = i * k;
  }
#pragma nomp update(to : u[0, N], c[0, 4], d[0, N], e[0, N])
  shuffle(N, u, c, d, e);
#pragma nomp update(from : u[0, N], e[0, N])
#pragma nomp update(free : u[0, N], c[0, 4], d[0, N], e[0, N])
  for (int i = 0; i < N; i++)
    for (int k = 0; k < 4; k++)
      printf("%d %d %d %d\n", u[i].f, u[i].v[k], e[i].f, e[i].v[k]);
#pragma nomp finalize
  return 0;
}
