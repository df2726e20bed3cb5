/* Maps and copies in three lives of the runtime; the environment may change between them. */
#include "check.h"

static void round_trip(void) {
  int a[20];
  for (int i = 0; i < 20; i++) a[i] = i;
  CHECK(nomp_update(a, 5, 15, sizeof *a, NOMP_TO) == 0);
  for (int i = 0; i < 20; i++) a[i] = -1;
  CHECK(nomp_update(a, 7, 9, sizeof *a, NOMP_FROM) == 0);
  for (int i = 0; i < 20; i++) CHECK(a[i] == (i == 7 || i == 8 ? i : -1));
  CHECK(nomp_update(a, 5, 15, sizeof *a, NOMP_FROM | NOMP_FREE) == 0);
  for (int i = 0; i < 20; i++) CHECK(a[i] == (i >= 5 && i < 15 ? i : -1));
  CHECK(nomp_update(a, 5, 15, sizeof *a, NOMP_FROM) > 0);
}

int main(void) {
  const char *argv[] = {"program", "--nomp-verbose", "0"};
  CHECK(setenv("NOMP_BACKEND", "abacus", 1) == 0);
  CHECK(nomp_init(3, argv) > 0);
  CHECK(setenv("NOMP_BACKEND", "opencl", 1) == 0);
  for (int life = 0; life < 3; life++) {
    CHECK(nomp_init(3, argv) == 0);
    round_trip();
    CHECK(nomp_finalize() == 0);
  }
  puts("done");
  return 0;
}
