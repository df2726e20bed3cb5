/* More memory of a group than CUDA C++ can declare: 48 KB. */
#include "show.h"
#define GROUPS 3
#define MANY 6144

static double a[GROUPS * MANY], b[GROUPS * MANY];

static void reverse(int k) {
#pragma nomp for transform("schedules", "groups_of_three_loops")
  for (int g = 0; g < GROUPS; g++) {
    double s[MANY];
    float t[64];
    for (int i = 0; i < MANY; i++)
      s[i] = a[MANY * g + i] + k;
    for (int i = 0; i < 64; i++)
      t[i] = i;
    for (int i = 0; i < MANY; i++)
      b[MANY * g + i] += s[MANY - 1 - i] * 2 + t[(i + 5) % 64];
  }
}

int main(int argc, char **argv) {
#pragma nomp init(argc, argv)
  for (int i = 0; i < GROUPS * MANY; i++)
    a[i] = i % 101;
#pragma nomp update(to : a, b)
  for (int k = 0; k < 4; k++)
    reverse(k);
#pragma nomp update(from : b)
#pragma nomp update(free : a, b)
  double sum = 0;
  for (int i = 0; i < GROUPS * MANY; i++)
    sum += b[i] * (i % 7);
  printf("%.17g\n", sum);
#pragma nomp finalize
  return 0;
}
