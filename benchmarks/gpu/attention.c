/* Attention to chosen blocks of keys, as in examples/05_attention, with more features.  attention GROUPS. */
#include <float.h>
#include <math.h>

#include "attention.h"

static void attend(int groups, float y[][FEATURES], const float x[][FEATURES], const float k[][FEATURES],
                   const float v[][FEATURES], const int chosen[][MOST]) {
  const float scale = 1 / sqrtf(FEATURES);
#pragma omp parallel for
#pragma nomp for name("attend") annotate("loop", "query group") annotate("query", "q") annotate("feature", "d")
  for (int g = 0; g < groups; g++) {
    float top[QUERIES], weight[QUERIES], old[QUERIES], out[QUERIES][FEATURES];
    for (int q = 0; q < QUERIES; q++) {
      top[q] = -FLT_MAX, weight[q] = 0;
      for (int d = 0; d < FEATURES; d++)
        out[q][d] = 0;
    }
    for (int b = 0; b < MOST; b++) {
      float keys[KEYS][FEATURES], values[KEYS][FEATURES], scores[QUERIES][KEYS];
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
          scores[q][j] = score * scale;
        }
      for (int q = 0; q < QUERIES; q++) {
        float higher = top[q], sum = 0;
        for (int j = 0; j < KEYS; j++)
          higher = fmaxf(higher, scores[q][j]);
        for (int j = 0; j < KEYS; j++) {
          scores[q][j] = expf(scores[q][j] - higher);
          sum += scores[q][j];
        }
        old[q] = expf(top[q] - higher);
        weight[q] = weight[q] * old[q] + sum;
        top[q] = higher;
      }
      for (int q = 0; q < QUERIES; q++) {
        for (int d = 0; d < FEATURES; d++)
          out[q][d] *= old[q];
        for (int j = 0; j < KEYS; j++)
          for (int d = 0; d < FEATURES; d++)
            out[q][d] += scores[q][j] * values[j][d];
      }
    }
    for (int q = 0; q < QUERIES; q++)
      for (int d = 0; d < FEATURES; d++)
        y[g * QUERIES + q][d] = out[q][d] / weight[q];
  }
#pragma nomp sync
}

int main(int argc, char **argv) {
  const int groups = argc > 1 && argv[1][0] != '-' ? atoi(argv[1]) : 64;
  const int queries = groups * QUERIES, keys = 2 * groups * KEYS;
  float(*x)[FEATURES] = (void *)numbers((size_t)queries * FEATURES, 1);
  float(*y)[FEATURES] = (void *)numbers((size_t)queries * FEATURES, 1);
  float(*k)[FEATURES] = (void *)numbers((size_t)keys * FEATURES, 2);
  float(*v)[FEATURES] = (void *)numbers((size_t)keys * FEATURES, 3);
  int(*chosen)[MOST] = (void *)choice(groups);
#pragma nomp init(argc, argv)
#pragma nomp update(to : x[0, queries], k[0, keys], v[0, keys], chosen[0, groups])
#pragma nomp update(alloc : y[0, queries])
  MEASURE("attention", attend(groups, y, (void *)x, (void *)k, (void *)v, (void *)chosen), 0);
#pragma nomp update(from : y[0, queries])
#pragma nomp finalize
  double none = 0;
  show("results", &none, 1, norm((size_t)queries * FEATURES, *y));
  return 0;
}
