#include <stdio.h>

#define N 1000000

static double x[N], y[N];

int main(int argc, char **argv) {
#pragma nomp init(argc, argv)
  double a = 0.5, sum = 0;
  for (int i = 0; i < N; i++)
    x[i] = i, y[i] = 1;

#pragma nomp update(to : x, y)
#pragma nomp for transform("blocks", "split", size = 256)
  for (int i = 0; i < N; i++)
    y[i] += a * x[i];
#pragma nomp for reduce("sum", "+")
  for (int i = 0; i < N; i++)
    sum += y[i];
#pragma nomp update(from : y)
#pragma nomp update(free : x, y)

  printf("y[10] = %g, sum = %.1f\n", y[10], sum);
#pragma nomp finalize
  return 0;
}
