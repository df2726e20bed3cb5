/* Arrays of structs: nested members, member arrays, pointers to elements, tables of structs, functions on structs. */
#include "show.h"
#define N 10

struct particle {
  double x;
  struct {
    float a;
    int v[3];
  } pos;
  int m[2][2];
  signed char tag;
};

struct box {
  struct particle inside[2][3];
  int count;
};

static const struct {
  int offset;
  double factor;
} kinds[3] = {{1, 0.5}, {2, 1.5}, {3, 2.5}};

static void bump(struct particle *p, int by) {
  p->x += by;
  p->pos.v[1] = p->m[1][0] - by;
}

static double weight(const struct particle *p) { return p->x * kinds[p->tag % 3].factor; }

int main(int argc, char **argv) {
  struct particle p[N], *q = p;
  struct box box = {.count = 2};
  double w[N];
  for (int i = 0; i < N; i++) {
    p[i] = (struct particle){.x = i, .pos = {2 * i, {i, i, i}}, .m = {{0, -i}, {3 * i, 0}}, .tag = i};
    w[i] = 0;
  }
#pragma nomp init(argc, argv)
#pragma nomp update(to : p, w, box)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    struct particle *e = p + i;
    e->x += p[i].pos.a;
    p[i].pos.v[2] += (p + i)->m[0][1] + i;
    (*(p + i)).m[1][1] = 3;
    p[i].m[0][i % 2] ^= 5;
    bump(&p[i], i);
    bump(e, 1);
    w[i] = weight(e) + weight(p) + kinds[i % 3].offset;
  }
#pragma nomp for
  for (int i = 0; i < N - 1; i++)
    q[i].pos.a += q[N - 1].x + q[i].tag;
#pragma nomp for
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) {
      box.inside[i][j].x = 10 * i + j;
      box.inside[i][j].pos.v[j] = i + box.count;
    }
  int first = 2;
#pragma nomp for transform("schedules", "rows")
  for (int i = 0; i < N; i++) { /* members of one array are apart, whatever their subscripts are */
    q[i].x += q[i].m[q[i].tag % 2][1];
    for (signed char k = first; k < 3; k++)
      q[i].pos.v[k] += q[i].m[k % 2][0];
  }
  unsigned long last = N;
#pragma nomp for
  for (unsigned long i = 0; i < last; i++)
    w[i] += q[i].m[i % 2][0] + q[i].pos.v[(i + 2ul) % 3];
#pragma nomp update(from : p, w, box)
#pragma nomp finalize
  for (int i = 0; i < N; i++)
    printf("%g %g %d %d %d %d %d %d\n", p[i].x, p[i].pos.a, p[i].pos.v[0], p[i].pos.v[1], p[i].pos.v[2], p[i].m[0][0],
           p[i].m[0][1], p[i].m[1][1]);
  for (int i = 0; i < 6; i++)
    printf("%g %d\n", box.inside[i / 3][i % 3].x, box.inside[i / 3][i % 3].pos.v[i % 3]);
  SHOW("%g", w, N);
  return 0;
}
