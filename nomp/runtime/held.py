"""Device memory that a kernel keeps from its first launch until it is released: what cells and tables share."""

from __future__ import annotations

from typing import Any

from nomp.backend import Device


class Held:
    """A buffer of *size* bytes."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._buffer: Any = None

    def buffer(self, device: Device) -> Any:
        """The buffer that kernels are given."""
        if self._buffer is None:
            self._buffer = device.alloc(self.size)
        return self._buffer

    def release(self, device: Device) -> None:
        """Free the buffer."""
        buffer, self._buffer = self._buffer, None
        if buffer is not None:
            device.free(buffer)
