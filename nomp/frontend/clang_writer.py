"""The state of a translation of statements, which the modules that translate them share.

`frontend.clang_statements` has the table of translators that a `Writer` uses; ``clang_control`` and ``clang_functions``
translate statements inside statements through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_context import Context
from nomp.frontend.clang_scope import Site
from nomp.region import Stmt

Statements = tuple[Stmt, ...]
Kind = Literal["annotated", "loop", "switch"]


@dataclass(slots=True)
class Writer:
    """Translates statements with *translate*.

    *around* are the loops and switches around the statement at hand, innermost last.  *result*: the type that the
    function returns whose body this is; None in a region itself.  *inlined*: the number of functions around the
    statement whose text stands in for their call.
    """

    ctx: Context
    site: Site
    translate: Callable[[Writer, Cursor], Statements]
    result: str | None = None
    around: list[Kind] = field(default_factory=list)
    inlined: int = 0

    def statement(self, cursor: Cursor) -> Statements:
        """The statement *cursor*; what was wrong with it goes to the context, and the rest is returned."""
        with self.ctx.collecting():
            return self.hoisting(lambda: self.translate(self, cursor))
        return ()

    def hoisting(self, translate: Callable[[], Statements]) -> Statements:
        """What *translate* returns, after what must be computed before it."""
        outer, self.ctx.hoisted = self.ctx.hoisted, []
        try:
            found = translate()
            return (*self.ctx.hoisted, *found)
        finally:
            self.ctx.hoisted = outer

    def block(self, cursors: list[Cursor]) -> Statements:
        """All of *cursors*, in order."""
        return tuple(stmt for cursor in cursors for stmt in self.statement(cursor))

    @contextmanager
    def inside(self, kind: Kind) -> Iterator[None]:
        """Translate the body of a loop or a switch."""
        self.around.append(kind)
        try:
            yield
        finally:
            self.around.pop()

    @property
    def annotated(self) -> bool:
        """Whether a loop that stands here is the annotated one, or an outermost one of a function of the C API."""
        return not self.around and self.result is None and not self.inlined

    def body(self, kind: Kind, cursor: Cursor) -> Statements:
        """The statement *cursor* as the body of a loop."""
        with self.inside(kind):
            return self.statement(cursor)
