/* Where the device has an array.  An argument says that its memory has addresses: "readable", if the host can use them. */
#include "check.h"

int main(int argc, char **argv) {
  double a[10];
  void *found = a;
  for (int i = 0; i < 10; i++) a[i] = i;
  CHECK(nomp_mapped(a, &found) > 0);
  CHECK(nomp_init(argc, (const char **)argv) == 0);
  CHECK(nomp_mapped(a, NULL) > 0);
  CHECK(nomp_mapped(a, &found) == 0 && found == NULL);
  CHECK(nomp_mapped(NULL, &found) == 0 && found == NULL);
  CHECK(nomp_update(a, 2, 8, sizeof *a, NOMP_TO) == 0);
  CHECK(nomp_mapped(a, &found) == 0 && nomp_sync() == 0);
  if (argc > 1) {
    double *there = found;
    CHECK(there != NULL && there != a);
    CHECK(nomp_mapped(a + 3, &found) == 0 && found == there + 3);
    CHECK(argv[1][0] != 'r' || (there[5] == 5 && there[3] == 3));
  } else {
    CHECK(found == NULL);
  }
  CHECK(nomp_update(a, 2, 8, sizeof *a, NOMP_FREE) == 0);
  CHECK(nomp_mapped(a, &found) == 0 && found == NULL);
  CHECK(nomp_finalize() == 0);
  puts("done");
  return 0;
}
