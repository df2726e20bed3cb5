/* work.h: work in parts, which threads share: what launch.h and threads.c both know. */
#include <stddef.h>

struct nomp_work {
  int (*enter)(const struct nomp_work *work); /* a thread comes: whether it can do anything */
  void (*run)(const struct nomp_work *work, size_t first, size_t end);
  size_t parts;
};
