/* Control flow in the body: if and else chains, ternaries anywhere, break and continue of inner loops, && and ||. */
#include "show.h"
#define N 24

int main(int argc, char **argv) {
  int a[N], b[N], c[N], d[N];
  for (int i = 0; i < N; i++)
    a[i] = (i * 7) % 11 - 5, b[i] = i % 3, c[i] = d[i] = 0;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, N], b[0, N], c[0, N], d[0, N])
#pragma nomp for
  for (int i = 0; i < N; i++) {
    if (a[i] > 2)
      c[i] = 1;
    else if (a[i] < -2)
      c[i] = -1;
    else {
      c[i] = b[i] ? 10 : 20;
      d[i] = a[i];
    }
    if (a[i] > 0)
      a[i] = -a[i];
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int t = a[i] < 0 ? b[i] == 1 ? 3 : 4 : 5;
    d[i] += (t > 3 ? t : -t) * (b[i] && a[i] ? 2 : 1) + (a[i] || b[i]) + (b[i] != 0 && 10 / b[i] > 5);
  }
#pragma nomp for
  for (int i = 0; i < N; i++)
    if (i % 2 == 0)
      c[i] += 1000;
#pragma nomp for
  for (int i = 0; i < N; i++) {
    int sum = 0;
    for (int j = 0; j < 10; j++) {
      if (j == b[i])
        continue;
      if (j > 6)
        break;
      sum += j;
    }
    c[i] += 100000 * sum;
  }
#pragma nomp for
  for (int i = 0; i < N; i++) {
    if (b[i] == 0)
      continue;
    d[i] -= 7;
  }
#pragma nomp update(from : a[0, N], c[0, N], d[0, N])
#pragma nomp finalize
  SHOW("%d", a, N);
  SHOW("%d", c, N);
  SHOW("%d", d, N);
  return 0;
}
