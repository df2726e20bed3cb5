"""The HIP backend: AMD's GPUs by pyhip-interface, with hiprtc as the compiler.

In: HIP C++ and host addresses.  Out: launches on the null stream of the device, in order with what other libraries of
the process put there.  `runtime.session` opens a device, `runtime.kernel` launches on it.  pyhip is imported when the
backend is made: without a driver it cannot be.

Each thread has a current device; any thread of the program may call, so each operation sets it, and puts it back.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from nomp.backend import TYPE_CODES, BackendError, Compiler, DeviceInfo, Foreign, Handles, Stored, require_device
from nomp_backends.hip_native import HipNative
from nomp_backends.stream_events import Clock, Events, StreamTiming

if TYPE_CHECKING:
    from nomp_backends import code_object


class _Attributes(ctypes.Structure):
    """hipPointerAttribute_t, whose *type* has other numbers in each release."""

    _fields_ = (("type", ctypes.c_int), ("device", ctypes.c_int), ("on_device", ctypes.c_void_p),
                ("on_host", ctypes.c_void_p), ("is_managed", ctypes.c_int), ("flags", ctypes.c_uint))  # fmt: skip


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL("libamdhip64.so")


@cache
def _hip() -> ModuleType:
    """pyhip's runtime functions.  Raises `BackendError`."""
    try:
        _library()  # pyhip looks for it too, but takes long to say that it is not there
        from pyhip import hip
    except ImportError as reason:
        raise BackendError(f"pyhip cannot be imported: {reason}; pip install 'nomp[hip]'") from reason
    except OSError as reason:
        raise BackendError(f"no HIP driver: {reason}") from reason
    except Exception as reason:  # pyhip calls the driver while it is imported
        raise BackendError(f"pyhip cannot be imported: {_described(reason)}") from reason
    if hip.hipGetPlatformName() != "amd":
        raise BackendError("this HIP is the one for NVIDIA's GPUs: use the backend cuda")
    module: ModuleType = hip
    return module


def _described(reason: Exception) -> str:
    """pyhip raises errors without a message; the driver's words are what documents their class."""
    if str(reason):
        return str(reason)
    name, text = type(reason).__name__, type(reason).__doc__
    words = text.decode("utf-8", "replace") if isinstance(text, bytes) else ""
    return f"{name}: {words}" if words not in ("", name) else name


@contextmanager
def _errors(doing: str) -> Iterator[None]:
    """HIP's errors as `BackendError`."""
    try:
        yield
    except _hip().hipError as reason:
        raise BackendError(f"{doing}: {_described(reason)}") from reason


def packer(kernel: code_object.Kernel, signature: Sequence[str | None]) -> struct.Struct:
    """What packs the arguments of *kernel*: C's layout, if that is also its compiler's.  Raises `BackendError`."""
    from nomp_backends import code_object

    codes = [TYPE_CODES[dtype] for dtype in signature]
    # After "0" and a code there is just the padding that something of this type needs.
    offsets = [struct.calcsize("".join((*codes[:number], "0", code))) for number, code in enumerate(codes)]
    ours = [code_object.Parameter(o, struct.calcsize(code)) for o, code in zip(offsets, codes, strict=True)]
    if ours != list(kernel.parameters):
        theirs = ", ".join(map(str, kernel.parameters))
        raise BackendError(f"kernel '{kernel.name}' takes {theirs}; to be passed: {', '.join(map(str, ours))}")
    return struct.Struct("".join(codes))


class HipKernel:
    """An entry point, and what packs its arguments."""

    def __init__(
        self, device: HipDevice, function: Any, signature: Sequence[str | None], known: code_object.Kernel
    ) -> None:
        self._device, self._function, self._known = device, function, known
        self._packer = packer(known, signature)
        self.handle: int = function.value
        self.offsets = tuple(parameter.offset for parameter in known.parameters)

    def packed(self, arguments: Sequence[Any]) -> ctypes.Array[ctypes.c_char]:
        """*arguments* as the kernel takes them, each at its offset."""
        made = ctypes.create_string_buffer(self._packer.size or 1)
        self._packer.pack_into(made, 0, *(0 if argument is None else argument for argument in arguments))
        return made

    def launch(
        self, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any], group_bytes: int = 0
    ) -> None:
        """See `nomp.backend.Kernel.launch`."""
        groups, items = ((*size, 1, 1)[:3] for size in (grid, block))
        doing = f"{self._known.name} in {tuple(grid)} groups of {tuple(block)}"
        if math.prod(items) > self._known.max_items:
            raise BackendError(f"{doing}: the kernel is compiled for groups of {self._known.max_items}")
        if any(count * size >> 32 for count, size in zip(groups, items, strict=True)):
            raise BackendError(f"{doing}: HIP counts items in 32 bits")
        with self._device.current(doing):
            _hip().hipModuleLaunchKernel(self._function, *groups, *items, group_bytes, None, self.packed(arguments))


class HipDevice:
    """One GPU; its queue is the null stream."""

    def __init__(self, number: int, info: DeviceInfo) -> None:
        self.info = info
        self.number = number
        self._buffers: set[int] = set()
        self._modules: list[tuple[Any, bytes]] = []
        self._is_open = True
        self._native: HipNative | None = None
        self.clock = Clock(self, Events(_library(), HipNative.events), HipNative.queue)
        self.sync()  # a device that cannot be used says so now

    @contextmanager
    def current(self, doing: str) -> Iterator[None]:
        """This device for the calls of a block; their errors as `BackendError`."""
        hip = _hip()
        with _errors(doing):
            before = hip.hipGetDevice()
            if before == self.number:
                yield
                return
            hip.hipSetDevice(self.number)
            try:
                yield
            finally:
                hip.hipSetDevice(before)

    def compile(
        self, text: str, signatures: Mapping[str, Sequence[str | None]], stored: Stored | None = None,
        blocks: Mapping[str, Sequence[int]] | None = None,
    ) -> dict[str, HipKernel]:  # fmt: skip
        """See `nomp.backend.Device.compile`."""
        from nomp_backends import code_object, hiprtc  # not before there is something to compile

        arch = self.info.arch
        build = partial(hiprtc.compiled, text, arch)
        code = stored(hiprtc.identity(arch, self.info.driver), build) if stored else build()
        kernels = code_object.kernels(code)
        for name in signatures:
            if name not in kernels:
                raise BackendError(f"there is no kernel '{name}' in what hiprtc made")
        with self.current("loading the kernels"):
            module = _hip().hipModuleLoadData(code)
            self._modules.append((module, code))  # HIP may read the code object as long as the module is loaded
            functions = {name: _hip().hipModuleGetFunction(module, name) for name in signatures}
        return {name: HipKernel(self, functions[name], s, kernels[name]) for name, s in signatures.items()}

    def alloc(self, nbytes: int) -> int:
        """See `nomp.backend.Device.alloc`."""
        with self.current(f"allocating {nbytes} bytes"):
            buffer = int(_hip().hipMalloc(nbytes).value)
        self._buffers.add(buffer)
        return buffer

    def zero(self, buffer: int, offset: int, nbytes: int) -> None:
        """See `nomp.backend.Device.zero`."""
        with self.current(f"filling {nbytes} bytes on the device"):
            _hip().hipMemset(buffer + offset, 0, nbytes)

    def free(self, buffer: int) -> None:
        """See `nomp.backend.Device.free`.  hipFree waits for the device."""
        with self.current("freeing memory"):
            self._buffers.remove(buffer)
            _hip().hipFree(buffer)

    def copy_to(self, buffer: int, offset: int, address: int, nbytes: int, after: None = None) -> None:
        """See `nomp.backend.Device.copy_to`."""
        hip = _hip()
        with self.current(f"copying {nbytes} bytes to the device"):
            hip.hipMemcpyAsync(buffer + offset, address, nbytes, hip.hipMemcpyHostToDevice, None)
            hip.hipStreamSynchronize(None)  # page-locked memory is read later

    def copy_from(self, buffer: int, offset: int, address: int, nbytes: int, after: None = None) -> None:
        """See `nomp.backend.Device.copy_from`."""
        hip = _hip()
        with self.current(f"copying {nbytes} bytes from the device"):
            hip.hipMemcpyAsync(address, buffer + offset, nbytes, hip.hipMemcpyDeviceToHost, None)
            hip.hipStreamSynchronize(None)

    def copy(self, target: int, target_offset: int, source: int, source_offset: int, nbytes: int) -> None:
        """See `nomp.backend.Device.copy`."""
        hip = _hip()
        with self.current(f"copying {nbytes} bytes on the device"):
            places = target + target_offset, source + source_offset
            hip.hipMemcpyAsync(*places, nbytes, hip.hipMemcpyDeviceToDevice, None)

    def point(self) -> None:
        """See `nomp.backend.Device.point`."""

    def sync(self) -> None:
        """See `nomp.backend.Device.sync`."""
        with self.current("waiting for the device"):
            _hip().hipStreamSynchronize(None)

    def handles(self) -> Handles:
        """See `nomp.backend.Device.handles`."""
        return Handles(self.number, 0, 0)

    def foreign(self, memory: int) -> Foreign:
        """See `nomp.backend.Device.foreign`.  pyhip has no function for this."""
        found = _Attributes()
        status = _library().hipPointerGetAttributes(ctypes.byref(found), ctypes.c_void_p(memory))
        if status or not found.on_device:
            raise BackendError("it is no memory of a GPU, or has been freed")
        if found.device != self.number:
            raise BackendError(f"it is on device {found.device}, and nomp uses device {self.number}")
        return Foreign(memory)

    def wait_for(self, queue: int) -> None:
        """See `nomp.backend.Device.wait_for`.  The host waits."""
        with self.current("waiting for another stream"):
            _hip().hipStreamSynchronize(ctypes.c_void_p(queue))

    def hold_up(self, queue: int) -> None:
        """See `nomp.backend.Device.hold_up`.  The host waits."""
        self.sync()

    def start_timing(self) -> None:
        """See `nomp.backend.Device.start_timing`."""
        self.sync()
        self.clock.start()

    def stop_timing(self) -> None:
        """See `nomp.backend.Device.stop_timing`."""
        self.sync()
        self.clock.stop()

    def timed(self, work: Callable[[], None], after: None = None) -> StreamTiming:
        """See `nomp.backend.Device.timed`."""
        return self.clock.timed(work)

    def native(self) -> HipNative:
        """See `nomp.backend.Device.native`."""
        self._native = self._native or HipNative(self, _library())
        return self._native

    def close(self) -> None:
        """See `nomp.backend.Device.close`."""
        if not self._is_open:
            return
        self._is_open = False
        with self.current("closing the device"):
            _hip().hipStreamSynchronize(None)
            self.clock.stop()
            while self._buffers:
                _hip().hipFree(self._buffers.pop())
            while self._modules:
                _hip().hipModuleUnload(self._modules.pop()[0])


_COMPUTE_UNITS = {"gfx906": 60, "gfx908": 120, "gfx90a": 110, "gfx942": 304}
"""How many the fastest GPU of an architecture has, for who compiles where there is none."""


class HipBackend:
    """The GPUs that the driver shows, on one platform."""

    name = "hip"

    def devices(self) -> list[list[DeviceInfo]]:
        """See `nomp.backend.Backend.devices`."""
        return [[_info(number) for number in range(_count())]]

    def open(self, platform: int, device: int) -> HipDevice:
        """See `nomp.backend.Backend.open`."""
        require_device(platform, device, [_count()])
        return HipDevice(device, _info(device))

    def compiler(self, arch: str) -> Compiler:
        """See `nomp.backend.Backend.compiler`."""
        from nomp_backends import hiprtc

        if arch not in _COMPUTE_UNITS:
            raise BackendError(f"unknown architecture '{arch}'; known are {', '.join(_COMPUTE_UNITS)}")
        words = "hip", "hip", "", "", "", "", "gpu", arch
        info = DeviceInfo(*words, 1024, 65536, 0, _COMPUTE_UNITS[arch], 64, pointer_arithmetic=True)
        return Compiler(info, hiprtc.identity(arch, _version()), partial(hiprtc.compiled, arch=arch))


def _count() -> int:
    """How many GPUs there are, at least one."""
    with _errors("HIP finds no AMD GPU"):
        return int(_hip().hipGetDeviceCount())


def _version() -> str:
    """That of HIP, which needs no GPU."""
    with _errors("asking HIP for its version"):
        version = int(_hip().hipRuntimeGetVersion())
    return f"HIP {version // 10_000_000}.{version // 100_000 % 100}.{version % 100_000}"


def _info(number: int) -> DeviceInfo:
    """pyhip's structure is that of HIP 5, which later releases still fill under this name."""
    hip = _hip()
    with _errors(f"looking at device {number}"):
        properties = hip.hipGetDeviceProperties(number)
    arch = properties.gcnArchName.split(":")[0]  # gfx90a:sramecc+:xnack- runs what is compiled for gfx90a
    return DeviceInfo(
        backend="hip",
        dialect="hip",
        platform="AMD HIP",
        name=properties.name or arch,  # some boards have no name
        vendor="Advanced Micro Devices, Inc.",
        driver=_version(),
        type="gpu",
        arch=arch,
        max_threads_per_block=properties.maxThreadsPerBlock,
        local_mem_bytes=properties.sharedMemPerBlock,
        global_mem_bytes=properties.totalGlobalMem,
        compute_units=properties.multiProcessorCount,
        warp_size=properties.warpSize,
        pointer_arithmetic=True,
    )
