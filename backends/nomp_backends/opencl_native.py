"""What OpenCL's driver is called by where launches are repeated without Python.  Made by the OpenCL backend."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nomp.backend import Bound, address_of
from nomp_backends import opencl_driver as cl

if TYPE_CHECKING:
    from nomp_backends.opencl import OpenCLDevice, OpenCLKernel


class OpenCLNative:
    """See `nomp.backend.Native`."""

    context = 0
    _names: Mapping[str, str] = {
        "launch": "clEnqueueNDRangeKernel", "set": "clSetKernelArg", "write": "clEnqueueWriteBuffer",
        "read": "clEnqueueReadBuffer", "wait": "clFinish",
    }  # fmt: skip
    _timing: Mapping[str, str] = {
        "await": "clWaitForEvents", "moment": "clGetEventProfilingInfo", "release": "clReleaseEvent"
    }

    def __init__(self, device: OpenCLDevice) -> None:
        self._device = device

    @property
    def queue(self) -> int:
        """See `nomp.backend.Native`."""
        return self._device.queue

    @property
    def zero(self) -> int:
        """See `nomp.backend.Native`."""
        return self._device.zero_time

    @property
    def functions(self) -> dict[str, int]:
        """See `nomp.backend.Native`."""
        names = {**self._names, **(self._timing if self.zero else {})}
        return {does: address_of(cl.library(), name) for does, name in names.items()}

    def handle(self, buffer: int) -> int:
        """See `nomp.backend.Native.handle`."""
        return buffer

    def bound(self, kernel: OpenCLKernel, arguments: Sequence[Any], group_bytes: int = 0) -> Bound:
        """See `nomp.backend.Native.bound`."""
        made = kernel.copy(arguments)
        return Bound(made.handle, (made, arguments))

    def stage(self, nbytes: int) -> tuple[int, Any]:
        """See `nomp.backend.Native.stage`."""
        return 0, None
