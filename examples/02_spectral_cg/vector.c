/* The vector operations of the solver, over all local nodes.  What reads the same vectors is one loop. */
#include "sem.h"

scalar total(int n, const scalar *a) {
  scalar sum = 0;
#pragma nomp for name("total") reduce("sum", "+")
  for (int i = 0; i < n; i++)
    sum += a[i];
  return sum;
}

/* The sum of a b over all points; *weight* counts the copies of a point once. */
scalar weighted_dot(int n, const scalar *a, const scalar *b, const scalar *weight) {
  scalar sum = 0;
#pragma nomp for name("weighted_dot") reduce("sum", "+")
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i] * weight[i];
  return sum;
}

/* A step along the direction p, u = u + a p, and the next direction, p = b p + r. */
void step_and_turn(int n, scalar *u, scalar a, scalar *p, scalar b, const scalar *r) {
#pragma nomp for name("step_and_turn") annotate("loop", "node")
  for (int i = 0; i < n; i++) {
    u[i] += a * p[i];
    p[i] = b * p[i] + r[i];
  }
}

/* r = r - a w; returns the sum of r r over all points. */
scalar reduce_residual(int n, scalar *r, scalar a, const scalar *w, const scalar *weight) {
  scalar sum = 0;
#pragma nomp for name("reduce_residual") annotate("loop", "node") reduce("sum", "+")
  for (int i = 0; i < n; i++) {
    r[i] -= a * w[i];
    sum += r[i] * r[i] * weight[i];
  }
  return sum;
}
