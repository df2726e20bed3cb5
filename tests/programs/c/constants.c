/* Constant structs and tables, macros with loops, sorting, hashing, narrow results; counters that live on. */
#include "show.h"
#include <math.h>
#define N 16
#define SWAP(a, b)                                                                                                     \
  do {                                                                                                                 \
    double swapped = a;                                                                                                \
    a = b;                                                                                                             \
    b = swapped;                                                                                                       \
  } while (0)

struct settings {
  int n;
  double w[3];
  struct {
    int k;
  } in;
};

static const struct settings fixed = {3, {1, 2, 3}, {7}};
static const double scale = 2.5;
static const int offsets[N] = {3, 1, 2};
extern const double later[2];
enum { FOUR = 4 };

static int calls;
static double histogram[4];

static double horner(double x, const double *c, int n) {
  double r = 0;
  for (int i = n - 1; i >= 0; i--)
    r = r * x + c[i];
  return r;
}

static double square(double x) {
  const int count = 3;
  double w[3] = {1};
  for (int i = 1; i < count; i++)
    w[i] = w[i - 1] * x;
  return w[2] + scale * FOUR;
}

static double squares(double x) { return square(x) + square(x + 1); }

static void tally(int k) {
  histogram[k & 3] += 1;
  calls++;
}

static void sort(double *v) {
  if (v[0] > v[1])
    SWAP(v[0], v[1]);
  if (v[1] > v[2])
    SWAP(v[1], v[2]);
  if (v[0] > v[1])
    SWAP(v[0], v[1]);
}

static int next_prime(int x) {
  static const int primes[] = {2, 3, 5, 7, 11};
  for (int i = 0; i < 5; i++)
    if (primes[i] > x)
      return primes[i];
  return -1;
}

static unsigned hash(unsigned x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  return x ^= x >> 15;
}

static float mix(float a, float b, float t) { return a + (b - a) * t; }
static _Bool even(long x) { return !(x & 1); }
static signed char narrow(int x) { return x * 3; }

static void work(struct settings *s, double *a, double *b, int n) {
  int i, j = -1, k = -1;
  double x = 0;
#pragma nomp update(to : a[0, n], b[0, n], histogram)
#pragma nomp for
  for (i = 0; i < s->n; i++) {
    for (j = 0; j < 3; j++)
      a[i] += fixed.w[j] * s->in.k + fixed.n;
    x = horner(a[i], &b[1], 3) + squares(b[i]) + offsets[i] + later[i & 1];
    for (k = n; k-- > 0;) {
      if (k == i)
        continue;
      x -= 0.5 * b[k];
    }
    tally(i + (int)x);
    double v[3] = {a[i], x, b[i]};
    sort(v);
    b[i] = v[0] + 2 * v[1] + 3 * v[2] + mix(0.5f, 0.25f, i);
    b[i] += next_prime(i) + (hash(i) & 7) + even(i) + narrow(100 + i);
    a[i] = isnan(x) ? INFINITY : fmax(x, -1e3);
  }
#pragma nomp update(from : a[0, n], b[0, n], histogram)
  printf("%d %d %d %.17g\n", i, j, k, x);
}

const double later[2] = {9, 8};

int main(int argc, char **argv) {
  double a[N], b[N];
  struct settings s = {N - 1, {0}, {2}};
  for (int i = 0; i < N; i++)
    a[i] = i, b[i] = (i % 4) * 0.5;
#pragma nomp init(argc, argv)
  work(&s, a, b, N);
#pragma nomp finalize
  SHOW("%.17g", a, N);
  SHOW("%.17g", b, N);
  SHOW("%g", histogram, 4);
  printf("%d\n", calls);
  return 0;
}
