"""The CUDA backend: NVIDIA's GPUs by pycuda, with NVRTC (or nvcc) as the compiler.

In: CUDA C++ and host addresses.  Out: launches on one stream of the device's primary context, which other libraries of
the process share.  `runtime.session` opens a device, `runtime.kernel` launches on it.  pycuda is imported when the
backend is made: without a driver it cannot be.

A context is current in a thread; any thread of the program may call, so each operation makes it current for itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from nomp.backend import (
    BackendError,
    Bound,
    Compiler,
    DeviceInfo,
    Foreign,
    Handles,
    Stored,
    memory_at,
    require_device,
)
from nomp_backends import cuda_devices, cuda_sharing
from nomp_backends.cuda_kernels import CudaKernel, Module
from nomp_backends.stream_events import Clock, Events, StreamTiming
from nomp_backends.stream_native import StreamNative

if TYPE_CHECKING:
    from nomp_backends.cuda_staging import Staging

_LARGE = 1 << 20
"""From so many bytes on, copies go through page-locked memory of ours."""


@cache
def _pycuda() -> ModuleType:
    """pycuda's driver, initialized.  Raises `BackendError`."""
    try:
        import pycuda.driver as driver
    except ImportError as reason:
        raise BackendError(f"pycuda cannot be imported: {reason}") from reason
    try:
        driver.init()
    except driver.Error as reason:
        raise BackendError(f"no CUDA driver: {reason}") from reason
    module: ModuleType = driver
    return module


@contextmanager
def _errors(doing: str) -> Iterator[None]:
    """CUDA's errors as `BackendError`."""
    try:
        yield
    except _pycuda().Error as reason:
        raise BackendError(f"{doing}: {reason}") from reason


class CudaNative(StreamNative):
    """See `nomp.backend.Native`."""

    names: ClassVar[Mapping[str, str]] = {
        "launch": "cuLaunchKernel", "write": "cuMemcpyHtoDAsync_v2", "read": "cuMemcpyDtoHAsync_v2",
        "enter": "cuCtxPushCurrent_v2", "leave": "cuCtxPopCurrent_v2", "wait": "cuStreamSynchronize",
    }  # fmt: skip
    events: ClassVar[Mapping[str, str]] = {
        "make": "cuEventCreate", "mark": "cuEventRecord", "await": "cuEventSynchronize", "moment": "cuEventElapsedTime",
        "release": "cuEventDestroy_v2",
    }  # fmt: skip

    def __init__(self, device: CudaDevice) -> None:
        super().__init__(device, ctypes.CDLL("libcuda.so.1"))
        self._device, self.queue, self.context = device, device.queue, device.context

    def bound(self, kernel: CudaKernel, arguments: Sequence[Any], group_bytes: int = 0) -> Bound:
        """See `nomp.backend.Native.bound`."""
        with self._device.current("preparing a launch"):
            filled = kernel.filled(arguments, group_bytes)
        return Bound(kernel.handle, filled, filled.address, filled.slots)

    def stage(self, nbytes: int) -> tuple[int, Any]:
        """See `nomp.backend.Native.stage`: page-locked memory."""
        with self._device.current(f"page-locking {nbytes} bytes"):
            made = _pycuda().pagelocked_empty(nbytes, "uint8")
        return int(made.ctypes.data), made


class CudaDevice:
    """One GPU: its primary context, a stream, and another one for copies that overtake launches, once there are any."""

    def __init__(self, device: Any, info: DeviceInfo, number: int) -> None:
        self.info = info
        self._number = number
        with _errors(f"opening {info.name}"):
            self._context: Any = device.retain_primary_context()
        self.context: int = self._context.handle
        self._native: CudaNative | None = None
        self._buffers: dict[int, Any] = {}
        self._modules: list[Module] = []
        self._staging: dict[int, Staging] = {}  # by stream
        self._side: Any = None
        self._not_overtaken: Any = None  # the point behind the last operation that was no launch, and may not be done
        with self.current(f"opening {info.name}"):
            self.stream = _pycuda().Stream()
        self.queue: int = self.stream.handle
        self.clock = Clock(self, Events(ctypes.CDLL("libcuda.so.1"), CudaNative.events), self.queue)

    @contextmanager
    def current(self, doing: str) -> Iterator[None]:
        """This device's context for the calls of a block; their errors as `BackendError`."""
        with _errors(doing):
            self._context.push()
            try:
                yield
            finally:
                self._context.pop()

    def compile(
        self, text: str, signatures: Mapping[str, Sequence[str | None]], stored: Stored | None = None,
        blocks: Mapping[str, Sequence[int]] | None = None,
    ) -> dict[str, CudaKernel]:  # fmt: skip
        """See `nomp.backend.Device.compile`."""
        from nomp_backends import nvrtc  # not before there is something to compile

        arch = self.info.arch
        build = partial(nvrtc.compiled, text, arch)
        cubin = stored(nvrtc.identity(arch), build) if stored else build()
        with self.current("loading the kernels"):
            module = Module(cubin)
            self._modules.append(module)
            return {name: module.kernel(self, name, types) for name, types in signatures.items()}

    def alloc(self, nbytes: int) -> int:
        """See `nomp.backend.Device.alloc`."""
        with self.current(f"allocating {nbytes} bytes"):
            buffer = _pycuda().mem_alloc(nbytes)
        self._buffers[int(buffer)] = buffer
        return int(buffer)

    def zero(self, buffer: int, offset: int, nbytes: int) -> None:
        """See `nomp.backend.Device.zero`."""
        with self.current(f"filling {nbytes} bytes on the device"):
            _pycuda().memset_d8_async(buffer + offset, 0, nbytes, self.stream)
            self._not_overtaken = self._event()

    def free(self, buffer: int) -> None:
        """See `nomp.backend.Device.free`."""
        with self.current("freeing memory"):
            self.stream.synchronize()  # cuMemFree is not in the order of the stream
            self._buffers.pop(buffer).free()

    def copy_to(self, buffer: int, offset: int, address: int, nbytes: int, after: Any = None) -> None:
        """See `nomp.backend.Device.copy_to`."""
        with self.current(f"copying {nbytes} bytes to the device"):
            stream = self._stream_after(after)
            if nbytes >= _LARGE:
                self._staged(stream).copy_to(buffer + offset, address, nbytes)
                if after is None:
                    self._not_overtaken = self._event()
                    return
            else:
                _pycuda().memcpy_htod_async(buffer + offset, memory_at(address, nbytes), stream)
            stream.synchronize()  # a program may have page-locked the memory: then it is still read

    def copy_from(self, buffer: int, offset: int, address: int, nbytes: int, after: Any = None) -> None:
        """See `nomp.backend.Device.copy_from`."""
        with self.current(f"copying {nbytes} bytes from the device"):
            stream = self._stream_after(after)
            if nbytes >= _LARGE:
                self._staged(stream).copy_from(buffer + offset, address, nbytes)
                return
            _pycuda().memcpy_dtoh_async(memory_at(address, nbytes), buffer + offset, stream)
            stream.synchronize()

    def copy(self, target: int, target_offset: int, source: int, source_offset: int, nbytes: int) -> None:
        """See `nomp.backend.Device.copy`."""
        with self.current(f"copying {nbytes} bytes on the device"):
            _pycuda().memcpy_dtod_async(target + target_offset, source + source_offset, nbytes, self.stream)
            self._not_overtaken = self._event()

    def point(self) -> Any:
        """See `nomp.backend.Device.point`: an event."""
        with self.current("marking a point in the queue"):
            return self._event()

    def sync(self) -> None:
        """See `nomp.backend.Device.sync`."""
        with self.current("waiting for the device"):
            self.stream.synchronize()

    def handles(self) -> Handles:
        """See `nomp.backend.Device.handles`."""
        return Handles(self._number, self.context, self.queue)

    def foreign(self, memory: int) -> Foreign:
        """See `nomp.backend.Device.foreign`."""
        return cuda_sharing.found(memory, self._number)

    def wait_for(self, queue: int) -> None:
        """See `nomp.backend.Device.wait_for`."""
        with self.current("waiting for another stream"):
            cuda_sharing.order(queue, self.queue)

    def hold_up(self, queue: int) -> None:
        """See `nomp.backend.Device.hold_up`."""
        with self.current("holding up another stream"):
            cuda_sharing.order(self.queue, queue)

    def start_timing(self) -> None:
        """See `nomp.backend.Device.start_timing`."""
        self.sync()
        self.clock.start()

    def stop_timing(self) -> None:
        """See `nomp.backend.Device.stop_timing`."""
        self.sync()
        self.clock.stop()

    def timed(self, work: Callable[[], None], after: Any = None) -> StreamTiming:
        """See `nomp.backend.Device.timed`."""
        if after is None:
            return self.clock.timed(work)
        with self.current("timing operations"):
            return self.clock.timed(work, self._stream_after(after).handle)

    def native(self) -> CudaNative:
        """See `nomp.backend.Device.native`."""
        self._native = self._native or CudaNative(self)
        return self._native

    def close(self) -> None:
        """See `nomp.backend.Device.close`."""
        if self._context is None:
            return
        try:
            with self.current("closing the device"):
                self.stream.synchronize()
        finally:
            self._context.push()
            for buffer in self._buffers.values():
                buffer.free()
            self._buffers.clear()
            for module in self._modules:
                module.unload()
            self._modules.clear()
            while self._staging:
                self._staging.popitem()[1].close()
            self._side = self._not_overtaken = None
            self.clock.stop()
            self._native = None
            del self.stream
            self._context.pop()
            self._context.detach()
            self._context, self.context = None, 0

    def _stream_after(self, point: Any) -> Any:
        """The stream for a copy after *point*, and after all operations but launches; None: after all that is there."""
        if point is None:
            return self.stream
        self._side = self._side or _pycuda().Stream()
        for before in filter(None, (point, self._not_overtaken)):
            self._side.wait_for_event(before)
        return self._side

    def _event(self) -> Any:
        """One behind all that is in the stream, in the current context."""
        driver = _pycuda()
        return driver.Event(driver.event_flags.DISABLE_TIMING).record(self.stream)

    def _staged(self, stream: Any) -> Staging:
        """What large copies in *stream* go through; made for the first of them, in the current context."""
        from nomp_backends import cuda_staging

        if stream.handle not in self._staging:
            self._staging[stream.handle] = cuda_staging.Staging(_pycuda(), stream, self.current)
        return self._staging[stream.handle]


class CudaBackend:
    """The GPUs that the driver shows, on one platform."""

    name = "cuda"

    def devices(self) -> list[list[DeviceInfo]]:
        """See `nomp.backend.Backend.devices`."""
        driver = _pycuda()
        with _errors("listing the devices"):
            return [[cuda_devices.info(driver, driver.Device(number)) for number in range(driver.Device.count())]]

    def open(self, platform: int, device: int) -> CudaDevice:
        """See `nomp.backend.Backend.open`."""
        from nomp_backends import nvrtc

        driver = _pycuda()
        require_device(platform, device, [driver.Device.count()])
        found = driver.Device(device)
        info = cuda_devices.info(driver, found)
        nvrtc.require()
        return CudaDevice(found, info, device)

    def compiler(self, arch: str) -> Compiler:
        """See `nomp.backend.Backend.compiler`."""
        from nomp_backends import nvrtc

        return Compiler(cuda_devices.fastest(arch), nvrtc.identity(arch), partial(nvrtc.compiled, arch=arch))
