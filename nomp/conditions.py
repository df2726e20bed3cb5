"""Conditions on integers that can be decided, and kept, without isl.

In: the values of names.  Out: whether a `Condition` holds.  `decided` makes them of isl's sets, for the records of
kernels (`device_source`), which `runtime.guard` asks before each launch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nomp.arithmetic import Number

Row = tuple[int, ...]
"""A sum: a constant, then the factors of the names, then those of the quotients before it; what is left out is 0."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Where the sums *zero* are 0 and the sums *least* at least 0; each of *quotients* is a sum, divided by a number.

    Quotients are rounded down.
    """

    quotients: tuple[tuple[Row, int], ...] = ()
    zero: tuple[Row, ...] = ()
    least: tuple[Row, ...] = ()

    def holds(self, values: Iterable[int]) -> bool:
        """Whether *values* of the names, in their order, are in this piece."""
        known = [1, *values]
        for row, divisor in self.quotients:
            known.append(_sum(row, known) // divisor)
        return all(_sum(row, known) == 0 for row in self.zero) and all(_sum(row, known) >= 0 for row in self.least)


@dataclass(frozen=True, slots=True)
class Condition:
    """Holds for values of *names* that are in one of the *pieces*."""

    names: tuple[str, ...]
    pieces: tuple[Piece, ...]

    def holds(self, scalars: Mapping[str, Number]) -> bool:
        """Whether it does for the values that *scalars* has of the names."""
        values = [int(scalars[name]) for name in self.names]
        return any(piece.holds(values) for piece in self.pieces)


def _sum(row: Row, known: list[int]) -> int:
    return sum(factor * value for factor, value in zip(row, known, strict=False))
