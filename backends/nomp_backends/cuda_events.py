"""CUDA's events by its C functions: libnomp's C records them too, and pycuda keeps their handles to itself.

In: the driver's library and a stream.  Out: events in that stream, as handles.  Used by the CUDA backend, which makes
the context current.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from nomp.backend import BackendError

if TYPE_CHECKING:
    from nomp_backends.cuda import CudaDevice

_POINTER = ctypes.c_void_p


class Events:
    """Those in *stream*."""

    functions: ClassVar[Mapping[str, str]] = {
        "make": "cuEventCreate", "mark": "cuEventRecord", "await": "cuEventSynchronize", "moment": "cuEventElapsedTime",
        "release": "cuEventDestroy_v2",
    }  # fmt: skip

    def __init__(self, library: Any, stream: int) -> None:
        self._library, self._stream = library, _POINTER(stream)
        self._live = set[int]()

    def record(self) -> int:
        """A new event, after all that is in the stream now."""
        made = _POINTER()
        self._call("make", ctypes.byref(made), 0)
        event = made.value or 0
        self._live.add(event)
        self._call("mark", made, self._stream)
        return event

    def wait(self, event: int) -> None:
        """Wait for it."""
        self._call("await", _POINTER(event))

    def between(self, first: int, last: int) -> float:
        """Seconds from *first* to *last*, both of which have been waited for."""
        milliseconds = ctypes.c_float()
        self._call("moment", ctypes.byref(milliseconds), _POINTER(first), _POINTER(last))
        return milliseconds.value / 1e3

    def release(self, *events: int) -> None:
        """Give *events* back, unless they have been already."""
        for event in events:
            if event in self._live:
                self._live.remove(event)
                self._call("release", _POINTER(event))

    def release_all(self) -> None:
        """Give back what there is."""
        self.release(*tuple(self._live))

    def _call(self, does: str, *arguments: Any) -> None:
        name = self.functions[does]
        if status := getattr(self._library, name)(*arguments):
            raise BackendError(f"timing operations: {name} failed: CUDA's status is {status}")


class CudaTiming:
    """See `nomp.backend.Timing`: between two events of *device*."""

    def __init__(self, device: CudaDevice, events: Events, zero: int, first: int, last: int) -> None:
        self._device, self._events, self._zero, self._first, self._last = device, events, zero, first, last
        self._known: tuple[float, float] | None = None

    def interval(self) -> tuple[float, float]:
        """See `nomp.backend.Timing.interval`."""
        if self._known is None:
            with self._device.current("timing operations"):
                self._events.wait(self._last)
                begin = self._events.between(self._zero, self._first)
                self._known = begin, self._events.between(self._first, self._last)
                self._events.release(self._first, self._last)
        return self._known
