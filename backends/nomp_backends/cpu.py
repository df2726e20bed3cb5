"""The CPU backend: the host's own processors, by its C compiler.

In: OpenCL C text and host addresses.  Out: launches, each of which is over when it returns, so that nothing is ever
waiting.  `runtime.session` opens the device, `runtime.kernel` launches on it.  Buffers are the host's memory.
"""

from __future__ import annotations

import ctypes
import os
import platform as host
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from nomp.backend import BackendError, Bound, Compiler, DeviceInfo, Foreign, Handles, Stored, require_device
from nomp.launchers import is_alone, local_ranks
from nomp_backends import cpu_compiler, cpu_threads, pages
from nomp_backends.arguments import Arguments, packers

_LINE = 64
"""Bytes of a line of the caches, at the beginning of which buffers begin."""
_MOST_ITEMS = 1024
_GROUP_BYTES = 256 << 10
_LARGE = 8 << 20
"""From how many bytes on a copy is worth waking threads for."""
_PATIENCE = 1e-4
"""For how many seconds a thread looks for the next launch; to wake one takes about a tenth of that."""


class CpuKernel:
    """An entry point with its argument types known, so that a launch looks nothing up."""

    def __init__(self, function: Any, name: str, types: Iterable[str | None]) -> None:
        function.argtypes = [ctypes.c_void_p] * 3
        self.handle = ctypes.cast(function, ctypes.c_void_p).value or 0
        self._function, self._name, self._packers = function, name, packers(types)
        self._set: Sequence[Any] | None = None
        self._filled = Arguments((), ())
        self._shape: tuple[Any, ...] = (None, None, None)

    def filled(self, arguments: Sequence[Any]) -> Arguments:
        """*arguments* in memory."""
        return Arguments(self._packers, arguments)

    def launch(
        self, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any], group_bytes: int = 0
    ) -> None:
        """See `nomp.backend.Kernel.launch`; it returns when the launch is over."""
        if grid is not self._shape[0] or block is not self._shape[1]:
            self._shape = tuple(grid), tuple(block), self._sizes(grid, block)
        if arguments is not self._set:
            self._filled = self.filled(arguments)
            self._set = arguments if isinstance(arguments, tuple) else None  # others may change
        if self._function(*self._shape[2], self._filled.address):
            raise BackendError(f"{self._name} in groups of {tuple(block)}: there is no memory for so many items")

    def _sizes(self, grid: Sequence[int], block: Sequence[int]) -> tuple[Any, Any]:
        groups, items = ((ctypes.c_size_t * 3)(*(*sizes, 1, 1)[:3]) for sizes in (grid, block))
        if (count := items[0] * items[1] * items[2]) > _MOST_ITEMS:
            raise BackendError(f"{self._name}: a group has {count} items, and {_MOST_ITEMS} is the most")
        return groups, items


class CpuNative:
    """See `nomp.backend.Native`: there is no driver."""

    queue = context = 0
    functions: Mapping[str, int] = {}

    def __init__(self, device: CpuDevice) -> None:
        self._device = device

    @property
    def zero(self) -> int:
        """See `nomp.backend.Native`."""
        return self._device.zero_time

    def handle(self, buffer: int) -> int:
        """See `nomp.backend.Native.handle`."""
        return buffer

    def bound(self, kernel: CpuKernel, arguments: Sequence[Any], group_bytes: int = 0) -> Bound:
        """See `nomp.backend.Native.bound`."""
        filled = kernel.filled(arguments)
        return Bound(kernel.handle, (kernel, filled), filled.address, filled.slots)

    def stage(self, nbytes: int) -> tuple[int, Any]:
        """See `nomp.backend.Native.stage`: any memory."""
        made = ctypes.create_string_buffer(nbytes)
        return ctypes.addressof(made), made


class CpuTiming:
    """See `nomp.backend.Timing`: what has been is over."""

    def __init__(self, device: CpuDevice, begin: int, end: int) -> None:
        self._device, self._zero = device, device.zero_time
        self._interval = (begin - self._zero) / 1e9, (end - begin) / 1e9

    def interval(self) -> tuple[float, float]:
        """See `nomp.backend.Timing.interval`."""
        if self._device.zero_time != self._zero:
            raise BackendError("the operation is no longer timed")
        return self._interval


class CpuDevice:
    """The processors that the process has."""

    def __init__(self, info: DeviceInfo) -> None:
        self.info = info
        self.zero_time = 0  # of the clock, in nanoseconds, while operations are timed
        self._native: CpuNative | None = None
        self._buffers: set[int] = set()
        self._library = ctypes.CDLL(None)
        self._library.aligned_alloc.restype = ctypes.c_void_p
        self._library.aligned_alloc.argtypes = [ctypes.c_size_t] * 2
        self._library.free.argtypes = [ctypes.c_void_p]

    def compile(
        self, text: str, signatures: Mapping[str, Sequence[str | None]], stored: Stored | None = None,
        blocks: Mapping[str, Sequence[int]] | None = None,
    ) -> dict[str, CpuKernel]:  # fmt: skip
        """See `nomp.backend.Device.compile`."""
        blocks, threads = blocks or {}, _start(self.info.compute_units)
        build = partial(cpu_compiler.compiled, text, signatures, blocks)
        made = stored(cpu_compiler.identity(blocks), build) if stored else build()
        library = cpu_compiler.loaded(made, threads.share_out)
        entries = {name: getattr(library, f"nomp_entry_{name}") for name in signatures}
        return {name: CpuKernel(entries[name], name, types) for name, types in signatures.items()}

    def alloc(self, nbytes: int) -> int:
        """See `nomp.backend.Device.alloc`."""
        size = -(-nbytes // _LINE) * _LINE
        made = self._library.aligned_alloc(_LINE, size) if nbytes <= self.info.global_mem_bytes else None
        if made is None:
            raise BackendError(f"allocating {nbytes} bytes: the machine has {self.info.global_mem_bytes}")
        pages.advise(made, size)
        self._buffers.add(made)
        return int(made)

    def zero(self, buffer: int, offset: int, nbytes: int) -> None:
        """See `nomp.backend.Device.zero`."""
        self._copy(buffer + offset, None, nbytes)

    def free(self, buffer: int) -> None:
        """See `nomp.backend.Device.free`."""
        self._buffers.remove(buffer)
        self._library.free(buffer)

    def copy_to(self, buffer: int, offset: int, address: int, nbytes: int, after: None = None) -> None:
        """See `nomp.backend.Device.copy_to`."""
        self._copy(buffer + offset, address, nbytes)

    def copy_from(self, buffer: int, offset: int, address: int, nbytes: int, after: None = None) -> None:
        """See `nomp.backend.Device.copy_from`."""
        self._copy(address, buffer + offset, nbytes)

    def _copy(self, target: int, source: int | None, nbytes: int) -> None:
        """A copy from *source*, or of zeros: a large one by all threads."""
        if nbytes >= _LARGE:
            _start(self.info.compute_units).copy(target, source, nbytes)
        elif source is None:
            ctypes.memset(target, 0, nbytes)
        else:
            ctypes.memmove(target, source, nbytes)

    def copy(self, target: int, target_offset: int, source: int, source_offset: int, nbytes: int) -> None:
        """See `nomp.backend.Device.copy`."""
        ctypes.memmove(target + target_offset, source + source_offset, nbytes)

    def point(self) -> None:
        """See `nomp.backend.Device.point`."""

    def sync(self) -> None:
        """See `nomp.backend.Device.sync`."""

    def start_timing(self) -> None:
        """See `nomp.backend.Device.start_timing`."""
        self.zero_time = time.perf_counter_ns()

    def stop_timing(self) -> None:
        """See `nomp.backend.Device.stop_timing`."""
        self.zero_time = 0

    def timed(self, work: Callable[[], None], after: None = None) -> CpuTiming:
        """See `nomp.backend.Device.timed`."""
        begin = time.perf_counter_ns()
        work()
        return CpuTiming(self, begin, time.perf_counter_ns())

    def native(self) -> CpuNative:
        """See `nomp.backend.Device.native`."""
        self._native = self._native or CpuNative(self)
        return self._native

    def handles(self) -> Handles:
        """See `nomp.backend.Device.handles`."""
        return Handles(0, 0, 0)

    def foreign(self, memory: int) -> Foreign:
        """See `nomp.backend.Device.foreign`."""
        return Foreign(memory)

    def wait_for(self, queue: int) -> None:
        """See `nomp.backend.Device.wait_for`."""

    def hold_up(self, queue: int) -> None:
        """See `nomp.backend.Device.hold_up`."""

    def close(self) -> None:
        """See `nomp.backend.Device.close`."""
        self.stop_timing()
        self._native = None
        while self._buffers:
            self._library.free(self._buffers.pop())


class CpuBackend:
    """One platform with one device: the host's processors together."""

    name = "cpu"

    def devices(self) -> list[list[DeviceInfo]]:
        """See `nomp.backend.Backend.devices`."""
        return [[_info()]]

    def open(self, platform: int, device: int) -> CpuDevice:
        """See `nomp.backend.Backend.open`."""
        require_device(platform, device, [1])
        return CpuDevice(_info())

    def compiler(self, arch: str) -> Compiler:
        """See `nomp.backend.Backend.compiler`."""
        raise BackendError("kernels are compiled for the processor that is here: name no architecture")


def _info() -> DeviceInfo:
    known = cpu_compiler.processor()
    return DeviceInfo(
        backend="cpu",
        dialect="c",
        platform="C",
        name=known.get("model name") or host.machine(),
        vendor=known.get("vendor_id") or host.system(),
        driver=cpu_compiler.version(),
        type="cpu",
        arch=host.machine(),
        max_threads_per_block=_MOST_ITEMS,
        local_mem_bytes=_GROUP_BYTES,
        global_mem_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        compute_units=_threads(os.environ),
        warp_size=1,
        pointer_arithmetic=True,
    )


@cache
def _start(threads: int) -> cpu_threads.Threads:
    """The threads of the process.

    Of more than there are processors none waits busily.  Threads on all processors are bound, unless other ranks bind
    theirs, too: when one of them is woken, Linux may have it wait behind the one that woke it, because all others do
    something, if only of the least priority.
    """
    patience = _PATIENCE if threads <= _processors() else 0
    is_bound = is_alone(os.environ) and os.environ.get("OMP_PROC_BIND", "").lower() != "false"
    return cpu_threads.Threads(threads, patience, is_bound)


def _threads(environ: Mapping[str, str]) -> int:
    """On how many threads kernels run: as many as OpenMP would, or a rank's share of a machine that nobody has divided
    among MPI's ranks."""
    asked = environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if asked.isdecimal() and int(asked):
        return int(asked)
    is_divided = _processors() < (os.cpu_count() or 1)
    return _processors() if is_divided else max(1, _processors() // local_ranks(environ))


def _processors() -> int:
    """How many processors the process may use."""
    everything = os.cpu_count() or 1
    if "OMP_PROC_BIND" in os.environ or not hasattr(os, "sched_getaffinity"):  # bound, a thread sees its own one
        return everything
    return len(os.sched_getaffinity(0))
