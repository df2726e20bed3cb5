"""Large copies between a GPU and memory of the host that CUDA has not page-locked, by way of memory that it has.

In: host addresses, and buffers of a device whose context is current.  Out: the bytes.  Several threads copy a part
each, piece by piece: while the device moves one piece from or to page-locked memory, the thread moves another between
that and the host's.  One thread moves 8 GB/s on a machine whose bus moves 50 (H200), and so do CUDA's own copies; four
move 25.
Used by the CUDA backend; pycuda comes as an argument, since it is imported by that alone.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

_STAGE = 2 << 20
"""Bytes of one of a thread's two page-locked buffers: with less the device waits for Python between pieces."""
_THREADS = 4
"""Threads that copy, the calling one included."""


@dataclass(frozen=True, slots=True)
class _Stage:
    """Page-locked *memory*, at *address*, and the event that is recorded when the device needs it no longer."""

    memory: Any
    address: int
    done: Any


class _Lane:
    """The two page-locked buffers by way of which one thread copies at a time."""

    def __init__(self, driver: ModuleType, stream: Any) -> None:
        self._driver, self._stream = driver, stream
        memories = [driver.pagelocked_empty(_STAGE, "uint8") for _ in range(2)]
        self._stages = [_Stage(memory, memory.ctypes.data, driver.Event()) for memory in memories]

    def copy_to(self, device: int, address: int, nbytes: int) -> None:
        """Copy *nbytes* from the host's *address* to the device's; the host's may be changed afterwards."""
        for place, size, stage in self._pieces(nbytes):
            stage.done.synchronize()
            ctypes.memmove(stage.address, address + place, size)
            self._driver.memcpy_htod_async(device + place, stage.memory[:size], self._stream)
            stage.done.record(self._stream)

    def copy_from(self, device: int, address: int, nbytes: int) -> None:
        """Copy *nbytes* from the device's address to the host's, where they are on return."""
        waiting: list[tuple[int, int, _Stage]] = []
        for place, size, stage in self._pieces(nbytes):
            if len(waiting) == len(self._stages):
                _unstage(address, *waiting.pop(0))
            self._driver.memcpy_dtoh_async(stage.memory[:size], device + place, self._stream)
            stage.done.record(self._stream)
            waiting.append((place, size, stage))
        for piece in waiting:
            _unstage(address, *piece)

    def _pieces(self, nbytes: int) -> Iterator[tuple[int, int, _Stage]]:
        for number, place in enumerate(range(0, nbytes, _STAGE)):
            yield place, min(_STAGE, nbytes - place), self._stages[number % len(self._stages)]


def _unstage(address: int, place: int, size: int, stage: _Stage) -> None:
    stage.done.synchronize()
    ctypes.memmove(address + place, stage.address, size)


class Staging:
    """What large copies of a device go through, on its *stream*; *current* makes its context so for a thread."""

    def __init__(
        self, driver: ModuleType, stream: Any, current: Callable[[str], AbstractContextManager[None]],
        threads: int | None = None,
    ) -> None:  # fmt: skip
        allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._driver, self._stream, self._current = driver, stream, current
        self._most = threads or min(_THREADS, allowed)
        self._lanes: list[_Lane] = []
        self._pool = ThreadPoolExecutor(max(1, self._most - 1), "nomp-copy")

    def copy_to(self, device: int, address: int, nbytes: int) -> None:
        """Copy *nbytes* from the host's *address* to the device's; the host's may be changed afterwards."""
        self._copy(_Lane.copy_to, device, address, nbytes)

    def copy_from(self, device: int, address: int, nbytes: int) -> None:
        """Copy *nbytes* from the device's address to the host's, where they are on return."""
        self._copy(_Lane.copy_from, device, address, nbytes)

    def close(self) -> None:
        """End the threads; the context is current, in which the buffers are given back."""
        self._pool.shutdown()
        self._lanes.clear()

    def _copy(self, copy: Callable[[_Lane, int, int, int], None], device: int, address: int, nbytes: int) -> None:
        """Have each lane *copy* its part; this thread does the first, and what cannot be started."""
        share = -(-nbytes // min(self._most, -(-nbytes // (2 * _STAGE))))  # less is no thread worth
        places = range(0, nbytes, share)
        while len(self._lanes) < len(places):  # page-locking takes a millisecond for one
            self._lanes.append(_Lane(self._driver, self._stream))
        parts = [(lane, device + place, address + place, min(share, nbytes - place))
                 for lane, place in zip(self._lanes, places, strict=False)]  # fmt: skip
        started: list[Future[None]] = []
        try:
            with suppress(RuntimeError):  # Python is being finalized, and starts no threads
                for part in parts[1:]:
                    started.append(self._pool.submit(self._elsewhere, copy, *part))
            for part in (parts[0], *parts[1 + len(started) :]):
                copy(*part)
        finally:
            wait(started)  # they use the program's memory
        for future in started:
            future.result()

    def _elsewhere(
        self, copy: Callable[[_Lane, int, int, int], None], lane: _Lane, device: int, address: int, nbytes: int
    ) -> None:
        with self._current(f"copying {nbytes} bytes"):
            copy(lane, device, address, nbytes)
