/* A part of an array of structs on the device. */
#include "show.h"
#define N 20

struct point {
  double x, y;
  int id[2];
};

int main(int argc, char **argv) {
  struct point p[N];
  for (int i = 0; i < N; i++)
    p[i].x = i, p[i].y = 2 * i, p[i].id[0] = -i, p[i].id[1] = i;
#pragma nomp init(argc, argv)
#pragma nomp update(to : p[5, 15])
#pragma nomp for transform("schedules", "rows", block = 4)
  for (int i = 5; i < 15; i++) {
    p[i].y += p[i].x;
    p[i].id[1] *= p[i].id[0];
  }
#pragma nomp update(from : p[5, 15])
#pragma nomp finalize
  for (int i = 0; i < N; i++)
    printf("%g %g %d %d\n", p[i].x, p[i].y, p[i].id[0], p[i].id[1]);
  return 0;
}
