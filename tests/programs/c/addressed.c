/* Scalars of the program that a region writes through pointers to them. */
#include "show.h"
#define N 10

struct pair {
  int a, b;
};

static int shared = 1;

static void add(int *to, int by) { *to += by; }

static void bump(void) {
  int *there = &shared;
  *there += 1;
}

int main(int argc, char **argv) {
  int q[N] = {0}, w = 0, v = 5, u = 0, x = 1;
  struct pair s = {1, 2}, t = {3, 4};
#pragma nomp init(argc, argv)
#pragma nomp update(to : q)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int *p = &w;
    *p += i;
    q[i] = w;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    *&v = i;
    (&u)[0] += v;
    *(&(x)) = x * 3 + i;
    q[i] += x;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int *p = &s.b, *r = &t.a;
    *p += i;
    *&s.a += 2;
    q[i] += (*r)++;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int *p = &w;
    add(p, i);
    bump();
    q[i] += shared;
  }
#pragma nomp for
  for (int i = 0; i < N; i++)
    for (int *p = &v; *p < i + 20; *p += 1)
      q[i] += v;
#pragma nomp update(from : q)
#pragma nomp finalize
  printf("%d %d %d %d %d %d %d\n", w, v, u, x, s.a, s.b + t.a, shared);
  SHOW("%d", q, N);
  return 0;
}
