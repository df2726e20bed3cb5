/* Attention in which each group of queries looks at a few blocks of keys, those that fit it best; the weights are
   normalised while the blocks are gone through (online softmax), so that no scores are kept. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUERIES = 64, KEYS = 32, FEATURES = 32 }; /* of a group, of a block, of each query, key and value */

static void attend(int groups, int most, float y[groups * QUERIES][FEATURES], const float x[groups * QUERIES][FEATURES],
                   const float k[][FEATURES], const float v[][FEATURES], const int chosen[groups][most]) {
  const float scale = 1 / sqrtf(FEATURES);
#pragma nomp for name("attend") annotate("loop", "query group") annotate("query", "q") annotate("feature", "d")
  for (int g = 0; g < groups; g++) {
    float top[QUERIES], weight[QUERIES], out[QUERIES][FEATURES];
    for (int q = 0; q < QUERIES; q++) {
      top[q] = -FLT_MAX, weight[q] = 0;
      for (int d = 0; d < FEATURES; d++)
        out[q][d] = 0;
    }
    for (int b = 0; b < most; b++) {
      float keys[KEYS][FEATURES], values[KEYS][FEATURES];
      for (int j = 0; j < KEYS; j++)
        for (int d = 0; d < FEATURES; d++) {
          keys[j][d] = k[chosen[g][b] * KEYS + j][d];
          values[j][d] = v[chosen[g][b] * KEYS + j][d];
        }
      for (int q = 0; q < QUERIES; q++)
        for (int j = 0; j < KEYS; j++) {
          float score = 0;
          for (int d = 0; d < FEATURES; d++)
            score += x[g * QUERIES + q][d] * keys[j][d];
          float higher = fmaxf(top[q], score * scale), old = expf(top[q] - higher), new = expf(score * scale - higher);
          for (int d = 0; d < FEATURES; d++)
            out[q][d] = out[q][d] * old + new * values[j][d];
          weight[q] = weight[q] * old + new;
          top[q] = higher;
        }
    }
    for (int q = 0; q < QUERIES; q++)
      for (int d = 0; d < FEATURES; d++)
        y[g * QUERIES + q][d] = out[q][d] / weight[q];
  }
}

static float number(unsigned *state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) / (1 << 23) - 1;
}

/* The *most* blocks whose mean key fits the group's mean query best, the best first. */
static void choose(int groups, int blocks, int most, int chosen[groups][most], const float x[][FEATURES],
                   const float k[][FEATURES]) {
  for (int g = 0; g < groups; g++) {
    float mean[FEATURES] = {0}, best[64];
    for (int q = 0; q < QUERIES; q++)
      for (int d = 0; d < FEATURES; d++)
        mean[d] += x[g * QUERIES + q][d];
    for (int b = 0, count = 0; b < blocks; b++) {
      float fit = 0;
      for (int j = 0; j < KEYS; j++)
        for (int d = 0; d < FEATURES; d++)
          fit += mean[d] * k[b * KEYS + j][d];
      int place = count < most ? count++ : most;
      for (; place > 0 && best[place - 1] < fit; place--)
        if (place < most)
          best[place] = best[place - 1], chosen[g][place] = chosen[g][place - 1];
      if (place < most)
        best[place] = fit, chosen[g][place] = b;
    }
  }
}

int main(int argc, char **argv) {
  int groups = argc > 1 && argv[1][0] != '-' ? atoi(argv[1]) : 16, blocks = 2 * groups, most = 8;
  if (groups < 4) {
    fprintf(stderr, "usage: %s [GROUPS of queries, 4 or more]\n", argv[0]);
    return 2;
  }
  int queries = groups * QUERIES, keys = blocks * KEYS;
  float(*x)[FEATURES] = malloc(queries * sizeof *x), (*y)[FEATURES] = malloc(queries * sizeof *y);
  float(*k)[FEATURES] = malloc(keys * sizeof *k), (*v)[FEATURES] = malloc(keys * sizeof *v);
  int *chosen = malloc(groups * most * sizeof *chosen);
  unsigned state = 1;
  for (int d = 0; d < queries * FEATURES; d++)
    x[0][d] = 3 * number(&state);
  for (int d = 0; d < keys * FEATURES; d++)
    k[0][d] = number(&state), v[0][d] = number(&state);
  choose(groups, blocks, most, (void *)chosen, (const void *)x, (const void *)k);
#pragma nomp init(argc, argv)
#pragma nomp update(to : x[0, queries], k[0, keys], v[0, keys], chosen[0, groups * most])
#pragma nomp update(alloc : y[0, queries])
  attend(groups, most, y, (const void *)x, (const void *)k, (const void *)v, (const void *)chosen);
#pragma nomp update(from : y[0, queries])
#pragma nomp finalize
  double sum = 0, squares = 0;
  for (int q = 0; q < queries; q++)
    for (int d = 0; d < FEATURES; d++)
      sum += y[q][d], squares += (double)y[q][d] * y[q][d];
  printf("%d queries, %d keys of %d: sum %.4f, norm %.5f\n", queries, most * KEYS, keys, sum, sqrt(squares));
  free(x), free(y), free(k), free(v), free(chosen);
  return 0;
}
