/*
 * nomp.h: the C API of nomp.
 *
 * Names, constants, argument conventions and error numbers are those of libnomp, so that its programs compile and run
 * unchanged.  Link with -lnomp (`nomp config --cflags --libs` prints the flags).
 *
 * Every function but nomp_finalize() returns 0 on success and a positive id on failure.  The id stays valid until
 * nomp_finalize(): nomp_get_err_no(id) gives the error number, nomp_get_err_str(id) the text.  All functions may be
 * called before nomp_init() (they return an error), after nomp_finalize(), and from several threads.
 */
#ifndef NOMP_H
#define NOMP_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of a kernel argument, for nomp_jit(). */
typedef enum {
  NOMP_INT = 2048,   /* signed integer, passed to nomp_run() by address */
  NOMP_UINT = 4096,  /* unsigned integer, passed by address */
  NOMP_FLOAT = 8192, /* float or double, passed by address */
  NOMP_PTR = 16384   /* array, passed as its host pointer */
} nomp_arg_type_t;

/* Added to a scalar's type: its value is read by nomp_jit() and baked into the kernel; nomp_run() does not take it. */
typedef enum { NOMP_JIT = 1 } nomp_arg_properties_t;

/* What nomp_update() does.  NOMP_TO allocates where nothing is mapped yet; operations may be combined with |. */
typedef enum {
  NOMP_ALLOC = 1, /* allocate on the device */
  NOMP_TO = 2,    /* copy from the host to the device */
  NOMP_FROM = 4,  /* copy from the device to the host; returns when the data is there */
  NOMP_FREE = 8   /* release the device's memory */
} nomp_map_direction_t;

/* Error numbers. */
#define NOMP_SUCCESS 0
#define NOMP_USER_INPUT_IS_INVALID -128    /* an argument or option is wrong */
#define NOMP_USER_MAP_PTR_IS_INVALID -130  /* a kernel's array is not on the device */
#define NOMP_USER_MAP_OP_IS_INVALID -132   /* this operation is not possible on that array */
#define NOMP_USER_LOG_ID_IS_INVALID -134   /* nomp_get_err_no() was given an id that is none */
#define NOMP_INITIALIZE_FAILURE -256       /* started already, or not started yet */
#define NOMP_FINALIZE_FAILURE -258         /* not started, or the device could not be released */
#define NOMP_PY_CALL_FAILURE -384          /* a transform or annotation script, or Python itself, failed */
#define NOMP_LOOPY_CONVERSION_FAILURE -386 /* the C source is wrong, or not one that can become a kernel */
#define NOMP_LOOPY_KNL_NAME_NOT_FOUND -388 /* a transform did not return a kernel */
#define NOMP_LOOPY_CODEGEN_FAILURE -390    /* the scheduled kernel is illegal, or no code can be made of it */
#define NOMP_LOOPY_GRIDSIZE_FAILURE -392   /* the launch geometry cannot be evaluated */
#define NOMP_CUDA_FAILURE -512             /* CUDA refused */
#define NOMP_HIP_FAILURE -514              /* HIP refused */
#define NOMP_OPENCL_FAILURE -516           /* OpenCL refused */
#define NOMP_CPU_FAILURE -518              /* the C compiler for the CPU refused, or there is no memory */

/*
 * Start the runtime.  Reads the options `--nomp-backend NAME`, `--nomp-platform N`, `--nomp-device N`,
 * `--nomp-verbose N`, `--nomp-profile N`, `--nomp-scripts-dir DIR`, `--nomp-annotations-script MODULE` and
 * `--nomp-install-dir DIR` (this and profile: accepted, not needed) from argv and leaves everything else alone; argv
 * may be NULL.
 * The environment variables NOMP_BACKEND, NOMP_PLATFORM and so on win over argv.
 * After a failure the runtime is as before the call, which may be repeated.
 */
int nomp_init(int argc, const char **argv);

/*
 * Map elements [start_index, end_index) of the array at ptr, each of unit_size bytes, to the device, copy them, or free
 * them.  Indices are those of the host's array, in kernels too.  An empty range does nothing.  NOMP_FREE of a part
 * frees all that was mapped with it.
 */
int nomp_update(void *ptr, size_t start_index, size_t end_index, size_t unit_size, nomp_map_direction_t op);

/*
 * Make a kernel of src, the text of one C function, and store its number in *id; does nothing where *id >= 0, so that
 * `static int id = -1;` makes it once.  On failure *id stays as it is.
 *
 * clauses is an array of strings, three a clause, that ends with NULL:
 *   "transform", MODULE, FUNCTION   call a Python function on the loopy kernel; any number, in order
 *   "annotate", KEY, VALUE          call the annotation script's annotate(knl, {KEY: VALUE}, context)
 *   "reduce", ARGUMENT, OPERATOR    *ARGUMENT is set to the reduction with + * min max & | ^ && ||
 *
 * Then nargs arguments follow, in the order of the function's parameters: for each `const char *name, size_t size,
 * int type`, and for one with NOMP_JIT in its type `void *value` as a fourth.  The argument of a reduce clause may be
 * declared with the type and size of its element.
 */
int nomp_jit(int *id, const char *src, const char **clauses, int nargs, ...);

/*
 * Run kernel id with one pointer for each argument without NOMP_JIT: the array itself for a NOMP_PTR, the address of
 * the value for a scalar, the address of the result for a reduction.  Returns when the kernel is queued; a reduction's
 * result is there on return.
 */
int nomp_run(int id, ...);

/* Wait for all kernels and copies. */
int nomp_sync(void);

/*
 * Where the device has the element at ptr, for other users of the device's memory, such as MPI; call nomp_sync() before
 * they use it.  *mapped is NULL if ptr is not mapped, or where the device's memory has no addresses (OpenCL).  It is
 * right until a nomp_update() maps or frees something.  libnomp does not have this function.
 */
int nomp_mapped(const void *ptr, void **mapped);

/* The text of error id, to be freed by the caller with free(); NULL if there is no such error. */
char *nomp_get_err_str(unsigned id);

/* The number of error id; NOMP_USER_LOG_ID_IS_INVALID if there is no such error. */
int nomp_get_err_no(unsigned id);

/*
 * Release everything; nomp_init() may start again.  Returns NOMP_FINALIZE_FAILURE itself, not an id, if nothing was
 * started.  The embedded Python interpreter stays in both functions, since its packages cannot be loaded twice.
 */
int nomp_finalize(void);
int nomp_finalize_excluding_interpreter(void);

#ifdef __cplusplus
}
#endif

#endif /* NOMP_H */
