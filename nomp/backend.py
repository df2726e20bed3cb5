"""What a backend is: a handful of small operations on a device, and where backends are found.

A backend is an object that satisfies `Backend`, registered under the entry-point group ``nomp.backends`` (the name is
the backend's; the value is a callable without arguments that makes it).  ``tests/backends`` holds the conformance test:
what passes it is a backend.  Backends import this module, `diagnostics`, `launchers` and nothing else.

Errors: `BackendError` for what the device or its driver refuses; it becomes an N5xx or N6xx diagnostic further up.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, Protocol

from nomp import plugins

GROUP = "nomp.backends"

TYPE_CODES: dict[str | None, str] = {
    "bool": "b", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I",
    "uint64": "Q", "float32": "f", "float64": "d", None: "P"}  # fmt: skip
"""How `struct` spells the types of arguments; None is an address.  C's bool is a byte that holds 0 or 1."""


class BackendError(Exception):
    """The device or its driver refused.  *log* is the device compiler's output, where there is one."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class NoSuchDevice(BackendError):
    """The platform or device number asked for does not exist."""


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What scripts, schedules and `nomp devices` know of a device.  Sizes in bytes.

    *type* is cpu, gpu or accelerator; *pointer_arithmetic*: a buffer argument may point anywhere into a buffer.
    """

    backend: str
    dialect: str
    platform: str
    name: str
    vendor: str
    driver: str
    type: str
    arch: str
    max_threads_per_block: int
    local_mem_bytes: int
    global_mem_bytes: int
    compute_units: int
    warp_size: int
    pointer_arithmetic: bool = False

    def context(self) -> dict[str, str | int]:
        """The dictionary that transform and annotation scripts get (libnomp's keys, and more of the same form)."""
        device: dict[str, str | int] = {
            "name": self.name, "vendor": self.vendor, "driver": self.driver, "type": self.type, "arch": self.arch,
            "max_threads_per_block": self.max_threads_per_block, "local_mem_bytes": self.local_mem_bytes,
            "compute_units": self.compute_units, "warp_size": self.warp_size,
        }  # fmt: skip
        return {"backend::name": self.backend, **{f"device::{key}": value for key, value in device.items()}}


class Native(Protocol):
    """The C functions of a device's driver, and their handles, with which a launch is repeated without Python.

    OpenCL has no *context*; its *queue* and *functions* (addresses, by what they do) are clEnqueueNDRangeKernel
    (launch), clSetKernelArg (set), clEnqueueWriteBuffer and clEnqueueReadBuffer (write, read), and clFinish (wait).
    CUDA has a context and a stream, cuLaunchKernel, cuMemcpyHtoDAsync, cuMemcpyDtoHAsync, and cuCtxPushCurrent,
    cuCtxPopCurrent, cuStreamSynchronize (enter, leave, wait).  HIP's functions have these forms, but for the context,
    which is the number of the device, for hipSetDevice (enter) and hipGetDevice (current).  Where the device is the
    host there are none: kernels are functions, which get their numbers of groups and of items (three each, size_t) and
    the address of pointers to their arguments.

    While operations are timed, *functions* also has clWaitForEvents, clGetEventProfilingInfo and clReleaseEvent (await,
    moment, release), and *zero* is the clock's, in nanoseconds.  For CUDA it is an event, and the functions are
    cuEventSynchronize, cuEventElapsedTime and cuEventDestroy, and cuEventCreate and cuEventRecord (make, mark); for HIP
    hipEventCreateWithFlags and so on.
    """

    @property
    def queue(self) -> int:
        """The handle of the queue."""

    @property
    def context(self) -> int:
        """What is entered: CUDA's context, HIP's number of the device; else 0."""

    @property
    def functions(self) -> Mapping[str, int]:
        """The addresses of functions."""

    @property
    def zero(self) -> int:
        """When the clock began; 0 while nothing is timed."""

    def handle(self, buffer: Any) -> int:
        """That of *buffer*."""

    def bound(self, kernel: Kernel, arguments: Sequence[Any], group_bytes: int = 0) -> Bound:
        """*kernel* with its *arguments*, ready for launches with *group_bytes*."""

    def stage(self, nbytes: int) -> tuple[int, Any]:
        """The address of *nbytes* of the host's memory by way of which copies are faster, and that kernels can be given
        as a buffer (0 if there is no such thing), and what must live as long as it is used.  It is not used again
        before a copy from it has ended."""


@dataclass(frozen=True, slots=True)
class Bound:
    """The *handle* of a kernel that has its arguments; *keep* must live as long as it is used.

    For CUDA and the host, *arguments* is the address of pointers to these, for HIP that of hipModuleLaunchKernel's
    extra ones; *slots* are the addresses of the arguments.
    """

    handle: int
    keep: Any
    arguments: int = 0
    slots: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Handles:
    """What a device's driver calls it: its *number* on its platform, the *context* (0 for HIP), and the *queue* (for
    CUDA a stream; 0, the null stream, for HIP) that operations go to."""

    number: int
    context: int
    queue: int


class Foreign(NamedTuple):
    """Memory of the device that others have allocated: from byte *offset* of *buffer* on, which has *nbytes* in all.

    *buffer* is what `Device.alloc` would have returned.  Where that is an address, *nbytes* is 0: it is not known.
    """

    buffer: int
    offset: int = 0
    nbytes: int = 0
    writeable: bool = True


def require_device(platform: int, device: int, counts: Sequence[int]) -> None:
    """Raises `NoSuchDevice`, unless there is this *platform*, with this *device*; *counts* has the devices of each."""
    if not 0 <= platform < len(counts):
        raise NoSuchDevice(f"Platform id {platform} provided to libnomp is not valid.")
    if not 0 <= device < counts[platform]:
        raise NoSuchDevice(f"Device id {device} passed into libnomp is not valid.")


def memory_at(address: int, nbytes: int) -> Any:
    """The host's memory, for drivers that want an object with a buffer."""
    return (ctypes.c_char * nbytes).from_address(address)


def address_of(library: ctypes.CDLL, name: str) -> int:
    """That of the function *name* of *library*."""
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


Stored = Callable[[Mapping[str, str], Callable[[], bytes]], bytes]
"""Gives what a compiler makes of a text, from where it is kept or by calling the second argument, which compiles.  The
first one is all that decides, besides the text, on what comes out: versions, options, the architecture."""


class Kernel(Protocol):
    """An entry point of a compiled program."""

    def launch(
        self, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any], group_bytes: int = 0
    ) -> None:
        """Enqueue; *arguments* are buffers (what `Device.alloc` returned; None for one that the kernel does not touch)
        and, for scalars, NumPy scalars of the declared type.  *grid* counts groups, at least one in each direction;
        both have the same length, one to three.  Each group gets *group_bytes* of memory besides what the kernel
        declares, only where the dialect cannot declare it (CUDA C++).  Returns at once, or, where the device is the
        host itself, when it is over."""


class Timing(Protocol):
    """When the device carried out some operations."""

    def interval(self) -> tuple[float, float]:
        """When they began, after `Device.start_timing`, and how long they took, in seconds of the device's clock.
        Waits for them.  `BackendError` if the device is closed."""


class Device(Protocol):
    """An open device with one in-order queue: operations happen in the order of the calls, but for copies *after* an
    earlier point, which overtake launches and nothing else."""

    info: DeviceInfo

    def compile(
        self, text: str, signatures: Mapping[str, Sequence[str | None]], stored: Stored | None = None,
        blocks: Mapping[str, Sequence[int]] | None = None,
    ) -> Mapping[str, Kernel]:  # fmt: skip
        """Compile *text*; *signatures* gives, for each entry point, the type of each argument (None for a buffer).

        With *stored* the compiler runs only if that calls for it.  *blocks* are the items of a group of those entry
        points for which they never change: compilers that make code for one size can do so at once.
        `BackendError` with the compiler's log if it refuses, or if the driver refuses what was stored."""

    def alloc(self, nbytes: int) -> Any:
        """A buffer of at least *nbytes* (> 0) bytes, its contents undefined.  Where `DeviceInfo.pointer_arithmetic`
        holds it is an address, an int, and kernels are given addresses inside it."""

    def zero(self, buffer: Any, offset: int, nbytes: int) -> None:
        """Fill *nbytes* (> 0) bytes of *buffer* from byte *offset* on with zeros; enqueued."""

    def free(self, buffer: Any) -> None:
        """Give *buffer* back; kernels already enqueued may still use it."""

    def copy_to(self, buffer: Any, offset: int, address: int, nbytes: int, after: Any = None) -> None:
        """Host memory at *address* to *buffer* from byte *offset* on; the host memory may be reused on return.

        *after* a `point` it need not wait for launches that were enqueued behind that, and is done on return."""

    def copy_from(self, buffer: Any, offset: int, address: int, nbytes: int, after: Any = None) -> None:
        """*buffer* from byte *offset* on to host memory at *address*; done on return.  *after*: see `copy_to`."""

    def copy(self, target: Any, target_offset: int, source: Any, source_offset: int, nbytes: int) -> None:
        """*nbytes* bytes of buffer *source* to another buffer *target*; enqueued."""

    def point(self) -> Any:
        """The point in the queue behind all that is enqueued now, for copies; None if all of these wait for all."""

    def sync(self) -> None:
        """Wait for everything enqueued."""

    def start_timing(self) -> None:
        """From now on operations may be timed, from zero on.  Waits for what is enqueued; what `native` says changes,
        until `stop_timing`.  `BackendError` if the device has no clock."""

    def stop_timing(self) -> None:
        """No more operations are timed, and their timings not asked for.  Waits for them."""

    def timed(self, work: Callable[[], None], after: Any = None) -> Timing:
        """Call *work*, which calls operations of this device, and say when it carries these out.

        *after*, unless it is None, is that of the copy that *work* is."""

    def native(self) -> Native | None:
        """The driver's functions, if they are known: each time the same object, until the device is closed."""

    def handles(self) -> Handles:
        """What the driver calls this device, for other users of the driver."""

    def foreign(self, memory: int) -> Foreign:
        """*memory* that others have allocated: the driver's handle, or an address.  `BackendError` if this device does
        not have it."""

    def wait_for(self, queue: int) -> None:
        """What is enqueued from now on happens after what is in *queue*, another one of the same driver, now."""

    def hold_up(self, queue: int) -> None:
        """What *queue*, another one of the same driver, gets from now on happens after what is enqueued here now."""

    def close(self) -> None:
        """Release the device; buffers and kernels become invalid.  May be called twice."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler for devices like *info*, none of which need be there.

    *identity* is what it tells `Stored`; *build* makes of a text what a device's `compile` gets from there.  Raises
    `BackendError` with the compiler's log.
    """

    info: DeviceInfo
    identity: Mapping[str, str]
    build: Callable[[str], bytes]


class Backend(Protocol):
    """A way to reach devices.  Making one and listing its devices must not fail where there is no hardware."""

    name: str

    def devices(self) -> Sequence[Sequence[DeviceInfo]]:
        """The devices of each platform, in driver order.  `BackendError` says why there are none."""

    def open(self, platform: int, device: int) -> Device:
        """Open one device.  `NoSuchDevice` for a number out of range, `BackendError` for one that cannot be used."""

    def compiler(self, arch: str) -> Compiler:
        """A compiler for devices of *arch*.  `BackendError` where there is none, or the architecture is not known."""


def registered() -> dict[str, Callable[[], Backend]]:
    """The installed backends by name, not yet made (a backend's module is imported when it is made)."""
    return {name: partial(_make, name, place) for name, place in plugins.registered(GROUP).items()}


def _make(name: str, place: str) -> Backend:
    module, _, attribute = place.partition(":")
    try:
        backend: Backend = getattr(import_module(module), attribute)()
    except (ImportError, OSError) as reason:
        raise BackendError(f"backend '{name}' cannot be loaded: {reason}") from reason
    return backend
