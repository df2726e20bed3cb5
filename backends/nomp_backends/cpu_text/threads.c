/*
 * threads.c: the threads of the CPU's backend, and how the parts of a piece of work are shared out among them.  A library
 * of its own, which nomp/capi/build.py makes: compiling it with each kernel would take longer than most kernels do.
 *
 * Each thread begins with a stretch of neighbouring parts, the same one in each launch, whose data it may still have in
 * its caches; then it helps others with theirs.  Nobody waits for a thread that has not come yet, as is done at the end
 * of a parallel region of OpenMP's: on a busy machine it may come after milliseconds, and find nothing left to do.
 */
#include "work.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* The parts from next to end have not been begun. */
struct nomp_stretch {
  _Alignas(128) atomic_size_t next;
  size_t end, step;
};

/* A thread that has a processor of its own. */
struct nomp_bound {
  pthread_t thread;
  int processor;
};

struct nomp_pool {
  size_t threads;
  struct nomp_bound *bound; /* all but the first one, or NULL */
  int left;                 /* the processor that none of them has */
  long patience; /* nanoseconds for which a thread looks for new work before it sleeps */
  pthread_mutex_t working, lock;
  pthread_cond_t news;
  const struct nomp_work *work; /* there is some while open; then threads may come inside */
  size_t stretches;
  atomic_uint number; /* of the work */
  atomic_int open, inside, asleep;
  struct nomp_stretch stretch[];
};

static struct nomp_pool *pool; /* the one of the process */

static inline void nomp_pause(void) {
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

static long nomp_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void nomp_help(size_t thread) {
  const struct nomp_work *work = pool->work;
  if (!work->enter(work)) return;
  for (size_t other = 0; other < pool->stretches; other++) {
    struct nomp_stretch *stretch = &pool->stretch[(thread + other) % pool->stretches];
    size_t first;
    while ((first = atomic_fetch_add(&stretch->next, stretch->step)) < stretch->end) {
      size_t end = first + stretch->step;
      work->run(work, first, end < stretch->end ? end : stretch->end);
    }
  }
}

/* Until there is other work than that of number seen; its number. */
static unsigned nomp_wait_for_news(unsigned seen) {
  long begun = pool->patience ? nomp_now() : 0;
  while (pool->patience && nomp_now() - begun < pool->patience)
    for (int turn = 0; turn < 32; turn++) {
      if (atomic_load(&pool->number) != seen) return atomic_load(&pool->number);
      nomp_pause();
    }
  pthread_mutex_lock(&pool->lock);
  atomic_fetch_add(&pool->asleep, 1);
  while (atomic_load(&pool->number) == seen) pthread_cond_wait(&pool->news, &pool->lock);
  atomic_fetch_sub(&pool->asleep, 1);
  pthread_mutex_unlock(&pool->lock);
  return atomic_load(&pool->number);
}

static void *nomp_worker(void *thread) {
  for (unsigned seen = 0;;) {
    seen = nomp_wait_for_news(seen);
    atomic_fetch_add(&pool->inside, 1);
    if (atomic_load(&pool->open)) nomp_help((size_t)thread);
    atomic_fetch_sub(&pool->inside, 1);
  }
  return NULL;
}

/* The program's signals are for its own threads, but for those that a kernel itself causes. */
static void nomp_block_signals(sigset_t *before) {
  sigset_t others;
  sigfillset(&others);
  sigdelset(&others, SIGSEGV), sigdelset(&others, SIGFPE), sigdelset(&others, SIGILL), sigdelset(&others, SIGBUS);
  pthread_sigmask(SIG_BLOCK, &others, before);
}

/* Have a thread run on its processor. */
static void nomp_bind(const struct nomp_bound *bound) {
#ifdef __linux__
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(bound->processor, &own);
  pthread_setaffinity_np(bound->thread, sizeof own, &own);
#endif
}

/*
 * The thread that has work may run everywhere, and Linux moves it: the one whose processor it is on now goes to the one
 * that is left, or the two would take turns.
 */
static void nomp_make_way(void) {
#ifdef __linux__
  int here = sched_getcpu();
  if (!pool->bound || here == pool->left) return;
  for (struct nomp_bound *bound = pool->bound + 1; bound < pool->bound + pool->threads; bound++)
    if (bound->processor == here) {
      bound->processor = pool->left, pool->left = here;
      nomp_bind(bound);
      return;
    }
#endif
}

/* Give each thread one of as many *processors*, but the one where this thread is. */
static void nomp_place(const int *processors) {
#ifdef __linux__
  const int *next = processors;
  pool->left = sched_getcpu();
  for (struct nomp_bound *bound = pool->bound + 1; bound < pool->bound + pool->threads; bound++, next++) {
    if (*next == pool->left) next++;
    bound->processor = *next;
    nomp_bind(bound);
  }
#endif
}

/*
 * Make so many threads, with the one that has work; fewer, if there are no more.  Each gets one of as many processors,
 * unless that is NULL.  What a process has already, stays.  0, or 1 if there is no memory.
 */
EXPORT int nomp_make_threads(size_t threads, long patience, const int *processors) {
  if (pool) return 0;
  pool = aligned_alloc(128, sizeof *pool + threads * sizeof *pool->stretch);
  if (!pool) return 1;
  *pool = (struct nomp_pool){.threads = 1, .patience = patience};
  pthread_mutex_init(&pool->working, NULL), pthread_mutex_init(&pool->lock, NULL), pthread_cond_init(&pool->news, NULL);
  struct nomp_bound *bound = processors ? calloc(threads, sizeof *bound) : NULL;
  sigset_t before;
  nomp_block_signals(&before);
  pthread_t made;
  while (pool->threads < threads && !pthread_create(&made, NULL, nomp_worker, (void *)pool->threads)) {
    if (bound) bound[pool->threads].thread = made;
    pthread_detach(made);
    pool->threads++;
  }
  pool->bound = bound;
  if (bound) nomp_place(processors);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return 0;
}

/* Let threads come that may be asleep: as many as there is work for. */
static void nomp_wake(size_t wanted) {
  size_t asleep = atomic_load(&pool->asleep);
  if (!asleep) return;
  pthread_mutex_lock(&pool->lock);
  if (wanted >= asleep) pthread_cond_broadcast(&pool->news);
  else
    while (wanted--) pthread_cond_signal(&pool->news);
  pthread_mutex_unlock(&pool->lock);
}

/* Have *work* done; 0, or 1 if no thread could do it. */
EXPORT int nomp_share_out(const struct nomp_work *work) {
  size_t threads = pool->threads < work->parts ? pool->threads : work->parts;
  if (threads < 2 || pthread_mutex_trylock(&pool->working)) { /* or others have the threads */
    if (!work->enter(work)) return 1;
    work->run(work, 0, work->parts);
    return 0;
  }
  nomp_make_way();
  pool->work = work;
  pool->stretches = threads;
  for (size_t number = 0; number < threads; number++) {
    size_t first = work->parts * number / threads, end = work->parts * (number + 1) / threads;
    pool->stretch[number].end = end;
    pool->stretch[number].step = (end - first + 63) / 64;
    atomic_store_explicit(&pool->stretch[number].next, first, memory_order_relaxed);
  }
  atomic_store(&pool->open, 1);
  atomic_fetch_add(&pool->number, 1);
  nomp_wake(threads - 1);
  nomp_help(0);
  atomic_store(&pool->open, 0);
  for (long begun = nomp_now(); atomic_load(&pool->inside);) /* they do what they have begun */
    if (nomp_now() - begun < pool->patience) nomp_pause();
    else sched_yield();
  int left = 0;
  for (size_t number = 0; number < threads; number++) left |= pool->stretch[number].next < pool->stretch[number].end;
  pthread_mutex_unlock(&pool->working);
  return left;
}

struct nomp_copy {
  struct nomp_work work;
  char *to;
  const char *from; /* NULL: zeros */
  size_t bytes;
};

enum { PART = 1 << 20 }; /* bytes of a copy that a thread does at once */

static int nomp_always(const struct nomp_work *work) { return 1; }

static void nomp_copy_parts(const struct nomp_work *work, size_t first, size_t end) {
  const struct nomp_copy *copy = (const struct nomp_copy *)work;
  size_t begin = first * PART, size = (end * PART < copy->bytes ? end * PART : copy->bytes) - begin;
  if (copy->from) memcpy(copy->to + begin, copy->from + begin, size);
  else memset(copy->to + begin, 0, size);
}

/* Copy so many bytes, or zeros if there is nothing to copy *from*.  Each thread begins with the stretch of the memory that
   it will work on in kernels whose groups follow each other as elements do, so that Linux places it near to it. */
EXPORT void nomp_copy(void *to, const void *from, size_t bytes) {
  struct nomp_copy copy = {{nomp_always, nomp_copy_parts, (bytes + PART - 1) / PART}, to, from, bytes};
  nomp_share_out(&copy.work);
}
