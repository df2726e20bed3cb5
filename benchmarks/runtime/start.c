/* A program of one kernel; start_raw.c is the same written for OpenCL. */
#include <stdio.h>

enum { N = 1000 };

int main(int argc, char **argv) {
  static double a[N], b[N], c[N], d[N];
  double x = 0.5;
  for (int i = 0; i < N; i++) b[i] = i, c[i] = 2, d[i] = 1;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, b, c, d)
#pragma nomp for
  for (int i = 0; i < N; i++)
    a[i] = x * b[i] + c[i] * d[i];
#pragma nomp update(from : a)
  printf("%g\n", a[N - 1]);
  fflush(stdout); /* now the answer is there */
#pragma nomp finalize
  return 0;
}
