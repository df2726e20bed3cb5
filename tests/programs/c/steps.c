/* Loops that store and accumulate: steps of vectors, which also tell how large the result is. */
#include "show.h"
#define N 1000

static double step(int n, double *r, double a, const double *w, const double *weight) {
  double sum = 0;
#pragma nomp for reduce("sum", "+")
  for (int i = 0; i < n; i++) {
    r[i] -= a * w[i];
    sum += r[i] * weight[i];
  }
  return sum;
}

/* Where *to* is *from* + 1, each iteration reads what the one before has written. */
static int copy(int n, int *to, const int *from, int largest) {
#pragma nomp for reduce("largest", "max")
  for (int i = 0; i < n; i++) {
    to[i] = from[i] + 1;
    largest = to[i] > largest ? to[i] : largest;
  }
  return largest;
}

static unsigned running(int n, int *to) {
  unsigned sum = 0;
#pragma nomp for reduce("sum", "+")
  for (int i = 1; i < n; i++) {
    to[i] += to[i - 1];
    sum += (unsigned)to[i];
  }
  return sum;
}

static int histogram(int n, int *bins, const int *value) {
  int even = 0;
#pragma nomp for reduce("even", "+")
  for (int i = 0; i < n; i++) {
    bins[value[i] % 7]++;
    even += value[i] % 2 == 0;
  }
  return even;
}

/* The permutation *place* makes the iterations of the first loop independent. */
static int scatter(int n, int *to, const int *place) {
  int sum = 0, count = 0, last = -1;
#pragma nomp for annotate("independent", "i") reduce("sum", "+")
  for (int i = 0; i < n; i++) {
    to[place[i]] = i;
    sum += place[i];
  }
#pragma nomp for
  for (int i = 0; i < n; i++) {
    if (place[i] > n / 2)
      count++;
    to[i] *= 2;
    last = i;
  }
  return 3 * sum + count + 7 * last;
}

static int rows(int n, int m, int c[n][m], const int *a) {
  int any = 0, product = 1;
#pragma nomp for reduce("any", "||") reduce("product", "*")
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      c[i][j] = a[i] + j;
      any = any || c[i][j] == 41;
      product *= j % 2 ? 1 : -1;
    }
  return 2 * any + product;
}

int main(int argc, char **argv) {
  double r[N], w[N], weight[N];
  int a[N + 1], b[N], place[N], c[N][3], bins[7] = {0};
  for (int i = 0; i < N; i++) {
    r[i] = i % 13, w[i] = i % 5 * 0.5, weight[i] = i % 2 ? 1 : 0.25;
    a[i] = i % 17, b[i] = i % 11, place[i] = i * 37 % N;
  }
#pragma nomp init(argc, argv)
#pragma nomp update(to : r, w, weight, a, b, place, bins)
#pragma nomp update(alloc : c)
  double steps[3] = {step(N, r, 0.5, w, weight)};
  steps[1] = step(N, r, 2, r, weight), steps[2] = step(0, r, 2, w, weight);
  int found[7] = {copy(N, a, b, 3)};
  found[1] = copy(N, a + 1, a, 1000000), found[2] = copy(N / 2, a + 1, a, -1);
  found[3] = running(N, b), found[4] = histogram(N, bins, a), found[5] = scatter(N, b, place);
  found[6] = rows(N, 3, c, place);
#pragma nomp update(from : r, a, b, c, bins)
#pragma nomp finalize
  SHOW("%g", r, N);
  SHOW("%d", a, N + 1);
  SHOW("%d", b, N);
  SHOW("%d", &c[0][0], 3 * N);
  SHOW("%d", bins, 7);
  SHOW("%g", steps, 3);
  SHOW("%d", found, 7);
  return 0;
}
