/* A library of a vendor's ranges, which writes them on stderr.  PUSH and POP are the names of its functions. */
#include <stdio.h>

static int depth = 0;

int PUSH(const char *text) {
  fprintf(stderr, "%*s> %s\n", 2 * depth, "", text);
  return depth++;
}

int POP(void) {
  depth--;
  fprintf(stderr, "%*s<\n", 2 * depth, "");
  return depth;
}
