"""What the scalars of a launch decide on, whatever the arrays' pointers are: found once for programs that launch a
kernel again and again with arrays that they have just allocated.

In: a region, once; then its scalars' bytes and values.  Out: `Decided`.  Made by `runtime.kernel`.  Errors: N617 for
the counter of an annotated loop that wraps around; ZeroDivisionError for bounds that divide by zero.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nomp.arithmetic import Number, convert, evaluate, is_launch_expr
from nomp.backend import TYPE_CODES
from nomp.diagnostics import error
from nomp.loops import trip_count
from nomp.region import For, Param, Region
from nomp.runtime import aliasing, bounds, ranges
from nomp.runtime.cells import Cell
from nomp.runtime.program import Program

MOST = 16
"""For how many values of the scalars that is kept; the oldest goes."""


@dataclass(frozen=True, slots=True)
class Decided:
    """*cells* are byte offsets from the cells' addresses, *counters* the bytes to write at addresses by position.

    *idle*: no loop of the region runs at all, and the rest says nothing.  *exact*: no subscript or counter wraps
    around.  *accessed* are the first and last elements of arrays that are sure to be accessed, *reach* is what may be.
    *values* are those of programs' arguments that do not depend on loose scalars or on pointers.
    """

    cells: tuple[int, ...]
    counters: tuple[tuple[int, bytes], ...]
    idle: bool = True
    exact: bool = True
    accessed: Mapping[str, bounds.Elements] = field(default_factory=dict)
    reach: Mapping[str, aliasing.Reach] = field(default_factory=dict)
    values: dict[Program, Mapping[str, Number]] = field(default_factory=dict)


class Decisions:
    """Those of *region*, whose *cells* and *counters* (with their positions) the host reads after a launch."""

    def __init__(self, region: Region, cells: Sequence[Cell], counters: Sequence[tuple[int, Param]]) -> None:
        self._region, self._cells, self._counters = region, cells, counters
        self._accesses = bounds.accesses(region)
        trips = [trip_count(stmt) for stmt in region.body if isinstance(stmt, For)]
        known = len(trips) == len(region.body) and all(is_launch_expr(count, region.scalars) for count in trips)
        self._trips = trips if known else None
        self.needs_ranges = ranges.needs_ranges(region)
        self._found: dict[bytes, Decided] = {}

    def of(self, deciding: bytes, scalars: Mapping[str, Number]) -> Decided:
        """That of a launch whose *scalars* have the bytes *deciding*."""
        found = self._found.get(deciding)
        if found is None:
            found = self._decide(scalars)
            if len(self._found) >= MOST:
                del self._found[next(iter(self._found))]
            self._found[deciding] = found
        return found

    def forget(self) -> None:
        """Decide anew: programs are released."""
        self._found.clear()

    def check(self, decided: Decided, scalars: Mapping[str, Number], mapped: Mapping[str, bounds.Elements]) -> None:
        """Raises N616 if the launch accesses an element of an array outside of what *mapped* says of it."""
        bounds.check(self._region, self._accesses, scalars, decided.accessed, mapped)

    def _decide(self, scalars: Mapping[str, Number]) -> Decided:
        region = self._region
        cells, counters = tuple(cell.offset(scalars) for cell in self._cells), tuple(self._final_counters(scalars))
        self._check_header(scalars)
        if self._trips is not None and all(evaluate(count, scalars) <= 0 for count in self._trips):
            return Decided(cells, counters)
        exact = not self.needs_ranges or ranges.nothing_wraps(region, scalars)
        known = ranges.counters(region, scalars) if exact else {}
        accessed, reach = bounds.accessed(self._accesses, scalars), aliasing.reaches(region, known)
        return Decided(cells, counters, False, exact, accessed, reach)

    def _final_counters(self, scalars: Mapping[str, Number]) -> Iterator[tuple[int, bytes]]:
        final = ranges.final_counters(self._region, scalars) if self._counters else {}
        for position, param in self._counters:
            if param.name in final:
                yield position, in_memory(final[param.name], param.dtype)

    def _check_header(self, scalars: Mapping[str, Number]) -> None:
        loop = ranges.wrapping(self._region, scalars)
        if loop is not None:
            message = f"the counter of loop '{loop.iname}' leaves its type '{loop.dtype}' before it passes the bound"
            step = f"use a wider or a signed counter, or check the step before; the values are {listed(scalars)}"
            raise error("N617", message, self._region.span(self._region.place), help=step)


def in_memory(value: Number, dtype: str) -> bytes:
    """*value* in memory as *dtype*: what tells 0.0 from -0.0."""
    return struct.pack(f"={TYPE_CODES[dtype]}", convert(value, dtype))


def listed(scalars: Mapping[str, Number]) -> str:
    """*scalars* as a message tells them."""
    return ", ".join(f"{name} = {value}" for name, value in scalars.items()) or "none"
