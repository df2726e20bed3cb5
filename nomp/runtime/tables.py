"""Tables: constant arrays of the program, which need no map because they never change.

In: the ``table`` parameters of a region and their host addresses.  Out: a device buffer for each that is not mapped,
filled at the first launch.  Used by `runtime.kernel`.
"""

from __future__ import annotations

import ctypes
from math import prod
from typing import Any

from nomp.arithmetic import SIZES
from nomp.backend import Device
from nomp.region import Const, Param


class Table:
    """A ``table`` parameter and the device's copy of it."""

    def __init__(self, param: Param) -> None:
        extents = [int(extent.value) for extent in param.shape if isinstance(extent, Const)]
        self._size = prod(extents) * SIZES[param.dtype]
        self._buffer: Any = None
        self._held: bytes | None = None

    def buffer(self, device: Device) -> Any:
        """The buffer that kernels are given."""
        if self._buffer is None:
            self._buffer = device.alloc(self._size)
        return self._buffer

    def load(self, device: Device, address: int) -> None:
        """Fill the buffer, unless it holds the table already; one on the stack may be another in each call."""
        values = ctypes.string_at(address, self._size)
        if values != self._held:
            device.copy_to(self._buffer, 0, address, self._size)
            self._held = values

    def release(self, device: Device) -> None:
        """Free the buffer."""
        if self._buffer is not None:
            device.free(self._buffer)
            self._buffer, self._held = None, None
