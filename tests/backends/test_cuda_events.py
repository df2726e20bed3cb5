"""CUDA's events over a driver of this file: what is called with what, and that all of them are given back."""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from typing import Any

import pytest
from nomp_backends.cuda_events import CudaTiming, Events

from nomp.backend import BackendError


class Driver:
    """Events are numbers; the n-th one that is recorded is n quarters of a second late."""

    def __init__(self) -> None:
        self.made = 100
        self.recorded: dict[int, int] = {}
        self.waited: list[int] = []
        self.refusing = ""

    def __getattr__(self, name: str) -> Any:
        known = {"cuEventCreate": self._create, "cuEventRecord": self._record, "cuEventSynchronize": self._wait,
                 "cuEventElapsedTime": self._elapsed, "cuEventDestroy_v2": self._destroy}  # fmt: skip
        return (lambda *_: 700) if name == self.refusing else known[name]

    def _create(self, event: Any, flags: int) -> int:
        self.made += 1
        ctypes.cast(event, ctypes.POINTER(ctypes.c_void_p))[0] = self.made
        return flags

    def _record(self, event: ctypes.c_void_p, stream: ctypes.c_void_p) -> int:
        self.recorded[event.value or 0] = self.made
        return 0 if stream.value == 9 else 1

    def _wait(self, event: ctypes.c_void_p) -> int:
        self.waited.append(event.value or 0)
        return 0

    def _elapsed(self, milliseconds: Any, first: ctypes.c_void_p, last: ctypes.c_void_p) -> int:
        late = self.recorded[last.value or 0] - self.recorded[first.value or 0]
        ctypes.cast(milliseconds, ctypes.POINTER(ctypes.c_float))[0] = 250 * late
        return 0

    def _destroy(self, event: ctypes.c_void_p) -> int:
        del self.recorded[event.value or 0]
        return 0


class Device:
    """One whose context is always there."""

    def current(self, doing: str) -> Any:
        return nullcontext()


def test_intervals_are_asked_for_once_and_events_given_back() -> None:
    driver = Driver()
    events = Events(driver, 9)
    zero, first, last, more = (events.record() for _ in range(4))
    timing = CudaTiming(Device(), events, zero, first, last)  # type: ignore[arg-type]
    assert timing.interval() == timing.interval() == (0.25, 0.25)
    assert driver.waited == [last]
    assert list(driver.recorded) == [zero, more]
    events.release_all()
    events.release(more)
    assert driver.recorded == {}


@pytest.mark.parametrize("function", ["cuEventCreate", "cuEventRecord"])
def test_what_the_driver_refuses_is_an_error(function: str) -> None:
    driver = Driver()
    driver.refusing = function
    with pytest.raises(BackendError, match=f"timing operations: {function} failed: CUDA's status is 700"):
        Events(driver, 9).record()
