/* Error ids, numbers and texts of calls at the wrong time or with the wrong arguments. */
#include "check.h"

static void before_init(void) {
  double a[4] = {0};
  int id = -1, done = 3;
  const char *none[] = {NULL};
  check_error(nomp_update(a, 0, 4, sizeof *a, NOMP_TO), NOMP_INITIALIZE_FAILURE, "nomp_update was called before nomp_init.");
  check_error(nomp_sync(), NOMP_INITIALIZE_FAILURE, "nomp_sync was called before nomp_init.");
  check_error(nomp_jit(&id, "", none, 0), NOMP_INITIALIZE_FAILURE, "nomp_jit was called before nomp_init.");
  CHECK(id == -1);
  CHECK(nomp_jit(&done, NULL, NULL, 0) == 0);
  check_error(nomp_run(-1), NOMP_USER_INPUT_IS_INVALID, "Kernel id -1 passed to nomp_run is not valid.");
  CHECK(nomp_finalize() == NOMP_FINALIZE_FAILURE);
  CHECK(nomp_finalize_excluding_interpreter() == NOMP_FINALIZE_FAILURE);
  CHECK(nomp_get_err_no((unsigned)NOMP_FINALIZE_FAILURE) == NOMP_USER_LOG_ID_IS_INVALID);
  CHECK(nomp_get_err_no(0) == NOMP_USER_LOG_ID_IS_INVALID && nomp_get_err_no(5) == NOMP_USER_LOG_ID_IS_INVALID);
  CHECK(nomp_get_err_str(0) == NULL && nomp_get_err_str(5) == NULL);
}

static void failed_init(void) {
  const char *missing[] = {"program", "--nomp-device"};
  const char *nowhere[] = {"program", "--nomp-backend", "opencl", "--nomp-device", "77"};
  const char *unknown[] = {"program", "--nomp-backend", "abacus"};
  check_error(nomp_init(2, missing), NOMP_USER_INPUT_IS_INVALID, " Missing argument value after: --nomp-device.");
  check_error(nomp_init(5, nowhere), NOMP_USER_INPUT_IS_INVALID, " Device id 77 passed into libnomp is not valid.");
  check_error(nomp_init(3, unknown), NOMP_USER_INPUT_IS_INVALID, " Invalid backend: abacus.");
  CHECK(nomp_finalize() == NOMP_FINALIZE_FAILURE);
}

static void wrong_updates(void) {
  double a[4] = {0};
  const char *known = "NOMP_FREE or NOMP_FROM can only be called on a pointer which is already on the device.";
  check_error(nomp_update(a, 0, 4, sizeof *a, NOMP_FROM), NOMP_USER_MAP_OP_IS_INVALID, known);
  check_error(nomp_update(a, 0, 4, sizeof *a, NOMP_FREE), NOMP_USER_MAP_OP_IS_INVALID, known);
  check_error(nomp_update(NULL, 0, 4, sizeof *a, NOMP_TO), NOMP_USER_MAP_PTR_IS_INVALID, "null pointer");
  check_error(nomp_update(a, 0, 4, sizeof *a, (nomp_map_direction_t)64), NOMP_USER_MAP_OP_IS_INVALID, "64");
  check_error(nomp_update(a, 4, 0, sizeof *a, NOMP_TO), NOMP_USER_INPUT_IS_INVALID, "ends before it starts");
  CHECK(nomp_update(a, 2, 2, sizeof *a, NOMP_TO) == 0);
}

int main(void) {
  const char *argv[] = {"program", "--nomp-backend", "opencl", "--nomp-verbose", "0", NULL};
  before_init();
  failed_init();
  CHECK(nomp_init(5, argv) == 0);
  check_error(nomp_init(5, argv), NOMP_INITIALIZE_FAILURE, "[Error] libnomp/src/nomp.c:");
  check_error(nomp_init(5, argv), NOMP_INITIALIZE_FAILURE, " libnomp is already initialized.");
  wrong_updates();
  CHECK(nomp_finalize() == 0);
  CHECK(nomp_get_err_str(1) == NULL);
  CHECK(nomp_finalize() == NOMP_FINALIZE_FAILURE);
  CHECK(nomp_init(5, argv) == 0);
  CHECK(nomp_init(5, argv) == 1); /* ids begin again */
  CHECK(nomp_finalize_excluding_interpreter() == 0);
  puts("done");
  return 0;
}
