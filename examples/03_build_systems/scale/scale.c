#include <nomp.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int id) {
  if (id <= 0)
    return;
  char *text = nomp_get_err_str(id);
  fprintf(stderr, "%s\n", text);
  free(text);
  exit(1);
}

int main(int argc, const char **argv) {
  double x[4] = {1, 2, 3, 4};
  int n = 4, scale = -1;
  check(nomp_init(argc, argv));
  check(nomp_update(x, 0, n, sizeof(double), NOMP_TO));
  const char *clauses[] = {NULL};
  check(nomp_jit(&scale, "void scale(double *x, int n) { for (int i = 0; i < n; i++) x[i] *= 10; }", clauses, 2, "x",
                 sizeof(double), NOMP_PTR, "n", sizeof(int), NOMP_INT));
  check(nomp_run(scale, x, &n));
  check(nomp_update(x, 0, n, sizeof(double), NOMP_FROM));
  check(nomp_finalize());
  printf("%g %g %g %g\n", x[0], x[1], x[2], x[3]);
  return 0;
}
