/*
 * launch.h: how a kernel is launched.  It stands behind the kernels and work.h; a function that NOMP_ENTRY makes is what
 * Python and libnomp's C call.
 */

/* Of threads.c: whoever loads a kernel's library says where that is. */
__attribute__((visibility("default"))) int (*nomp_share_out)(const struct nomp_work *work);

/* group carries out one group, item an item of a group whose items wait for each other. */
struct nomp_launch {
  struct nomp_work work;
  void (*group)(const struct nomp_launch *launch);
  void (*item)(void *const *arguments);
  const size_t *groups, *items;
  void *const *arguments; /* pointers to them */
};

/* What compilers need not make fast, for they would take longer for it than for most kernels.  Nothing that calls a
   kernel by name is, or the kernel would be, too. */
#define NOMP_BRIEF __attribute__((cold))

static size_t nomp_count(const size_t *sizes) { return sizes[0] * sizes[1] * sizes[2]; }

NOMP_BRIEF static void nomp_run_groups(const struct nomp_work *work, size_t first, size_t end) {
  const struct nomp_launch *launch = (const struct nomp_launch *)work;
  size_t x = launch->groups[0], y = launch->groups[1];
  nomp_group[0] = first % x, nomp_group[1] = first / x % y, nomp_group[2] = first / x / y;
  while (1) {
    launch->group(launch);
    if (++first == end) return;
    if (++nomp_group[0] < x) continue;
    nomp_group[0] = 0;
    if (++nomp_group[1] < y) continue;
    nomp_group[1] = 0, nomp_group[2]++;
  }
}

NOMP_BRIEF static int nomp_enter(const struct nomp_work *work) {
  const struct nomp_launch *launch = (const struct nomp_launch *)work;
  for (int axis = 0; axis < 3; axis++) {
    nomp_groups[axis] = launch->groups[axis], nomp_items[axis] = launch->items[axis];
    nomp_item[axis] = 0;
  }
  return 1;
}

/* A call for one item after the other: compilers make vectors of it, if the kernel is inlined. */
#define NOMP_EACH_ITEM(call)                                                                         \
  for (nomp_item[2] = 0; nomp_item[2] < nomp_items[2]; nomp_item[2]++)                               \
    for (nomp_item[1] = 0; nomp_item[1] < nomp_items[1]; nomp_item[1]++)                             \
      for (nomp_item[0] = 0; nomp_item[0] < nomp_items[0]; nomp_item[0]++) call

#define NOMP_ENTRY(name, enter, group, item)                                                               \
  NOMP_BRIEF __attribute__((visibility("default"))) int nomp_entry_##name(                                 \
      const size_t *groups, const size_t *items, void *const *arguments) {                                 \
    struct nomp_work work = {enter, nomp_run_groups, nomp_count(groups)};                                  \
    struct nomp_launch launch = {work, group, item, groups, items, arguments};                             \
    return nomp_share_out(&launch.work);                                                                   \
  }

#ifdef NOMP_MEET
/*
 * Items that wait for each other: each has a stack of its own, and runs until it waits or ends, when the next one has
 * its turn.  ucontext makes the stacks' first frames; after that setjmp changes between them without asking the system.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { NOMP_STACK = 1 << 20, NOMP_GUARD = 1 << 16 };

struct nomp_turn {
  jmp_buf place;
  int started, ended;
};

struct nomp_stacks {
  size_t room;
  char *memory; /* below each stack is what ends the program when it is touched */
  struct nomp_turn *turns;
};

static _Thread_local struct nomp_stacks nomp_own;
static _Thread_local struct nomp_turn *nomp_turn;
static _Thread_local const struct nomp_launch *nomp_current;
static _Thread_local jmp_buf nomp_host;

static void nomp_wait(void) {
  if (nomp_count((const size_t *)nomp_items) > 1 && !_setjmp(nomp_turn->place)) _longjmp(nomp_host, 1);
}

static void nomp_begin(void) {
  nomp_current->item(nomp_current->arguments);
  nomp_turn->ended = 1;
  _longjmp(nomp_host, 1);
}

/* Whether this thread has stacks for the items of a group. */
static int nomp_enter_with_stacks(const struct nomp_work *work) {
  struct nomp_stacks *own = &nomp_own;
  size_t items = nomp_count(((const struct nomp_launch *)work)->items);
  nomp_enter(work);
  if (items == 1 || items <= own->room) return 1;
  if (own->room) munmap(own->memory, own->room * NOMP_STACK);
  own->room = 0;
  struct nomp_turn *turns = realloc(own->turns, items * sizeof *turns);
  if (turns) own->turns = turns;
  int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  own->memory = turns ? mmap(NULL, items * NOMP_STACK, PROT_READ | PROT_WRITE, kind, -1, 0) : MAP_FAILED;
  if (own->memory == MAP_FAILED) return 0;
  for (size_t number = 0; number < items; number++) mprotect(own->memory + number * NOMP_STACK, NOMP_GUARD, PROT_NONE);
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
  fresh.uc_stack.ss_sp = nomp_own.memory + number * NOMP_STACK + NOMP_GUARD;
  fresh.uc_stack.ss_size = NOMP_STACK - NOMP_GUARD;
  makecontext(&fresh, nomp_begin, 0);
  setcontext(&fresh);
}

static void nomp_meet(const struct nomp_launch *launch) {
  const size_t *items = launch->items;
  size_t count = nomp_count(items), left = count;
  if (count == 1) {
    nomp_item[0] = nomp_item[1] = nomp_item[2] = 0;
    launch->item(launch->arguments);
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
