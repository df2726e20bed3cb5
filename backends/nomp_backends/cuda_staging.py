"""Large copies between a GPU and memory of the host that CUDA has not page-locked, by way of memory that it has.

In: host addresses, and buffers of a device whose context is current.  Out: the bytes, copied piece by piece: while the
device moves one piece from or to page-locked memory, the program's threads move the next between that and the host's.
CUDA's own copies of such memory, and ours by one thread, move 5 to 7 GB/s on a machine whose bus moves 50 (H200).
Used by the CUDA backend; pycuda comes as an argument, since it is imported by that alone.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

_STAGE = 4 << 20
"""Bytes of one of the two page-locked buffers."""
_THREADS = 4
"""Threads that move a piece, the calling one included: with more the memory of one processor is no faster."""


class Mover:
    """Moves bytes in the host's memory by several threads, where the process may use several processors."""

    def __init__(self, threads: int | None = None) -> None:
        allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._threads = threads or min(_THREADS, allowed)
        self._pool: ThreadPoolExecutor | None = None

    def move(self, target: int, source: int, nbytes: int) -> None:
        """Copy *nbytes* between two addresses that do not overlap."""
        share = max(1, -(-nbytes // self._threads))
        started: list[Future[Any]] = []
        place = 0
        with suppress(RuntimeError):  # Python is being finalized and starts no threads: all is left to this one
            while place + share < nbytes:
                started.append(self._others().submit(ctypes.memmove, target + place, source + place, share))
                place += share
        ctypes.memmove(target + place, source + place, nbytes - place)
        for other in started:
            other.result()

    def _others(self) -> ThreadPoolExecutor:
        self._pool = self._pool or ThreadPoolExecutor(self._threads - 1, "nomp-copy")
        return self._pool

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


@dataclass(frozen=True, slots=True)
class _Stage:
    """Page-locked *memory*, at *address*, and the event that is recorded when the device needs it no longer."""

    memory: Any
    address: int
    done: Any


class Staging:
    """The two page-locked buffers of a device through which large copies go, on its stream."""

    def __init__(self, driver: ModuleType, stream: Any) -> None:
        self._driver, self._stream, self._mover = driver, stream, Mover()
        memories = [driver.pagelocked_empty(_STAGE, "uint8") for _ in range(2)]
        self._stages = [_Stage(memory, memory.ctypes.data, driver.Event()) for memory in memories]

    def copy_to(self, device: int, address: int, nbytes: int) -> None:
        """Copy *nbytes* from the host's *address* to the device's; the host's may be changed afterwards."""
        for place, size, stage in self._pieces(nbytes):
            stage.done.synchronize()
            self._mover.move(stage.address, address + place, size)
            self._driver.memcpy_htod_async(device + place, stage.memory[:size], self._stream)
            stage.done.record(self._stream)

    def copy_from(self, device: int, address: int, nbytes: int) -> None:
        """Copy *nbytes* from the device's address to the host's, where they are on return."""
        waiting: list[tuple[int, int, _Stage]] = []
        for place, size, stage in self._pieces(nbytes):
            if len(waiting) == len(self._stages):
                self._unstage(address, *waiting.pop(0))
            self._driver.memcpy_dtoh_async(stage.memory[:size], device + place, self._stream)
            stage.done.record(self._stream)
            waiting.append((place, size, stage))
        for piece in waiting:
            self._unstage(address, *piece)

    def close(self) -> None:
        """End the threads; the context is current, in which the buffers are given back."""
        self._mover.close()
        self._stages.clear()

    def _pieces(self, nbytes: int) -> Iterator[tuple[int, int, _Stage]]:
        for number, place in enumerate(range(0, nbytes, _STAGE)):
            yield place, min(_STAGE, nbytes - place), self._stages[number % len(self._stages)]

    def _unstage(self, address: int, place: int, size: int, stage: _Stage) -> None:
        stage.done.synchronize()
        self._mover.move(address + place, stage.address, size)
