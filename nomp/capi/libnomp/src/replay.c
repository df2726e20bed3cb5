/*
 * replay.c: launches that are the same as one before, without Python.
 *
 * Once a kernel has been launched twice with the same pointers, maps and scalars, Python leaves a replay here: what is
 * to be the same again (conditions) and what the launch then consists of (actions), calls of the driver's own functions
 * on handles that Python keeps alive.  Python takes all of them back before it changes what they rest on: a map, the
 * device.
 */
#include "bridge.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef int (*cl_enqueue)(void *queue, void *kernel, unsigned dims, const size_t *offset, const size_t *global,
                          const size_t *local, unsigned events, const void *wait, void *event);
typedef int (*cl_set)(void *kernel, unsigned index, size_t size, const void *value);
typedef int (*cl_copy)(void *queue, void *buffer, unsigned blocking, size_t offset, size_t size, void *host,
                       unsigned events, const void *wait, void *event);

typedef int (*cu_launch)(void *function, unsigned groups_x, unsigned groups_y, unsigned groups_z, unsigned items_x,
                         unsigned items_y, unsigned items_z, unsigned shared, void *stream, void **arguments,
                         void **extra);
typedef int (*cu_write)(void *buffer, const void *host, size_t size, void *stream);
typedef int (*cu_read)(void *host, void *buffer, size_t size, void *stream);
typedef int (*cu_with)(void *context_or_stream);
typedef int (*cu_pop)(void **context);
typedef int (*hip_which)(int *device);
typedef int (*hip_use)(int device);

typedef int (*host_launch)(const size_t *groups, const size_t *items, void *const *arguments);

typedef int (*push_range)(const char *text);
typedef int (*pop_range)(void);

/* Held for each launch, by Python for those that it carries out: they share kernels' arguments and buffers. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct nomp_driver driver;
static int is_known = 0; /* whether the driver is */
static struct nomp_replay **replays = NULL; /* by kernel; the newest first */
static int kernels = 0;
static int resting = 0; /* launches that are left to Python, for it looks at them */
static int64_t carried_out = 0; /* of replays that have been carried out */

static void forget(void) {
  for (int id = 0; id < kernels; id++) replays[id] = NULL;
}

void nomp_replay_rest(int launches) {
  pthread_mutex_lock(&lock);
  resting = launches;
  pthread_mutex_unlock(&lock);
}

static int has_context(void) { return driver.enter != NULL; }

static int is_host(void) { return is_known && driver.launch == NULL; }

static int is_hip(void) { return driver.current != NULL; }

static int before; /* what HIP's device of the thread was */

/* Make the driver's context, or device, that of this thread, until it leaves; a status of the driver's. */
static int enter(void) {
  if (!has_context()) return 0;
  if (!is_hip()) return ((cu_with)driver.enter)(driver.context);
  int ours = (int)(intptr_t)driver.context, status = ((hip_which)driver.current)(&before);
  return status || before == ours ? status : ((hip_use)driver.enter)(ours);
}

static void leave(void) {
  void *context;
  if (!has_context()) return;
  if (!is_hip()) ((cu_pop)driver.leave)(&context);
  else if (before != (int)(intptr_t)driver.context) ((hip_use)driver.enter)(before);
}

/* A child's driver has none of the parent's threads: Python says so. */
static void stop_in_child(void) {
  lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  forget();
  nomp_timing_forget();
  memset(&driver, 0, sizeof driver), is_known = 0;
}

void nomp_replay_start(const struct nomp_driver *now) {
  static int prepared = 0;
  pthread_mutex_lock(&lock);
  driver = *now, is_known = 1, resting = 0;
  nomp_timing_forget();
  if (!prepared) prepared = pthread_atfork(NULL, NULL, stop_in_child) == 0;
  pthread_mutex_unlock(&lock);
}

void nomp_replay_stop(void) {
  pthread_mutex_lock(&lock);
  forget();
  if (driver.zero && enter() == 0) {
    nomp_timing_stop(&driver);
    leave();
  }
  nomp_timing_forget();
  memset(&driver, 0, sizeof driver), is_known = 0;
  pthread_mutex_unlock(&lock);
}

int nomp_replay_keep(int id, struct nomp_replay *replay) {
  pthread_mutex_lock(&lock);
  int ok = 1;
  if (id >= kernels) {
    struct nomp_replay **larger = realloc(replays, (id + 1) * sizeof *larger);
    ok = larger != NULL;
    if (ok)
      for (replays = larger; kernels <= id; kernels++) replays[kernels] = NULL;
  }
  if (ok) {
    replay->next = replays[id];
    replays[id] = replay;
    for (int number = 1; replay; replay = replay->next, number++)
      if (number == NOMP_MOST_REPLAYS) replay->next = NULL;
  }
  pthread_mutex_unlock(&lock);
  return ok;
}

void nomp_replay_lock(void) { pthread_mutex_lock(&lock); }

void nomp_replay_unlock(void) { pthread_mutex_unlock(&lock); }

void nomp_replay_forget(void) {
  pthread_mutex_lock(&lock);
  forget();
  pthread_mutex_unlock(&lock);
}

static int holds(const struct nomp_replay *replay, const uintptr_t *addresses) {
  for (int i = 0; i < replay->pointers; i++)
    if (addresses[replay->pointer[i].position] != replay->pointer[i].address) return 0;
  for (int i = 0; i < replay->scalars; i++) {
    const struct nomp_scalar *scalar = &replay->scalar[i];
    if (memcmp((const void *)addresses[scalar->position], scalar->bytes, scalar->size) != 0) return 0;
  }
  return 1;
}

/* The integer at host, of size bytes: negative for a signed one. */
static int64_t widened(const void *host, int size) {
  int64_t value = 0;
  size_t bytes = abs(size);
  memcpy(&value, host, bytes); /* the host is little-endian, as all devices are */
  int unused = 64 - 8 * (int)bytes;
  return size < 0 ? (int64_t)((uint64_t)value << unused) >> unused : value;
}

/* A status of OpenCL's, which puts an event into timed. */
static int act_opencl(const struct nomp_action *action, void *host, struct nomp_timed *timed) {
  void *queue = driver.queue, *object = action->object, *event = timed ? &timed->first : NULL;
  switch (action->kind) {
  case NOMP_SET: return ((cl_set)driver.set)(object, action->index, action->size, host);
  case NOMP_LAUNCH: {
    size_t items[3];
    for (unsigned axis = 0; axis < action->dims; axis++) items[axis] = action->groups[axis] * action->items[axis];
    return ((cl_enqueue)driver.launch)(queue, object, action->dims, NULL, items, action->items, 0, NULL, event);
  }
  case NOMP_WRITE: return ((cl_copy)driver.write)(queue, object, 0, 0, action->size, host, 0, NULL, event);
  default: return ((cl_copy)driver.read)(queue, object, 1, 0, action->size, host, 0, NULL, event);
  }
}

/* A status of CUDA's, or of HIP's, whose functions have the same forms; HIP gets a kernel's arguments packed. */
static int act_cuda(const struct nomp_action *action, void *host) {
  void *stream = driver.queue, *object = action->object;
  const size_t *groups = action->groups, *items = action->items;
  int status, is_there = object == action->stage; /* kernels and the host have the same memory */
  switch (action->kind) {
  case NOMP_SET: memcpy(object, host, action->size); return 0;
  case NOMP_LAUNCH:
    return ((cu_launch)driver.launch)(object, groups[0], groups[1], groups[2], items[0], items[1], items[2],
                                      (unsigned)action->size, stream, is_hip() ? NULL : action->arguments,
                                      is_hip() ? action->arguments : NULL);
  case NOMP_WRITE: /* from page-locked memory: else the driver may wait for the stream first */
    if (action->stage) host = memcpy(action->stage, host, action->size);
    return is_there ? 0 : ((cu_write)driver.write)(object, host, action->size, stream);
  default:
    status = is_there ? 0 : ((cu_read)driver.read)(action->stage ? action->stage : host, object, action->size, stream);
    if (!status) status = ((cu_with)driver.wait)(stream);
    if (!status && action->stage) memcpy(host, action->stage, action->size);
    return status;
  }
}

/* Kernels are functions of the program, and their memory is its own: 0, or what the kernel says. */
static int act_host(const struct nomp_action *action, void *host) {
  void *object = action->object;
  switch (action->kind) {
  case NOMP_LAUNCH: return ((host_launch)object)(action->groups, action->items, action->arguments);
  case NOMP_READ: memcpy(host, object, action->size); return 0;
  default: memcpy(object, host, action->size); return 0;
  }
}

/* A status of the driver's: 0 is good. */
static int act(const struct nomp_action *action, const uintptr_t *addresses) {
  void *host = action->bytes ? action->bytes : (void *)(addresses[action->position] + action->offset);
  if (action->kind == NOMP_STORE) {
    memcpy((void *)addresses[action->position], action->bytes, action->size);
    return 0;
  }
  int64_t wide;
  if (action->from) {
    wide = widened(host, action->from);
    host = &wide;
  }
  struct nomp_timed *timed = action->label ? nomp_timing_begin(&driver, action->label) : NULL;
  int status = is_host()       ? act_host(action, host)
               : has_context() ? act_cuda(action, host)
                               : act_opencl(action, host, timed);
  if (timed && !status) nomp_timing_end(&driver, timed);
  return status;
}

/* The same for all of *replay*; *begun* says whether any of it has been carried out. */
static int act_all(const struct nomp_replay *replay, const uintptr_t *addresses, int *begun) {
  int status = enter();
  if (status) return status;
  for (int i = 0; i < replay->actions && !status; i++) {
    status = act(&replay->action[i], addresses);
    if (!status && replay->action[i].kind != NOMP_SET) *begun = 1;
  }
  leave();
  return status;
}

/* 1: done; 0: Python is to do it; below 0: the driver's status for an action after others had been carried out. */
int nomp_replay(int id, const uintptr_t *addresses) {
  int result = 0, begun = 0;
  pthread_mutex_lock(&lock);
  struct nomp_replay *replay = id >= 0 && id < kernels ? replays[id] : NULL;
  while (replay && !holds(replay, addresses)) replay = replay->next;
  if (replay && resting > 0) resting--, replay = NULL;
  if (replay && driver.zero && nomp_timing_is_due(replay->actions)) replay = NULL; /* Python reads the times first */
  if (replay) {
    if (driver.push_range) ((push_range)driver.push_range)(replay->text);
    int status = act_all(replay, addresses, &begun);
    *replay->repeats += !status;
    carried_out++;
    if (driver.pop_range) ((pop_range)driver.pop_range)();
    result = !status ? 1 : begun ? (status < 0 ? status : -status) : 0;
    if (status) forget();
  }
  pthread_mutex_unlock(&lock);
  return result;
}

/* Wait for the device.  1: done; 0: Python is to do it, and to say what is wrong. */
int nomp_replay_sync(void) {
  pthread_mutex_lock(&lock);
  int status = -1;
  if ((driver.wait || is_host()) && !(driver.zero && nomp_timing_is_due(0))) {
    status = is_host() ? 0 : enter();
    if (!status && driver.wait) {
      status = ((cu_with)driver.wait)(driver.queue);
      leave();
    }
  }
  pthread_mutex_unlock(&lock);
  return status == 0;
}

int64_t nomp_replay_count(void) {
  pthread_mutex_lock(&lock);
  int64_t now = carried_out;
  pthread_mutex_unlock(&lock);
  return now;
}

/* Whether times are to be read soon. */
int nomp_replay_is_due(void) {
  pthread_mutex_lock(&lock);
  int due = nomp_timing_is_due(NOMP_MOST_TIMED / 2);
  pthread_mutex_unlock(&lock);
  return due;
}

/*
 * Wait for all that was timed, or for the older half, and write down for each its label, when it began after the
 * clock's zero, and how long it took, in nanoseconds; there is room for NOMP_MOST_TIMED.  How many; below 0: the
 * driver's status, and the times of what is in the queue are lost.
 */
int nomp_replay_times(int all, int *labels, int64_t *begins, int64_t *lasted) {
  pthread_mutex_lock(&lock);
  int status = driver.zero ? enter() : 0, made = status < 0 ? status : -status;
  if (driver.zero && !status) {
    made = nomp_timing_read(&driver, all, labels, begins, lasted);
    leave();
  }
  pthread_mutex_unlock(&lock);
  return made;
}
