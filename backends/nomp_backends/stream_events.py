"""When a GPU carries out operations, by events in its stream: CUDA's and HIP's, whose C functions have the same forms.

In: a device of either backend, the driver's library and names of its functions.  Out: a `nomp.backend.Timing` of each
operation.  The functions are called by ctypes: libnomp's C calls them too, and pycuda keeps the handles of events to
itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from nomp.backend import BackendError

_POINTER = ctypes.c_void_p


class _Device(Protocol):
    def current(self, doing: str) -> AbstractContextManager[None]: ...


class Events:
    """Those in streams, by those *functions* of *library* (names, by what they do: `nomp.backend.Native`)."""

    def __init__(self, library: Any, functions: Mapping[str, str]) -> None:
        self._library, self._functions = library, functions
        self._live = set[int]()

    def record(self, stream: int) -> int:
        """A new event, after all that is in *stream* now."""
        made = _POINTER()
        self._call("make", ctypes.byref(made), 0)
        event = made.value or 0
        self._live.add(event)
        self._call("mark", made, _POINTER(stream))
        return event

    def wait(self, event: int) -> None:
        """Wait for it.  `BackendError` if it has been given back."""
        if event not in self._live:
            raise BackendError("the operation is no longer timed")
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
        name = self._functions[does]
        if status := getattr(self._library, name)(*arguments):
            raise BackendError(f"timing operations: {name} failed: its status is {status}")


class Clock:
    """The clock of *device*, whose queue is *stream*, by *events*.  *zero* is the event when it began, 0 while it does
    not run."""

    def __init__(self, device: _Device, events: Events, stream: int) -> None:
        self._device, self._events, self._stream = device, events, stream
        self.zero = 0

    def start(self) -> None:
        """From now on operations may be timed."""
        with self._device.current("timing operations"):
            self.zero = self._events.record(self._stream)

    def stop(self) -> None:
        """Give all events back."""
        self.zero = 0
        with self._device.current("timing operations"):
            self._events.release_all()

    def timed(self, work: Callable[[], None], stream: int | None = None) -> StreamTiming:
        """Between two events before and after *work*, in another *stream* if one is given."""
        stream = self._stream if stream is None else stream
        with self._device.current("timing operations"):
            first = self._events.record(stream)
            work()
            last = self._events.record(stream)
        return StreamTiming(self._device, self._events, self.zero, first, last)


class StreamTiming:
    """See `nomp.backend.Timing`: between two events of *device*."""

    def __init__(self, device: _Device, events: Events, zero: int, first: int, last: int) -> None:
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
