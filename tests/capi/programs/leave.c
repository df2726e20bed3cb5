/* A program that ends without nomp_finalize, and with kernels still running. */
#include "check.h"

int main(int argc, const char **argv) {
  static double a[1 << 20];
  int n = 1 << 20, id = -1;
  const char *text = "void half(double *a, int n) { for (int i = 0; i < n; i++) a[i] = a[i] * 0.5 + 1; }";
  const char *clauses[] = {NULL};
  CHECK(nomp_init(argc, argv) == 0);
  CHECK(nomp_update(a, 0, n, sizeof *a, NOMP_TO) == 0);
  CHECK(nomp_jit(&id, text, clauses, 2, "a", sizeof *a, NOMP_PTR, "n", sizeof n, NOMP_INT) == 0);
  for (int i = 0; i < 50; i++) CHECK(nomp_run(id, a, &n) == 0);
  puts("done");
  exit(3);
}
