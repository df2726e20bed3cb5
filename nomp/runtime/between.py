"""Which mapped array a pointer means that stands where one ends and another one begins.

In: a launch's scalars, pointers and map entries.  Out: the entry behind each pointer.  Called by `runtime.kernel` when
it plans a launch.

``e = v + 4; e[i - 4] += 1`` reaches ``v[0..4)`` if ``i`` is below 4 and whatever lies behind ``v`` if not; C does not
let one pointer reach both.  Where scalars and counters do not tell which it is, the two arrays get one buffer.  Where
nothing is mapped behind ``v``, the integers that the subscripts are made of are looked at on the device: all must be
seen to lie in ``v``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nomp.arithmetic import SIZES, Number, evaluate, is_float, is_launch_expr
from nomp.backend import Device
from nomp.loops import trip_count
from nomp.region import For, Load, Param, Region
from nomp.runtime.aliasing import element
from nomp.runtime.bounds import certain
from nomp.runtime.extremes import extremes, known
from nomp.runtime.memory import AddressMap, Entry
from nomp.runtime.ranges import Interval
from nomp.walks import loads, walk


@dataclass(frozen=True, slots=True)
class Pointer:
    """An array parameter at a launch: its *address*, the *entry* found there, and the one that ends *before* it."""

    param: Param
    address: int
    entry: Entry | None
    before: Entry | None

    @property
    def is_open(self) -> bool:
        """Whether the pointer may mean *before*: an array of the program begins at its own address."""
        used = self.param.reads or self.param.writes
        return used and self.before is not None and self.param.shape[0] is None


def share(region: Region, scalars: Mapping[str, Number], pointers: Sequence[Pointer], memory: AddressMap) -> bool:
    """Have arrays share a buffer between which one of *pointers* stands, so that it may mean either.

    True: the map's entries are not those of *pointers* any more.
    """
    apart = False
    for pointer in _unclear(region, scalars, pointers):
        before, entry = memory.ending(pointer.address), memory.find(pointer.address)
        if before is not None and entry is not None and before.buffer is not entry.buffer:
            memory.share(before, entry)
            apart = True
    return apart


def settled(
    region: Region, scalars: Mapping[str, Number], pointers: Sequence[Pointer], device: Device
) -> tuple[tuple[Entry | None, ...], bool]:
    """The entry that each of *pointers* means, and whether data had to decide.

    For those that may mean either of two arrays it is one for both.  An array that is not mapped stays so, unless it is
    shown that all accesses lie before it.
    """
    unclear = _unclear(region, scalars, pointers)
    meant = {p.param.name: p.entry for p in pointers}
    for pointer in pointers:
        if pointer.is_open and pointer not in unclear and _side(region, pointer.param, scalars, {}) == -1:
            meant[pointer.param.name] = pointer.before
    unmapped = [pointer for pointer in unclear if pointer.entry is None]
    for pointer in unmapped:
        data = dict(_data(pointer, unmapped, pointers, meant, device))
        if _side(region, pointer.param, scalars, data) == -1:
            meant[pointer.param.name] = pointer.before
    wholes = _wholes(p for p in unclear if p.entry is not None)
    found = [meant[pointer.param.name] for pointer in pointers]
    return tuple(entry and _seen_as(entry, wholes) for entry in found), bool(unmapped)


def _unclear(region: Region, scalars: Mapping[str, Number], pointers: Sequence[Pointer]) -> list[Pointer]:
    """The pointers of which scalars and counters do not tell which array they mean."""
    return [p for p in pointers if p.is_open and _side(region, p.param, scalars, {}) is None]


def _wholes(pointers: Iterable[Pointer]) -> list[Entry]:
    """For each buffer, an entry for all that *pointers* may mean."""
    found: list[Entry] = []
    for pointer in pointers:
        for part in (pointer.before, pointer.entry):
            assert part is not None, "it stands between two"
            whole = next((whole for whole in found if whole.buffer is part.buffer), None)
            if whole is None:
                found.append(whole := Entry(part.start, part.end, part.buffer, origin=part.origin))
            whole.start, whole.end = min(whole.start, part.start), max(whole.end, part.end)
    return found


def _seen_as(entry: Entry, wholes: Sequence[Entry]) -> Entry:
    """*entry*, or the one of *wholes* that it is a part of."""
    around = (w for w in wholes if w.buffer is entry.buffer and w.start <= entry.start and entry.end <= w.end)
    return next(around, entry)


def _side(
    region: Region, param: Param, scalars: Mapping[str, Number], data: Mapping[str, Interval]
) -> int | None:
    """-1 if all accesses to *param* lie before its element 0, 1 if none does, None if that is not known.

    They lie where one of them does that is certain to happen, else where all do of which it is known.
    """
    ranges = known(region, scalars, data)

    def side(load: Load) -> int | None:
        low, high = extremes(element(load, param), ranges)
        return 1 if low >= 0 else -1 if high < 0 else None

    always = ((load, loops) for load, _, loops in certain(region.body, ()) if load.array == param.name)
    sure = [load for load, loops in always if _all_run(loops, scalars)]
    if decided := {side(load) for load in sure} - {None}:
        return decided.pop()
    sides = {side(load) for stmt in walk(region.body) for load in loads(stmt) if load.array == param.name} - {None}
    return sides.pop() if len(sides) == 1 else None


def _all_run(loops: tuple[For, ...], scalars: Mapping[str, Number]) -> bool:
    """Whether each of *loops* certainly has iterations."""
    counts = [trip_count(loop) for loop in loops]
    return all(is_launch_expr(count, set(scalars)) and evaluate(count, scalars) > 0 for count in counts)


def _data(
    pointer: Pointer, unclear: Sequence[Pointer], pointers: Sequence[Pointer], meant: Mapping[str, Entry | None],
    device: Device,
) -> Iterator[tuple[str, Interval]]:  # fmt: skip
    """Where the elements lie of the arrays of integers that only *pointer* may change while the loop runs."""
    others = [p for p in pointers if p.param.writes and p is not pointer]
    changed = {id(meant[p.param.name]) for p in others} | {id(p.before) for p in others if p in unclear}
    for other in pointers:
        entry, param = meant[other.param.name], other.param
        if is_float(param.dtype) or param.writes or other in unclear or entry is None or id(entry) in changed:
            continue
        import numpy as np  # this is seldom needed

        first = (other.address - entry.start) % SIZES[param.dtype]
        count = (entry.end - entry.start - first) // SIZES[param.dtype]
        held = np.empty(count, param.dtype)
        if count:
            device.copy_from(entry.buffer, entry.offset(entry.start) + first, held.ctypes.data, held.nbytes)
            yield param.name, (int(held.min()), int(held.max()))
