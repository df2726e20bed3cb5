/* Ends the program with status 1 and the failed condition on stderr. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nomp.h>

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);     \
      exit(1);                                                                      \
    }                                                                               \
  } while (0)

/* The call failed: it gave an id, with this error number and a text that contains the words. */
static inline void check_error(int id, int number, const char *words) {
  char *text = nomp_get_err_str((unsigned)id);
  if (id <= 0 || nomp_get_err_no((unsigned)id) != number || !text || !strstr(text, words)) {
    fprintf(stderr, "id %d, number %d instead of %d, '%s' instead of '%s'\n", id, nomp_get_err_no((unsigned)id), number,
            text ? text : "(null)", words);
    exit(1);
  }
  free(text);
}

#endif
