/* What both test doubles of libamdhip64.so have in common: two "devices" of this memory each, and HIP's words. */
#pragma once

#include <cstddef>
#include <map>
#include <utility>

enum {
  SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONFIGURATION = 9, INVALID_DEVICE = 101,
  INVALID_IMAGE = 200, NOT_FOUND = 500, NOT_SUPPORTED = 801
};

const int DEVICES = 2, VERSION = 50221153;
const size_t MEMORY = size_t(1) << 30;

/* The members of HIP 5's hipDeviceProp_t, as far as they are used. */
struct Properties {
  char name[256];
  size_t memory, shared_memory;
  int registers, warp_size, most_items, most_items_of_axis[3], most_groups[3], clock, memory_clock, bus_width;
  size_t constant_memory;
  int major, minor, units, cache, items_of_unit, mode, instruction_clock, features, concurrent, domain, bus, device;
  size_t shared_memory_of_unit;
  int several, maps_host, number;
  char arch[256];
};

/* hipPointerAttribute_t. */
struct Attributes {
  int type, device;
  void *on_device, *on_host;
  int is_managed;
  unsigned flags;
};

static thread_local int current = 0;
static std::map<char *, std::pair<size_t, int>> buffers; /* size and device */

static size_t used_on(int device) {
  size_t used = 0;
  for (auto &[start, buffer] : buffers) used += buffer.second == device ? buffer.first : 0;
  return used;
}

/* What HIP 5 says of an address, whatever device is current. */
static int attributes_of(Attributes *attributes, void *at) {
  auto next = buffers.upper_bound((char *)at);
  if (next == buffers.begin()) return INVALID_VALUE;
  auto [start, buffer] = *std::prev(next);
  if ((char *)at >= start + buffer.first) return INVALID_VALUE;
  *attributes = {1, buffer.second, at, nullptr, 0, 0};
  return SUCCESS;
}

extern "C" {

const char *hipGetErrorName(int status) {
  switch (status) {
  case SUCCESS: return "hipSuccess";
  case INVALID_VALUE: return "hipErrorInvalidValue";
  case OUT_OF_MEMORY: return "hipErrorOutOfMemory";
  case INVALID_CONFIGURATION: return "hipErrorInvalidConfiguration";
  case INVALID_DEVICE: return "hipErrorInvalidDevice";
  case INVALID_IMAGE: return "hipErrorInvalidImage";
  case NOT_FOUND: return "hipErrorNotFound";
  case NOT_SUPPORTED: return "hipErrorNotSupported";
  default: return "hipErrorUnknown";
  }
}

const char *hipGetErrorString(int status) { return hipGetErrorName(status); }

int hipSetDevice(int device) {
  if (device < 0 || device >= DEVICES) return INVALID_DEVICE;
  current = device;
  return SUCCESS;
}

int hipGetDevice(int *device) {
  *device = current;
  return SUCCESS;
}

int hipDriverGetVersion(int *version) {
  *version = VERSION;
  return SUCCESS;
}

int hipRuntimeGetVersion(int *version) { return hipDriverGetVersion(version); }

#define NOT_NEEDED(name) int name(void) { return NOT_SUPPORTED; }
NOT_NEEDED(hipStreamCreate)
NOT_NEEDED(hipStreamDestroy)
NOT_NEEDED(hipEventCreate)
NOT_NEEDED(hipEventQuery)
NOT_NEEDED(hipMallocPitch)
NOT_NEEDED(hipModuleGetGlobal)
NOT_NEEDED(hipDeviceGetAttribute)
}
