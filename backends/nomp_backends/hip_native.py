"""What HIP's driver is called by where launches are repeated without Python.  Made by the HIP backend."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from nomp.backend import BackendError, Bound, memory_at
from nomp_backends.stream_native import StreamNative

if TYPE_CHECKING:
    from nomp_backends.hip import HipDevice, HipKernel

_BUFFER, _SIZE, _END = 1, 2, 3
"""HIP_LAUNCH_PARAM_BUFFER_POINTER and so on: what comes next among the extras of a launch."""


class HipNative(StreamNative):
    """See `nomp.backend.Native`; *library* is libamdhip64.so."""

    queue = 0  # the null stream
    names: ClassVar[Mapping[str, str]] = {
        "launch": "hipModuleLaunchKernel", "write": "hipMemcpyHtoDAsync", "read": "hipMemcpyDtoHAsync",
        "current": "hipGetDevice", "enter": "hipSetDevice", "wait": "hipStreamSynchronize",
    }  # fmt: skip
    events: ClassVar[Mapping[str, str]] = {
        "make": "hipEventCreateWithFlags", "mark": "hipEventRecord", "await": "hipEventSynchronize",
        "moment": "hipEventElapsedTime", "release": "hipEventDestroy",
    }  # fmt: skip

    def __init__(self, device: HipDevice, library: ctypes.CDLL) -> None:
        super().__init__(device, library)
        self._device, self.context = device, device.number

    def bound(self, kernel: HipKernel, arguments: Sequence[Any], group_bytes: int = 0) -> Bound:
        """See `nomp.backend.Native.bound`: the arguments are packed, as `hip.packer` has found that they may be."""
        packed = kernel.packed(arguments)
        start, size = ctypes.addressof(packed), ctypes.c_size_t(len(packed))
        extra = (ctypes.c_void_p * 5)(_BUFFER, start, _SIZE, ctypes.addressof(size), _END)
        places = tuple(start + offset for offset in kernel.offsets)
        return Bound(kernel.handle, (kernel, packed, size, extra), ctypes.addressof(extra), places)

    def stage(self, nbytes: int) -> tuple[int, Any]:
        """See `nomp.backend.Native.stage`: page-locked memory, where kernels have it at the same address."""
        host, there = ctypes.c_void_p(), ctypes.c_void_p()
        with self._device.current(f"page-locking {nbytes} bytes"):
            if status := self._library.hipHostMalloc(ctypes.byref(host), ctypes.c_size_t(nbytes), 0):
                raise BackendError(f"page-locking {nbytes} bytes: HIP's status is {status}")
            memory = memory_at(host.value or 0, nbytes)
            weakref.finalize(memory, self._library.hipHostFree, host).atexit = False
            found = self._library.hipHostGetDevicePointer(ctypes.byref(there), host, 0)
        return (host.value or 0, memory) if not found and there.value == host.value else (0, None)
