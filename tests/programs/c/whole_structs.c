/* Structs assigned as a whole from their own old members, and through members that choose the struct. */
#include <stdio.h>
#define N 8

struct pair {
  int a, b;
};
struct chain {
  int next, value;
};
struct row {
  int v[3];
  struct pair in;
};

static void exchange(int n, struct pair *to, const struct pair *from)
{
#pragma nomp for
  for (int i = 0; i < n; i++)
    to[i] = (struct pair){from[i].b, from[i].a};
}

static void print(const char *what, const struct pair *p)
{
  printf("%s:", what);
  for (int i = 0; i < N; i++)
    printf(" %d %d", p[i].a, p[i].b);
  printf("\n");
}

int main(int argc, char **argv)
{
  struct pair p[N], r[N], s = {1, 2};
  struct chain c[N], at = {3, 0};
  struct row rows[N];
  for (int i = 0; i < N; i++) {
    p[i] = r[i] = (struct pair){i, 10 * i};
    c[i] = (struct chain){(i * 5 + 3) % N, i * i};
    rows[i] = (struct row){{i, 2 * i, 3 * i}, {i, i + 1}};
  }
#pragma nomp init(argc, argv)
#pragma nomp update(to : p, r, c, rows)
#pragma nomp for
  for (int i = 0; i < N; i++)
    p[i] = (struct pair){p[i].b, p[i].a};
  exchange(N, p, p);
#pragma nomp for
  for (int i = 0; i < N; i++) {
    struct pair z = {i, 2 * i}, *q = &p[i];
    z = (struct pair){z.b, z.a};
    *q = (struct pair){.b = q->a + z.a, .a = q->b - z.b};
  }
#pragma nomp for
  for (int i = 0; i < N; i++)
    s = (struct pair){s.b, s.a + s.b};
#pragma nomp for
  for (int i = 0; i < N; i++) {
    at = c[at.next];
    r[i].a = at.value;
  }
#pragma nomp for
  for (int i = 0; i < N; i++)
    c[i] = c[c[i].next];
#pragma nomp for
  for (int i = 0; i < N; i++)
    c[c[0].next] = (struct chain){i, c[i].next};
#pragma nomp for
  for (int i = 0; i < N; i++) {
    struct row *w = &rows[i];
    *w = (struct row){{w->v[2], w->v[0], w->v[1]}, {w->in.b, w->in.a}};
    w->in = (struct pair){w->in.b, w->v[w->in.b % 3]};
  }
  int k = 0;
#pragma nomp for
  for (int i = 0; i < 4; i++)
    r[k++] = p[7];
#pragma nomp for
  for (int i = 0; i < 2; i++) {
    struct pair t = p[k++];
    t = p[(k += 1) & 7];
    r[k & 7] = t;
  }
#pragma nomp update(from : p, r, c, rows)
#pragma nomp update(free : p, r, c, rows)
#pragma nomp finalize
  print("p", p);
  print("r", r);
  print("c", (struct pair *)c);
  for (int i = 0; i < N; i++)
    printf("%d %d %d %d %d; ", rows[i].v[0], rows[i].v[1], rows[i].v[2], rows[i].in.a, rows[i].in.b);
  printf("%d\n", k);
  printf("%d %d %d %d\n", s.a, s.b, at.next, at.value);
  return 0;
}
