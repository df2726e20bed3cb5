/* replay.c of libnomp over a driver of this file: what is called, with what, and when Python is to do it instead. */
#define _GNU_SOURCE /* as the build of libnomp has it */
#include "../../../nomp/capi/libnomp/src/replay.c"
#include "../../../nomp/capi/libnomp/src/timing.c"

#include "check.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static char log_[1000];
static int refuse = -1, calls = 0; /* the call that fails */

static int called(const char *text) {
  strcat(log_, text);
  return calls++ == refuse ? -5 : 0;
}

static int enqueue(void *queue, void *kernel, unsigned dims, const size_t *offset, const size_t *global,
                   const size_t *local, unsigned events, const void *wait, void *event) {
  char text[100];
  snprintf(text, sizeof text, "launch %s/%s %u %zu/%zu;", (char *)queue, (char *)kernel, dims, global[dims - 1],
           local[dims - 1]);
  return offset || events || wait || event ? 1 : called(text);
}

static int set(void *kernel, unsigned index, size_t size, const void *value) {
  char text[100];
  snprintf(text, sizeof text, "set %s %u %zu %g;", (char *)kernel, index, size, *(const double *)value);
  return called(text);
}

static int copy(const char *verb, void *buffer, unsigned blocking, size_t size, double *host) {
  char text[100];
  snprintf(text, sizeof text, "%s %s %u %zu %g;", verb, (char *)buffer, blocking, size, *host);
  return called(text);
}

static int write_(void *queue, void *buffer, unsigned blocking, size_t offset, size_t size, void *host,
                  unsigned events, const void *wait, void *event) {
  return !queue || offset || events || wait || event || copy("write", buffer, blocking, size, host);
}

static int read_(void *queue, void *buffer, unsigned blocking, size_t offset, size_t size, void *host, unsigned events,
                 const void *wait, void *event) {
  if (!queue || offset || events || wait || event) return 1;
  *(double *)host += 100;
  return copy("read", buffer, blocking, size, host);
}

static int cu_launch_(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned ix, unsigned iy, unsigned iz,
                      unsigned shared, void *stream, void **arguments, void **extra) {
  char text[100];
  snprintf(text, sizeof text, "%s/%s %u,%u,%u/%u,%u,%u %g;", (char *)stream, (char *)function, gx, gy, gz, ix, iy, iz,
           *(double *)arguments[0]);
  return shared || extra ? 1 : called(text);
}

static int cu_write_(void *buffer, const void *host, size_t size, void *stream) {
  return !stream || copy("write", buffer, 0, size, (double *)host);
}

static int cu_read_(void *host, void *buffer, size_t size, void *stream) {
  return !stream || copy("read", buffer, 0, size, host);
}

static int cu_wait_(void *stream) { return called(stream ? "wait;" : ""); }

static int cu_push_(void *context) { return called(context ? "push;" : ""); }

static int cu_pop_(void **context) {
  *context = NULL;
  return called("pop;");
}

static int device = 1;

static int hip_launch_(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned ix, unsigned iy, unsigned iz,
                       unsigned shared, void *stream, void **arguments, void **extra) {
  char text[100];
  snprintf(text, sizeof text, "%s/%s on %d %g;", stream ? "stream" : "null", (char *)function, device,
           *(double *)extra[1]);
  return arguments || gx * gy * gz != 6 || ix * iy * iz != 128 || shared != 64 ? 1 : called(text);
}

static int hip_wait_(void *stream) { return called(stream || device ? "" : "wait;"); }

static int hip_which_(int *now) {
  *now = device;
  return called("which;");
}

static int hip_use_(int other) {
  device = other;
  return called("use;");
}

static double host_memory[2];

/* A kernel of the program's own. */
static int host_launch_(const size_t *groups, const size_t *items, void *const *arguments) {
  host_memory[1] = *(double *)arguments[0] + 10 * groups[0] + 100 * groups[1] + 1000 * items[0] + 10000 * items[2];
  return called("kernel;");
}

static double one = 1;
static int seven = 7;
static long repeats = 0;
static const struct nomp_pointer pointer = {1, 0xabc0};
static const struct nomp_scalar scalar = {0, sizeof seven, &seven};
static const struct nomp_action actions[] = {
    {.kind = NOMP_WRITE, .bytes = &one, .size = 8, .object = "sum"},
    {.kind = NOMP_SET, .position = 2, .size = 8, .object = "kernel", .index = 3},
    {.kind = NOMP_LAUNCH, .object = "kernel", .dims = 2, .groups = {3, 2}, .items = {2, 4}},
    {.kind = NOMP_READ, .position = 3, .offset = 8, .size = 8, .object = "sum"},
    {.kind = NOMP_STORE, .position = 4, .bytes = &seven, .size = sizeof seven},
};
static struct nomp_replay replay = {NULL, "range", 1, 1, 5, &repeats, &pointer, &scalar, actions};

int main(void) {
  const struct nomp_driver functions = {.queue = "queue", .launch = enqueue, .set = set, .write = write_, .read = read_};
  int n = 7, last = 0;
  double factor = 0.5, sums[2] = {0, 1};
  uintptr_t addresses[] = {(uintptr_t)&n, 0xabc0, (uintptr_t)&factor, (uintptr_t)sums, (uintptr_t)&last};

  CHECK(nomp_replay(2, addresses) == 0 && nomp_replay_sync() == 0);
  nomp_replay_start(&functions);
  CHECK(nomp_replay_sync() == 0); /* it has no function for that */
  CHECK(nomp_replay(-1, addresses) == 0 && nomp_replay(2, addresses) == 0);
  CHECK(nomp_replay_keep(2, &replay) == 1);
  CHECK(nomp_replay(1, addresses) == 0 && nomp_replay(3, addresses) == 0 && !*log_);

  CHECK(nomp_replay(2, addresses) == 1);
  CHECK(strcmp(log_, "write sum 0 8 1;set kernel 3 8 0.5;launch queue/kernel 2 8/4;read sum 1 8 101;") == 0);
  CHECK(last == 7 && sums[0] == 0 && sums[1] == 101);
  factor = 2;
  CHECK(nomp_replay(2, addresses) == 1 && strstr(log_, "set kernel 3 8 2;") && sums[1] == 201);
  CHECK(repeats == 2);

  *log_ = 0; /* other scalars, another pointer: Python's, without a call of the driver */
  n = 8;
  CHECK(nomp_replay(2, addresses) == 0);
  n = 7, addresses[1] = 0xabc8;
  CHECK(nomp_replay(2, addresses) == 0 && !*log_ && repeats == 2);
  static const struct nomp_pointer another = {1, 0xabc8};
  static struct nomp_replay second = {NULL, "range", 1, 1, 1, &repeats, &another, &scalar, actions + 2};
  CHECK(nomp_replay_keep(2, &second) == 1 && nomp_replay(2, addresses) == 1);
  CHECK(strcmp(log_, "launch queue/kernel 2 8/4;") == 0);
  addresses[1] = 0xabc0;
  CHECK(nomp_replay(2, addresses) == 1);

  nomp_replay_rest(2); /* Python wants to see the next ones that might be repeated */
  CHECK(nomp_replay(99, addresses) == 0 && nomp_replay(2, addresses) == 0 && nomp_replay(2, addresses) == 0);
  CHECK(nomp_replay(2, addresses) == 1);
  nomp_replay_rest(2), nomp_replay_rest(0);
  CHECK(nomp_replay(2, addresses) == 1);

  static struct nomp_replay many[NOMP_MOST_REPLAYS]; /* the oldest go */
  static const struct nomp_pointer elsewhere = {1, 0xabf0};
  for (int i = 0; i < NOMP_MOST_REPLAYS; i++) {
    many[i] = (struct nomp_replay){NULL, "range", 1, 1, 5, &repeats, &elsewhere, &scalar, actions};
    CHECK(nomp_replay_keep(5, &many[i]) == 1);
  }
  static struct nomp_replay newest = {NULL, "range", 1, 1, 5, &repeats, &pointer, &scalar, actions};
  CHECK(nomp_replay_keep(5, &newest) == 1 && nomp_replay(5, addresses) == 1);
  many[0].pointer = NULL; /* freed by now: nobody looks at it */
  n = 8;
  CHECK(nomp_replay(5, addresses) == 0);
  n = 7;

  pid_t child = fork(); /* the child's driver is not there */
  if (child == 0) _exit(nomp_replay(2, addresses) + nomp_replay_sync());
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(nomp_replay(2, addresses) == 1);
  nomp_replay_forget();
  CHECK(nomp_replay(2, addresses) == 0);

  static struct nomp_replay later = {NULL, "range", 1, 1, 4, &repeats, &pointer, &scalar, actions + 1};
  CHECK(nomp_replay_keep(2, &later) == 1);
  calls = 0, refuse = 1; /* nothing has happened yet: Python tries again, and says what is wrong */
  CHECK(nomp_replay(2, addresses) == 0 && nomp_replay(2, addresses) == 0 && calls == 2);
  CHECK(nomp_replay_keep(2, &later) == 1);
  calls = 0, refuse = 2; /* the launch has been enqueued: it must not be once more */
  CHECK(nomp_replay(2, addresses) == -5 && nomp_replay(2, addresses) == 0 && calls == 3);

  const struct nomp_driver cuda = {"stream", "context", .launch = cu_launch_, .write = cu_write_, .read = cu_read_,
                                   .enter = cu_push_, .leave = cu_pop_, .wait = cu_wait_};
  double slot = 0;
  void *arguments[] = {&slot};
  const struct nomp_action on_cuda[] = {
      {.kind = NOMP_WRITE, .bytes = &one, .size = 8, .object = "sum"},
      {.kind = NOMP_SET, .position = 2, .size = 8, .object = &slot},
      {.kind = NOMP_LAUNCH, .object = "f", .dims = 2, .groups = {3, 2, 1}, .items = {32, 4, 1}, .arguments = arguments},
      {.kind = NOMP_READ, .position = 3, .offset = 8, .size = 8, .object = "sum"},
  };
  struct nomp_replay with_cuda = {NULL, "range", 1, 1, 4, &repeats, &pointer, &scalar, on_cuda};
  *log_ = 0, refuse = -1, sums[1] = 0.5;
  nomp_replay_start(&cuda);
  CHECK(nomp_replay_keep(2, &with_cuda) == 1 && nomp_replay(2, addresses) == 1);
  CHECK(strcmp(log_, "push;write sum 0 8 1;stream/f 3,2,1/32,4,1 2;read sum 0 8 0.5;wait;pop;") == 0);
  double stages[2] = {0};
  const struct nomp_action staged[] = {
      {.kind = NOMP_WRITE, .bytes = &one, .size = 8, .object = "sum", .stage = &stages[0]},
      {.kind = NOMP_READ, .position = 3, .offset = 8, .size = 8, .object = "sum", .stage = &stages[1]},
  };
  struct nomp_replay by_stages = {NULL, "range", 1, 1, 2, &repeats, &pointer, &scalar, staged};
  nomp_replay_forget();
  *log_ = 0, stages[1] = 7;
  CHECK(nomp_replay_keep(2, &by_stages) == 1 && nomp_replay(2, addresses) == 1);
  CHECK(strcmp(log_, "push;write sum 0 8 1;read sum 0 8 7;wait;pop;") == 0 && stages[0] == 1 && sums[1] == 7);
  const struct nomp_action near[] = {
      {.kind = NOMP_WRITE, .bytes = &one, .size = 8, .object = &stages[0], .stage = &stages[0]},
      {.kind = NOMP_READ, .position = 3, .offset = 8, .size = 8, .object = &stages[0], .stage = &stages[0]},
  };
  struct nomp_replay without_copies = {NULL, "range", 1, 1, 2, &repeats, &pointer, &scalar, near};
  nomp_replay_forget();
  *log_ = 0, sums[1] = 7;
  CHECK(nomp_replay_keep(2, &without_copies) == 1 && nomp_replay(2, addresses) == 1);
  CHECK(strcmp(log_, "push;wait;pop;") == 0 && sums[1] == 1);
  int64_t wide[4] = {0};
  int minus = -5;
  unsigned char small = 250;
  short less = -300;
  uintptr_t values[] = {(uintptr_t)&n, 0xabc0, (uintptr_t)&minus, (uintptr_t)&small, (uintptr_t)&less};
  const struct nomp_action widening[] = {
      {.kind = NOMP_SET, .position = 2, .size = 8, .from = -4, .object = &wide[0]},
      {.kind = NOMP_SET, .position = 3, .size = 4, .from = 1, .object = &wide[1]},
      {.kind = NOMP_SET, .position = 4, .size = 8, .from = -2, .object = &wide[2]},
      {.kind = NOMP_SET, .position = 2, .size = 8, .from = 4, .object = &wide[3]},
  };
  struct nomp_replay with_widening = {NULL, "range", 1, 1, 4, &repeats, &pointer, &scalar, widening};
  nomp_replay_forget();
  CHECK(nomp_replay_keep(2, &with_widening) == 1 && nomp_replay(2, values) == 1);
  CHECK(wide[0] == -5 && wide[1] == 250 && wide[2] == -300 && wide[3] == 4294967291);
  nomp_replay_forget();
  CHECK(nomp_replay_keep(2, &with_cuda) == 1);
  calls = 0, refuse = 2;
  CHECK(nomp_replay(2, addresses) == -5 && strcmp(strrchr(log_, ' '), " 2;pop;") == 0);
  *log_ = 0, calls = 0, refuse = -1;
  CHECK(nomp_replay_sync() == 1 && strcmp(log_, "push;wait;pop;") == 0);
  calls = 0, refuse = 1;
  CHECK(nomp_replay_sync() == 0 && calls == 3);
  CHECK(nomp_replay_keep(2, &with_cuda) == 1);
  nomp_replay_stop();
  CHECK(nomp_replay_sync() == 0 && nomp_replay(2, addresses) == 0 && calls == 3);

  const struct nomp_driver hip = {.context = 0 /* the device */, .launch = hip_launch_, .write = cu_write_,
                                  .read = cu_read_, .current = hip_which_, .enter = hip_use_, .wait = hip_wait_};
  size_t size = sizeof slot;
  void *extra[] = {(void *)1, &slot, (void *)2, &size, (void *)3};
  const struct nomp_action on_hip[] = {
      {.kind = NOMP_SET, .position = 2, .size = 8, .object = &slot},
      {.kind = NOMP_LAUNCH, .object = "f", .dims = 2, .groups = {3, 2, 1}, .items = {32, 4, 1}, .arguments = extra,
       .size = 64},
  };
  struct nomp_replay with_hip = {NULL, "range", 1, 1, 2, &repeats, &pointer, &scalar, on_hip};
  *log_ = 0, refuse = -1;
  nomp_replay_start(&hip);
  CHECK(nomp_replay_keep(2, &with_hip) == 1 && nomp_replay(2, addresses) == 1);
  CHECK(strcmp(log_, "which;use;null/f on 0 2;use;") == 0 && device == 1); /* the thread's device is as it was */
  *log_ = 0;
  CHECK(nomp_replay_sync() == 1 && strcmp(log_, "which;use;wait;use;") == 0 && device == 1);
  *log_ = 0, device = 0;
  CHECK(nomp_replay(2, addresses) == 1 && strcmp(log_, "which;null/f on 0 2;") == 0);
  for (int failing = 0; failing < 2; failing++) { /* nothing has happened: Python is to say what is wrong */
    *log_ = 0, device = 1, calls = 0, refuse = failing;
    CHECK(nomp_replay_keep(2, &with_hip) == 1 && nomp_replay(2, addresses) == 0 && !strchr(log_, '/'));
  }
  nomp_replay_stop();

  const struct nomp_driver none = {0}; /* the device is the host */
  const struct nomp_action on_host[] = {
      {.kind = NOMP_WRITE, .bytes = &one, .size = 8, .object = &host_memory[0], .stage = &host_memory[0]},
      {.kind = NOMP_SET, .position = 2, .size = 8, .object = &slot},
      {.kind = NOMP_LAUNCH, .object = host_launch_, .dims = 2, .groups = {3, 2, 1}, .items = {4, 1, 5},
       .arguments = arguments},
      {.kind = NOMP_READ, .position = 3, .offset = 8, .size = 8, .object = &host_memory[1]},
  };
  struct nomp_replay with_host = {NULL, "range", 1, 1, 4, &repeats, &pointer, &scalar, on_host};
  *log_ = 0, refuse = -1;
  nomp_replay_start(&none);
  CHECK(nomp_replay_keep(2, &with_host) == 1 && nomp_replay(2, addresses) == 1);
  CHECK(strcmp(log_, "kernel;") == 0 && host_memory[0] == 1 && sums[1] == 2 + 30 + 200 + 4000 + 50000);
  calls = 0, refuse = 0; /* the kernel says that it could not */
  CHECK(nomp_replay(2, addresses) == -5 && nomp_replay(2, addresses) == 0);
  CHECK(nomp_replay_sync() == 1); /* what has been launched is over */
  nomp_replay_stop();
  CHECK(nomp_replay_sync() == 0);
  puts("done");
  return 0;
}
