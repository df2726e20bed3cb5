/* HIP C++ for g++: what kernels may use that C++ lacks, and a description of them as in AMD's code objects.

   The double of hiprtc puts this before a kernel's text and DOUBLE_KERNEL and DOUBLE_METADATA after it; the double of
   the runtime runs one item after the other, and switches between those of a group at barriers. */
#include <math.h>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static /* one group runs at a time */
#define __launch_bounds__(...)

struct dim3 {
  unsigned x, y, z;
};

/* All else is hidden, so that a kernel may have the name of a function of the C library. */
#define DOUBLE_VISIBLE __attribute__((visibility("default")))

/* Set by the runtime. */
extern "C" {
DOUBLE_VISIBLE dim3 threadIdx, blockIdx, blockDim, gridDim;
DOUBLE_VISIBLE void (*double_barrier)(void);
}

static inline void __syncthreads() { double_barrier(); }
static inline void __threadfence() {}
static inline void __threadfence_block() {}
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
static inline float __int_as_float(int x) {
  float value;
  __builtin_memcpy(&value, &x, sizeof value);
  return value;
}

#define DOUBLE_EXTREMES(T)                                       \
  static inline T min(T a, T b) { return b < a ? b : a; }        \
  static inline T max(T a, T b) { return a < b ? b : a; }
DOUBLE_EXTREMES(int)
DOUBLE_EXTREMES(unsigned)
DOUBLE_EXTREMES(long)
DOUBLE_EXTREMES(unsigned long)
DOUBLE_EXTREMES(long long)
DOUBLE_EXTREMES(unsigned long long)
#undef DOUBLE_EXTREMES

/* An entry point as the runtime finds it: double_entry_NAME. */
struct double_entry {
  void (*run)(const char *arguments);
  unsigned arguments_size, max_items;
};

namespace double_ {

template <class... A> struct Layout {
  unsigned offset[sizeof...(A) + 1] = {}, size[sizeof...(A) + 1] = {}, end = 0;
  bool pointer[sizeof...(A) + 1] = {};

  constexpr Layout() {
    unsigned number = 0;
    (place<A>(number++), ...);
  }

  template <class T> constexpr void place(unsigned number) {
    offset[number] = (end + alignof(T) - 1) / alignof(T) * alignof(T);
    size[number] = sizeof(T);
    pointer[number] = std::is_pointer_v<T>;
    end = offset[number] + sizeof(T);
  }
};

template <class T> T read(const char *from) {
  T value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class... A, std::size_t... I>
void call(void (*kernel)(A...), [[maybe_unused]] const char *arguments, std::index_sequence<I...>) {
  [[maybe_unused]] constexpr Layout<A...> layout;
  kernel(read<A>(arguments + layout.offset[I])...);
}

template <class... A> void call(void (*kernel)(A...), const char *arguments) {
  call(kernel, arguments, std::index_sequence_for<A...>());
}

template <class... A> constexpr unsigned arguments_size(void (*)(A...)) { return Layout<A...>().end; }

/* MessagePack, as much of it as the metadata needs. */
struct Message {
  unsigned char at[1 << 15] = {};
  unsigned size = 0;

  constexpr void byte(unsigned value) { at[size++] = (unsigned char)value; }
  constexpr void two(unsigned value) { byte(value >> 8), byte(value & 255); }
  constexpr void number(unsigned value) { value < 128 ? byte(value) : (byte(0xcd), two(value)); }
  constexpr void map(unsigned count) { byte(0x80 | count); }
  constexpr void list(unsigned count) { byte(0xdc), two(count); }
  constexpr void text(const char *s) {
    unsigned length = 0;
    while (s[length]) length++;
    byte(0xd9), byte(length);
    while (*s) byte((unsigned char)*s++);
  }
};

template <class... A>
constexpr void describe(Message &message, const char *name, unsigned max_items, void (*)(A...)) {
  Layout<A...> layout;
  message.map(4);
  message.text(".name"), message.text(name);
  message.text(".max_flat_workgroup_size"), message.number(max_items);
  message.text(".kernarg_segment_size"), message.number(layout.end);
  message.text(".args"), message.list(sizeof...(A));
  for (unsigned i = 0; i < sizeof...(A); i++) {
    message.map(3);
    message.text(".offset"), message.number(layout.offset[i]);
    message.text(".size"), message.number(layout.size[i]);
    message.text(".value_kind"), message.text(layout.pointer[i] ? "global_buffer" : "by_value");
  }
}

template <unsigned size> struct Note {
  unsigned owner_size = 7, text_size = size, kind = 32;
  char owner[8] = "AMDGPU";
  unsigned char text[size] = {};

  constexpr explicit Note(const Message &message) {
    for (unsigned i = 0; i < size; i++) text[i] = message.at[i];
  }
};

} // namespace double_

#define DOUBLE_KERNEL(name, max_items)                                                        \
  static void double_run_##name(const char *arguments) { double_::call(name, arguments); }    \
  extern "C" DOUBLE_VISIBLE const double_entry double_entry_##name;                                          \
  const double_entry double_entry_##name = {double_run_##name, double_::arguments_size(name), max_items};

/* *describe_all* calls double_::describe(message, ...) for each of *count* kernels. */
#define DOUBLE_METADATA(count, describe_all)                                                  \
  static constexpr double_::Message double_message = [] {                                     \
    double_::Message message;                                                                 \
    message.map(1), message.text("amdhsa.kernels"), message.list(count);                      \
    describe_all;                                                                             \
    return message;                                                                           \
  }();                                                                                        \
  __attribute__((section(".note.amdgpu"), used, aligned(4)))                                  \
  static const double_::Note<double_message.size> double_note(double_message);
