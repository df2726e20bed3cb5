/* File-scope constant tables whose values are visible need no map. */
#include "show.h"
#define N 10

static const double table[4] = {0.5, 1.5, 2.5, 3.5};
const int steps[2][3] = {{1, 2, 3}, {4, 5}};

int main(int argc, char **argv) {
  double a[N];
  for (int i = 0; i < N; i++)
    a[i] = i;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a)
#pragma nomp for
  for (int i = 0; i < N; i++)
    a[i] += table[i % 4] * steps[i % 2][i % 3];
#pragma nomp update(from : a)
#pragma nomp finalize
  SHOW("%g", a, N);
  return 0;
}
