/* Conditions and steps with side effects, with 'continue'; the size of arrays that is known when a loop starts. */
#include "show.h"
#include <stddef.h>
#define N 30

static int advance(int *j, int by) {
  *j += by;
  return *j;
}

static void sizes(int *r, int n, int m, int (*rows)[m]) {
  double table[n][m];
  int k = n, line[k];
  k = 0;
  table[0][0] = 0;
  line[0] = k;
#pragma nomp for jit(m, n)
  for (int i = 0; i < N; i++) {
    int j = i;
    short own[m][2], more[2][m + n * 2];
    own[i % m][1] = i;
    more[1][m + n] = i * 3;
    r[i] = sizeof(table) + sizeof table[0] / sizeof(table[0][0]) + 7 * (sizeof line / sizeof *line) + sizeof(rows);
    r[i] += 1000 * (sizeof(*rows) + sizeof(rows[i]) + sizeof((own)[1])) + sizeof own + own[i % m][1] + sizeof(j++) + j;
    r[i] += 10000 * (sizeof more + sizeof more[1]) + more[1][m + n];
  }
  m = n = 0; /* what changes after the loop had its value in it */
  (void)table;
}

int main(int argc, char **argv) {
  int a[N], b[N], c[N], d[N], e[N], f[N], rows[2][5];
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, b, c, d, e, f, rows)
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int j = 0, q = 0, last = 0;
    do {
      if (j == 2)
        continue;
      q += j;
    } while (++j < i);
    do {
      j--;
      switch (j & 3) {
      case 1:
        q++;
        continue;
      case 2:
        break;
      case 3:
        if (q > 9)
          break;
        continue;
      default:
        q += 1;
      }
      q += j;
      if (q > 300)
        break;
    } while ((last = j * 2) > 5);
    a[i] = q + last;
    unsigned char small = 250 - i;
    do {
      if (small == 2)
        continue;
      b[i] = small;
    } while (++small);
    double x = i + 1;
    int turns = 0;
    do {
      if (turns++ % 3)
        continue;
      c[i] = x * 10;
    } while (x -= 0.5);
  }
#pragma nomp for
  for (int i = 1; i < N; i++) {
    int j = 0, q = 0;
    do {
      int inner = 0;
      do {
        if (inner == i % 4)
          continue;
        q += inner;
      } while (advance(&inner, 1) < 4);
      if (j % 3 == 1)
        continue;
      q += j;
    } while (advance(&j, i) < 2 * N);
    d[i] = q;
    int sum = 0;
    for (int k = 0, m = 9; k < m; sum += k++ * m--) {
      if (k == i % 5)
        continue;
      sum++;
    }
    e[i] = sum;
  }
#pragma nomp for
  for (int i = 1; i < N; i++) {
    int j = 0, k = 0, q = 0;
    while (j < i && (q += j++) < 50)
      if (q % 7 == 3 || (k = j) > 9)
        a[i]++;
    d[i] += i % 3 ? q++ : i % 2 ? (k -= 2) : advance(&j, 3);
    q += i > 7 && advance(&k, 5) > 9 && (b[i] = k);
    for (int m = 0; m < 9 && q-- > m; m++) {
      if (m == 3)
        continue;
      c[i] += m;
    }
    do {
      if (j & 1)
        continue;
      e[i] += j;
    } while (j-- > 0 && (e[i] > 4 || ++k));
    d[i] += j + 10 * k + 100 * q;
  }
  sizes(f, 11, 5, rows);
#pragma nomp update(from : a, b, c, d, e, f)
#pragma nomp finalize
  SHOW("%d", a, N);
  SHOW("%d", b, N);
  SHOW("%d", c, N);
  SHOW("%d", d + 1, N - 1);
  SHOW("%d", e + 1, N - 1);
  SHOW("%d", f, N);
  return 0;
}
