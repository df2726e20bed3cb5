/* A program of one kernel, written for OpenCL; start.c is the same with pragmas. */
#include "opencl.h"

enum { N = 1000 };

int main(void) {
  static double a[N], b[N], c[N], d[N];
  double *arrays[] = {a, b, c, d};
  void *buffers[4];
  for (int i = 0; i < N; i++) b[i] = i, c[i] = 2, d[i] = 1;
  void *kernel = raw_kernel(buffers, arrays, 0.5, N);
  raw_launch(kernel);
  CHECK(copy_out(queue, buffers[0], 1, 0, sizeof a, a, 0, NULL, NULL) == 0);
  printf("%g\n", a[N - 1]);
  fflush(stdout);
  raw_release(kernel, buffers);
  return 0;
}
