/* Threads that run one kernel at the same time, some launches by Python and some repeated without it. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 6, ROUNDS = 60, N = 500 };

static int sum = -1;

static void *work(void *argument) {
  int me = *(int *)argument, n = N, result = 0;
  static int arrays[THREADS][N];
  int *a = arrays[me];
  for (int i = 0; i < N; i++) a[i] = me + i % 7;
  CHECK(nomp_update(a, 0, N, sizeof *a, NOMP_TO) == 0);
  for (int round = 0; round < ROUNDS; round++) {
    n = N - round / 5; /* another plan every few rounds, which Python makes */
    int expected = 0;
    for (int i = 0; i < n; i++) expected += a[i];
    CHECK(nomp_run(sum, a, &result, &n) == 0);
    CHECK(result == expected);
  }
  return NULL;
}

int main(int argc, const char **argv) {
  pthread_t threads[THREADS];
  int number[THREADS];
  const char *clauses[] = {"reduce", "s", "+", NULL};
  const char *source = "void f(int *a, int *s, int n) { for (int i = 0; i < n; i++) s[0] += a[i]; }";
  CHECK(nomp_init(argc, argv) == 0);
  CHECK(nomp_jit(&sum, source, clauses, 3, "a", sizeof(int), NOMP_PTR, "s", sizeof(int), NOMP_INT, "n", sizeof(int),
                 NOMP_INT) == 0);
  for (int i = 0; i < THREADS; i++) {
    number[i] = i;
    CHECK(pthread_create(&threads[i], NULL, work, &number[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(nomp_finalize() == 0);
  puts("done");
  return 0;
}
