/*
 * launch.h: how a kernel is launched.  It stands behind the kernels, and behind threads.h; a function that NOMP_ENTRY
 * makes is what Python and libnomp's C call.
 */

/* A kernel with arguments[i] pointing to the i-th one. */
typedef void nomp_kernel(void *const *arguments);

struct nomp_launch {
  struct nomp_work work;
  nomp_kernel *kernel;
  const size_t *groups, *items;
  void *const *arguments;
};

static int nomp_make_room(size_t items);
static void nomp_run_items(const struct nomp_launch *launch);

/* Whether this thread can carry out groups. */
static int nomp_enter(const struct nomp_work *work) {
  const struct nomp_launch *launch = (const struct nomp_launch *)work;
  for (int axis = 0; axis < 3; axis++) nomp_groups[axis] = launch->groups[axis], nomp_items[axis] = launch->items[axis];
  return nomp_make_room(launch->items[0] * launch->items[1] * launch->items[2]);
}

static void nomp_run_group(const struct nomp_work *work, size_t number) {
  const struct nomp_launch *launch = (const struct nomp_launch *)work;
  for (int axis = 0; axis < 3; axis++) {
    nomp_group[axis] = number % launch->groups[axis];
    number /= launch->groups[axis];
  }
  nomp_run_items(launch);
}

#ifndef NOMP_MEET

static int nomp_make_room(size_t items) { return 1; }

static void nomp_run_items(const struct nomp_launch *launch) {
  const size_t *items = launch->items;
  for (nomp_item[2] = 0; nomp_item[2] < items[2]; nomp_item[2]++)
    for (nomp_item[1] = 0; nomp_item[1] < items[1]; nomp_item[1]++)
      for (nomp_item[0] = 0; nomp_item[0] < items[0]; nomp_item[0]++) launch->kernel(launch->arguments);
}

#else

/*
 * Items that wait for each other: each has a stack of its own, and runs until it waits or ends, when the next one has
 * its turn.  ucontext makes the stacks' first frames; after that setjmp changes between them without asking the system.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { NOMP_STACK = 1 << 20, NOMP_GUARD = 1 << 16 };

struct nomp_items {
  size_t room;
  char *stacks; /* below each one, what ends the program when it is touched */
  struct nomp_turn {
    jmp_buf place;
    int started, ended;
  } *turns;
};

static _Thread_local struct nomp_items nomp_own;
static _Thread_local struct nomp_turn *nomp_turn;
static _Thread_local const struct nomp_launch *nomp_current;
static _Thread_local jmp_buf nomp_host;

static void nomp_wait(void) {
  if (nomp_items[0] * nomp_items[1] * nomp_items[2] > 1 && !_setjmp(nomp_turn->place)) _longjmp(nomp_host, 1);
}

static void nomp_begin(void) {
  nomp_current->kernel(nomp_current->arguments);
  nomp_turn->ended = 1;
  _longjmp(nomp_host, 1);
}

static int nomp_make_room(size_t items) {
  struct nomp_items *own = &nomp_own;
  if (items == 1 || items <= own->room) return 1;
  if (own->room) munmap(own->stacks, own->room * NOMP_STACK);
  own->room = 0;
  struct nomp_turn *turns = realloc(own->turns, items * sizeof *turns);
  if (turns) own->turns = turns;
  int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  own->stacks = turns ? mmap(NULL, items * NOMP_STACK, PROT_READ | PROT_WRITE, kind, -1, 0) : MAP_FAILED;
  if (own->stacks == MAP_FAILED) return 0;
  for (size_t number = 0; number < items; number++) mprotect(own->stacks + number * NOMP_STACK, NOMP_GUARD, PROT_NONE);
  own->room = items;
  return 1;
}

/* A turn of the item of number: until it waits, or ends. */
static __attribute__((noinline)) void nomp_continue(size_t number) {
  nomp_turn = &nomp_own.turns[number];
  if (_setjmp(nomp_host)) return;
  if (nomp_turn->started) _longjmp(nomp_turn->place, 1);
  nomp_turn->started = 1;
  ucontext_t fresh;
  getcontext(&fresh);
  fresh.uc_stack.ss_sp = nomp_own.stacks + number * NOMP_STACK + NOMP_GUARD;
  fresh.uc_stack.ss_size = NOMP_STACK - NOMP_GUARD;
  makecontext(&fresh, nomp_begin, 0);
  setcontext(&fresh);
}

static void nomp_run_items(const struct nomp_launch *launch) {
  const size_t *items = launch->items;
  size_t count = items[0] * items[1] * items[2], left = count;
  if (count == 1) {
    nomp_item[0] = nomp_item[1] = nomp_item[2] = 0;
    launch->kernel(launch->arguments);
    return;
  }
  nomp_current = launch;
  for (size_t number = 0; number < count; number++) nomp_own.turns[number].started = nomp_own.turns[number].ended = 0;
  while (left) {
    for (size_t number = 0; number < count; number++) {
      if (nomp_own.turns[number].ended) continue;
      nomp_item[0] = number % items[0];
      nomp_item[1] = number / items[0] % items[1];
      nomp_item[2] = number / items[0] / items[1];
      nomp_continue(number);
      left -= nomp_own.turns[number].ended;
    }
  }
}

#endif

#define NOMP_ENTRY(name)                                                                                   \
  __attribute__((visibility("default"))) int nomp_entry_##name(const size_t *groups, const size_t *items, \
                                                               void *const *arguments) {                  \
    struct nomp_work work = {nomp_enter, nomp_run_group, groups[0] * groups[1] * groups[2]};               \
    struct nomp_launch launch = {work, nomp_call_##name, groups, items, arguments};                        \
    return nomp_share_out(&launch.work);                                                                   \
  }
