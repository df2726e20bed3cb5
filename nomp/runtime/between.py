"""Which mapped array a pointer means that stands where one ends and another one begins.

In: a launch's scalars, pointers and map entries.  Out: the entry behind each pointer.  Called by `runtime.kernel` when
it plans a launch.

``e = v + 4; e[k[i]] += 1`` reaches ``v[0..4)`` if all ``k[i]`` are negative and whatever lies behind ``v`` if none is;
C does not let one pointer reach both.  Where scalars and counters do not tell, the integers that the subscripts are
made of are looked at on the device.  That settles it even if the loop writes through the very pointer: its first access
is by the values looked at, and must not lie on the other side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nomp.arithmetic import SIZES, Number, is_float
from nomp.backend import Device
from nomp.diagnostics import error
from nomp.region import Binary, Load, Param, Region
from nomp.runtime.memory import Entry
from nomp.runtime.ranges import Interval, counters, interval, nothing_wraps
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


def settled(
    region: Region, scalars: Mapping[str, Number], pointers: Sequence[Pointer], device: Device
) -> tuple[tuple[Entry | None, ...], bool]:
    """The entry that each of *pointers* means, and whether data had to decide.  Raises N618 where they do not tell.

    An array that is not mapped stays so, unless it is shown that all accesses lie before it.
    """
    meant = {p.param.name: p.entry for p in pointers}
    unclear = []
    for pointer in pointers:
        side = _side(region, pointer.param, scalars, {}) if pointer.is_open else 1
        if side is None:
            unclear.append(pointer)
        elif side < 0:
            meant[pointer.param.name] = pointer.before
    for pointer in unclear:
        side = _side(region, pointer.param, scalars, dict(_data(pointer, unclear, pointers, meant, device)))
        if side is None and pointer.entry is not None:
            raise _undecided(region, pointer.param)
        if side is not None and side < 0:
            meant[pointer.param.name] = pointer.before
    return tuple(meant[pointer.param.name] for pointer in pointers), bool(unclear)


def _side(
    region: Region, param: Param, scalars: Mapping[str, Number], data: Mapping[str, Interval]
) -> int | None:
    """-1 if all accesses to *param* lie before its element 0, 1 if none does, None if that is not known."""
    known = counters(region, scalars, data) if nothing_wraps(region, scalars, data) else {}
    found = [_element(load, param, known) for stmt in walk(region.body) for load in loads(stmt)
             if load.array == param.name]  # fmt: skip
    inside = [where for where in found if where is not None]
    if len(inside) < len(found) or not found:
        return None
    low, high = min(low for low, _ in inside), max(high for _, high in inside)
    return 1 if low >= 0 else -1 if high < 0 else None


def _element(load: Load, param: Param, known: Mapping[str, Interval]) -> Interval | None:
    """The elements that *load* may be, counted from the array's first, rows one after the other."""
    flat = load.index[0]
    for subscript, extent in zip(load.index[1:], param.shape[1:], strict=True):
        if extent is None:
            return None
        flat = Binary("+", Binary("*", flat, extent, "int64"), subscript, "int64")
    return interval(flat, known)


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
        first = (other.address - entry.start) % SIZES[param.dtype]
        count = (entry.end - entry.start - first) // SIZES[param.dtype]
        held = np.empty(count, param.dtype)
        if count:
            device.copy_from(entry.buffer, first, held.ctypes.data, held.nbytes)
            yield param.name, (int(held.min()), int(held.max()))


def _undecided(region: Region, param: Param) -> Exception:
    name = param.variable or param.name
    message = f"'{name}' of kernel '{region.name}' points to where one mapped array ends and another one begins"
    step = f"index the array that is meant, or leave an element free between the two: it is not seen which '{name}' is"
    return error("N618", message, region.span(param.place), help=step)
