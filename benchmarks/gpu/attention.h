/* The data of attention.c, attention.cu and attention_torch.py: groups of queries that each look at MOST blocks of keys. */
#include "timing.h"

enum { QUERIES = 64, KEYS = 32, FEATURES = 64, MOST = 16 }; /* of a group, of a block, of each vector; blocks */

/* COUNT numbers between -1 and 1 that any language can make. */
static float *numbers(size_t count, unsigned seed) {
  float *made = (float *)malloc(count * sizeof *made);
  for (size_t i = 0; i < count; i++) {
    unsigned x = ((unsigned)i + seed) * 2654435761u;
    made[i] = (float)((x ^ x >> 15) >> 8) / (1 << 23) - 1;
  }
  return made;
}

static int *choice(int groups) {
  int *made = (int *)malloc((size_t)groups * MOST * sizeof *made), blocks = 2 * groups;
  for (int g = 0; g < groups; g++)
    for (int b = 0; b < MOST; b++) made[g * MOST + b] = (int)((37L * g + 101L * b) % blocks);
  return made;
}

static double norm(size_t count, const float *y) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += (double)y[i] * y[i];
  return sum;
}
