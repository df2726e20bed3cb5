/* What the iterations of loops do to each other in a run: linked with a program that suites.py has made of a file, with
   calls of trace_* in it, and that is compiled with gcc -O0 -fsanitize=thread but without the library of that option.
   gcc then calls __tsan_read4(address) and the like before each access, which are defined here.

   For each loop and each cell of memory, a table says whether several iterations of one execution of the loop touch it,
   and how.  At the end, a line for each loop goes to the file $TRACE: number, executions, most iterations of one
   execution, and what was seen: 0 no conflict; 1 accumulation only; 2 another conflict.  */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOOPS = 4096, DEPTH = 16, VARIABLES = 512 };

/* A variable that the program has told of: where it is, and within how many loops and functions it is declared. */
static struct { uintptr_t start, size; int loops, calls, scalar, integer; } variables[VARIABLES];
static int n_variables, calls;

/* A cell as one execution of a loop sees it: whether it is a scalar, or declared in the loop's body (`own`).  In
   `iteration`, the last that touched it, `pairs` counts reads that a write followed at once, and `reading` is a read
   that none has followed yet. */
struct cell {
  uintptr_t address;
  unsigned execution;
  int iteration, touched, pairs;
  char written, several, exposed, odd, only_read, reading, scalar, own;
};

static struct execution {
  int loop, iteration, calls;
  unsigned number;
  uintptr_t counter;
  struct cell *cells;
  size_t used, room;
  struct { long first, last, step; char regular; } values[VARIABLES];
} stack[DEPTH];
static int depth;
static unsigned executions;
static struct { int executions, iterations, seen; } loops[LOOPS];

static int variable_at(uintptr_t address) {
  for (int v = n_variables; v-- > 0;)
    if (address - variables[v].start < variables[v].size)
      return v;
  return -1;
}

/* Where the cell at *address* is in the table, or is to be put. */
static struct cell *find(struct execution *in, uintptr_t address) {
  size_t k = address * 0x9E3779B97F4A7C15u >> 20 & (in->room - 1);
  while (in->cells[k].address && in->cells[k].execution == in->number && in->cells[k].address != address)
    k = (k + 1) & (in->room - 1);
  return &in->cells[k];
}

static void grow(struct execution *in) {
  struct cell *old = in->cells;
  size_t room = in->room;
  in->room = room ? 2 * room : 1024;
  in->cells = calloc(in->room, sizeof *in->cells);
  if (!in->cells)
    abort();
  for (size_t k = 0; k < room; k++)
    if (old[k].address && old[k].execution == in->number)
      *find(in, old[k].address) = old[k];
  free(old);
}

static struct cell *cell_at(struct execution *in, uintptr_t address) {
  if (2 * in->used >= in->room)
    grow(in);
  struct cell *cell = find(in, address);
  if (!cell->address || cell->execution != in->number) {
    *cell = (struct cell){.address = address, .execution = in->number, .iteration = -1};
    in->used++;
  }
  return cell;
}

static void leave(struct cell *cell) {
  if (cell->reading && cell->pairs)
    cell->odd = 1;
  else if (cell->reading)
    cell->only_read = 1;
  cell->reading = cell->pairs = 0;
}

static void touch(struct execution *in, int level, uintptr_t address, int write) {
  if (address == in->counter)
    return;
  struct cell *cell = cell_at(in, address);
  if (cell->iteration < 0) {
    int v = variable_at(address);
    cell->own = v >= 0 && variables[v].loops > level;
    cell->scalar = v >= 0 && variables[v].scalar;
  }
  if (cell->iteration != in->iteration) {
    leave(cell);
    cell->several |= cell->iteration >= 0;
    cell->exposed |= !write;
    cell->touched++;
    cell->iteration = in->iteration;
  }
  cell->written |= write;
  if (write == cell->reading)
    cell->pairs += write, cell->reading = !write;
  else
    cell->odd = 1;
}

static void access_to(void *address, int write) {
  for (int level = 0; level < depth; level++)
    if (stack[level].iteration >= 0)
      touch(&stack[level], level, (uintptr_t)address, write);
}

static int judge(struct execution *in, struct cell *cell) {
  leave(cell);
  if (!cell->several || !cell->written || cell->own || (cell->scalar && !cell->exposed))
    return 0;
  int v = cell->scalar ? variable_at(cell->address) : -1;
  if (v >= 0 && variables[v].integer && in->values[v].regular)
    return 0; /* an induction variable: its value follows from the iteration's number */
  return cell->odd || (cell->only_read && !(cell->scalar && cell->touched == in->iteration + 1)) ? 2 : 1;
}

static void end(void) {
  struct execution *in = &stack[--depth];
  loops[in->loop].executions++;
  if (loops[in->loop].iterations <= in->iteration)
    loops[in->loop].iterations = in->iteration + 1;
  for (size_t k = 0; k < in->room && loops[in->loop].seen < 2; k++)
    if (in->cells[k].address && in->cells[k].execution == in->number) {
      int seen = judge(in, &in->cells[k]);
      if (loops[in->loop].seen < seen)
        loops[in->loop].seen = seen;
    }
}

/* Loops of this function that were left by goto, and of those that it called, have no end of their own. */
static void end_until(int loop) {
  while (depth && stack[depth - 1].calls >= calls && stack[depth - 1].loop != loop)
    end();
}

void trace_begin(int loop, int parent, void *counter) {
  end_until(parent);
  if (depth == DEPTH)
    abort();
  struct execution *in = &stack[depth++];
  if (in->room > 1024 + 64 * in->used) /* short executions after a long one: a large table takes long to look through */
    free(in->cells), in->cells = NULL, in->room = 0;
  if (in->room == 0)
    grow(in);
  in->loop = loop, in->calls = calls, in->iteration = -1, in->number = ++executions;
  in->counter = (uintptr_t)counter, in->used = 0;
}

void trace_next(void) {
  struct execution *in = &stack[depth - 1];
  in->iteration++;
  for (int v = 0; v < n_variables; v++)
    if (variables[v].integer) {
      long value = variables[v].size == 8 ? *(long *)variables[v].start : *(int *)variables[v].start;
      if (in->iteration == 0)
        in->values[v].regular = 1, in->values[v].first = value;
      else if (in->iteration == 1)
        in->values[v].step = value - in->values[v].last;
      else
        in->values[v].regular &= in->values[v].step == value - in->values[v].last;
      in->values[v].last = value;
    }
}

void trace_end(int loop) {
  end_until(loop);
  if (depth && stack[depth - 1].loop == loop)
    end();
}

void trace_variable(void *start, size_t size, int scalar, int integer) {
  int v = 0;
  while (v < n_variables && variables[v].start != (uintptr_t)start)
    v++;
  if (v == VARIABLES)
    abort();
  n_variables += v == n_variables;
  variables[v].start = (uintptr_t)start, variables[v].size = size, variables[v].loops = depth;
  variables[v].calls = calls, variables[v].scalar = scalar, variables[v].integer = integer && (size == 4 || size == 8);
  for (int level = 0; level < depth; level++) /* an initialiser has written to it already */
    for (size_t k = 0; k < size; k++) {
      struct cell *cell = find(&stack[level], (uintptr_t)start + k);
      if (cell->address == (uintptr_t)start + k && cell->execution == stack[level].number)
        cell->own = 1;
    }
}

void trace_global(void *start, size_t size, int scalar, int integer) {
  int within = calls;
  calls = 0; /* not of the function that tells of it */
  trace_variable(start, size, scalar, integer);
  calls = within;
}

void __tsan_func_entry(void *caller) { (void)caller, calls++; }

void __tsan_func_exit(void) {
  for (calls--; n_variables && variables[n_variables - 1].calls > calls; n_variables--)
    ;
}

static void report(void) {
  while (depth)
    end();
  FILE *file = fopen(getenv("TRACE"), "w");
  for (int loop = 0; loop < LOOPS; loop++)
    if (loops[loop].executions)
      fprintf(file, "%d %d %d %d\n", loop, loops[loop].executions, loops[loop].iterations, loops[loop].seen);
  fclose(file);
}

static void stop(int signal) { (void)signal, report(), _exit(0); }

__attribute__((constructor)) static void start(void) {
  atexit(report);
  signal(SIGALRM, stop), signal(SIGABRT, stop), signal(SIGSEGV, stop); /* some programs are wrong on purpose */
  alarm(20);
}

#define ACCESS(size) \
  void __tsan_read##size(void *p) { access_to(p, 0); } \
  void __tsan_write##size(void *p) { access_to(p, 1); } \
  void __tsan_unaligned_read##size(void *p) { access_to(p, 0); } \
  void __tsan_unaligned_write##size(void *p) { access_to(p, 1); }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16)
void __tsan_read_range(void *p, size_t size) { for (size_t k = 0; k < size; k += 4) access_to((char *)p + k, 0); }
void __tsan_write_range(void *p, size_t size) { for (size_t k = 0; k < size; k += 4) access_to((char *)p + k, 1); }
void __tsan_init(void) {}
