"""What a launch consists of, found once for a situation: kept by `runtime.kernel` for others like it, read by
`runtime.replay`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nomp.arithmetic import Number
from nomp.runtime import aliasing
from nomp.runtime.memory import AddressMap, Entry
from nomp.runtime.program import Program, Ready

WORTH = 4
"""Runs that take Python about as long as to make a replay."""

Entries = tuple[Entry | None, ...]


class Situation(NamedTuple):
    """The bytes of the scalars that decide, the array pointers, the map entries that are found there, and those that
    end there."""

    decide: bytes
    pointers: tuple[int, ...]
    entries: Entries
    before: Entries

    @classmethod
    def of(cls, memory: AddressMap, decide: bytes, pointers: tuple[int, ...]) -> Situation:
        """That of a launch now."""
        return cls(decide, pointers, tuple(map(memory.find, pointers)), tuple(map(memory.ending, pointers)))

    @property
    def has_neighbours(self) -> bool:
        """Whether a pointer may mean what ends there; such entries share buffers."""
        return any(self.before)

    @property
    def key(self) -> tuple[Any, ...]:
        """The same for situations for which one plan will do, with the buffers of each."""
        if self.has_neighbours:
            return self
        return self.decide, self.pointers, tuple([entry and entry.place for entry in self.entries])


@dataclass(slots=True)
class Plan:
    """What to do for certain scalars, pointers and maps.

    *entries* are where the arrays are mapped.  *cells* are byte offsets from their parameters' addresses, *counters*
    the bytes to write at addresses by position, *tables* the positions of the constant tables that nobody has mapped.
    *sizes* are the values of the scalars that decide, once they have been asked for.  *used* is what the launches use
    of arrays, *apart* the last addresses for which no single variable was found to overlap with anything.  *launches*
    of *program* have the loose scalars' bytes *loose*.  *runs* counts those while the map has its *version*; *enough*
    of them, and it is left to C, which adds to *repeats*.
    """

    entries: Entries
    launches: tuple[Ready, ...] = ()
    program: Program | None = None
    loose: bytes = b""
    cells: tuple[int, ...] = ()
    counters: tuple[tuple[int, bytes], ...] = ()
    tables: tuple[int, ...] = ()
    used: tuple[aliasing.Used, ...] = ()
    apart: list[int] = field(default_factory=list)
    sizes: Mapping[str, Number] | None = None
    runs: int = 0
    version: int = 0
    enough: int = 2
    repeats: ctypes.c_long | None = None

    def enqueue(self) -> None:
        """Launch."""
        for launch in self.launches:
            launch.enqueue()

    def is_repeated(self, version: int) -> bool:
        """Count this run, while the map has *version*; whether there have been enough now.

        After a change of the map that is at once if it was worth it after the last one, and else after more runs.
        """
        if version != self.version:
            self.runs, self.version = 0, version
            if self.repeats is not None:
                self.enough = 1 if self.repeats.value >= WORTH else WORTH
        self.runs += 1
        return self.runs == self.enough
