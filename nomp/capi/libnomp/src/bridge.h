/*
 * bridge.h: what the parts of libnomp.so call each other.  bridge.cdef says the same to cffi, which makes the nomp_py_
 * functions: they are written in Python (nomp/capi/api.py).
 */
#ifndef NOMP_BRIDGE_H
#define NOMP_BRIDGE_H

#include <stddef.h>
#include <stdint.h>
#include <unistd.h> /* environ */

#pragma GCC visibility push(default) /* everything else is built hidden */
#include "nomp-aux.h"
#include "nomp-pragma.h"
#include "nomp.h"
#pragma GCC visibility pop

/* The text of bridge.cdef when the library was built: nomp must have the same. */
extern const char nomp_bridge[];

/* One argument as nomp_jit() got it; value is NULL unless type has NOMP_JIT. */
struct nomp_argument {
  const char *name;
  size_t size;
  int type;
  const void *value;
};

/* What nomp_jit() learns of a new kernel: its number, and how many pointers nomp_run() takes. */
struct nomp_kernel {
  int id;
  int nargs;
};

/*
 * replay.c: OpenCL's queue, and its functions that enqueue a launch, set an argument, copy to and from a buffer, and
 * wait; or CUDA's stream and context, and its functions for these, and to enter and leave the context; or HIP's stream
 * and (as the context) the number of its device, with a function that says which device is the thread's (current), and
 * one that makes another one that (enter); or nothing, where the device is the host.  While operations are timed,
 * also functions for events: to make and record one (CUDA, HIP), to wait for it, to ask when it was, and to give it
 * back; and the clock's zero, in nanoseconds or as an event.  Where a profiler is to see ranges, its functions that
 * begin and end one.
 */
struct nomp_driver {
  void *queue, *context;
  void *launch, *set, *write, *read, *current, *enter, *leave, *wait;
  void *make, *mark, *await, *moment, *release;
  uintptr_t zero;
  void *push_range, *pop_range;
};

/* The argument at position is this address. */
struct nomp_pointer {
  int position;
  uintptr_t address;
};

/* The argument at position points to these bytes. */
struct nomp_scalar {
  int position;
  size_t size;
  const void *bytes;
};

/*
 * A step of a launch.  The host's side of it is bytes, or lies offset behind the argument at position: the value of
 * the index-th argument of the kernel object, or of the memory object that is one of a launch's arguments (SET), what
 * goes to the buffer object and comes back from it (WRITE, READ; by way of stage, if there is one), the bytes that a
 * variable of the program gets (STORE).  Where from is not 0, the host's value is an integer of so many bytes (a signed
 * one, if from is negative), and the argument one of size bytes.  What has a label is timed; below 0: together with what
 * was timed before it, as parts of one launch are.
 */
enum { NOMP_SET, NOMP_LAUNCH, NOMP_WRITE, NOMP_READ, NOMP_STORE };
struct nomp_action {
  int kind;
  int position;
  size_t offset;
  void *bytes;
  size_t size;
  int from;
  void *object;
  unsigned index;
  unsigned dims;
  size_t groups[3], items[3];
  void **arguments; /* CUDA's, or HIP's extra ones */
  void *stage;
  int label;
};

/* How many replays of one kernel are kept: the newest. */
#define NOMP_MOST_REPLAYS 16

/* What repeats a launch, where the pointers and scalars are the same, and says of a range around it. */
struct nomp_replay {
  struct nomp_replay *next;
  const char *text;
  int pointers, scalars, actions;
  long *repeats;
  const struct nomp_pointer *pointer;
  const struct nomp_scalar *scalar;
  const struct nomp_action *action;
};

void nomp_replay_start(const struct nomp_driver *now);
void nomp_replay_stop(void);
int nomp_replay_keep(int id, struct nomp_replay *replay);
void nomp_replay_forget(void);
void nomp_replay_lock(void);
void nomp_replay_unlock(void);
int nomp_replay(int id, const uintptr_t *addresses);
int nomp_replay_sync(void);
int nomp_replay_is_due(void);
void nomp_replay_rest(int launches);
int64_t nomp_replay_count(void);
int nomp_replay_times(int all, int *labels, int64_t *begins, int64_t *lasted);

/* timing.c: an operation's events, of which OpenCL has one. */
#define NOMP_MOST_TIMED 1024
struct nomp_timed {
  void *first, *last;
  int label;
};
int nomp_timing_is_due(int more);
struct nomp_timed *nomp_timing_begin(const struct nomp_driver *driver, int label);
void nomp_timing_end(const struct nomp_driver *driver, struct nomp_timed *timed);
int nomp_timing_read(const struct nomp_driver *driver, int all, int *labels, int64_t *begins, int64_t *lasted);
void nomp_timing_stop(const struct nomp_driver *driver);
void nomp_timing_forget(void);

/* log.c */
int nomp_log_error(int number, const char *file, int line, const char *text);
int nomp_log_errorf(int number, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void nomp_log_verbose(int level);
void nomp_log_clear(void);
void nomp_log_print(const char *text);

/* nomp.c: the runtime has started (1) or has ended (0), which empties the log. */
void nomp_set_started(int now);

/* python.c: start the interpreter if need be; 0, or the id of a logged error. */
int nomp_python_start(void);

/*
 * python.c: close the device at exit() too.  exit() calls the handlers in reverse, and a driver sets up its own when it
 * is loaded and when it first compiles; so this is called after init and after runs, and the first few calls count.
 */
void nomp_python_end_at_exit(void);

/* api.py: 0, or the id of a logged error (the nomp_py_pragma_ ones print it; 1 if the program is to end). */
int nomp_py_init(int argc, const char **argv);
int nomp_py_update(uintptr_t address, size_t start, size_t end, size_t unit, int op);
int nomp_py_jit(const char *source, const char **clauses, int nargs, const struct nomp_argument *arguments,
                struct nomp_kernel *kernel);
int nomp_py_run(int id, int nargs, const uintptr_t *addresses);
int nomp_py_failed(int id, int status);
int nomp_py_sync(void);
int nomp_py_finalize(void);
int nomp_py_pragma_init(int argc, const char **argv, const char *file, int line);
int nomp_py_pragma_update(uintptr_t address, size_t start, size_t end, size_t unit, int op, const char *name,
                          const char *file, int line);
int nomp_py_pragma_run(struct nomp_region *region, const uintptr_t *addresses, int *verify);
int nomp_py_pragma_failed(int id, int status);
int nomp_py_pragma_confirm(void);
int nomp_py_pragma_sync(const char *file, int line);
int nomp_py_pragma_finalize(const char *file, int line);

#endif /* NOMP_BRIDGE_H */
