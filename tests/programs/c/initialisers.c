/* Initialisers and literals: strings, designators, ranges, values that replace earlier ones, arrays without a name. */
#include "show.h"
#pragma GCC diagnostic ignored "-Wmissing-braces"
#pragma GCC diagnostic ignored "-Woverride-init"
#define N 48
#define SECOND {[1] = 4}

struct part {
  double x;
  int a, w[3];
};
struct whole {
  short k;
  struct part p;
  int m[2][3];
  char name[6];
};

static int length(const char *s) {
  int n = 0;
  while (s[n])
    n++;
  return n;
}
static double sum(const double *s, int n) {
  double q = 0;
  for (int k = 0; k < n; k++)
    q += s[k];
  return q;
}
static int digit(int i) {
  const char *t = "0123456789abcdef";
  return t[i & 15] + (int[]){1, 2, i}[i % 3] + "zy"[i & 1];
}

int main(int argc, char **argv) {
  int r[N], s[N], t[N], u[N];
  double o[N];
#pragma nomp init(argc, argv)
#pragma nomp update(to : r, s, t, u, o)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    char hello[] = "hello", padded[10] = "hi", exact[2] = "ab", braced[] = {"hey"}, rows[3][4] = {"ab", [2] = "wxyz"};
    unsigned char all[] = "é\x80\0011\0z"
                          "4\"\\\?\a\e/\177\r\n\t\v\f\b";
    r[i] = hello[i % 6] + 3 * padded[i % 10] + 5 * exact[i % 2] + 7 * braced[i % 4] + 11 * rows[i % 3][i / 3 % 4];
    for (unsigned k = 0; k < sizeof all; k++)
      r[i] = r[i] * 31 % 10007 + all[k];
    const char *word = "word";
    int k = 0;
    while (word[k] && word[k] != (char)('n' + i % 8))
      k++;
    r[i] += k + length("four") + length(&"hello"[i % 5]) + digit(i) + (int)sizeof "four";
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int q = i, a[2][2] = {[1][0] = 9}, b[6] = {[1 ... 3] = q++, 7}, c[3][2] = {[1] = {4, 5}, q}, d[2] = SECOND;
    int e[2][2] = {[1] = {3, 4}, [1][1] = i}, f[2][2][2] = {[0][1] = {1, 2}, {3, i}}, g[2][3] = {1, 2, i, 4};
    s[i] = a[i % 2][i / 2 % 2] + 10 * b[i % 6] + 100 * c[i % 3][i / 3 % 2] + d[i % 2] * 1000 + e[i % 2][i / 2 % 2];
    s[i] = s[i] * 3 + f[i % 2][i / 2 % 2][i / 4 % 2] * 5 + g[i % 2][i / 2 % 3];
    struct whole w = {.p.x = i, .k = 1, .p.a = 2, .p.w[1] = 3, .m[1][2] = 4, .m[0] = {5, 6}, .name = "name"};
    struct part p = {.w[2] = i, .a = 3};
    o[i] = w.p.x + w.k + w.p.a * 2 + w.p.w[i % 3] * 3 + w.m[i % 2][i / 2 % 3] * 5 + w.name[i % 6] + p.w[i % 3] + p.a;
    p = (struct part){1, .w = {[1] = 7, i}, .x = 2};
    o[i] += p.x + p.w[1] + p.w[2] * 2;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int j = 0;
    t[i] = (int[]){1, 2, 3}[i % 3] + (short[4]){i, i + 1}[i % 4] + (int){i};
    for (int k = 0; k < 3; k++) {
      int *q = (int[]){1, k, i};
      q[0] += 5;
      t[i] += q[0] + q[1] * q[2];
    }
    do {
      if (j == 2)
        continue;
      t[i] += j;
    } while ((int[]){1, 1, 1, 0}[j++]);
    u[i] = sum((double[]){1, i, 3}, 3) + (i % 2 ? "abc"[i % 3] : "xyz"[i % 2]) + (i > 4 && (int[]){4, i}[i % 2] > 4);
    u[i] += ((int[2][2]){{1, 2}, {i}})[i % 2][i / 2 % 2];
  }
#pragma nomp update(from : r, s, t, u, o)
#pragma nomp finalize
  SHOW("%d", r, N);
  SHOW("%d", s, N);
  SHOW("%d", t, N);
  SHOW("%d", u, N);
  SHOW("%g", o, N);
  return 0;
}
