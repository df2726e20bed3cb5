/* nomp-aux.h: a helper that libnomp's own test programs take from the library. */
#ifndef NOMP_AUX_H
#define NOMP_AUX_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A copy of at most size characters of the environment variable name, to be freed; NULL if it is not set. */
char *nomp_copy_env(const char *name, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* NOMP_AUX_H */
