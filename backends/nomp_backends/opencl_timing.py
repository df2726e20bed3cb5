"""When OpenCL's device carried out operations: by their events.

In: events of a queue that profiles.  Out: a `nomp.backend.Timing`.  Used by the OpenCL backend.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from nomp_backends import opencl_driver as cl


class OpenCLTiming:
    """See `nomp.backend.Timing`: the sum of *events*; *zero* is in the clock's nanoseconds.

    What is between them is left out: PoCL compiles there, at the first launch of each kernel.
    """

    def __init__(self, events: Sequence[Any], zero: int) -> None:
        self._events, self._zero = list(events), zero
        self._known = 0.0, 0.0
        self._release = cl.library().clReleaseEvent

    def interval(self) -> tuple[float, float]:
        """See `nomp.backend.Timing.interval`."""
        if self._events:
            cl.call("timing operations", "clWaitForEvents", 1, ctypes.byref(self._events[-1]))
            spans = [(moment(event, cl.START), moment(event, cl.END)) for event in self._events]
            self._known = (spans[0][0] - self._zero) / 1e9, sum(end - start for start, end in spans) / 1e9
            self.__del__()
        return self._known

    def __del__(self) -> None:
        while self._events:
            self._release(self._events.pop())


def moment(event: Any, key: int) -> int:
    """When the operation of *event* started or ended, in nanoseconds."""
    found = ctypes.c_ulong()
    cl.call("timing operations", "clGetEventProfilingInfo", event, key, 8, ctypes.byref(found), None)
    return found.value
