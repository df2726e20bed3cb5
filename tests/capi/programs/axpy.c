/* One kernel made once and run in three lives of the runtime; and what nomp_jit and nomp_run refuse. */
#include "check.h"

static const char *source = "void axpy(double *y, const double *x, double a, int n) {\n"
                            "  for (int i = 0; i < n; i++)\n"
                            "    y[i] += a * x[i];\n"
                            "}\n";

static void run(int n) {
  double x[100], y[100], a = 2.5;
  static int id = -1;
  const char *clauses[] = {NULL};
  CHECK(nomp_jit(&id, source, clauses, 4, "y", sizeof(double), NOMP_PTR, "x", sizeof(double), NOMP_PTR, "a",
                 sizeof(double), NOMP_FLOAT, "n", sizeof(int), NOMP_INT) == 0);
  for (int i = 0; i < 100; i++) x[i] = i, y[i] = 1;
  CHECK(nomp_update(x, 0, n, sizeof *x, NOMP_TO) == 0);
  check_error(nomp_run(id, y, x, &a, &n), NOMP_USER_MAP_PTR_IS_INVALID, " Map pointer 0x");
  CHECK(nomp_update(y, 0, n, sizeof *y, NOMP_TO) == 0);
  CHECK(nomp_run(id, y, x, &a, &n) == 0);
  check_error(nomp_run(id, y, x, NULL, &n), NOMP_USER_INPUT_IS_INVALID, "Argument 3 passed to nomp_run for kernel id");
  check_error(nomp_run(id + 1, y, x, &a, &n), NOMP_USER_INPUT_IS_INVALID, "passed to nomp_run is not valid.");
  CHECK(nomp_update(y, 0, n, sizeof *y, NOMP_FROM) == 0);
  for (int i = 0; i < 100; i++) CHECK(y[i] == (i < n ? 1 + a * i : 1));
}

static void fixed(void) {
  double y[10] = {0};
  float a = 0.5f;
  long n = 8;
  int id = -1;
  const char *text = "void f(double *y, float a, long n) { for (long i = 0; i < n; i++) y[i] = a * i; }";
  const char *clauses[] = {NULL};
  CHECK(nomp_jit(&id, text, clauses, 3, "a", sizeof a, NOMP_FLOAT | NOMP_JIT, &a, "y", sizeof *y, NOMP_PTR, "n",
                 sizeof n, NOMP_INT | NOMP_JIT, &n) == 0);
  a = 7, n = 10; /* too late */
  CHECK(nomp_update(y, 0, 10, sizeof *y, NOMP_TO) == 0);
  CHECK(nomp_run(id, y) == 0);
  CHECK(nomp_update(y, 0, 10, sizeof *y, NOMP_FROM) == 0);
  for (int i = 0; i < 10; i++) CHECK(y[i] == (i < 8 ? 0.5 * i : 0));
}

static void sum(void) {
  long n = 10;
  double s = 100;
  int id = -1;
  const char *text = "void f(double *s, long n) { for (long i = 0; i < n; i++) s[0] += i; }";
  const char *clauses[] = {"reduce", "s", "+", NULL};
  CHECK(nomp_jit(&id, text, clauses, 2, "s", sizeof s, NOMP_FLOAT, "n", sizeof n, NOMP_INT) == 0);
  CHECK(nomp_run(id, &s, &n) == 0);
  CHECK(s == 45);
}

static void refused(void) {
  int id = -1;
  const char *none[] = {NULL}, *odd[] = {"transform", "m", NULL}, *absent[] = {"transform", "absent", "f", NULL};
  const char *text = "void f(int *a, int n) { for (int i = 0; i < n; i++) a[i] = i; }";
#define JIT(text, clauses) nomp_jit(&id, text, clauses, 2, "a", sizeof(int), NOMP_PTR, "n", sizeof(int), NOMP_INT)
  check_error(JIT("void f(int *a, int n) { for (int i = 0; i < n; i++) a[i] = ; }", none), NOMP_LOOPY_CONVERSION_FAILURE,
              "Converting C source to loopy kernel failed.\n<nomp_jit ");
  check_error(JIT(text, odd), NOMP_USER_INPUT_IS_INVALID, " Module name and/or function name not provided.");
  check_error(JIT(text, absent), NOMP_PY_CALL_FAILURE, " Importing Python module \"absent\" failed.");
  check_error(JIT(text, NULL), NOMP_USER_INPUT_IS_INVALID, "must not be NULL");
  check_error(JIT(NULL, none), NOMP_USER_INPUT_IS_INVALID, "must not be NULL");
  check_error(nomp_jit(&id, text, none, 1, "a", sizeof(int), NOMP_PTR), NOMP_USER_INPUT_IS_INVALID,
              "nomp_jit got 1 arguments for 2 parameters (a, n) [N652]");
  CHECK(id == -1);
}

int main(void) {
  const char *argv[] = {"program", "--nomp-backend", "opencl", "--nomp-verbose", "0"};
  for (int life = 0; life < 3; life++) {
    CHECK(nomp_init(5, argv) == 0);
    run(40 + life);
    CHECK(nomp_finalize() == 0);
  }
  CHECK(nomp_init(5, argv) == 0);
  fixed();
  sum();
  refused();
  CHECK(nomp_finalize() == 0);
  puts("done");
  return 0;
}
