/* What `nomp cc` makes of a program with an init, two updates, a loop, a sync and a finalize.  JSON is the region. */
#include <nomp-pragma.h>
#include <stdio.h>
#include <string.h>

int main(int argc, const char **argv) {
  static struct nomp_region region = {JSON, "axpy.c", 6, -1};
  double a[10] = {0}, x = 1.5;
  int n = 10;
  void *args[] = {a, &x, &n};
  if (argc > 1 && strcmp(argv[1], "early") == 0) nomp_pragma_run(&region, args);
  for (int life = 0; life < 2; life++) {
    nomp_pragma_init(argc, argv, "axpy.c", 4);
    if (argc > 1 && strcmp(argv[1], "unmapped") == 0) nomp_pragma_run(&region, args);
    if (argc > 1 && strcmp(argv[1], "absent") == 0) nomp_pragma_update(a, 0, 10, 8, NOMP_FROM, "a", "axpy.c", 8);
    nomp_pragma_update(a, 0, 10, sizeof *a, NOMP_TO, "a", "axpy.c", 5);
    nomp_pragma_run(&region, args);
    nomp_pragma_sync("axpy.c", 7);
    nomp_pragma_update(a, 0, 10, sizeof *a, NOMP_FROM, "a", "axpy.c", 8);
    nomp_pragma_finalize("axpy.c", 9);
  }
  for (int i = 0; i < 10; i++) printf("%g ", a[i]);
  puts("done");
  return 0;
}
