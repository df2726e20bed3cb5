"""The address map: which stretches of host memory have a copy on the device.

In: the host addresses of ``update`` directives (`runtime.session`).  Out: the device buffer behind a host pointer, for
launches (`runtime.kernel`).

Addresses of device memory that has no counterpart on the host (`runtime.device_array`) are in the map as well.

The map is a set of disjoint entries, each a half-open range of host addresses with one device buffer.  Byte ``x`` of
the host is byte ``x - start`` of the buffer, so an element has one index on both sides: after ``update(to : a[5, 15])``
``a[7]`` in a kernel is the host's ``a[7]``.  What differs from libnomp, which keys its maps by exact pointers:

* A range that overlaps entries, that is mapped under the base pointer of an entry or from inside it, or that holds the
  base pointer of one, makes one larger entry of them all, because a kernel sees an array through one buffer.  What the
  device held stays; new elements are zero until they are copied (calloc's values, so that a program that allocates
  twice computes the same twice); elements between two ranges of one array get the host's values.
* ``alloc`` and ``to`` on a range that is mapped already keep the buffer; ``to`` and ``from`` copy just what is asked.
* Several directions may be combined; they happen in the order alloc, to, from, free.  ``from`` without ``to`` needs a
  mapped range whatever else is asked, so that values that no one computed never reach the host.
* An empty range does nothing, whatever the pointer is; reversed ranges, NULL and unknown directions are errors.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from nomp.backend import Device
from nomp.diagnostics import Span, error
from nomp.runtime.failure import driver_errors
from nomp.runtime.overtaking import Overtaking

ALLOC, TO, FROM, FREE = 1, 2, 4, 8
ADDRESS_END = 1 << 64
ALIGNMENT = 64
"""What a buffer that several arrays share keeps of the alignment that they have on the host."""


@dataclass(eq=False, slots=True)
class Entry:
    """Host bytes [*start*, *end*) live in *buffer*.

    *bases* are the pointers under which they were mapped, each with the size of an element.  *origin* is the host byte
    that the buffer begins with: *start* where that is None, and less where entries share a buffer.  *adopted*: nothing
    on the host is at these addresses, which stand for the buffer itself; *borrowed*: others free it.
    """

    start: int
    end: int
    buffer: Any
    bases: dict[int, int] = field(default_factory=dict)
    origin: int | None = None
    adopted: bool = False
    borrowed: bool = False

    @property
    def place(self) -> tuple[int, int, int]:
        """Where it is on the host, and what its buffer begins with: all that others see of it but the buffer."""
        return self.start, self.end, self.offset(0)

    def offset(self, address: int) -> int:
        """Which byte of the buffer is the host's byte *address*."""
        return address - (self.start if self.origin is None else self.origin)


class AddressMap:
    """The entries of one device, sorted by address: look-up takes logarithmic time."""

    def __init__(
        self, device: Device, changing: Callable[[], None] = lambda: None, elsewhere: Callable[[], int] = lambda: 0,
        rest: Callable[[int], None] = lambda launches: None,
    ) -> None:  # fmt: skip
        """*changing* is called before a pointer comes to mean another entry; `version` counts these changes, and
        `own_version` those of the entries that are not borrowed.  *elsewhere* counts launches that `overtaking` is not
        told of, and *rest* has there be none of them for so many launches."""
        self.version = self.own_version = 0
        self.overtaking = Overtaking(lambda: (self.version, elsewhere()), rest)
        self._device = self._plain = device
        self._watching: Callable[[str], Device] | None = None
        self._changing = changing
        self._starts: list[int] = []
        self._entries: list[Entry] = []
        self._bases: list[int] = []
        self._by_base: dict[int, Entry] = {}
        self._by_end: dict[int, Entry] = {}

    @property
    def device(self) -> Device:
        """The device that the copies are on."""
        return self._device

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def find(self, address: int) -> Entry | None:
        """The entry behind the pointer *address*: the one mapped under that very pointer, which need not contain it
        (``a[5, 15]`` does not hold element 0), else the one that contains it (interior pointers), else the one whose
        element 0 contains it (a member of a struct)."""
        return self._by_base.get(address) or self.containing(address, address + 1) or self._with_first_element(address)

    def ending(self, address: int) -> Entry | None:
        """The entry that *address* is one past the end of."""
        return self._by_end.get(address)

    def _with_first_element(self, address: int) -> Entry | None:
        position = bisect_right(self._bases, address) - 1
        base = self._bases[position] if position >= 0 else address
        entry = self._by_base.get(base)
        return entry if entry and address < base + entry.bases[base] else None

    def containing(self, low: int, high: int) -> Entry | None:
        """The entry that holds all of [*low*, *high*), if one does."""
        position = bisect_right(self._starts, low) - 1
        if position >= 0 and high <= self._entries[position].end:
            return self._entries[position]
        return None

    def update(
        self, address: int, start: int, end: int, unit: int, op: int, name: str = "", span: Span | None = None
    ) -> None:
        """Carry out ``update`` on elements [*start*, *end*) of *unit* bytes of the array at *address*.

        *op* combines `ALLOC`, `TO`, `FROM`, `FREE`; freeing a part frees its whole entry.  *name* (the array's in the
        program) and *span* are for messages.  Errors: N604 ``from`` or ``free`` of what is not mapped, N605 directions,
        N606 range, N608 NULL, N611 the device refuses.
        """
        name = name or f"{address:#x}"
        low, high = _byte_range(address, start, end, unit, op, name, span)
        if low == high:
            return
        if address == 0:
            help_ = "allocate the array before the update, and check that the allocation worked"
            raise error("N608", f"'{name}' is a null pointer: it cannot be on the device", span, help=help_)
        if op & (FROM | FREE) and not op & TO and not self._covers(low, high):
            raise _unmapped(name, start, end, span)
        if self._watching:
            self._device = self._watching(name)
        with driver_errors(f"updating '{name}' on the device", span):
            self._carry_out(address, low, high, unit, op)

    def watch(self, watching: Callable[[str], Device] | None) -> None:
        """From now on have *watching* give the device that copies the array of a name (None: the device itself)."""
        self._device, self._watching = self._plain, watching

    def clear(self) -> None:
        """Free all entries."""
        for entry in self._entries[:]:
            self.drop(entry)

    def adopt(self, start: int, end: int, buffer: Any, borrowed: bool) -> None:
        """Have addresses [*start*, *end*), at which the host has nothing, stand for *buffer*.

        Overlapping entries that were *borrowed* go: the memory that they stood for has been freed since.
        """
        for entry in self.overlapping(start, end):
            assert entry.borrowed, "the driver gives nobody memory that is ours"
            self.drop(entry)
        self._change()
        self._insert(Entry(start, end, buffer, adopted=True, borrowed=borrowed))

    def holding(self, buffer: int) -> Entry | None:
        """The entry whose buffer *buffer* is, or is an address in, if that is not borrowed."""
        inside = self._device.info.pointer_arithmetic
        return next((entry for entry in self._entries if not entry.borrowed and (entry.buffer == buffer or (
            inside and entry.buffer <= buffer < entry.buffer + entry.offset(entry.end)))), None)  # fmt: skip

    def share(self, first: Entry, second: Entry) -> None:
        """Have two entries that touch live in one buffer, so that one pointer reaches both, as it does on the host.

        All else about them stays: each is freed by itself.  Instead of them, and of those that they share a buffer with
        already, the map has new entries.
        """
        if first.buffer is second.buffer or first.adopted or second.adopted:
            return
        group = [entry for entry in self._entries if entry.buffer is first.buffer or entry.buffer is second.buffer]
        origin = group[0].start // ALIGNMENT * ALIGNMENT
        buffer = self._device.alloc(group[-1].end - origin)
        for old in group:
            new = Entry(old.start, old.end, buffer, old.bases, origin)
            self._device.copy(buffer, new.offset(old.start), old.buffer, old.offset(old.start), old.end - old.start)
            self.drop(old)
            self._insert(new)

    def _carry_out(self, address: int, low: int, high: int, unit: int, op: int) -> None:
        if op & (ALLOC | TO):
            self._cover(low, high, address, unit, copied=bool(op & TO))
        for entry in self.overlapping(low, high):
            first, last = max(low, entry.start), min(high, entry.end)
            if op & TO:
                after = self._point(entry, first, last, writes=True)
                self._device.copy_to(entry.buffer, entry.offset(first), first, last - first, after)
            if op & FROM:
                self.fetch(entry, first, last, first)
            if op & FREE:
                self.drop(entry)

    def fetch(self, entry: Entry, low: int, high: int, address: int) -> None:
        """Copy what the device has of *entry* at the host's [*low*, *high*) to the host, to *address*."""
        after = self._point(entry, low, high, writes=False)
        self._device.copy_from(entry.buffer, entry.offset(low), address, high - low, after)

    def _point(self, entry: Entry, low: int, high: int, writes: bool) -> Any:
        """What a copy of these bytes waits for (`Overtaking.point`)."""
        if low > entry.start or high < entry.end:
            self.overtaking.watch()
        return self.overtaking.point(low, high, writes)

    def overlapping(self, low: int, high: int) -> list[Entry]:
        """The entries that share a byte with [*low*, *high*), by address."""
        first = bisect_right(self._starts, low) - 1
        if first < 0 or self._entries[first].end <= low:
            first += 1
        return self._entries[first : bisect_left(self._starts, high)]

    def _covers(self, low: int, high: int) -> bool:
        """Whether every byte of [*low*, *high*) is mapped, be it in several entries."""
        for entry in self.overlapping(low, high):
            if entry.start > low:
                return False
            low = entry.end
        return low >= high

    def _cover(self, low: int, high: int, base: int, unit: int, copied: bool) -> None:
        """Have one entry hold [*low*, *high*), which is about to be *copied* or not, and all mapped under *base*."""
        parts = self._parts(low, high, base)
        entry = parts[0] if len(parts) == 1 else None
        if entry is None or entry.start > low or entry.end < high:
            entry = self._merge(parts, low, high, copied)
        entry.bases[base] = max(unit, entry.bases.get(base, 0))
        self._remember(base, entry)

    def _parts(self, low: int, high: int, base: int) -> list[Entry]:
        """The entries to join: those that [*low*, *high*) overlaps when taken together with those of the same array,
        which are *base*'s entry, the one that holds *base*'s element 0, and those whose own element 0 is in the range.
        """
        own = self._by_base.get(base) or self.containing(base, base + 1)
        bases = self._bases[bisect_left(self._bases, low) : bisect_left(self._bases, high)]
        same = [self._by_base[b] for b in bases] + ([own] if own else [])
        return self.overlapping(min([low, *(e.start for e in same)]), max([high, *(e.end for e in same)]))

    def _merge(self, parts: list[Entry], low: int, high: int, copied: bool) -> Entry:
        """A new entry in place of *parts*; nothing has changed if the device refuses the memory."""
        merged = Entry(min([low, *(p.start for p in parts)]), max([high, *(p.end for p in parts)]), None)
        merged.buffer = self._device.alloc(merged.end - merged.start)
        if not copied:
            self._device.zero(merged.buffer, low - merged.start, high - low)
        for first, last in _gaps(merged, [(p.start, p.end) for p in parts] + [(low, high)]):
            self._device.copy_to(merged.buffer, first - merged.start, first, last - first)
        self._change()
        for part in parts:
            place, size = part.offset(part.start), part.end - part.start
            self._device.copy(merged.buffer, part.start - merged.start, part.buffer, place, size)
            merged.bases |= part.bases
            self.drop(part)
        self._insert(merged)
        return merged

    def renew(self) -> None:
        """Have all launches prepared anew, though pointers mean the same entries."""
        self._change()

    def _change(self) -> None:
        self._changing()
        self.version += 1

    def _insert(self, entry: Entry) -> None:
        self.own_version += not entry.borrowed
        position = bisect_left(self._starts, entry.start)
        self._starts.insert(position, entry.start)
        self._entries.insert(position, entry)
        if not entry.adopted:
            self._by_end[entry.end] = entry
        for base in entry.bases:
            self._remember(base, entry)

    def _remember(self, base: int, entry: Entry) -> None:
        if base not in self._by_base:
            self._change()
            insort(self._bases, base)
        self._by_base[base] = entry

    def drop(self, entry: Entry) -> None:
        """Remove *entry*, and free its buffer unless that is borrowed."""
        self._change()
        self.own_version += not entry.borrowed
        position = bisect_left(self._starts, entry.start)
        del self._starts[position], self._entries[position]
        if not entry.adopted:
            del self._by_end[entry.end]
        for base in entry.bases:
            del self._by_base[base], self._bases[bisect_left(self._bases, base)]
        shared = entry.origin is not None and any(other.buffer is entry.buffer for other in self._entries)
        if not entry.borrowed and not shared:
            self._device.free(entry.buffer)


def _gaps(entry: Entry, covered: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The stretches of *entry* that none of *covered* holds."""
    reached = entry.start
    for first, last in sorted(covered):
        if first > reached:
            yield reached, first
        reached = max(reached, last)


def _byte_range(
    address: int, start: int, end: int, unit: int, op: int, name: str, span: Span | None
) -> tuple[int, int]:
    """The host addresses of the range asked for, once the request makes sense."""
    if op <= 0 or op & ~(ALLOC | TO | FROM | FREE):
        help_ = "combine NOMP_ALLOC (1), NOMP_TO (2), NOMP_FROM (4) and NOMP_FREE (8)"
        raise error("N605", f"{op} is not a direction for an update of '{name}'", span, help=help_)
    if start > end or start < 0:
        help_ = "give the first element and the one after the last, counted from the pointer on: a[start, end]"
        raise error("N606", f"the range [{start}, {end}) of '{name}' ends before it starts", span, help=help_)
    low, high = address + start * unit, address + end * unit
    if unit < 0 or high > ADDRESS_END:
        help_ = "check the bounds for negative numbers: they are unsigned"
        message = f"the range [{start}, {end}) of '{name}' with elements of {unit} bytes leaves the address space"
        raise error("N606", message, span, help=help_)
    return low, high


def _unmapped(name: str, start: int, end: int, span: Span | None) -> Exception:
    message = "NOMP_FREE or NOMP_FROM can only be called on a pointer which is already on the device."
    help_ = f"map it first: #pragma nomp update(to : {name}[{start}, {end}])"
    return error("N604", f"'{name}[{start}, {end}]' is not mapped: {message}", span, help=help_)
