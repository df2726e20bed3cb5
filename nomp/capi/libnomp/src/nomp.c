/*
 * nomp.c: the functions of nomp.h.  What can be decided here is (variable arguments, numbers of kernels, calls before
 * nomp_init()); the rest is Python's (nomp/capi/api.py).
 */
#include "bridge.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int started = 0;
static int *nargs_of = NULL; /* pointers that nomp_run() takes, by kernel; -1 for a kernel of a pragma */
static int kernels = 0;

#define FAIL(number, ...) return nomp_log_errorf(number, __FILE__, __LINE__, __VA_ARGS__)

#define REQUIRE_START(function) \
  if (!is_started()) FAIL(NOMP_INITIALIZE_FAILURE, function " was called before nomp_init.")

static int is_started(void) { return __atomic_load_n(&started, __ATOMIC_ACQUIRE); }

int nomp_init(int argc, const char **argv) {
  if (is_started()) FAIL(NOMP_INITIALIZE_FAILURE, "libnomp is already initialized.");
  int id = nomp_python_start();
  if (!id) id = nomp_py_init(argc, argv);
  return id;
}

int nomp_update(void *ptr, size_t start_index, size_t end_index, size_t unit_size, nomp_map_direction_t op) {
  REQUIRE_START("nomp_update");
  return nomp_py_update((uintptr_t)ptr, start_index, end_index, unit_size, (int)op);
}

int nomp_mapped(const void *ptr, void **mapped) {
  REQUIRE_START("nomp_mapped");
  if (!mapped) FAIL(NOMP_USER_INPUT_IS_INVALID, "The second argument of nomp_mapped must not be NULL.");
  uintptr_t found = 0;
  int error = nomp_py_mapped((uintptr_t)ptr, &found);
  *mapped = (void *)found;
  return error;
}

static int remember(struct nomp_kernel kernel) {
  pthread_mutex_lock(&lock);
  int ok = 1;
  if (kernel.id >= kernels) {
    int *larger = realloc(nargs_of, (kernel.id + 1) * sizeof *larger);
    ok = larger != NULL;
    if (ok) {
      for (nargs_of = larger; kernels <= kernel.id; kernels++) nargs_of[kernels] = -1;
    }
  }
  if (ok) nargs_of[kernel.id] = kernel.nargs;
  pthread_mutex_unlock(&lock);
  return ok;
}

static void read_arguments(struct nomp_argument *arguments, int nargs, va_list args) {
  for (int i = 0; i < nargs; i++) {
    struct nomp_argument *argument = &arguments[i];
    argument->name = va_arg(args, const char *);
    argument->size = va_arg(args, size_t);
    argument->type = va_arg(args, int);
    argument->value = argument->type & NOMP_JIT ? va_arg(args, void *) : NULL;
  }
}

int nomp_jit(int *id, const char *src, const char **clauses, int nargs, ...) {
  if (id && *id >= 0) return 0;
  REQUIRE_START("nomp_jit");
  if (!id || !src || !clauses)
    FAIL(NOMP_USER_INPUT_IS_INVALID, "The id, source and clauses of nomp_jit must not be NULL.");
  if (nargs < 0) FAIL(NOMP_USER_INPUT_IS_INVALID, "Number of arguments %d passed into nomp_jit is not valid.", nargs);
  struct nomp_argument *arguments = calloc(nargs + 1, sizeof *arguments);
  if (!arguments) FAIL(NOMP_USER_INPUT_IS_INVALID, "Out of memory.");
  va_list args;
  va_start(args, nargs);
  read_arguments(arguments, nargs, args);
  va_end(args);
  struct nomp_kernel kernel = {-1, 0};
  int error = nomp_py_jit(src, clauses, nargs, arguments, &kernel);
  free(arguments);
  if (error) return error;
  if (!remember(kernel)) FAIL(NOMP_USER_INPUT_IS_INVALID, "Out of memory.");
  *id = kernel.id;
  return 0;
}

/* How many pointers kernel id takes; -1 if there is no such kernel. */
static int arguments_of(int id) {
  pthread_mutex_lock(&lock);
  int count = id >= 0 && id < kernels ? nargs_of[id] : -1;
  pthread_mutex_unlock(&lock);
  return count;
}

int nomp_run(int id, ...) {
  int nargs = arguments_of(id);
  if (nargs < 0) FAIL(NOMP_USER_INPUT_IS_INVALID, "Kernel id %d passed to nomp_run is not valid.", id);
  uintptr_t addresses[nargs + 1];
  va_list args;
  va_start(args, id);
  int i = 0;
  while (i < nargs && (addresses[i] = (uintptr_t)va_arg(args, void *)) != 0) i++;
  va_end(args);
  REQUIRE_START("nomp_run");
  if (i < nargs)
    FAIL(NOMP_USER_INPUT_IS_INVALID, "Argument %d passed to nomp_run for kernel id %d is NULL.", i + 1, id);
  int replayed = nomp_replay(id, addresses);
  if (replayed > 0) return 0;
  int error = replayed < 0 ? nomp_py_failed(id, replayed) : nomp_py_run(id, nargs, addresses);
  nomp_python_end_at_exit();
  return error;
}

int nomp_sync(void) {
  REQUIRE_START("nomp_sync");
  return nomp_replay_sync() ? 0 : nomp_py_sync();
}

int nomp_finalize(void) {
  if (!is_started() || nomp_py_finalize() != 0) return NOMP_FINALIZE_FAILURE;
  return 0;
}

int nomp_finalize_excluding_interpreter(void) { return nomp_finalize(); }

/* Called by api.py, for pragmas too.  Kernels stay: they may be run again after the next nomp_init(). */
void nomp_set_started(int now) {
  __atomic_store_n(&started, now, __ATOMIC_RELEASE);
  if (now) nomp_python_end_at_exit();
  else nomp_log_clear();
}
