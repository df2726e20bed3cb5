"""Events of CUDA and HIP over a driver of this file: what is called with what, and that all of them are given back."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import pytest
from nomp_backends.cuda import CudaNative
from nomp_backends.hip_native import HipNative
from nomp_backends.stream_events import Clock, Events

from nomp.backend import BackendError

NAMES = {"cuda": CudaNative.events, "hip": HipNative.events}


class Driver:
    """Events are numbers; the n-th one that is recorded is n quarters of a second late."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = {name: does for does, name in names.items()}
        self.made = 100
        self.recorded: dict[int, int] = {}
        self.waited: list[int] = []
        self.refusing = ""

    def __getattr__(self, name: str) -> Any:
        known = {"make": self._create, "mark": self._record, "await": self._wait, "moment": self._elapsed,
                 "release": self._destroy}  # fmt: skip
        return (lambda *_: 700) if name == self.refusing else known[self.names[name]]

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


@pytest.mark.parametrize("backend", NAMES)
def test_intervals_are_asked_for_once_and_events_given_back(backend: str) -> None:
    driver = Driver(NAMES[backend])
    clock = Clock(Device(), Events(driver, NAMES[backend]), 9)
    assert clock.zero == 0
    clock.start()
    work: list[int] = []
    timing, more = (clock.timed(lambda: work.append(driver.made)) for _ in range(2))
    assert work == [102, 104]
    assert timing.interval() == timing.interval() == (0.25, 0.25)
    assert driver.waited == [103]
    assert list(driver.recorded) == [101, 104, 105]
    clock.stop()
    assert driver.recorded == {} and clock.zero == 0
    with pytest.raises(BackendError, match="no longer timed"):
        more.interval()


@pytest.mark.parametrize("function", ["cuEventCreate", "cuEventRecord"])
def test_what_the_driver_refuses_is_an_error(function: str) -> None:
    driver = Driver(NAMES["cuda"])
    driver.refusing = function
    with pytest.raises(BackendError, match=f"timing operations: {function} failed: its status is 700"):
        Events(driver, NAMES["cuda"]).record(9)
