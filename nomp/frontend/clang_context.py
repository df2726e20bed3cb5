"""What is known while one region is translated: its source, its names, what it captures, and what was wrong.

`frontend.clang_regions` makes a `Context` for a region; the other ``clang_*`` modules read and fill it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from nomp.diagnostics import Diagnostic, NompError, error
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor, SourceText
from nomp.frontend.clang_elements import Element
from nomp.region import Expr, Param, Place

Key = tuple[Any, ...]  # a variable (`clang_ast.key`), followed by the members on the way to what is meant


DEEPEST = 120  # levels of nesting that all later stages, which are recursive, can handle


def position(problem: Diagnostic) -> tuple[str, int, int]:
    """Where *problem* stands, to sort by."""
    span = problem.span
    return (span.file, span.line, span.column) if span else ("", 0, 0)


@dataclass(frozen=True, slots=True)
class Local:
    """A variable that the region declares: a scalar (*shape* is empty) or an array."""

    name: str
    dtype: str
    shape: tuple[Expr, ...] = ()


@dataclass(slots=True)
class Names:
    """Hands out the names of one region, each of them once."""

    taken: set[str] = field(default_factory=set)

    def unique(self, name: str) -> str:
        """*name*, with ``_`` appended until it is free; from now on it is taken."""
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


@dataclass(slots=True)
class Context:
    """The state of one region's translation.

    *params* are by what they stand for in the host program; *locals* has each variable declared in the region (None
    where its declaration was refused), *aliases* the pointers among them with what they point to; *counters* are the
    inames of the loops around the statement at hand.  *failed* says that something was refused, were it by an error
    without a message because an earlier one explains it.
    """

    source: SourceText
    jit: tuple[str, ...] = ()
    names: Names = field(default_factory=Names)
    params: dict[Key, Param] = field(default_factory=dict)
    locals: dict[Key, Local | None] = field(default_factory=dict)
    aliases: dict[Key, Element] = field(default_factory=dict)
    counters: dict[Key, Local] = field(default_factory=dict)
    written: set[Key] = field(default_factory=set)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    failed: bool = False

    def place(self, cursor: Cursor) -> Place:
        """Where *cursor* stands."""
        return self.source.place(ast.begin(cursor), ast.end(cursor))

    def refusal(self, code: str, cursor: Cursor, message: str, advice: str) -> NompError:
        """The error that *cursor* cannot be translated, to be raised."""
        return error(code, message, self.source.span(ast.begin(cursor), ast.end(cursor)), help=advice)

    def is_refused(self, key: Key) -> bool:
        """Whether the variable of *key* was refused where it was declared or captured, which said why."""
        known = key in self.counters or key in self.aliases
        return not known and any(self.locals.get(key[:n], key) is None for n in range(2, len(key) + 1))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep the errors of this block for later, so that one run shows all of them."""
        try:
            yield
        except NompError as problem:
            self.failed = True
            self.diagnostics += [found for found in problem.diagnostics if found not in self.diagnostics]
