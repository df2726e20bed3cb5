/* Calls of the program's own functions in a region: expressions, locals, branches, calls of calls, arrays by pointer. */
#include "show.h"
#include <math.h>
#define N 10

static double square(double x) { return x * x; }

static inline int clamp(int x, int low, int high) {
  if (x < low)
    return low;
  return x > high ? high : x;
}

static double norm(double x, double y) {
  const double sum = square(x) + square(y);
  return sqrt(sum);
}

static int used_on_the_device_alone(int i) { return 3 * i + 1; }

static int steps;
static void skip(void) { steps++; }
static void run(int *p) {
  for (steps = 0; steps < 3; steps++)
    p[steps] += steps;
}

int main(int argc, char **argv) {
  double x[N], y[N], z[N];
  int k[N];
  for (int i = 0; i < N; i++)
    x[i] = i, y[i] = 2 - i, z[i] = 0, k[i] = i * i - 20;
#pragma nomp init(argc, argv)
#pragma nomp update(to : x, y, z, k)
#pragma nomp for
  for (int i = 0; i < N; i++)
    z[i] = norm(x[i], y[i]) + square(i);
#pragma nomp for
  for (int i = 0; i < N; i++)
    k[i] = clamp(k[i], -5, 30) + used_on_the_device_alone(i);
  /* Counters of loops that functions change: such a loop is no counted one. */
#pragma nomp for
  for (int i = 0; i < N; i++)
    for (steps = 0; steps < 10; steps++) {
      skip();
      k[i] += steps;
    }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int t[3] = {i};
    run(t);
    k[i] += t[0] + t[2] + steps;
  }
#pragma nomp update(from : z, k)
#pragma nomp finalize
  SHOW("%.12g", z, N);
  SHOW("%d", k, N);
  printf("%d\n", steps);
  return 0;
}
