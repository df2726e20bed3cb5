/* A header with a region: every file that includes it gets the kernel. */
#ifndef KERNELS_H
#define KERNELS_H

static inline void fill(TYPE *a, int n, TYPE value) {
#pragma nomp for
  for (int i = 0; i < n; i++)
    a[i] = value * i;
}

#endif
