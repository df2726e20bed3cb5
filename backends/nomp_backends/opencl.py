"""The OpenCL backend: any OpenCL platform; PoCL makes a device of the host's CPU.

In: OpenCL C text and host addresses.  Out: launches on one in-order queue.  `runtime.session` opens a device,
`runtime.kernel` launches on it.  The driver is loaded when devices are asked for, so that a missing one is an answer
and no crash.  Handles and buffers are the driver's, as integers.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from nomp.backend import (
    TYPE_CODES,
    BackendError,
    Compiler,
    DeviceInfo,
    Foreign,
    Handles,
    Stored,
    require_device,
)
from nomp_backends import opencl_devices, opencl_sharing, pages
from nomp_backends import opencl_driver as cl
from nomp_backends.opencl_native import OpenCLNative
from nomp_backends.opencl_timing import OpenCLTiming, moment

_PIECE = 2**30
"""How many bytes are filled at a time."""

_NOT_COMPILING = ("POCL_CACHE_DIR", "POCL_DEBUG", "POCL_AFFINITY", "POCL_MAX_PTHREAD_COUNT", "POCL_SIGFPE_HANDLER",
                  "POCL_SIGUSR2_HANDLER", "POCL_MEMORY_LIMIT", "POCL_STARTUP_DELAY", "POCL_DEVICES")  # fmt: skip
"""The settings of PoCL that its compiler does not read."""


class OpenCLKernel:
    """An entry point with its argument types known, so that setting them looks nothing up."""

    def __init__(self, device: OpenCLDevice, program: int, name: str, signature: Sequence[str | None]) -> None:
        self._device, self._program, self._name, self._signature = device, program, name, signature
        self.handle = cl.make("loading the kernels", "clCreateKernel", program, name.encode())
        count = cl.number("clGetKernelInfo", self.handle, cl.KERNEL_ARGUMENTS)
        if count != len(signature):
            raise BackendError(f"kernel '{name}' takes {count} arguments, not {len(signature)}")
        self._packers = [struct.Struct(f"={TYPE_CODES[dtype]}") if dtype else None for dtype in signature]
        self._is_new = True
        self._set: Sequence[Any] | None = None
        self._shape: tuple[Any, ...] = None, None, None, None
        driver = cl.library()
        self._set_argument, self._launch, self._release = (
            driver.clSetKernelArg, driver.clEnqueueNDRangeKernel, driver.clReleaseKernel)

    def copy(self, arguments: Sequence[Any]) -> OpenCLKernel:
        """The kernel again, with these *arguments*."""
        made = OpenCLKernel(self._device, self._program, self._name, self._signature)
        made._set_all(arguments)
        return made

    def launch(
        self, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any], group_bytes: int = 0
    ) -> None:
        """See `nomp.backend.Kernel.launch`."""
        if arguments is not self._set:
            self._set_all(arguments)
        if grid is not self._shape[0] or block is not self._shape[1]:
            total = cl.sizes([groups * size for groups, size in zip(grid, block, strict=True)])
            self._shape = tuple(grid), tuple(block), total, cl.sizes(block)
        _, _, total, items = self._shape
        queue, event = self._device.queue, self._device.event()
        status = self._launch(queue, self.handle, len(grid), None, total, items, 0, None, event)
        if status:
            cl.check(status, f"{self._name} in {tuple(grid)} groups of {tuple(block)}", "clEnqueueNDRangeKernel")
        if self._is_new:  # PoCL compiles now, in a thread of its own, which an exit would pull the compiler from
            cl.call(f"running {self._name}", "clFinish", queue)
            self._is_new = False

    def _set_all(self, arguments: Sequence[Any]) -> None:
        self._set = None
        for index, (packer, value) in enumerate(zip(self._packers, arguments, strict=True)):
            if packer is None:
                status = self._set_argument(self.handle, index, 8, ctypes.byref(ctypes.c_void_p(value)))
            else:
                status = self._set_argument(self.handle, index, packer.size, packer.pack(value))
            if status:
                cl.check(status, f"setting argument {index} of {self._name}", "clSetKernelArg")
        if isinstance(arguments, tuple):  # which does not change
            self._set = arguments

    def __del__(self) -> None:
        if hasattr(self, "_release"):
            self._release(self.handle)


class OpenCLDevice:
    """One device with a context and an in-order queue; while operations are timed it is another one."""

    def __init__(self, device: int, info: DeviceInfo, number: int = 0) -> None:
        self.info = info
        self._device = device
        self._number = number
        self._native: OpenCLNative | None = None
        self._buffers: set[int] = set()
        self._programs: list[int] = []
        self._options = opencl_devices.options(device, info)
        self._tuning = opencl_devices.tuning(info)
        doing = f"opening {info.name}"
        self._context = cl.make(doing, "clCreateContext", None, 1, self._handles(), None, None)
        self.queue = self._plain = cl.make(doing, "clCreateCommandQueue", self._context, device, 0)
        self._timed: list[Any] | None = None
        self.zero_time = 0  # in the clock's nanoseconds, while operations are timed

    def compile(
        self, text: str, signatures: Mapping[str, Sequence[str | None]], stored: Stored | None = None,
        blocks: Mapping[str, Sequence[int]] | None = None,
    ) -> dict[str, OpenCLKernel]:  # fmt: skip
        """See `nomp.backend.Device.compile`."""
        built: list[int] = []

        def build() -> bytes:
            built.append(self._built(self._from_source(text)))
            return self._binary(built[0], (blocks or {}).values())

        if stored is None:
            built.append(self._built(self._from_source(text)))
        else:
            binary = stored(self._identity(blocks or {}), build)
            if not built:
                built.append(self._built(self._from_binary(binary)))
        return {name: OpenCLKernel(self, built[0], name, s) for name, s in signatures.items()}

    def _identity(self, blocks: Mapping[str, Sequence[int]]) -> dict[str, str]:
        """All that decides, besides the text, on what the driver's compiler makes."""
        platform = cl.number("clGetDeviceInfo", self._device, cl.PLATFORM)
        compiler = cl.text("clGetPlatformInfo", platform, cl.PLATFORM_VERSION)
        driver = cl.text("clGetDeviceInfo", self._device, cl.DRIVER_VERSION)
        names = [name for name in sorted(os.environ) if name.startswith("POCL_") and name not in _NOT_COMPILING]
        return {
            "compiler": f"{self.info.platform}, {compiler}, {driver}",
            "options": f"{self._options} {self._tuning}".rstrip(),
            "arch": f"{self.info.name}, {self.info.driver}",
            "settings": " ".join(f"{name}={os.environ[name]}" for name in names),
            "blocks": ", ".join(f"{name} {_written(block)}" for name, block in blocks.items()),
        }  # fmt: skip

    def _from_source(self, text: str) -> int:
        if self._tuning:
            push = f"#pragma clang attribute push (__attribute__(({self._tuning})), apply_to = function)"
            text = f"{push}\n#line 1\n{text}\n#pragma clang attribute pop\n"
        data = text.encode()
        strings, lengths = (ctypes.c_char_p * 1)(data), cl.sizes([len(data)])
        return cl.make("compiling", "clCreateProgramWithSource", self._context, 1, strings, lengths)

    def _from_binary(self, binary: bytes) -> int:
        strings, lengths, status = (ctypes.c_char_p * 1)(binary), cl.sizes([len(binary)]), ctypes.c_int()
        words = "loading what was compiled before", "clCreateProgramWithBinary"
        made = cl.make(*words, self._context, 1, self._handles(), lengths, strings, ctypes.byref(status))
        self._programs.append(made)
        cl.check(status.value, *words)
        return made

    def _built(self, program: int) -> int:
        if program not in self._programs:
            self._programs.append(program)
        try:
            cl.call("compiling", "clBuildProgram", program, 1, self._handles(), self._options.encode(), None, None)
        except BackendError as reason:
            log = cl.text("clGetProgramBuildInfo", program, self._device, cl.BUILD_LOG)
            raise BackendError("clBuildProgram failed", log) from reason
        return program

    def _binary(self, program: int, blocks: Iterable[Sequence[int]]) -> bytes:
        """What the driver's compiler has made of *program*; nothing, if the driver keeps that to itself."""
        variants = dict.fromkeys(f"{_written(block)}-goffs0-smallgrid" for block in blocks)
        try:
            with _environment("POCL_BINARY_SPECIALIZE_WG", ",".join(variants)):
                (size,) = struct.unpack("=Q", cl.info("clGetProgramInfo", program, cl.BINARY_SIZES))
                data = ctypes.create_string_buffer(max(1, size))
                pointers = (ctypes.c_void_p * 1)(ctypes.addressof(data))
                doing = "asking for the binary", "clGetProgramInfo"
                cl.call(*doing, program, cl.BINARIES, ctypes.sizeof(pointers), pointers, None)
        except (BackendError, struct.error):
            return b""
        return data.raw[:size]

    def _handles(self) -> Any:
        """The device as the only element of an array."""
        return (ctypes.c_void_p * 1)(self._device)

    def alloc(self, nbytes: int) -> int:
        """See `nomp.backend.Device.alloc`."""
        doing = f"allocating {nbytes} bytes"
        if nbytes > self.info.global_mem_bytes:  # some drivers find out only when the buffer is used
            raise BackendError(f"{doing}: the device has {self.info.global_mem_bytes}")
        made = cl.make(doing, "clCreateBuffer", self._context, cl.READ_WRITE, nbytes, None)
        self._buffers.add(made)
        if self.info.type == "cpu" and nbytes >= pages.SMALLEST:
            with suppress(BackendError):  # a buffer in small pages is one, too
                pages.advise(self._place(made, nbytes), nbytes)
        return made

    def _place(self, buffer: int, nbytes: int) -> int:
        """The address of *buffer*, which is in the memory of a CPU."""
        doing = "looking where a buffer is"
        start = cl.make(doing, "clEnqueueMapBuffer", self.queue, buffer, 0, cl.OVERWRITE, 0, nbytes, 0, None, None)
        cl.call(doing, "clEnqueueUnmapMemObject", self.queue, buffer, start, 0, None, None)
        return start

    def zero(self, buffer: int, offset: int, nbytes: int) -> None:
        """See `nomp.backend.Device.zero`.  NVIDIA's driver takes minutes over gigabytes of bytes, and then fails."""
        width = next(width for width in (16, 8, 4, 2, 1) if offset % width == 0)
        end, whole = offset + nbytes, offset + nbytes // width * width
        for start in range(offset, whole, _PIECE):
            self._fill(buffer, width, start, min(_PIECE, whole - start))
        if whole < end:
            self._fill(buffer, 1, whole, end - whole)

    def _fill(self, buffer: int, width: int, start: int, nbytes: int) -> None:
        doing = f"filling {nbytes} bytes on the device", "clEnqueueFillBuffer"
        cl.call(*doing, self.queue, buffer, bytes(width), width, start, nbytes, 0, None, self.event())

    def free(self, buffer: int) -> None:
        """See `nomp.backend.Device.free`."""
        self._buffers.remove(buffer)
        cl.call("freeing memory", "clReleaseMemObject", buffer)

    def copy_to(self, buffer: int, offset: int, address: int, nbytes: int, after: None = None) -> None:
        """See `nomp.backend.Device.copy_to`."""
        doing = f"copying {nbytes} bytes to the device", "clEnqueueWriteBuffer"
        cl.call(*doing, self.queue, buffer, 1, offset, nbytes, address, 0, None, self.event())

    def copy_from(self, buffer: int, offset: int, address: int, nbytes: int, after: None = None) -> None:
        """See `nomp.backend.Device.copy_from`."""
        doing = f"copying {nbytes} bytes from the device", "clEnqueueReadBuffer"
        cl.call(*doing, self.queue, buffer, 1, offset, nbytes, address, 0, None, self.event())

    def copy(self, target: int, target_offset: int, source: int, source_offset: int, nbytes: int) -> None:
        """See `nomp.backend.Device.copy`."""
        doing = f"copying {nbytes} bytes on the device", "clEnqueueCopyBuffer"
        cl.call(*doing, self.queue, source, target, source_offset, target_offset, nbytes, 0, None, self.event())

    def start_timing(self) -> None:
        """See `nomp.backend.Device.start_timing`."""
        self.sync()
        doing = "timing operations"
        if self.queue == self._plain:
            self.queue = cl.make(doing, "clCreateCommandQueue", self._context, self._device, cl.PROFILING)
        mark = ctypes.c_void_p()
        cl.call(doing, "clEnqueueMarkerWithWaitList", self.queue, 0, None, ctypes.byref(mark))
        cl.call(doing, "clWaitForEvents", 1, ctypes.byref(mark))
        self.zero_time = moment(mark, cl.END)
        cl.call(doing, "clReleaseEvent", mark)

    def stop_timing(self) -> None:
        """See `nomp.backend.Device.stop_timing`."""
        self.sync()
        if self.queue != self._plain:
            queue, self.queue, self.zero_time = self.queue, self._plain, 0
            cl.call("timing operations", "clReleaseCommandQueue", queue)

    def timed(self, work: Callable[[], None], after: None = None) -> OpenCLTiming:
        """See `nomp.backend.Device.timed`."""
        events: list[Any] = []
        self._timed = events
        try:
            work()
        finally:
            self._timed = None
        return OpenCLTiming(events, self.zero_time)

    def event(self) -> Any:
        """Where the driver is to put the event of an operation; None if nothing is being timed."""
        if self._timed is None:
            return None
        self._timed.append(ctypes.c_void_p())
        return ctypes.byref(self._timed[-1])

    def native(self) -> OpenCLNative:
        """See `nomp.backend.Device.native`."""
        self._native = self._native or OpenCLNative(self)
        return self._native

    def point(self) -> None:
        """See `nomp.backend.Device.point`."""

    def sync(self) -> None:
        """See `nomp.backend.Device.sync`."""
        cl.call("waiting for the device", "clFinish", self.queue)

    def handles(self) -> Handles:
        """See `nomp.backend.Device.handles`."""
        return Handles(self._number, self._context, self._plain)

    def foreign(self, memory: int) -> Foreign:
        """See `nomp.backend.Device.foreign`."""
        return opencl_sharing.found(memory, self._context)

    def wait_for(self, queue: int) -> None:
        """See `nomp.backend.Device.wait_for`."""
        opencl_sharing.order(queue, self.queue)

    def hold_up(self, queue: int) -> None:
        """See `nomp.backend.Device.hold_up`."""
        opencl_sharing.order(self.queue, queue)

    def close(self) -> None:
        """See `nomp.backend.Device.close`."""
        if not self.queue:
            return
        self.stop_timing()
        driver, queue, context = cl.library(), self._plain, self._context
        self.queue = self._plain = self._context = 0
        self._native = None
        while self._buffers:
            driver.clReleaseMemObject(self._buffers.pop())
        while self._programs:
            driver.clReleaseProgram(self._programs.pop())
        driver.clReleaseCommandQueue(queue)
        driver.clReleaseContext(context)


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """A block in which the environment has *name*, unless the user has set it."""
    if not value or name in os.environ:
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


def _written(block: Sequence[int]) -> str:
    return "-".join(str(size) for size in (*block, 1, 1)[:3])


class OpenCLBackend:
    """The platforms that the ICD loader finds, in its order, which is the numbering of ``--nomp-platform``."""

    name = "opencl"

    def devices(self) -> list[list[DeviceInfo]]:
        """See `nomp.backend.Backend.devices`."""
        return [[opencl_devices.info(device) for device in devices] for devices in opencl_devices.platforms()]

    def open(self, platform: int, device: int) -> OpenCLDevice:
        """See `nomp.backend.Backend.open`."""
        platforms = opencl_devices.platforms()
        require_device(platform, device, [len(devices) for devices in platforms])
        found = platforms[platform][device]
        info = opencl_devices.info(found)
        os.environ.setdefault("PATH", os.defpath)  # a host program may run without one, and PoCL looks nowhere else
        if info.platform == opencl_devices.POCL and shutil.which("ld") is None:
            # PoCL ends the process when it cannot run the linker at the first launch.
            raise BackendError("PoCL needs the linker 'ld', which is not on PATH: install binutils")
        opened = OpenCLDevice(found, info, device)
        if info.platform == opencl_devices.POCL and info.driver.endswith("-generic"):
            _check_processor(opened)
        return opened

    def compiler(self, arch: str) -> Compiler:
        """See `nomp.backend.Backend.compiler`."""
        raise BackendError("OpenCL's compilers belong to devices: name none, and the first device that is here is used")


def _check_processor(device: OpenCLDevice) -> None:
    """A PoCL older than the processor calls it "generic", which its own compiler then does not know on x86."""
    try:
        device.compile("__kernel void nothing() {}", {})
    except BackendError as reason:
        message = "this PoCL is older than the processor and cannot compile for it: install a newer PoCL (Debian and "
        raise BackendError(f"{message}Ubuntu: apt-get install pocl-opencl-icd)", reason.log) from reason
