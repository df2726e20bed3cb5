"""Tables: constant arrays of the program, which need no map because they never change.

In: the ``table`` parameters of a region and their host addresses.  Out: a device buffer for each that is not mapped,
filled at the first launch.  Used by `runtime.kernel`.
"""

from __future__ import annotations

import ctypes
from math import prod

from nomp.arithmetic import SIZES
from nomp.backend import Device
from nomp.region import Const, Param
from nomp.runtime.held import Held


class Table(Held):
    """A ``table`` parameter and the device's copy of it."""

    def __init__(self, param: Param) -> None:
        extents = [int(extent.value) for extent in param.shape if isinstance(extent, Const)]
        super().__init__(prod(extents) * SIZES[param.dtype])
        self._held: bytes | None = None

    def load(self, device: Device, address: int) -> None:
        """Fill the buffer, unless it holds the table already; one on the stack may be another in each call."""
        values = ctypes.string_at(address, self.size)
        if values != self._held:
            device.copy_to(self._buffer, 0, address, self.size)
            self._held = values

    def release(self, device: Device) -> None:
        """Free the buffer."""
        self._held = None
        super().release(device)
