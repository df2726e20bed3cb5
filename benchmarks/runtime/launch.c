/* What a launch costs: nomp_run() beside clEnqueueNDRangeKernel(), in turns, in one process.  Prints JSON. */
#include "opencl.h"

#include <nomp.h>

enum { ROUNDS = 41, LAUNCHES = 500, MAPS = 10000 };

static double *arrays[4], x = 0.5;
static int n = 1, id = -1;
static void *kernel;

static void ours(void) { CHECK(nomp_run(id, arrays[0], arrays[1], arrays[2], arrays[3], &x, &n) == 0); }

static void theirs(void) { raw_launch(kernel); }

static void our_end(void) { CHECK(nomp_sync() == 0); }

static void their_end(void) { CHECK(finish(queue) == 0); }

static int ascending(const void *one, const void *other) {
  double difference = *(const double *)one - *(const double *)other;
  return (difference > 0) - (difference < 0);
}

static double median(double *times) {
  qsort(times, ROUNDS, sizeof *times, ascending);
  return times[ROUNDS / 2];
}

/* Microseconds a launch: waiting for each one, or for all together, which is not timed. */
static double timed(void (*launch)(void), void (*end)(void), int each) {
  double start = now();
  for (int i = 0; i < LAUNCHES; i++) {
    launch();
    if (each) end();
  }
  double seconds = now() - start;
  end();
  return seconds / LAUNCHES * 1e6;
}

static void compare(const char *name, int each, const char *after) {
  double mine[ROUNDS], raw[ROUNDS], ratio[ROUNDS], more[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) {
    raw[i] = timed(theirs, their_end, each);
    mine[i] = timed(ours, our_end, each);
    ratio[i] = mine[i] / raw[i], more[i] = mine[i] - raw[i];
  }
  printf("\"%s\": {\"nomp\": %.3f, \"raw\": %.3f, ", name, median(mine), median(raw));
  printf("\"ratio\": %.3f, \"more\": %.3f}%s", median(ratio), median(more), after);
}

int main(int argc, const char **argv) {
  const char *none[] = {NULL}, *text = "void work(double *a, double *b, double *c, double *d, double x, int n) {"
                                       " for (int i = 0; i < n; i++) a[i] = x * b[i] + c[i] * d[i]; }";
  void *buffers[4];
  for (int i = 0; i < 4; i++) CHECK((arrays[i] = calloc(1, sizeof(double))) != NULL);
  CHECK(nomp_init(argc, argv) == 0);
  kernel = raw_kernel(buffers, arrays, x, n);
  CHECK(nomp_jit(&id, text, none, 6, "a", sizeof(double), NOMP_PTR, "b", sizeof(double), NOMP_PTR, "c", sizeof(double),
                 NOMP_PTR, "d", sizeof(double), NOMP_PTR, "x", sizeof(double), NOMP_FLOAT, "n", sizeof(int),
                 NOMP_INT) == 0);
  for (int i = 0; i < 4; i++) CHECK(nomp_update(arrays[i], 0, 1, sizeof(double), NOMP_TO) == 0);
  for (int i = 0; i < 100; i++) ours(), theirs();
  our_end(), their_end();
  printf("{");
  compare("enqueue", 0, ", ");
  compare("finish", 1, ", ");
  for (int i = 0; i < MAPS; i++) CHECK(nomp_update(malloc(64), 0, 8, 8, NOMP_ALLOC) == 0);
  for (int i = 0; i < 100; i++) ours();
  our_end();
  compare("enqueue with 10000 maps", 0, "}\n");
  CHECK(nomp_finalize() == 0);
  return 0;
}
