/* Launches of a kernel of argv[1] elements, argv[2] times.  Prints what one took, as JSON: in all, and of processors. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 16000000 };
static double x[MOST], y[MOST];

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void launch(int n, int times) {
  double a = 0.5;
  for (int t = 0; t < times; t++) {
#pragma nomp for name("axpy")
    for (int i = 0; i < n; i++)
      y[i] += a * x[i];
  }
#pragma nomp sync
}

int main(int argc, char **argv) {
  int n = atoi(argv[1]), times = atoi(argv[2]);
  if (n > MOST) return 1;
#pragma nomp init(argc, argv)
#pragma nomp update(to : x[0, n], y[0, n])
  launch(n, 100);
  double start = now(CLOCK_MONOTONIC), processors = now(CLOCK_PROCESS_CPUTIME_ID);
  launch(n, times);
  start = now(CLOCK_MONOTONIC) - start, processors = now(CLOCK_PROCESS_CPUTIME_ID) - processors;
  printf("{\"seconds\": %.9f, \"processors\": %.9f}\n", start / times, processors / times);
#pragma nomp finalize
  return 0;
}
