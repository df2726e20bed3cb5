/* Times and prints what the programs in this folder do: a line for each, with the median and the shortest in seconds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 21 };

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void show(const char *name, double *times, int count, double checksum) {
  qsort(times, count, sizeof *times, by_value);
  printf("%s %.9f %.9f %.17g\n", name, times[count / 2], times[0], checksum);
}

/* Run CALL, which waits for its results, once to warm up and then RUNS times. */
#define MEASURE(name, call, checksum)                                  \
  do {                                                                 \
    double times[RUNS];                                                \
    call;                                                              \
    for (int run = 0; run < RUNS; run++) {                             \
      double start = seconds();                                        \
      call;                                                            \
      times[run] = seconds() - start;                                  \
    }                                                                  \
    show(name, times, RUNS, checksum);                                 \
  } while (0)
