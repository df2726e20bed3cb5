/* Two kernels, one of them scheduled by a script that imports a helper. */
#include <stdio.h>

enum { N = 1000 };

int main(int argc, char **argv) {
  static double x[N], y[N];
  double sum = 0;
  for (int i = 0; i < N; i++) x[i] = i, y[i] = 1;
#pragma nomp init(argc, argv)
#pragma nomp update(to : x, y)
#pragma nomp for name("axpy") transform("rows", "tile", size = 4)
  for (int i = 0; i < N; i++)
    y[i] += 0.5 * x[i];
#pragma nomp for name("total") reduce("sum", "+")
  for (int i = 0; i < N; i++)
    sum += y[i];
  printf("%.1f\n", sum);
#pragma nomp finalize
  return 0;
}
