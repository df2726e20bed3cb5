/* A test double of libamdhip64.so: two "devices" on the CPU, for programs that use HIP, where there is no AMD GPU.

   Work that HIP queues is queued here, too, and done when the host waits: who forgets to wait sees it.  A kernel's
   groups run one after the other; the items of a group take turns at barriers.  Memory is filled with nonsense, and
   belongs to the device that is current when it is allocated.  What nomp does not use is not supported. */
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "group.h"
#include "hip.h"

namespace {

struct Module {
  void *library;
  int file, device;
};

struct Function {
  const double_entry *entry;
  Group group;
  int device;
};

/* When the queue came to it. */
struct Event {
  int device;
  bool done;
  std::chrono::steady_clock::time_point time;
};

std::recursive_mutex lock;
std::set<Event *> events;
std::set<void *> locked_pages;
std::map<Module *, std::vector<Function *>> modules;
std::vector<std::function<void()>> queues[DEVICES];

void wait(int device) {
  auto queue = std::move(queues[device]);
  queues[device].clear();
  for (auto &work : queue) work();
}

/* Whether *size* bytes from *at* on are memory of the current device. */
bool is_ours(const void *at, size_t size) {
  auto next = buffers.upper_bound((char *)at);
  if (next == buffers.begin()) return false;
  auto [start, buffer] = *std::prev(next);
  return buffer.second == current && (char *)at + size <= start + buffer.first;
}

void *found(void *library, const std::string &name) { return dlsym(library, name.c_str()); }

} // namespace

#define LOCKED std::lock_guard<std::recursive_mutex> locked(lock)

extern "C" {

int hipInit(unsigned) { return SUCCESS; }

int hipGetDeviceCount(int *count) {
  *count = DEVICES;
  return SUCCESS;
}

int hipGetDeviceProperties(Properties *properties, int device) {
  if (device < 0 || device >= DEVICES) return INVALID_DEVICE;
  memset(properties, 0, sizeof *properties);
  strcpy(properties->name, "test double of HIP on the CPU");
  strcpy(properties->arch, "gfx90a:sramecc+:xnack-");
  properties->memory = MEMORY;
  properties->shared_memory = 65536;
  properties->warp_size = 64;
  properties->most_items = 1024;
  properties->units = 4;
  return SUCCESS;
}

int hipMalloc(void **made, size_t size) {
  LOCKED;
  if (size > MEMORY || used_on(current) + size > MEMORY) return OUT_OF_MEMORY;
  if (posix_memalign(made, 256, size)) return OUT_OF_MEMORY;
  memset(*made, 0xbd, size);
  buffers[(char *)*made] = {size, current};
  return SUCCESS;
}

int hipFree(void *buffer) {
  LOCKED;
  if (!buffer) return SUCCESS;
  if (!buffers.count((char *)buffer)) return INVALID_VALUE;
  for (int device = 0; device < DEVICES; device++) wait(device);
  buffers.erase((char *)buffer);
  free(buffer);
  return SUCCESS;
}

/* Kernels have it, too, and at the same address. */
int hipHostMalloc(void **made, size_t size, unsigned) {
  LOCKED;
  if (posix_memalign(made, 256, size)) return OUT_OF_MEMORY;
  memset(*made, 0xbd, size);
  locked_pages.insert(*made);
  return SUCCESS;
}

int hipHostGetDevicePointer(void **there, void *here, unsigned) {
  LOCKED;
  *there = here;
  return locked_pages.count(here) ? SUCCESS : INVALID_VALUE;
}

int hipHostFree(void *memory) {
  LOCKED;
  if (!locked_pages.erase(memory)) return INVALID_VALUE;
  for (int device = 0; device < DEVICES; device++) wait(device);
  free(memory);
  return SUCCESS;
}

int hipPointerGetAttributes(Attributes *attributes, void *at) {
  LOCKED;
  return attributes_of(attributes, at);
}

int hipMemset(void *to, int value, size_t size) {
  LOCKED;
  if (!is_ours(to, size)) return INVALID_VALUE;
  queues[current].push_back([=] { memset(to, value, size); });
  return SUCCESS;
}

int hipMemcpyAsync(void *to, const void *from, size_t size, int direction, void *stream) {
  LOCKED;
  bool to_device = direction == 1 || direction == 3, from_device = direction == 2 || direction == 3;
  if (stream || (to_device && !is_ours(to, size)) || (from_device && !is_ours(from, size))) return INVALID_VALUE;
  queues[current].push_back([=] { memcpy(to, from, size); });
  return SUCCESS;
}

int hipMemcpyHtoDAsync(void *to, const void *from, size_t size, void *stream) {
  return hipMemcpyAsync(to, from, size, 1, stream);
}

int hipMemcpyDtoHAsync(void *to, const void *from, size_t size, void *stream) {
  return hipMemcpyAsync(to, from, size, 2, stream);
}

int hipMemcpy(void *to, const void *from, size_t size, int direction) {
  LOCKED;
  int status = hipMemcpyAsync(to, from, size, direction, nullptr);
  wait(current);
  return status;
}

int hipMemGetInfo(size_t *free, size_t *total) {
  LOCKED;
  *total = MEMORY;
  *free = MEMORY - used_on(current);
  return SUCCESS;
}

int hipStreamSynchronize(void *stream) {
  LOCKED;
  if (stream) return INVALID_VALUE;
  wait(current);
  return SUCCESS;
}

int hipDeviceSynchronize(void) { return hipStreamSynchronize(nullptr); }

int hipModuleLoadData(Module **made, const void *image) {
  LOCKED;
  auto header = (const Elf64_Ehdr *)image;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG)) return INVALID_IMAGE;
  size_t size = header->e_shoff + size_t(header->e_shentsize) * header->e_shnum;
  int file = memfd_create("kernels", MFD_CLOEXEC); /* open as long as loaded: the number is in the library's name */
  if (file < 0 || write(file, image, size) != (ssize_t)size) return OUT_OF_MEMORY;
  void *library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return INVALID_IMAGE;
  *made = new Module{library, file, current};
  modules[*made] = {};
  return SUCCESS;
}

int hipModuleGetFunction(Function **made, Module *module, const char *name) {
  LOCKED;
  auto entry = (const double_entry *)found(module->library, std::string("double_entry_") + name);
  if (!entry) return NOT_FOUND;
  *made = new Function{entry, Group(module->library), module->device};
  modules[module].push_back(*made);
  return SUCCESS;
}

int hipModuleUnload(Module *module) {
  LOCKED;
  if (!modules.count(module)) return INVALID_VALUE;
  wait(module->device);
  for (Function *function : modules[module]) delete function;
  modules.erase(module);
  dlclose(module->library);
  close(module->file);
  delete module;
  return SUCCESS;
}

int hipModuleLaunchKernel(Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y, unsigned z,
                          unsigned, void *stream, void **parameters, void **extra) {
  LOCKED;
  bool packed = extra && extra[0] == (void *)1 && extra[2] == (void *)2 && extra[4] == (void *)3;
  if (stream || parameters || !packed || function->device != current) return INVALID_VALUE;
  size_t items = size_t(x) * y * z, groups = size_t(gx) * gy * gz;
  if (!items || !groups || items > function->entry->max_items) return INVALID_CONFIGURATION;
  if (*(size_t *)extra[3] < function->entry->arguments_size) return INVALID_VALUE;
  std::string arguments((const char *)extra[1], *(size_t *)extra[3]);
  queues[current].push_back([=] {
    for (unsigned k = 0; k < gz; k++)
      for (unsigned j = 0; j < gy; j++)
        for (unsigned i = 0; i < gx; i++)
          function->group.run(*function->entry, {gx, gy, gz}, {i, j, k}, {x, y, z}, arguments.data());
  });
  return SUCCESS;
}

int hipEventCreateWithFlags(Event **made, unsigned) {
  LOCKED;
  *made = new Event{current, false, {}};
  events.insert(*made);
  return SUCCESS;
}

int hipEventRecord(Event *event, void *stream) {
  LOCKED;
  if (stream || !events.count(event) || event->device != current) return INVALID_VALUE;
  event->done = false;
  queues[current].push_back([=] {
    event->done = true;
    event->time = std::chrono::steady_clock::now();
  });
  return SUCCESS;
}

int hipEventSynchronize(Event *event) {
  LOCKED;
  if (!events.count(event)) return INVALID_VALUE;
  wait(event->device);
  return SUCCESS;
}

int hipEventElapsedTime(float *milliseconds, Event *first, Event *last) {
  LOCKED;
  if (!events.count(first) || !events.count(last) || !first->done || !last->done) return INVALID_VALUE;
  *milliseconds = std::chrono::duration<float, std::milli>(last->time - first->time).count();
  return SUCCESS;
}

int hipEventDestroy(Event *event) {
  LOCKED;
  if (!events.erase(event)) return INVALID_VALUE;
  wait(event->device);
  delete event;
  return SUCCESS;
}
}
