/* Sizes, data, timing and printing of the kernels in this folder.  Each is a program, run with the name of a size:

     int n = bench_size(argc, argv, 24, 200, 600);    the problem's size
     double *a = bench_data(n);                       numbers between 0 and 1
     while (bench_again())                            a run that does not count, then those that do
       kernel(n, a);                                  ... and wait for its results
     bench_end("kernel", bench_norm(n, a));

   It prints a line: name, size, the shortest and the median time of a run in seconds, checksum. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct { const char *name; int runs; } bench_sizes[] = {{"small", 101}, {"medium", 15}, {"large", 5}};

static struct {
  int size, run;
  double start, seconds[101];
} bench;

/* The one of three numbers that the program is asked for. */
static inline int bench_size(int argc, char **argv, int small, int medium, int large) {
  const int n[] = {small, medium, large};
  for (bench.size = 0; bench.size < 3; bench.size++)
    if (argc > 1 && strcmp(argv[1], bench_sizes[bench.size].name) == 0)
      return n[bench.size];
  fprintf(stderr, "usage: %s small|medium|large\n", argv[0]);
  exit(2);
}

/* The same numbers in every run of the program, uniform in [0, 1). */
static inline double bench_random(void) {
  static unsigned state = 12345;
  state = state * 1664525u + 1013904223u;
  return (state >> 8) / 16777216.0;
}

static inline void *bench_alloc(size_t bytes) {
  void *data = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (!data) {
    fprintf(stderr, "out of memory\n");
    exit(2);
  }
  return data;
}

static inline void *bench_data(size_t count) {
  double *data = bench_alloc(count * sizeof *data);
  for (size_t i = 0; i < count; i++)
    data[i] = bench_random();
  return data;
}

/* Weighted, so that numbers in the wrong places show; of squares, so that nothing cancels. */
static inline double bench_norm(size_t count, const double *data) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += (1 + i % 7) * data[i] * data[i];
  return sqrt(sum);
}

/* Stops the clock for the run that has been, and starts it for the next one. */
static inline int bench_again(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double stop = now.tv_sec + 1e-9 * now.tv_nsec;
  if (bench.run > 1)
    bench.seconds[bench.run - 2] = stop - bench.start;
  if (bench.run++ > bench_sizes[bench.size].runs)
    return 0;
  clock_gettime(CLOCK_MONOTONIC, &now);
  bench.start = now.tv_sec + 1e-9 * now.tv_nsec;
  return 1;
}

static inline int bench_compare(const void *a, const void *b) {
  return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}

static inline void bench_end(const char *name, double checksum) {
  int runs = bench_sizes[bench.size].runs;
  qsort(bench.seconds, runs, sizeof *bench.seconds, bench_compare);
  printf("%s %s %.9f %.9f %.17g\n", name, bench_sizes[bench.size].name, bench.seconds[0], bench.seconds[runs / 2],
         checksum);
}
