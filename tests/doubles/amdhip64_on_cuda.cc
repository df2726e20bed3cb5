/* A test double of libamdhip64.so on the CUDA driver: HIP's calls and kernels, carried out by an NVIDIA GPU.

   Its "devices" are the GPUs, one after the other and from the first again; each has this much memory of them.  The
   kernels are what the double of libhiprtc.so, made with ON_CUDA, puts behind its ELF files.  What nomp does not use is
   not supported. */
#include <cstdio>
#include <mutex>

#include <cuda.h>
#include <elf.h>

#include "hip.h"

namespace {

struct Function {
  CUfunction function;
  int device;
};

std::mutex lock;
CUcontext contexts[DEVICES];

int gpu(int device) {
  int count = 0;
  return cuDeviceGetCount(&count) || !count ? 0 : device % count;
}

/* Make the context of the current device that of this thread; CUDA's status, whose numbers are HIP's. */
int enter() {
  std::lock_guard<std::mutex> locked(lock);
  if (int status = cuInit(0)) return status;
  if (!contexts[current])
    if (int status = cuDevicePrimaryCtxRetain(&contexts[current], gpu(current))) return status;
  return cuCtxSetCurrent(contexts[current]);
}

int attribute(CUdevice_attribute which, int device) {
  int value = 0;
  cuDeviceGetAttribute(&value, which, gpu(device));
  return value;
}

CUdeviceptr at(const void *address) { return (CUdeviceptr)address; }

} // namespace

#define ENTER \
  if (int failed = enter()) return failed

extern "C" {

int hipInit(unsigned) { return cuInit(0); }

int hipGetDeviceCount(int *count) {
  *count = DEVICES;
  return cuInit(0);
}

int hipGetDeviceProperties(Properties *properties, int device) {
  if (device < 0 || device >= DEVICES) return INVALID_DEVICE;
  char name[128] = "";
  if (int status = cuInit(0)) return status;
  cuDeviceGetName(name, sizeof name, gpu(device));
  *properties = {};
  snprintf(properties->name, sizeof properties->name, "test double of HIP on %s", name);
  snprintf(properties->arch, sizeof properties->arch, "gfx90a:sramecc+:xnack-");
  properties->memory = MEMORY;
  properties->shared_memory = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device);
  properties->warp_size = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
  properties->most_items = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device);
  properties->units = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  return SUCCESS;
}

int hipMalloc(void **made, size_t size) {
  ENTER;
  std::lock_guard<std::mutex> locked(lock);
  CUdeviceptr buffer;
  if (size > MEMORY || used_on(current) + size > MEMORY) return OUT_OF_MEMORY;
  if (int status = cuMemAlloc(&buffer, size)) return status;
  cuMemsetD8(buffer, 0xbd, size);
  buffers[(char *)buffer] = {size, current};
  *made = (void *)buffer;
  return SUCCESS;
}

int hipFree(void *buffer) {
  ENTER;
  std::lock_guard<std::mutex> locked(lock);
  if (!buffer) return SUCCESS;
  if (!buffers.erase((char *)buffer)) return INVALID_VALUE;
  return cuMemFree(at(buffer));
}

int hipHostMalloc(void **made, size_t size, unsigned) {
  ENTER;
  return cuMemHostAlloc(made, size, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}

int hipHostGetDevicePointer(void **there, void *here, unsigned) {
  ENTER;
  return cuMemHostGetDevicePointer((CUdeviceptr *)there, here, 0);
}

int hipHostFree(void *memory) {
  ENTER;
  return cuMemFreeHost(memory);
}

int hipPointerGetAttributes(Attributes *attributes, void *memory) {
  std::lock_guard<std::mutex> locked(lock);
  return attributes_of(attributes, memory);
}

int hipMemset(void *to, int value, size_t size) {
  ENTER;
  return cuMemsetD8(at(to), (unsigned char)value, size);
}

int hipMemcpyAsync(void *to, const void *from, size_t size, int direction, void *stream) {
  ENTER;
  CUstream queue = (CUstream)stream;
  switch (direction) {
  case 1: return cuMemcpyHtoDAsync(at(to), from, size, queue);
  case 2: return cuMemcpyDtoHAsync(to, at(from), size, queue);
  case 3: return cuMemcpyDtoDAsync(at(to), at(from), size, queue);
  default: return INVALID_VALUE;
  }
}

int hipMemcpyHtoDAsync(void *to, const void *from, size_t size, void *stream) {
  return hipMemcpyAsync(to, from, size, 1, stream);
}

int hipMemcpyDtoHAsync(void *to, const void *from, size_t size, void *stream) {
  return hipMemcpyAsync(to, from, size, 2, stream);
}

int hipMemcpy(void *to, const void *from, size_t size, int direction) {
  int status = hipMemcpyAsync(to, from, size, direction, nullptr);
  return status ? status : cuStreamSynchronize(nullptr);
}

int hipMemGetInfo(size_t *free, size_t *total) {
  std::lock_guard<std::mutex> locked(lock);
  *total = MEMORY;
  *free = MEMORY - used_on(current);
  return SUCCESS;
}

int hipStreamSynchronize(void *stream) {
  ENTER;
  return cuStreamSynchronize((CUstream)stream);
}

int hipDeviceSynchronize(void) { return hipStreamSynchronize(nullptr); }

int hipModuleLoadData(CUmodule *made, const void *image) {
  ENTER;
  auto header = (const Elf64_Ehdr *)image;
  return cuModuleLoadData(made, (const char *)image + header->e_shoff + size_t(header->e_shentsize) * header->e_shnum);
}

int hipModuleGetFunction(Function **made, CUmodule module, const char *name) {
  ENTER;
  CUfunction function;
  if (int status = cuModuleGetFunction(&function, module, name)) return status;
  *made = new Function{function, current}; /* as long as the process, as the module's users need not say they end */
  return SUCCESS;
}

int hipModuleUnload(CUmodule module) {
  ENTER;
  return cuModuleUnload(module);
}

int hipModuleLaunchKernel(Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y, unsigned z,
                          unsigned shared, void *stream, void **parameters, void **extra) {
  ENTER;
  bool packed = extra && extra[0] == (void *)1 && extra[2] == (void *)2 && extra[4] == (void *)3;
  if (parameters || !packed || function->device != current) return INVALID_VALUE;
  void *arguments[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, extra[1], CU_LAUNCH_PARAM_BUFFER_SIZE, extra[3],
                       CU_LAUNCH_PARAM_END};
  return cuLaunchKernel(function->function, gx, gy, gz, x, y, z, shared, (CUstream)stream, nullptr, arguments);
}

int hipEventCreateWithFlags(CUevent *made, unsigned) {
  ENTER;
  return cuEventCreate(made, CU_EVENT_DEFAULT);
}

int hipEventRecord(CUevent event, void *stream) {
  ENTER;
  return cuEventRecord(event, (CUstream)stream);
}

int hipEventSynchronize(CUevent event) {
  ENTER;
  return cuEventSynchronize(event);
}

int hipEventElapsedTime(float *milliseconds, CUevent first, CUevent last) {
  ENTER;
  return cuEventElapsedTime(milliseconds, first, last);
}

int hipEventDestroy(CUevent event) {
  ENTER;
  return cuEventDestroy(event);
}
}
