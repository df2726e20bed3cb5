"""Memory of the device that has no counterpart on the host: what device arrays, ours and others', are in.

In: sizes, or memory that others have allocated.  Out: `DeviceMemory`, whose addresses stand for it in the address map,
so that launches treat it as they treat the copy of an array.  Where the driver's memory has addresses, these are its
own; else (OpenCL) they are numbers beyond all addresses.  Used by `runtime.device_array`, `runtime.interop`,
`runtime.dlpack` and `runtime.session`.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from nomp.backend import Device, Foreign
from nomp.diagnostics import NompError, Span, error
from nomp.runtime.lent import HostArray, stretches
from nomp.runtime.memory import AddressMap

MOST = 64
"""How many stretches of others' memory the map knows."""
MOST_VIEWS = 256
"""How many arrays that were made for others' are kept."""

_PAGE = 1 << 12


class _Space:
    """The addresses from *free* on stand for nothing yet: no processor has memory there."""

    free = 1 << 62


_space = _Space()
_freed: deque[tuple[weakref.ref[AddressMap], int]] = deque()
"""Memory of ours that nobody has any more; collected when that cannot disturb anyone."""
retired: deque[Callable[[], object]] = deque()
"""What to call once the device has done all that it has been given: others get their memory back."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class DeviceMemory:
    """Addresses [*start*, *end*) of *map* that stand for memory of the device.

    *buffer* is that of others' memory, which *owner* keeps alive; what is ours, or the copy of an array, is looked up
    in the map.  *queue* is others' that may be using the memory (0: none but the default one).
    """

    map: AddressMap
    start: int
    end: int
    buffer: int | None = None
    queue: int = 0
    owner: Any = None

    def place(self, low: int, high: int, name: str = "the array", span: Span | None = None) -> tuple[int, int]:
        """The buffer that has the bytes [*low*, *high*), and where in it they begin.  N634 if they have been freed."""
        if self.buffer is not None:
            return self.buffer, low - self.start
        entry = self.map.containing(low, high)
        if entry is None:
            raise gone(name, span)
        return entry.buffer, entry.offset(low)


def gone(name: str, span: Span | None = None) -> NompError:
    """N634."""
    step = "make it, or map it, again after that"
    return error("N634", f"the memory of '{name}' has been freed, or nomp was finalized", span, help=step)


def allocate(map: AddressMap, nbytes: int) -> DeviceMemory:
    """New memory of the device, at least a byte of it; it is freed when nobody has it any more."""
    collect(map)
    buffer = map.device.alloc(max(1, nbytes))
    start = addresses(map.device, buffer, nbytes)
    map.adopt(start, start + max(1, nbytes), buffer, borrowed=False)
    made = DeviceMemory(map, start, start + max(1, nbytes))
    weakref.finalize(made, _freed.append, (weakref.ref(map), start)).atexit = False
    return made


def addresses(device: Device, buffer: int, nbytes: int) -> int:
    """The first of the addresses that are to stand for *nbytes* of *buffer*.  The session's lock is held."""
    if device.info.pointer_arithmetic:
        return buffer
    first = _space.free
    _space.free += (nbytes // _PAGE + 2) * _PAGE  # so that no two of them touch
    return first


def collect(map: AddressMap) -> None:
    """Free what nobody has any more, and give others back what the device has done with."""
    while _freed:
        where, start = _freed.popleft()
        entry = map.containing(start, start + 1) if where() is map else None
        if entry:
            map.drop(entry)
    if retired:
        done = [retired.popleft() for _ in range(len(retired))]
        map.device.sync()
        for give_back in done:
            give_back()


class View(NamedTuple):
    """An *array* that was made for another library's, whose memory the driver said to be *there*; *own_version* was
    the map's."""

    array: Any
    there: Foreign | None
    own_version: int

    def is_right(self, map: AddressMap, there: Foreign | None) -> bool:
        """Whether the same would be made now, where the driver says that the memory is *there*: it is, and what *map*
        has of ours, in which the memory may be, is the same."""
        return self.there == there and self.own_version == map.own_version and self.array.memory.map is map


class Borrowed:
    """The stretches of others' memory that the map knows, the least recently used one first.

    Nobody tells us when such memory is freed.  What is in the map says only what addresses mean; a launch uses it if it
    is given an array that is there.  *views* has what was made for arrays, by what their owners said of them.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, int], None] = OrderedDict()
        self._starts: dict[tuple[int, int], int] = {}
        self._used: WeakValueDictionary[tuple[int, int], DeviceMemory] = WeakValueDictionary()
        self.views: dict[Any, View] = {}

    def clear(self) -> None:
        """Forget all of it: the map is gone."""
        self._kept.clear()
        self._starts.clear()
        self._used.clear()
        self.views.clear()

    def keep(self, told: Any, view: View) -> None:
        """Have *view* for what the owner of an array *told*, and forget the oldest one of too many."""
        self.views.pop(told, None)
        if len(self.views) >= MOST_VIEWS:
            del self.views[next(iter(self.views))]
        self.views[told] = view

    def whole(self, map: AddressMap, buffer: int, nbytes: int, queue: int, owner: Any) -> DeviceMemory:
        """Others' *buffer* without an address, of *nbytes*: while anyone has it, the same addresses stand for it."""
        key = buffer, nbytes
        if key not in self._starts:
            self._starts[key] = addresses(map.device, buffer, nbytes)
        start = self._starts[key]
        made = self._used[key] = DeviceMemory(map, start, start + nbytes, buffer, queue, owner)
        return made

    def provide(self, map: AddressMap, arrays: Iterable[HostArray], span: Span) -> set[int]:
        """Have *map* know those of *arrays* that are on the device without a host's; the queues that may use them.

        Raises N634 for an array whose memory is gone, N630 for one that the program has mapped.
        """
        collect(map)
        found = [array for array in arrays if array.memory is not None]
        for array in found:
            if array.memory.map is not map:
                raise gone(array.name, span)
            if array.memory.buffer is None and array.high > array.low:
                array.memory.place(array.low, array.high, array.name, span)
        theirs = [array.memory for array in found if array.memory.buffer is not None and array.high > array.low]
        buffers = {memory.start: memory.buffer for memory in theirs}
        needed = stretches((memory.start, memory.end) for memory in theirs)
        for stretch in needed:
            if any(not entry.borrowed for entry in map.overlapping(*stretch)):
                message = "memory that another library has on the device is mapped as well"
                raise error("N630", message, span, help="free it first: nomp.update(free=...)")
            if map.containing(*stretch) is None:
                map.adopt(*stretch, buffers[stretch[0]], borrowed=True)
            self._kept[stretch] = None
            self._kept.move_to_end(stretch)
        while len(self._kept) > max(MOST, len(needed)):
            self._forget(map, next(iter(self._kept)))
        return {array.memory.queue for array in found} - {0}

    def _forget(self, map: AddressMap, stretch: tuple[int, int]) -> None:
        del self._kept[stretch]
        entry = map.containing(*stretch)
        if entry and (entry.start, entry.end) == stretch:  # else it is a larger one, made later
            map.drop(entry)
        for key in [key for key in self._starts if key not in self._used and not self._is_kept(key)]:
            del self._starts[key]

    def _is_kept(self, key: tuple[int, int]) -> bool:
        """Whether the map has the stretch that stands for the buffer *key*."""
        return (self._starts[key], self._starts[key] + key[1]) in self._kept
