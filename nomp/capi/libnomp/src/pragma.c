/*
 * pragma.c: the functions of nomp-pragma.h.  An error ends the program unless NOMP_ON_ERROR=continue; its diagnostic
 * has been printed by then.
 */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>

static void end_unless_told_otherwise(int error) {
  const char *choice = getenv("NOMP_ON_ERROR");
  if (error && !(choice && strcmp(choice, "continue") == 0)) exit(EXIT_FAILURE);
}

#define CALL(call) end_unless_told_otherwise(nomp_python_start() || (call))

void nomp_pragma_init(int argc, const char **argv, const char *file, int line) {
  CALL(nomp_py_pragma_init(argc, argv, file, line));
}

void nomp_pragma_update(void *base, size_t start, size_t end, size_t unit, int op, const char *name, const char *file,
                        int line) {
  CALL(nomp_py_pragma_update((uintptr_t)base, start, end, unit, op, name, file, line));
}

int nomp_pragma_run(struct nomp_region *region, void **args) {
  int verify = 0;
  int replayed = nomp_replay(region->id, (const uintptr_t *)args);
  if (replayed > 0) return 0;
  int error = replayed < 0 ? nomp_py_pragma_failed(region->id, replayed)
                           : nomp_python_start() || nomp_py_pragma_run(region, (const uintptr_t *)args, &verify);
  nomp_python_end_at_exit();
  end_unless_told_otherwise(error);
  return verify;
}

void nomp_pragma_confirm(void) { CALL(nomp_py_pragma_confirm()); }

void nomp_pragma_sync(const char *file, int line) {
  if (!nomp_replay_sync()) CALL(nomp_py_pragma_sync(file, line));
}

void nomp_pragma_finalize(const char *file, int line) { CALL(nomp_py_pragma_finalize(file, line)); }
