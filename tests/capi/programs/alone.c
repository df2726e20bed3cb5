/* Once a launch repeats itself, it needs no Python: another thread holds the interpreter's lock all the while. */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

static volatile int held = 0, over = 0;

static void *hold(void *nothing) {
  int (*ensure)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
  void (*release)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "PyGILState_Release");
  CHECK(ensure && release);
  int state = ensure();
  held = 1;
  while (!over) usleep(100);
  release(state);
  return nothing;
}

static const char *add = "void add(int n, double *a, double x) { for (int i = 0; i < n; i++) a[i] += x; }";
static const char *sum = "void sum(int n, const double *a, double *s) { for (int i = 0; i < n; i++) s[0] += a[i]; }";

int main(int argc, char **argv) {
  CHECK(nomp_init(argc, (const char **)argv) == 0);
  int n = 10, f = -1, g = -1;
  double a[10] = {0}, x = 1, s = 0;
  const char *none[] = {NULL}, *reduce[] = {"reduce", "s", "+", NULL};
  CHECK(nomp_update(a, 0, 10, sizeof *a, NOMP_TO) == 0);
  CHECK(nomp_jit(&f, add, none, 3, "n", sizeof n, NOMP_INT, "a", sizeof *a, NOMP_PTR, "x", sizeof x, NOMP_FLOAT) == 0);
  CHECK(nomp_jit(&g, sum, reduce, 3, "n", sizeof n, NOMP_INT, "a", sizeof *a, NOMP_PTR, "s", sizeof s, NOMP_PTR) == 0);
  for (int k = 0; k < 2; k++) {
    CHECK(nomp_run(f, &n, a, &x) == 0);
    CHECK(nomp_run(g, &n, a, &s) == 0);
  }
  CHECK(s == 20);
  alarm(30); /* who waits for the lock ends here */
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, hold, NULL) == 0);
  while (!held) usleep(100);
  double value = 2;
  for (int k = 0; k < 100; k++) {
    x = k;
    value += k;
    CHECK(nomp_run(f, &n, a, &x) == 0);
    CHECK(nomp_run(g, &n, a, &s) == 0);
    CHECK(s == 10 * value);
  }
  over = 1;
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(nomp_update(a, 0, 10, sizeof *a, NOMP_FROM) == 0 && a[9] == value);
  CHECK(nomp_finalize() == 0);
  puts("done");
  return 0;
}
