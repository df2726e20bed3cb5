/* The vector operations of the solver, over all local nodes. */
#include "sem.h"

/* The sum of a b over all points; *weight* counts the copies of a point once. */
scalar weighted_dot(int n, const scalar *a, const scalar *b, const scalar *weight) {
  scalar sum = 0;
#pragma nomp for name("weighted_dot") reduce("sum", "+")
  for (int i = 0; i < n; i++)
    sum += a[i] * b[i] * weight[i];
  return sum;
}

/* y = y + a x */
void add_scaled(int n, scalar *y, scalar a, const scalar *x) {
#pragma nomp for name("add_scaled") annotate("loop", "node")
  for (int i = 0; i < n; i++)
    y[i] += a * x[i];
}

/* y = a y + x */
void scale_and_add(int n, scalar *y, scalar a, const scalar *x) {
#pragma nomp for name("scale_and_add") annotate("loop", "node")
  for (int i = 0; i < n; i++)
    y[i] = a * y[i] + x[i];
}
