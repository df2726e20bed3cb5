/* What happens seldom, or very often: one thing a run, which the first argument names. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../capi/programs/check.h"

static const char *none[] = {NULL};
static const char *add = "void add(double *a, double x, int n) { for (int i = 0; i < n; i++) a[i] += x; }";

static int kernel_of(const char *text) {
  int id = -1;
  CHECK(nomp_jit(&id, text, none, 3, "a", sizeof(double), NOMP_PTR, "x", sizeof(double), NOMP_FLOAT, "n", sizeof(int),
                 NOMP_INT) == 0);
  return id;
}

static long resident(void) {
  long size, pages;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%ld %ld", &size, &pages) == 2);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static double seconds(void) {
  struct timeval now;
  gettimeofday(&now, NULL);
  return now.tv_sec + now.tv_usec * 1e-6;
}

/* A child of a process that has a device gets errors, and the parent goes on. */
static void fork_(void) {
  static double a[4];
  double x = 1;
  int n = 4, id = kernel_of(add), status = -1;
  CHECK(nomp_update(a, 0, 4, sizeof *a, NOMP_TO) == 0);
  for (int i = 0; i < 5; i++) CHECK(nomp_run(id, a, &x, &n) == 0);
  pid_t child = fork();
  if (child == 0) {
    int errors[] = {nomp_run(id, a, &x, &n), nomp_update(a, 0, 4, sizeof *a, NOMP_FROM), nomp_sync()};
    for (int i = 0; i < 3; i++) CHECK(errors[i] > 0 && nomp_get_err_no(errors[i]) == NOMP_INITIALIZE_FAILURE);
    exit(7);
  }
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
  CHECK(nomp_run(id, a, &x, &n) == 0);
  CHECK(nomp_update(a, 0, 4, sizeof *a, NOMP_FROM) == 0 && a[3] == 6);
}

static volatile sig_atomic_t alarms = 0;

static void on_alarm(int number) { alarms += number == SIGALRM; }

/* Signals while kernels are launched, copied from and waited for; the handler is the program's own. */
static void signals(void) {
  static double a[1000];
  double x = 1;
  int n = 1000, id = kernel_of(add);
  struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  signal(SIGALRM, on_alarm);
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  CHECK(nomp_update(a, 0, n, sizeof *a, NOMP_TO) == 0);
  for (int i = 1; i <= 3000 || alarms <= 10; i++) {
    n = i % 10 ? 1000 : 999 - i % 7; /* some by Python */
    CHECK(nomp_run(id, a, &x, &n) == 0);
    if (i % 50 == 0) CHECK(nomp_update(a, 0, 1000, sizeof *a, NOMP_FROM) == 0 && a[0] == i);
  }
  CHECK(nomp_sync() == 0);
  setitimer(ITIMER_REAL, &never, NULL);
}

static void maps(void) {
  enum { MAPS = 10000 };
  static double *a[MAPS];
  double x = 1;
  int n = 8, id = kernel_of(add);
  for (int i = 0; i < MAPS; i++) {
    a[i] = calloc(n, sizeof *a[i]);
    CHECK(nomp_update(a[i], 0, n, sizeof *a[i], NOMP_TO) == 0);
  }
  for (int i = 0; i < MAPS; i += 7) CHECK(nomp_run(id, a[i], &x, &n) == 0);
  for (int i = 0; i < MAPS; i++) {
    CHECK(nomp_update(a[i], 0, n, sizeof *a[i], NOMP_FROM | NOMP_FREE) == 0);
    for (int k = 0; k < n; k++) CHECK(a[i][k] == (i % 7 == 0));
    free(a[i]);
  }
}

static void kernels(void) {
  enum { KERNELS = 1000 };
  static double a[4];
  static int ids[KERNELS];
  double x = 1;
  int n = 4;
  CHECK(nomp_update(a, 0, 4, sizeof *a, NOMP_TO) == 0);
  for (int i = 0; i < KERNELS; i++) ids[i] = kernel_of(add);
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < KERNELS; i++) CHECK(nomp_run(ids[i], a, &x, &n) == 0);
  CHECK(nomp_update(a, 0, 4, sizeof *a, NOMP_FROM) == 0 && a[0] == 3 * KERNELS);
}

/* Launches for so many seconds, or a million: memory must not grow.  Some are Python's: n changes there. */
static void launches(const char *limit) {
  static double a[8];
  double x = 1, end = seconds() + atof(limit), expected = 0;
  int n = 1, id = kernel_of(add);
  long before = 0, count = 0;
  CHECK(nomp_update(a, 0, 8, sizeof *a, NOMP_TO) == 0);
  while (count < 1000000 || seconds() < end) {
    n = count % 997 ? 1 : 1 + count % 8;
    CHECK(nomp_run(id, a, &x, &n) == 0);
    expected += x;
    if (++count % 200 == 0) CHECK(nomp_sync() == 0);
    if (count == 200000) before = resident();
    if (expected > 1e15) x = -x;
  }
  CHECK(nomp_update(a, 0, 1, sizeof *a, NOMP_FROM) == 0 && a[0] == expected);
  fprintf(stderr, "%ld launches, %ld KiB more than after 200000\n", count, resident() - before);
  CHECK(resident() - before < 1024);
}

int main(int argc, char **argv) {
  CHECK(argc > 1 && nomp_init(1, (const char **)argv) == 0);
  if (!strcmp(argv[1], "fork")) fork_();
  if (!strcmp(argv[1], "signals")) signals();
  if (!strcmp(argv[1], "maps")) maps();
  if (!strcmp(argv[1], "kernels")) kernels();
  if (!strcmp(argv[1], "launches")) launches(argv[2]);
  CHECK(nomp_finalize() == 0);
  puts("done");
  return 0;
}
