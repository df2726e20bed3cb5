/*
 * nomp-pragma.h: what `nomp cc` replaces the pragmas with.  Not meant to be called by hand.
 *
 * On an error these functions print the diagnostic on stderr and end the program with status 1; with
 * the setting on-error at continue (NOMP_ON_ERROR=continue) they print it and return.
 */
#ifndef NOMP_PRAGMA_H
#define NOMP_PRAGMA_H

/* No warnings about what the macro below expands to, whatever the program's own warning options are. */
#pragma GCC system_header

#include "nomp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One annotated loop: json describes it, file and line say where it stands; id is -1 before the first run. */
struct nomp_region {
  const char *json;
  const char *file;
  int line;
  int id;
};

/* The region of one pragma, as a variable of the block that launches it. */
#define NOMP_REGION(json, file, line) \
  __extension__ static struct nomp_region __nomp_region = {json, file, line, -1}

/* #pragma nomp init(argc, argv) */
void nomp_pragma_init(int argc, const char **argv, const char *file, int line);

/* #pragma nomp update(DIRECTION : name[start, end]): op has the bits of nomp_map_direction_t. */
void nomp_pragma_update(void *base, size_t start, size_t end, size_t unit, int op, const char *name, const char *file,
                        int line);

/*
 * #pragma nomp for: args has one address for each parameter of the region, in order.  Not 0 with the setting verify
 * (NOMP_VERIFY=1): then the program runs the loop as well, on memory that is prepared for it, and confirms that.
 */
int nomp_pragma_run(struct nomp_region *region, void **args);
void nomp_pragma_confirm(void) __attribute__((__cold__));

/* #pragma nomp sync */
void nomp_pragma_sync(const char *file, int line);

/* #pragma nomp finalize */
void nomp_pragma_finalize(const char *file, int line);

#ifdef __cplusplus
}
#endif

#endif /* NOMP_PRAGMA_H */
