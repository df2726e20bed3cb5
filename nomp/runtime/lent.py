"""Arrays that a program in Python has not put on the device: they are lent to it for one launch.

In: the arrays of a launch.  Out: their copies on the device; after the launch, what the kernel has written.  Used by
`runtime.session`.  The device's memory is kept for the next launch of the same arrays, but what it holds is not: it is
copied each time.  Nobody else sees it: whatever else looks into the address map has it dropped before.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nomp.diagnostics import NompError, Span, error
from nomp.runtime.memory import ALLOC, FREE, AddressMap

MOST = 64
"""How many stretches of memory are kept on the device."""


@dataclass(frozen=True, slots=True)
class HostArray:
    """The host bytes from *low* to *high* that hold *array*; *writes*: the kernel writes it.

    *dense*: all of these bytes are the array's.  *memory*: the bytes are not the host's but the device's
    (`device_memory.DeviceMemory`).
    """

    name: str
    low: int
    high: int
    dense: bool
    writes: bool
    array: Any
    memory: Any = None


Stretch = tuple[int, int]
Loan = tuple[HostArray, ...]


class Lent:
    """The memory that is kept, the least recently used stretch first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Stretch, None] = OrderedDict()

    def lend(self, memory: AddressMap, arrays: Iterable[HostArray], span: Span) -> Loan:
        """Copy those of *arrays* to the device that the program has not put there; these are returned.

        Raises N630 for an array of which the program has put a part there.
        """
        hosts = (array for array in arrays if array.high > array.low and array.memory is None)
        loan = tuple(array for array in hosts if not self._is_there(memory, array, span))
        for stretch in stretches((array.low, array.high) for array in loan):
            self._provide(memory, stretch)
            entry = memory.containing(*stretch)
            assert entry is not None
            memory.device.copy_to(entry.buffer, entry.offset(stretch[0]), stretch[0], stretch[1] - stretch[0])
        return loan

    def take_back(self, memory: AddressMap, loan: Loan) -> None:
        """Copy what the kernel may have written to the host."""
        for array in loan:
            if array.writes:
                entry = memory.containing(array.low, array.high)
                assert entry is not None
                fetch(memory, array)
        while len(self._kept) > MOST:
            self._drop(memory, next(iter(self._kept)))

    def drop(self, memory: AddressMap, low: int, high: int) -> None:
        """Keep nothing that shares a byte with [*low*, *high*)."""
        for stretch in [s for s in self._kept if s[0] < high and low < s[1]]:
            self._drop(memory, stretch)

    def clear(self, memory: AddressMap) -> None:
        """Keep nothing."""
        while self._kept:
            self._drop(memory, next(iter(self._kept)))

    def _drop(self, memory: AddressMap, stretch: Stretch) -> None:
        del self._kept[stretch]
        memory.update(stretch[0], 0, stretch[1] - stretch[0], 1, FREE)

    def _is_there(self, memory: AddressMap, array: HostArray, span: Span) -> bool:
        """Whether the program has put *array* on the device."""
        there = [e for e in memory.overlapping(array.low, array.high) if (e.start, e.end) not in self._kept]
        if there and memory.containing(array.low, array.high) is not there[0]:
            message = f"a part of '{array.name}' is on the device, and a part is not"
            step = f"name all of it in an update, or nothing: nomp.update(to={array.name})"
            raise error("N630", message, span, help=step)
        return bool(there)

    def _provide(self, memory: AddressMap, stretch: Stretch) -> None:
        """Have memory on the device for *stretch*."""
        if stretch in self._kept:
            self._kept.move_to_end(stretch)
            return
        self.drop(memory, *stretch)
        try:
            memory.update(stretch[0], 0, stretch[1] - stretch[0], 1, ALLOC)
        except NompError:
            if not self._kept:
                raise
            self.clear(memory)  # there may be room without what is kept
            memory.update(stretch[0], 0, stretch[1] - stretch[0], 1, ALLOC)
        self._kept[stretch] = None


def fetch(memory: AddressMap, array: HostArray) -> None:
    """Copy *array*'s elements, and nothing that lies between them, from the device to the host."""
    entry = memory.containing(array.low, array.high)
    assert entry is not None
    if array.dense:
        memory.fetch(entry, array.low, array.high, array.low)
        return
    import numpy as np

    held, target = np.empty(array.high - array.low, np.uint8), array.array
    memory.fetch(entry, array.low, array.high, held.ctypes.data)
    first = target.__array_interface__["data"][0] - array.low
    target[...] = np.ndarray(target.shape, target.dtype, held, first, target.strides)


def stretches(arrays: Iterable[Stretch]) -> list[Stretch]:
    """The stretches of memory that *arrays* take: those that share bytes are in one."""
    found: list[Stretch] = []
    for low, high in sorted(arrays):
        if found and low < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found
