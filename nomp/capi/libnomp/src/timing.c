/*
 * timing.c: when the driver has carried out what replay.c had it do.
 *
 * Operations that are timed have places in a ring: OpenCL's event of each, or CUDA's or HIP's events before and after
 * it, which are used again, or the host's times before and after it.  Python reads the times in batches: when it waits
 * for the device anyway, and when that is due.  replay.c calls all of this with its lock held, and in the driver's
 * context.
 */
#include "bridge.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CL_START = 0x1282, CL_END = 0x1283 };
static const double patience = 0.25; /* seconds after which times are read: the program may crash before it waits */

typedef int (*cl_await)(unsigned events, void *const *event);
typedef int (*cl_moment)(void *event, unsigned what, size_t size, void *nanoseconds, size_t *written);
typedef int (*cu_make)(void **event, unsigned flags);
typedef int (*cu_mark)(void *event, void *stream);
typedef int (*cu_moment)(float *milliseconds, void *from, void *to);
typedef int (*with_event)(void *event);

static struct nomp_timed ring[NOMP_MOST_TIMED];
static int oldest = 0, count = 0;
static double last_read = 0;

static struct nomp_timed *place(int number) { return &ring[(oldest + number) % NOMP_MOST_TIMED]; }

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time); /* each launch asks */
  return time.tv_sec + time.tv_nsec * 1e-9;
}

int nomp_timing_is_due(int more) {
  return count + more > NOMP_MOST_TIMED || (count && now() - last_read > patience);
}

static int has_no_events(const struct nomp_driver *driver) { return !driver->moment; }

static void *nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (void *)(intptr_t)(time.tv_sec * 1000000000LL + time.tv_nsec);
}

/* Where OpenCL is to put the event of an operation, or after the event before it; NULL if CUDA, or HIP, refuses. */
struct nomp_timed *nomp_timing_begin(const struct nomp_driver *driver, int label) {
  struct nomp_timed *timed = place(count);
  timed->label = label;
  if (has_no_events(driver)) timed->first = nanoseconds();
  if (!driver->make) return timed;
  cu_make make = (cu_make)driver->make;
  if (!timed->first && make(&timed->first, 0)) timed->first = NULL;
  if (!timed->last && make(&timed->last, 0)) timed->last = NULL;
  if (!timed->first || !timed->last) return NULL;
  return ((cu_mark)driver->mark)(timed->first, driver->queue) ? NULL : timed;
}

/* The operation is in the queue. */
void nomp_timing_end(const struct nomp_driver *driver, struct nomp_timed *timed) {
  if (has_no_events(driver)) timed->last = nanoseconds();
  if (!driver->make || !((cu_mark)driver->mark)(timed->last, driver->queue)) count++;
}

/* Out: nanoseconds since zero, and from beginning to end. */
static int moments(const struct nomp_driver *driver, const struct nomp_timed *timed, int64_t *begin, int64_t *lasted) {
  if (has_no_events(driver)) {
    *begin = (uintptr_t)timed->first - driver->zero, *lasted = (intptr_t)timed->last - (intptr_t)timed->first;
    return 0;
  }
  if (!driver->make) {
    cl_moment moment = (cl_moment)driver->moment;
    uint64_t start = 0, end = 0;
    int status = moment(timed->first, CL_START, sizeof start, &start, NULL);
    if (!status) status = moment(timed->first, CL_END, sizeof end, &end, NULL);
    *begin = start - (uint64_t)driver->zero, *lasted = end - start;
    return status;
  }
  cu_moment moment = (cu_moment)driver->moment;
  float since = 0, milliseconds = 0;
  int status = moment(&since, (void *)driver->zero, timed->first);
  if (!status) status = moment(&milliseconds, timed->first, timed->last);
  *begin = since * 1e6, *lasted = milliseconds * 1e6;
  return status;
}

static void drop_oldest(const struct nomp_driver *driver) {
  if (!driver->make && driver->release) ((with_event)driver->release)(place(0)->first);
  oldest = (oldest + 1) % NOMP_MOST_TIMED, count--;
}

/* See nomp_replay_times(). */
int nomp_timing_read(const struct nomp_driver *driver, int all, int *labels, int64_t *begins, int64_t *lasted) {
  int done = all ? count : (count + 1) / 2, made = 0;
  while (done && done < count && place(done)->label < 0) done++;
  last_read = now();
  if (!done) return 0;
  struct nomp_timed *last = place(done - 1);
  int status = has_no_events(driver) ? 0
               : driver->make  ? ((with_event)driver->await)(last->last)
                               : ((cl_await)driver->await)(1, &last->first);
  for (; done && !status; done--) {
    int64_t begin, time;
    int label = place(0)->label;
    status = moments(driver, place(0), &begin, &time);
    if (status) break;
    if (label < 0 && made) lasted[made - 1] += time;
    else labels[made] = abs(label), begins[made] = begin, lasted[made] = time, made++;
    drop_oldest(driver);
  }
  if (!status) return made;
  while (count) drop_oldest(driver);
  return status < 0 ? status : -status;
}

/* Give all events back; those of what is in the queue, too. */
void nomp_timing_stop(const struct nomp_driver *driver) {
  while (count) drop_oldest(driver);
  for (int i = 0; driver->make && i < NOMP_MOST_TIMED; i++) {
    if (ring[i].first) ((with_event)driver->release)(ring[i].first);
    if (ring[i].last) ((with_event)driver->release)(ring[i].last);
  }
}

/* Start without events. */
void nomp_timing_forget(void) {
  memset(ring, 0, sizeof ring);
  oldest = count = 0, last_read = now();
}
