/* OpenCL by its C functions, from the loader that $NOMP_BENCH_OPENCL names: no headers and no library to link are needed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

static const char *source =
    "__kernel void work(__global double *a, __global double *b, __global double *c, __global double *d, double x,"
    " int n) { for (int i = 0; i < n; i++) a[i] = x * b[i] + c[i] * d[i]; }";

static void *context, *queue, *loader, *program;
static int (*enqueue)(void *, void *, unsigned, const size_t *, const size_t *, const size_t *, unsigned, void *, void *);
static int (*finish)(void *);
static int (*set)(void *, unsigned, size_t, const void *);
static int (*copy_in)(void *, void *, unsigned, size_t, size_t, const void *, unsigned, void *, void *);
static int (*copy_out)(void *, void *, unsigned, size_t, size_t, void *, unsigned, void *, void *);
static void *(*buffer_of)(void *, unsigned long, size_t, void *, int *);

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

/* A kernel with its four arrays, of n elements, and its two scalars. */
static void *raw_kernel(void *buffers[4], double *arrays[4], double x, int n) {
  loader = dlopen(getenv("NOMP_BENCH_OPENCL"), RTLD_NOW);
  CHECK(loader);
  void *platform, *device;
  int status;
  CHECK(((int (*)(unsigned, void **, void *))dlsym(loader, "clGetPlatformIDs"))(1, &platform, NULL) == 0);
  CHECK(((int (*)(void *, unsigned long, unsigned, void **, void *))dlsym(loader, "clGetDeviceIDs"))(
            platform, 0xFFFFFFFF, 1, &device, NULL) == 0);
  context = ((void *(*)(void *, unsigned, void **, void *, void *, int *))dlsym(loader, "clCreateContext"))(
      NULL, 1, &device, NULL, NULL, &status);
  queue = ((void *(*)(void *, void *, unsigned long, int *))dlsym(loader, "clCreateCommandQueue"))(context, device, 0,
                                                                                                  &status);
  program = ((void *(*)(void *, unsigned, const char **, void *, int *))dlsym(
      loader, "clCreateProgramWithSource"))(context, 1, &source, NULL, &status);
  CHECK(status == 0);
  CHECK(((int (*)(void *, unsigned, void **, const char *, void *, void *))dlsym(loader, "clBuildProgram"))(
            program, 1, &device, "-w", NULL, NULL) == 0);
  void *kernel = ((void *(*)(void *, const char *, int *))dlsym(loader, "clCreateKernel"))(program, "work", &status);
  CHECK(status == 0);
  enqueue = dlsym(loader, "clEnqueueNDRangeKernel"), finish = dlsym(loader, "clFinish");
  set = dlsym(loader, "clSetKernelArg"), buffer_of = dlsym(loader, "clCreateBuffer");
  copy_in = dlsym(loader, "clEnqueueWriteBuffer"), copy_out = dlsym(loader, "clEnqueueReadBuffer");
  for (int i = 0; i < 4; i++) {
    buffers[i] = buffer_of(context, 1, n * sizeof(double), NULL, &status);
    CHECK(status == 0 && copy_in(queue, buffers[i], 1, 0, n * sizeof(double), arrays[i], 0, NULL, NULL) == 0);
    CHECK(set(kernel, i, sizeof(void *), &buffers[i]) == 0);
  }
  CHECK(set(kernel, 4, sizeof x, &x) == 0 && set(kernel, 5, sizeof n, &n) == 0);
  return kernel;
}

static void released(const char *release, void *handle) { CHECK(((int (*)(void *))dlsym(loader, release))(handle) == 0); }

/* What `finalize` does. */
static inline void raw_release(void *kernel, void *buffers[4]) {
  released("clReleaseKernel", kernel);
  for (int i = 0; i < 4; i++) released("clReleaseMemObject", buffers[i]);
  released("clReleaseProgram", program);
  released("clReleaseCommandQueue", queue);
  released("clReleaseContext", context);
}

static void raw_launch(void *kernel) {
  const size_t one = 1;
  CHECK(enqueue(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL) == 0);
}
