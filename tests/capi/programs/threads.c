/* Eight threads that map, make kernels, run them and fail, all at once. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 5, N = 1000 };

static void *work(void *argument) {
  int me = *(int *)argument, id = -1, n = N;
  int *a = malloc(N * sizeof *a);
  const char *clauses[] = {NULL};
  const char *source = "void f(int *a, int me, int n) { for (int i = 0; i < n; i++) a[i] += me; }";
  CHECK(nomp_jit(&id, source, clauses, 3, "a", sizeof *a, NOMP_PTR, "me", sizeof me, NOMP_INT, "n", sizeof n,
                 NOMP_INT) == 0);
  for (int i = 0; i < N; i++) a[i] = i;
  CHECK(nomp_update(a, 0, N, sizeof *a, NOMP_TO) == 0);
  for (int round = 0; round < ROUNDS; round++) {
    CHECK(nomp_run(id, a, &me, &n) == 0);
    int error = nomp_update(&me, 0, 1, sizeof me, NOMP_FROM);
    CHECK(nomp_get_err_no((unsigned)error) == NOMP_USER_MAP_OP_IS_INVALID);
  }
  CHECK(nomp_update(a, 0, N, sizeof *a, NOMP_FROM | NOMP_FREE) == 0);
  for (int i = 0; i < N; i++) CHECK(a[i] == i + ROUNDS * me);
  free(a);
  return NULL;
}

int main(void) {
  const char *argv[] = {"program", "--nomp-backend", "opencl", "--nomp-verbose", "0"};
  pthread_t threads[THREADS];
  int number[THREADS];
  CHECK(nomp_init(5, argv) == 0);
  for (int i = 0; i < THREADS; i++) {
    number[i] = i;
    CHECK(pthread_create(&threads[i], NULL, work, &number[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(nomp_get_err_str(THREADS * ROUNDS + 1) == NULL);
  CHECK(nomp_finalize() == 0);
  puts("done");
  return 0;
}
