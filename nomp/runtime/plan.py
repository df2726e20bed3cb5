"""What a launch consists of, found once: kept by `runtime.kernel` for others like it, read by `runtime.replay`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nomp.arithmetic import Number
from nomp.runtime import aliasing
from nomp.runtime.memory import Entry
from nomp.runtime.program import Program, Ready

ONCE_MORE = 32
"""Runs after which a plan is left to C again that has come back to Python: they take as long as to make a replay."""


@dataclass(slots=True)
class Plan:
    """What to do for certain scalars, pointers and maps.

    *entries* are where the arrays are mapped.  *cells* are byte offsets from their parameters' addresses, *counters*
    the bytes to write at addresses by position, *tables* the positions of the constant tables that nobody has mapped.
    *sizes* are the values of the scalars that decide, once they have been asked for.  *used* is what the launches use
    of arrays, *apart* the last addresses for which no single variable was found to overlap with anything.  *launches*
    of *program* have the loose scalars' bytes *loose*.  *runs* counts those while the map has its *version*; *enough*
    of them, and it is left to C.
    """

    entries: tuple[Entry | None, ...]
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

    def enqueue(self) -> None:
        """Launch."""
        for launch in self.launches:
            launch.enqueue()

    def is_repeated(self, version: int) -> bool:
        """Count this run, while the map has *version*; whether there have been enough now."""
        self.runs, self.version = self.runs + 1 if version == self.version else 1, version
        if again := self.runs == self.enough:
            self.enough = ONCE_MORE
        return again
