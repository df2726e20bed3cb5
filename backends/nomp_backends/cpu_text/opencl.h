/*
 * opencl.h: OpenCL C for the host's C compiler, as much of it as nomp writes.  It stands before the kernels, and brings
 * no name of C's library: functions of <math.h> are the compiler's own.
 */
#define __OPENCL_C_VERSION__ 120
#define __kernel static
#define __global
#define __private
#define __constant const
#define __local static _Thread_local /* one thread carries out a group */
#define reqd_work_group_size(x, y, z)

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

/* Where a thread is: set by launch.h, and no pointer of a kernel's leads here. */
static _Thread_local long nomp_group[3], nomp_item[3], nomp_groups[3], nomp_items[3];

#define get_group_id(axis) nomp_group[axis]
#define get_local_id(axis) nomp_item[axis]
#define get_num_groups(axis) nomp_groups[axis]
#define get_local_size(axis) nomp_items[axis]
#define get_global_id(axis) (nomp_group[axis] * nomp_items[axis] + nomp_item[axis])
#define get_global_size(axis) (nomp_groups[axis] * nomp_items[axis])

/* A subscript that data decide, which compilers are to take one by one. */
#define nomp_by_data(place) \
  ({ long place_ = (place); __asm__("" : "+r"(place_)); place_; })

static void nomp_wait(void);
#define barrier(fence) nomp_wait()

#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#define HUGE_VALF __builtin_inff()
#define HUGE_VAL __builtin_inf()

/* Arguments stand once in what becomes of a call: calls are nested, and else they would double with each level. */
#define NOMP_TYPED(name, x) _Generic((x), float: __builtin_##name##f, default: __builtin_##name)
#define NOMP_1(name, x) ({ __auto_type x_ = (x); NOMP_TYPED(name, x_)(x_); })
#define NOMP_2(name, x, y) ({ __auto_type x_ = (x); __auto_type y_ = (y); NOMP_TYPED(name, x_)(x_, y_); })
#define NOMP_3(name, x, y, z) \
  ({ __auto_type x_ = (x); __auto_type y_ = (y); __auto_type z_ = (z); NOMP_TYPED(name, x_)(x_, y_, z_); })

#define acos(x) NOMP_1(acos, x)
#define acosh(x) NOMP_1(acosh, x)
#define asin(x) NOMP_1(asin, x)
#define asinh(x) NOMP_1(asinh, x)
#define atan(x) NOMP_1(atan, x)
#define atanh(x) NOMP_1(atanh, x)
#define cbrt(x) NOMP_1(cbrt, x)
#define ceil(x) NOMP_1(ceil, x)
#define cos(x) NOMP_1(cos, x)
#define cosh(x) NOMP_1(cosh, x)
#define erf(x) NOMP_1(erf, x)
#define erfc(x) NOMP_1(erfc, x)
#define exp(x) NOMP_1(exp, x)
#define exp2(x) NOMP_1(exp2, x)
#define expm1(x) NOMP_1(expm1, x)
#define fabs(x) NOMP_1(fabs, x)
#define floor(x) NOMP_1(floor, x)
#define lgamma(x) NOMP_1(lgamma, x)
#define log(x) NOMP_1(log, x)
#define log10(x) NOMP_1(log10, x)
#define log1p(x) NOMP_1(log1p, x)
#define log2(x) NOMP_1(log2, x)
#define logb(x) NOMP_1(logb, x)
#define rint(x) NOMP_1(rint, x)
#define round(x) NOMP_1(round, x)
#define sin(x) NOMP_1(sin, x)
#define sinh(x) NOMP_1(sinh, x)
#define sqrt(x) NOMP_1(sqrt, x)
#define tan(x) NOMP_1(tan, x)
#define tanh(x) NOMP_1(tanh, x)
#define tgamma(x) NOMP_1(tgamma, x)
#define trunc(x) NOMP_1(trunc, x)
#define atan2(x, y) NOMP_2(atan2, x, y)
#define copysign(x, y) NOMP_2(copysign, x, y)
#define fdim(x, y) NOMP_2(fdim, x, y)
#define fmax(x, y) NOMP_2(fmax, x, y)
#define fmin(x, y) NOMP_2(fmin, x, y)
#define fmod(x, y) NOMP_2(fmod, x, y)
#define hypot(x, y) NOMP_2(hypot, x, y)
#define nextafter(x, y) NOMP_2(nextafter, x, y)
#define pow(x, y) NOMP_2(pow, x, y)
#define remainder(x, y) NOMP_2(remainder, x, y)
#define fma(x, y, z) NOMP_3(fma, x, y, z)

#define min(x, y) ({ __auto_type x_ = (x); __auto_type y_ = (y); y_ < x_ ? y_ : x_; })
#define max(x, y) ({ __auto_type x_ = (x); __auto_type y_ = (y); x_ < y_ ? y_ : x_; })

/* Of unsigned integers; the result has their type. */
#define popcount(x) ({ __auto_type x_ = (x); (__typeof__(x_))__builtin_popcountl(x_); })
#define NOMP_CLZ(x) ((x) ? __builtin_clzl(x) - 8 * (sizeof(long) - sizeof(x)) : 8 * sizeof(x))
#define clz(x) ({ __auto_type x_ = (x); (__typeof__(x_))NOMP_CLZ(x_); })
