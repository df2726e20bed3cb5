/*
 * log.c: the error log.  It works without Python, since nomp_get_err_no() and nomp_get_err_str() must.
 */
#include "bridge.h"

#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
  char *text;
  int number;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries = NULL;
static unsigned used = 0, room = 0;
static int verbose = 1; /* errors are shown from 1 on; warnings and remarks, from 2 and 3, are Python's */

static int grow(void) {
  if (used < room) return 1;
  unsigned larger = 2 * room + 8;
  struct entry *moved = realloc(entries, larger * sizeof *moved);
  if (!moved) return 0;
  entries = moved, room = larger;
  return 1;
}

/* Record an error; its id, or one that names no error if memory is exhausted. */
int nomp_log_error(int number, const char *file, int line, const char *text) {
  char *message = NULL;
  if (asprintf(&message, "[Error] %s:%d %s", file, line, text) < 0) return INT_MAX;
  pthread_mutex_lock(&lock);
  if (verbose >= 1) nomp_log_print(message);
  int id = INT_MAX;
  if (grow()) {
    entries[used] = (struct entry){message, number};
    id = (int)++used;
  } else {
    free(message);
  }
  pthread_mutex_unlock(&lock);
  return id;
}

int nomp_log_errorf(int number, const char *file, int line, const char *format, ...) {
  char *text = NULL;
  va_list args;
  va_start(args, format);
  int length = vasprintf(&text, format, args);
  va_end(args);
  if (length < 0) return INT_MAX;
  int id = nomp_log_error(number, file, line, text);
  free(text);
  return id;
}

void nomp_log_print(const char *text) {
  fprintf(stderr, "%s\n", text);
  fflush(stderr);
}

void nomp_log_verbose(int level) { verbose = level; }

void nomp_log_clear(void) {
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < used; i++) free(entries[i].text);
  free(entries);
  entries = NULL, used = room = 0;
  pthread_mutex_unlock(&lock);
}

char *nomp_get_err_str(unsigned id) {
  pthread_mutex_lock(&lock);
  char *copy = id && id <= used ? strdup(entries[id - 1].text) : NULL;
  pthread_mutex_unlock(&lock);
  return copy;
}

int nomp_get_err_no(unsigned id) {
  pthread_mutex_lock(&lock);
  int number = id && id <= used ? entries[id - 1].number : NOMP_USER_LOG_ID_IS_INVALID;
  pthread_mutex_unlock(&lock);
  return number;
}

char *nomp_copy_env(const char *name, size_t size) {
  const char *value = getenv(name);
  return value ? strndup(value, size) : NULL;
}
