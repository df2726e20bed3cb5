/* nomp-mem.h: host memory, for libnomp's own test programs.  A failed allocation ends the program. */
#ifndef NOMP_MEM_H
#define NOMP_MEM_H

#include <stdio.h>
#include <stdlib.h>

static inline void *nomp_mem_checked(void *memory, const char *file, int line) {
  if (!memory) {
    fprintf(stderr, "[Error] %s:%d Out of memory.\n", file, line);
    exit(EXIT_FAILURE);
  }
  return memory;
}

static inline void nomp_mem_free(void **memory) {
  free(*memory);
  *memory = NULL;
}

/* count zeroed elements of type T. */
#define nomp_calloc(T, count) ((T *)nomp_mem_checked(calloc((count), sizeof(T)), __FILE__, __LINE__))

/* ptr resized to count elements of type T. */
#define nomp_realloc(ptr, T, count) \
  ((T *)nomp_mem_checked(realloc((ptr), (count) * sizeof(T)), __FILE__, __LINE__))

/* Free *ptr and set it to NULL. */
#define nomp_free(ptr) nomp_mem_free((void **)(ptr))

#endif /* NOMP_MEM_H */
