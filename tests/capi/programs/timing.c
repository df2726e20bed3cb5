/* timing.c of libnomp, under replay.c, over drivers of this file: what is timed, when it is read, what is given back. */
#define _GNU_SOURCE /* as the build of libnomp has it */
#include "../../../nomp/capi/libnomp/src/replay.c"
#include "../../../nomp/capi/libnomp/src/timing.c"

#include "check.h"
#pragma GCC diagnostic ignored "-Wunused-parameter" /* the drivers' functions have many */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Events are these; the n-th operation starts at 1000 n + 100 and takes 10 + n nanoseconds, or (CUDA) milliseconds. */
static struct event {
  int operation, is_live;
} events[4 * NOMP_MOST_TIMED];
static int made = 0, operations = 0, live = 0, waits = 0, refuse_moment = 0, refuse_launch = 0, refuse_make = 0;

static void *new_event(void) {
  struct event *event = &events[made++ % (4 * NOMP_MOST_TIMED)];
  if (event->is_live++) exit(3);
  live++;
  return event;
}

static int release(void *event) {
  live--;
  return ((struct event *)event)->is_live--  == 1 ? 0 : 1;
}

static int cl_launch(void *queue, void *kernel, unsigned dims, const size_t *offset, const size_t *global,
                     const size_t *local, unsigned before, const void *wait, void *event) {
  if (refuse_launch) return -5;
  int operation = operations++;
  if (event) {
    *(void **)event = new_event();
    (*(struct event **)event)->operation = operation;
  }
  return 0;
}

static int cl_move(void *queue, void *buffer, unsigned blocking, size_t offset, size_t size, void *host,
                   unsigned before, const void *wait, void *event) {
  return cl_launch(queue, buffer, 0, NULL, NULL, NULL, 0, NULL, event);
}

static int cl_wait_for(unsigned number, void *const *event) {
  waits++;
  return number == 1 && ((struct event *)*event)->is_live ? 0 : 1;
}

static int cl_when(void *event, unsigned what, size_t size, void *value, size_t *written) {
  int operation = ((struct event *)event)->operation;
  if (refuse_moment || size != 8 || written) return -7;
  *(uint64_t *)value = 5000 + 1000 * operation + (what == CL_END ? 110 + operation : 100);
  return 0;
}

static int finish(void *queue) { return 0; }

static int launch_(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned ix, unsigned iy, unsigned iz,
                   unsigned shared, void *stream, void **arguments, void **extra) {
  return refuse_launch ? 700 : 0;
}

static int depth = 0; /* of contexts entered */

static int push(void *context) { return depth++ < 0; }

static int pop(void **context) { return depth-- < 0; }

static int make(void **event, unsigned flags) {
  if (refuse_make || flags) return 2;
  *event = new_event();
  return depth != 1;
}

static int mark(void *event, void *stream) {
  ((struct event *)event)->operation = operations++;
  return depth != 1 || !stream;
}

static int wait_for(void *event) { return depth != 1 || waits++ < 0; }

static int when(float *milliseconds, void *from, void *to) {
  int operation = ((struct event *)to)->operation;
  *milliseconds = (1 + operation - (*(char *)from == 'z' ? 0 : 1 + ((struct event *)from)->operation)) * 0.25f;
  return depth != 1 ? 1 : refuse_moment ? 700 : 0;
}

static int give_back(void *event) { return depth != 1 || release(event); }

static double host[2];
static const struct nomp_action timed[] = {
    {.kind = NOMP_WRITE, .position = 0, .size = 8, .object = "sum", .label = 1},
    {.kind = NOMP_LAUNCH, .object = "first", .dims = 1, .groups = {1, 1, 1}, .items = {1, 1, 1}, .label = 2},
    {.kind = NOMP_LAUNCH, .object = "second", .dims = 1, .groups = {1, 1, 1}, .items = {1, 1, 1}, .label = -2},
    {.kind = NOMP_LAUNCH, .object = "plain", .dims = 1, .groups = {1, 1, 1}, .items = {1, 1, 1}},
};
static long repeats = 0;
static int labels[NOMP_MOST_TIMED];
static int64_t begins[NOMP_MOST_TIMED], lasted[NOMP_MOST_TIMED];

static int is(int number, int label, int64_t begin, int64_t time) {
  return labels[number] == label && begins[number] == begin && lasted[number] == time;
}

static void launch(int times, int actions) {
  const uintptr_t addresses[] = {(uintptr_t)host};
  static struct nomp_replay replays_[2];
  replays_[0] = (struct nomp_replay){NULL, "range", 0, 0, actions, &repeats, NULL, NULL, timed};
  CHECK(nomp_replay_keep(0, &replays_[0]) == 1);
  while (times--) CHECK(nomp_replay(0, addresses) == 1);
}

static void on_opencl(void) {
  const struct nomp_driver opencl = {.queue = "q", .launch = cl_launch, .write = cl_move, .read = cl_move,
                                     .wait = finish, .await = cl_wait_for, .moment = cl_when, .release = release,
                                     .zero = 5000};
  const uintptr_t addresses[] = {(uintptr_t)host};
  nomp_replay_start(&opencl);
  launch(1, 4);
  CHECK(live == 3 && operations == 4 && nomp_replay_sync() == 1 && live == 3 && !nomp_replay_is_due());
  CHECK(nomp_replay_times(1, labels, begins, lasted) == 2 && waits == 1 && live == 0);
  CHECK(is(0, 1, 100, 10) && is(1, 2, 1100, 11 + 12)); /* a launch of several kernels is one */
  CHECK(nomp_replay_times(1, labels, begins, lasted) == 0 && waits == 1);

  launch(1, 3); /* half of it does not come between parts of one launch */
  CHECK(nomp_replay_times(0, labels, begins, lasted) == 2 && live == 0 && labels[1] == 2);

  operations = 0;
  launch((NOMP_MOST_TIMED - 1) / 3, 3);
  CHECK(live == NOMP_MOST_TIMED - 1 && nomp_replay_is_due());
  CHECK(nomp_replay(0, addresses) == 0 && operations == NOMP_MOST_TIMED - 1); /* no room: Python reads first */
  CHECK(nomp_replay_sync() == 1);
  int half = nomp_replay_times(0, labels, begins, lasted);
  CHECK(half == 342 && is(0, 1, 100, 10) && is(half - 1, 2, 511100, 511 + 512 + 20));
  CHECK(nomp_replay(0, addresses) == 1);
  CHECK(nomp_replay_times(1, labels, begins, lasted) == 342 && is(0, 1, 513100, 523) && live == 0); /* around the end */

  launch(1, 1);
  last_read -= 1; /* long ago */
  CHECK(nomp_replay_is_due() && nomp_replay(0, addresses) == 0 && nomp_replay_sync() == 0);
  CHECK(nomp_replay_times(0, labels, begins, lasted) == 1 && nomp_replay(0, addresses) == 1);

  refuse_launch = 1; /* what the driver refuses has no time */
  CHECK(nomp_replay(0, addresses) == 0);
  refuse_launch = 0, refuse_moment = 1;
  CHECK(nomp_replay_times(1, labels, begins, lasted) == -7 && live == 0);
  CHECK(nomp_replay_times(1, labels, begins, lasted) == 0);
  refuse_moment = 0;

  launch(2, 1);
  pid_t child = fork(); /* whose driver is not there */
  if (child == 0) _exit(nomp_replay_times(1, labels, begins, lasted) || live != 2);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  nomp_replay_stop();
  CHECK(live == 0 && nomp_replay_times(1, labels, begins, lasted) == 0);
}

static void on_cuda(void) {
  const struct nomp_driver cuda = {.queue = "s", .context = "c", .launch = launch_, .enter = push, .leave = pop,
                                   .wait = finish, .make = make, .mark = mark, .await = wait_for, .moment = when,
                                   .release = give_back, .zero = (uintptr_t)"zero"};
  operations = made = waits = 0;
  nomp_replay_start(&cuda);
  refuse_make = 1; /* a launch is carried out whether or not it can be timed */
  const uintptr_t addresses[] = {(uintptr_t)host};
  static struct nomp_replay kernels_ = {NULL, "range", 0, 0, 3, &repeats, NULL, NULL, timed + 1};
  CHECK(nomp_replay_keep(0, &kernels_) == 1 && nomp_replay(0, addresses) == 1 && live == 0);
  CHECK(nomp_replay_times(1, labels, begins, lasted) == 0);
  refuse_make = 0;
  CHECK(nomp_replay(0, addresses) == 1 && live == 4 && operations == 4);
  CHECK(nomp_replay_times(1, labels, begins, lasted) == 1 && waits == 1 && is(0, 2, 250000, 2 * 250000) && live == 4);
  for (int i = 0; i < NOMP_MOST_TIMED / 2 - 1; i++) CHECK(nomp_replay(0, addresses) == 1);
  CHECK(nomp_replay_times(1, labels, begins, lasted) == NOMP_MOST_TIMED / 2 - 1 && live == 2 * NOMP_MOST_TIMED);
  CHECK(nomp_replay(0, addresses) == 1 && live == 2 * NOMP_MOST_TIMED); /* the first ones are used again */
  refuse_moment = 1;
  CHECK(nomp_replay_times(1, labels, begins, lasted) == -700);
  nomp_replay_stop();
  CHECK(live == 0 && depth == 0);
}

static int work(const size_t *groups, const size_t *items, void *const *arguments) {
  struct timespec a_while = {.tv_nsec = 2000000};
  return nanosleep(&a_while, NULL);
}

static void on_host(void) {
  const struct nomp_driver none = {.zero = (uintptr_t)nanoseconds()};
  const struct nomp_action working[] = {
      {.kind = NOMP_LAUNCH, .object = work, .label = 1},
      {.kind = NOMP_LAUNCH, .object = work, .label = -1},
      {.kind = NOMP_LAUNCH, .object = work, .label = 2},
  };
  struct nomp_replay replay = {NULL, "range", 0, 0, 3, &repeats, NULL, NULL, working};
  const uintptr_t addresses[] = {(uintptr_t)host};
  nomp_replay_start(&none);
  CHECK(nomp_replay_keep(0, &replay) == 1 && nomp_replay(0, addresses) == 1);
  CHECK(nomp_replay_times(1, labels, begins, lasted) == 2 && labels[0] == 1 && labels[1] == 2);
  CHECK(begins[0] > 0 && lasted[0] >= 4000000 && begins[1] >= begins[0] + lasted[0] && lasted[1] >= 2000000);
  CHECK(lasted[1] < 1000000000 && nomp_replay_times(1, labels, begins, lasted) == 0);
  nomp_replay_stop();
}

int main(void) {
  on_opencl();
  on_cuda();
  on_host();
  puts("done");
  return 0;
}
