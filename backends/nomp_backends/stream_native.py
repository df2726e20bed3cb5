"""What CUDA's and HIP's drivers are called by where launches are repeated without Python, as far as it is the same."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import ClassVar, Protocol

from nomp.backend import address_of
from nomp_backends.stream_events import Clock


class _Device(Protocol):
    clock: Clock


class StreamNative:
    """See `nomp.backend.Native`: *library* has the functions of *names*, and those of *events* for what is timed."""

    names: ClassVar[Mapping[str, str]]
    events: ClassVar[Mapping[str, str]]

    def __init__(self, device: _Device, library: ctypes.CDLL) -> None:
        self._timed, self._library = device, library

    @property
    def zero(self) -> int:
        """See `nomp.backend.Native`."""
        return self._timed.clock.zero

    @property
    def functions(self) -> dict[str, int]:
        """See `nomp.backend.Native`."""
        names = {**self.names, **(self.events if self.zero else {})}
        return {does: address_of(self._library, name) for does, name in names.items()}

    def handle(self, buffer: int) -> int:
        """See `nomp.backend.Native.handle`."""
        return buffer
