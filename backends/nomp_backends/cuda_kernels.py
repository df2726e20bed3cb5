"""Kernels of the CUDA backend by the driver's own functions: pycuda's launches take several times as long, and it keeps
to itself the handles that libnomp's C needs.

In: what NVRTC has compiled, with the context of the device current.  Out: kernels, and modules to unload.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from nomp.backend import BackendError
from nomp_backends.arguments import Arguments, packers

if TYPE_CHECKING:
    from nomp_backends.cuda import CudaDevice

_DYNAMIC_GROUP_BYTES = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES of cuda.h
_MOST_GROUPS = 2**31 - 1
_POINTER = ctypes.c_void_p


@cache
def _library() -> ctypes.CDLL:
    made = ctypes.CDLL("libcuda.so.1")
    made.cuLaunchKernel.argtypes = [_POINTER, *[ctypes.c_uint] * 7, _POINTER, _POINTER, _POINTER]
    made.cuCtxPushCurrent_v2.argtypes = [_POINTER]
    return made


def _check(status: int, doing: str, name: str) -> None:
    """Raises `BackendError` for a *status* of the driver's function *name*."""
    if status:
        text = ctypes.c_char_p()
        _library().cuGetErrorString(status, ctypes.byref(text))
        raise BackendError(f"{doing}: {name} failed: {(text.value or b'status %d' % status).decode()}")


def _call(doing: str, name: str, *arguments: Any) -> None:
    _check(getattr(_library(), name)(*arguments), doing, name)


class Module:
    """A loaded *cubin*."""

    def __init__(self, cubin: bytes) -> None:
        self._handle = _POINTER()
        _call("loading the kernels", "cuModuleLoadData", ctypes.byref(self._handle), cubin)

    def kernel(self, device: CudaDevice, name: str, types: Sequence[str | None]) -> CudaKernel:
        """The entry point *name*, whose arguments have these *types*."""
        function = _POINTER()
        _call("loading the kernels", "cuModuleGetFunction", ctypes.byref(function), self._handle, name.encode())
        return CudaKernel(device, function.value or 0, name, types)

    def unload(self) -> None:
        """Give it back."""
        _library().cuModuleUnload(self._handle)


class CudaKernel:
    """An entry point with its argument types known, so that a launch looks nothing up."""

    def __init__(self, device: CudaDevice, handle: int, name: str, types: Sequence[str | None]) -> None:
        self._device, self.handle, self._name = device, handle, name
        self._packers = packers(types)
        self._set: Sequence[Any] | None = None
        self._filled = Arguments((), ())
        self._group_bytes = 0  # that launches may ask for
        driver = _library()
        self._launch, self._enter, self._leave = (
            driver.cuLaunchKernel, driver.cuCtxPushCurrent_v2, driver.cuCtxPopCurrent_v2)

    def filled(self, arguments: Sequence[Any], group_bytes: int) -> Arguments:
        """*arguments* for launches that ask for *group_bytes*; the context is current."""
        if group_bytes > self._group_bytes:
            doing, function = f"loading {self._name}", _POINTER(self.handle)
            _call(doing, "cuFuncSetAttribute", function, _DYNAMIC_GROUP_BYTES, group_bytes)
            self._group_bytes = group_bytes
        return Arguments(self._packers, arguments)

    def launch(
        self, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any], group_bytes: int = 0
    ) -> None:
        """See `nomp.backend.Kernel.launch`."""
        if max(grid) > _MOST_GROUPS:  # the driver would see the remainder
            raise BackendError(f"{self._name} in {tuple(grid)} groups: there can be {_MOST_GROUPS} in a direction")
        _check(self._enter(self._device.context), f"launching {self._name}", "cuCtxPushCurrent")
        try:
            if arguments is not self._set or group_bytes > self._group_bytes:
                self._filled, self._set = self.filled(arguments, group_bytes), arguments
            status = self._launch(self.handle, *(*grid, 1, 1)[:3], *(*block, 1, 1)[:3], group_bytes,
                                  self._device.queue, self._filled.address, None)  # fmt: skip
        finally:
            self._leave(ctypes.byref(_POINTER()))
        if status:
            _check(status, f"{self._name} in {tuple(grid)} groups of {tuple(block)}", "cuLaunchKernel")
