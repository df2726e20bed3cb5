"""The OpenCL backend: any OpenCL platform by pyopencl; PoCL makes a device of the host's CPU.

In: OpenCL C text and host addresses.  Out: launches on one in-order queue.  `runtime.session` opens a device,
`runtime.kernel` launches on it.  pyopencl is imported when the backend is made, so that a missing driver is an answer
and no crash.
"""

from __future__ import annotations

import ctypes
import os
import platform as host
import re
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any

from nomp.backend import BackendError, Bound, DeviceInfo, address_of, memory_at, require_device

POCL = "Portable Computing Language"
_PIECE = 2**30
"""How many bytes are filled at a time."""


@cache
def _pyopencl() -> ModuleType:
    """pyopencl without its disk caches: the home folder is not ours to fill."""
    os.environ.setdefault("POCL_SIGFPE_HANDLER", "0")  # PoCL's would hide the program's own divisions by zero
    before = os.environ.get("PYOPENCL_NO_CACHE")
    os.environ["PYOPENCL_NO_CACHE"] = "1"
    try:
        import pyopencl
    except ImportError as reason:
        raise BackendError(f"pyopencl cannot be imported: {reason}") from reason
    finally:
        if before is None:
            del os.environ["PYOPENCL_NO_CACHE"]
    if "OMP_PROC_BIND" in os.environ:
        # An OpenMP runtime that binds the main thread makes PoCL's threads inherit its one core; PoCL can bind its own.
        os.environ.setdefault("POCL_AFFINITY", "1")
    module: ModuleType = pyopencl
    return module


@contextmanager
def _errors(doing: str) -> Iterator[None]:
    """OpenCL's errors as `BackendError`."""
    try:
        yield
    except _pyopencl().Error as reason:
        raise BackendError(f"{doing}: {reason}") from reason


class OpenCLKernel:
    """An entry point with its argument types known, so that setting them looks nothing up."""

    def __init__(self, queue: Any, kernel: Any, signature: Sequence[str | None]) -> None:
        self._queue = queue
        self._kernel = kernel
        self._signature = list(signature)
        self._is_new = True
        self._enqueue = _pyopencl().enqueue_nd_range_kernel
        self._error = _pyopencl().Error
        try:
            kernel.set_arg_types(self._signature)
        except TypeError as reason:
            raise BackendError(f"kernel '{kernel.function_name}': {reason}") from reason

    def copy(self, arguments: Sequence[Any]) -> Any:
        """pyopencl's kernel again, with these *arguments*."""
        with _errors("copying a kernel"):
            made = _pyopencl().Kernel(self._kernel.program, self._kernel.function_name)
            made.set_arg_types(self._signature)
            made.set_args(*arguments)
        return made

    def launch(
        self, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any], group_bytes: int = 0
    ) -> None:
        """See `nomp.backend.Kernel.launch`."""
        try:
            self._kernel.set_args(*arguments)
            self._enqueue(self._queue, self._kernel, grid, block, None, None, True)  # True: the grid counts groups
            if self._is_new:  # PoCL compiles now, in a thread of its own, which an exit would pull the compiler from
                self._queue.finish()
                self._is_new = False
        except self._error as reason:
            message = f"{self._kernel.function_name} in {tuple(grid)} groups of {tuple(block)}: {reason}"
            raise BackendError(message) from reason


class OpenCLNative:
    """See `nomp.backend.Native`."""

    def __init__(self, queue: Any) -> None:
        self.queue: int = queue.int_ptr
        self.context = 0
        library = ctypes.CDLL(_pyopencl()._cl.__file__)
        names = {"launch": "clEnqueueNDRangeKernel", "set": "clSetKernelArg", "write": "clEnqueueWriteBuffer",
                 "read": "clEnqueueReadBuffer"}  # fmt: skip
        self.functions = {does: address_of(library, name) for does, name in names.items()}

    def handle(self, buffer: Any) -> int:
        """See `nomp.backend.Native.handle`."""
        return int(buffer.int_ptr)

    def bound(self, kernel: OpenCLKernel, arguments: Sequence[Any], group_bytes: int = 0) -> Bound:
        """See `nomp.backend.Native.bound`."""
        made = kernel.copy(arguments)
        return Bound(made.int_ptr, (made, arguments))

    def stage(self, nbytes: int) -> tuple[int, Any]:
        """See `nomp.backend.Native.stage`."""
        return 0, None


class OpenCLDevice:
    """One device with a context and an in-order queue."""

    def __init__(self, device: Any, info: DeviceInfo) -> None:
        cl = _pyopencl()
        self.info = info
        self._native: OpenCLNative | None = None
        self._options = ["-w"]  # PoCL counts warnings on the program's stderr
        # Division and square root in single precision are off by some units in the last place unless asked for.
        if device.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT:
            self._options.append("-cl-fp32-correctly-rounded-divide-sqrt")
        with _errors(f"opening {info.name}"):
            self._context = cl.Context([device])
            self._queue = cl.CommandQueue(self._context)

    def compile(self, text: str, signatures: Mapping[str, Sequence[str | None]]) -> dict[str, OpenCLKernel]:
        """See `nomp.backend.Device.compile`."""
        cl = _pyopencl()
        program = cl.Program(self._context, text)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # pyopencl warns of any compiler output, PoCL always has some
                program.build(self._options)
        except cl.Error as reason:
            raise BackendError("clBuildProgram failed", _build_log(str(reason))) from reason
        with _errors("loading the kernels"):
            return {name: OpenCLKernel(self._queue, cl.Kernel(program, name), s) for name, s in signatures.items()}

    def alloc(self, nbytes: int) -> Any:
        """See `nomp.backend.Device.alloc`."""
        cl = _pyopencl()
        if nbytes > self.info.global_mem_bytes:  # some drivers find out only when the buffer is used
            raise BackendError(f"allocating {nbytes} bytes: the device has {self.info.global_mem_bytes}")
        with _errors(f"allocating {nbytes} bytes"):
            return cl.Buffer(self._context, cl.mem_flags.READ_WRITE, nbytes)

    def zero(self, buffer: Any, offset: int, nbytes: int) -> None:
        """See `nomp.backend.Device.zero`.  NVIDIA's driver takes minutes over gigabytes of bytes, and then fails."""
        with _errors(f"filling {nbytes} bytes on the device"):
            width = next(width for width in (16, 8, 4, 2, 1) if offset % width == 0)
            end, whole = offset + nbytes, offset + nbytes // width * width
            for start in range(offset, whole, _PIECE):
                size = min(_PIECE, whole - start)
                _pyopencl().enqueue_fill_buffer(self._queue, buffer, bytes(width), start, size)
            if whole < end:
                _pyopencl().enqueue_fill_buffer(self._queue, buffer, b"\0", whole, end - whole)

    def free(self, buffer: Any) -> None:
        """See `nomp.backend.Device.free`."""
        with _errors("freeing memory"):
            buffer.release()

    def copy_to(self, buffer: Any, offset: int, address: int, nbytes: int) -> None:
        """See `nomp.backend.Device.copy_to`."""
        with _errors(f"copying {nbytes} bytes to the device"):
            _pyopencl().enqueue_copy(self._queue, buffer, memory_at(address, nbytes), dst_offset=offset)

    def copy_from(self, buffer: Any, offset: int, address: int, nbytes: int) -> None:
        """See `nomp.backend.Device.copy_from`."""
        with _errors(f"copying {nbytes} bytes from the device"):
            _pyopencl().enqueue_copy(self._queue, memory_at(address, nbytes), buffer, src_offset=offset)

    def copy(self, target: Any, target_offset: int, source: Any, source_offset: int, nbytes: int) -> None:
        """See `nomp.backend.Device.copy`."""
        with _errors(f"copying {nbytes} bytes on the device"):
            _pyopencl().enqueue_copy(
                self._queue, target, source, byte_count=nbytes, src_offset=source_offset, dst_offset=target_offset
            )

    def native(self) -> OpenCLNative:
        """See `nomp.backend.Device.native`."""
        self._native = self._native or OpenCLNative(self._queue)
        return self._native

    def sync(self) -> None:
        """See `nomp.backend.Device.sync`."""
        with _errors("waiting for the device"):
            self._queue.finish()

    def close(self) -> None:
        """See `nomp.backend.Device.close`."""
        if self._queue is not None:
            self.sync()
            self._queue = self._context = self._native = None


class OpenCLBackend:
    """The platforms that the ICD loader finds, in its order, which is the numbering of ``--nomp-platform``."""

    name = "opencl"

    def devices(self) -> list[list[DeviceInfo]]:
        """See `nomp.backend.Backend.devices`."""
        return [[_info(device) for device in devices] for devices in _platforms()]

    def open(self, platform: int, device: int) -> OpenCLDevice:
        """See `nomp.backend.Backend.open`."""
        platforms = _platforms()
        require_device(platform, device, [len(devices) for devices in platforms])
        found = platforms[platform][device]
        os.environ.setdefault("PATH", os.defpath)  # a host program may run without one, and PoCL looks nowhere else
        if found.platform.name == POCL and shutil.which("ld") is None:
            # PoCL ends the process when it cannot run the linker at the first launch.
            raise BackendError("PoCL needs the linker 'ld', which is not on PATH: install binutils")
        opened = OpenCLDevice(found, _info(found))
        if found.platform.name == POCL and found.version.endswith("-generic"):
            _check_processor(opened)
        return opened


def _check_processor(device: OpenCLDevice) -> None:
    """A PoCL older than the processor calls it "generic", which its own compiler then does not know on x86."""
    try:
        device.compile("__kernel void nothing() {}", {})
    except BackendError as reason:
        message = "this PoCL is older than the processor and cannot compile for it: install a newer PoCL (Debian and "
        raise BackendError(f"{message}Ubuntu: apt-get install pocl-opencl-icd)", reason.log) from reason


def _platforms() -> list[list[Any]]:
    cl = _pyopencl()
    try:
        return [platform.get_devices() for platform in cl.get_platforms()]
    except cl.Error as reason:
        raise BackendError(f"no OpenCL platform: {reason}; 'pip install pyopencl[pocl]' brings one") from reason


def _info(device: Any) -> DeviceInfo:
    kind = _kind(device)
    return DeviceInfo(
        backend="opencl",
        dialect="opencl",
        platform=device.platform.name.strip(),
        name=device.name.strip(),
        vendor=device.vendor.strip(),
        driver=device.version.strip(),
        type=kind,
        arch=_arch(device, kind),
        max_threads_per_block=device.max_work_group_size,
        local_mem_bytes=device.local_mem_size,
        global_mem_bytes=device.global_mem_size,
        compute_units=device.max_compute_units,
        warp_size=_warp_size(device, kind),
    )


def _kind(device: Any) -> str:
    types = _pyopencl().device_type
    names = {types.CPU: "cpu", types.GPU: "gpu", types.ACCELERATOR: "accelerator"}
    return next((name for bit, name in names.items() if device.type & bit), "default")


def _arch(device: Any, kind: str) -> str:
    """``sm_90`` on NVIDIA, the machine's name for a CPU, else the device's name (``gfx90a`` on AMD)."""
    try:
        return f"sm_{device.compute_capability_major_nv}{device.compute_capability_minor_nv}"
    except _pyopencl().Error:
        return host.machine() if kind == "cpu" else device.name.strip().split(":")[0]


def _warp_size(device: Any, kind: str) -> int:
    """How many items run in lockstep; a CPU has one (its vector lanes are the compiler's business)."""
    if kind == "cpu":
        return 1
    for key in ("warp_size_nv", "wavefront_width_amd", "preferred_work_group_size_multiple"):
        try:
            return int(getattr(device, key))
        except (AttributeError, _pyopencl().Error):
            continue
    return 1


def _build_log(message: str) -> str:
    """The compiler's own words in pyopencl's message, which adds the device before and the options after."""
    log = message.split("\n\n", 2)[-1]
    return re.sub(r"\n\(options: .*", "", log, flags=re.DOTALL).strip()
