"""What is known while one region is translated: its source, its names, what it captures, and what was wrong.

`frontend.clang_regions` makes a `Context` for a region; the other ``clang_*`` modules read and fill it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from nomp.diagnostics import Diagnostic, NompError, Note, error
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor, SourceText
from nomp.frontend.clang_elements import Element
from nomp.region import NOWHERE, Call, Declare, Expr, Function, Load, Param, Place, Stmt, Var
from nomp.walks import Names, walk_expr

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


class Again(Exception):
    """Asks for another translation from the start: a loop counter must be a variable, and is now noted as one."""


@dataclass(slots=True)
class Callees:
    """The functions of the program that a region calls.

    *functions* are those translated so far, callees first; *calling* are the definitions being translated, outermost
    first.  *define* translates one more.
    """

    define: Callable[[Context, Cursor, Cursor], Function]
    functions: dict[Key, Function] = field(default_factory=dict)
    calling: list[Cursor] = field(default_factory=list)


@dataclass(slots=True)
class Context:
    """The state of the translation of one region, or of one function that it calls.

    *source* has the text at hand, which is another one than that of the region (*home*) in a function from a header.
    *params* are by what they stand for in the host program, *fields* the struct members behind some of them, *scalars*
    the paths of those that are only read.  *locals* has each variable declared in the region (None where its
    declaration was refused), *structs* are those that are structs, *aliases* has the pointers with what they point to,
    *spots* those to structs in arrays and *places* those to other structs, *values* the parameters of an inlined
    function with what they are given.  *records* are the pointers to structs that are used as arrays, *addressed* the
    variables whose address is taken, *unions* the arrays that share their memory in a union.

    *plain* are the counters that must be variables, which the header of their loop assigns; *counted* are the other
    counters that no header declares.  *counters* are the inames of the loops around the statement at hand.  *hoisted*
    takes statements to run before it; it is None where what is translated may be evaluated several times or not at all.
    *inline*, *store* and *literal* translate calls, assignments whose value is used and literals of arrays, with its
    help; *capture* makes a parameter of a path that the statements themselves do not spell.  *late* are such paths that
    turned out to be written.  *failed* says that something was refused, were it by an error without a message because
    an earlier one explains it.
    """

    source: SourceText
    home: SourceText
    callees: Callees
    jit: tuple[str, ...] = ()
    plain: set[Key] = field(default_factory=set)
    names: Names = field(default_factory=Names)
    params: dict[Key, Param] = field(default_factory=dict)
    locals: dict[Key, Local | None] = field(default_factory=dict)
    aliases: dict[Key, Element | Var] = field(default_factory=dict)
    spots: dict[Key, Any] = field(default_factory=dict)
    places: dict[Key, Any] = field(default_factory=dict)
    fields: dict[Key, Cursor] = field(default_factory=dict)
    scalars: dict[Key, Any] = field(default_factory=dict)
    structs: set[Key] = field(default_factory=set)
    values: dict[Key, Expr] = field(default_factory=dict)
    counted: set[Key] = field(default_factory=set)
    counters: dict[Key, Local] = field(default_factory=dict)
    written: set[Key] = field(default_factory=set)
    records: set[Key] = field(default_factory=set)
    addressed: set[Key] = field(default_factory=set)
    unions: set[Key] = field(default_factory=set)
    hoisted: list[Stmt] | None = None
    late: set[Key] = field(default_factory=set)
    capture: Callable[[Cursor, Any], None] | None = None
    inline: Callable[[Cursor, Cursor], Expr | None] | None = None
    store: Callable[[Cursor], Expr] | None = None
    literal: Callable[[Cursor], Element] | None = None
    diagnostics: list[Diagnostic] = field(default_factory=list)
    failed: bool = False

    def place(self, cursor: Cursor) -> Place:
        """Where *cursor* stands in the region's file; `NOWHERE` if it stands in another one."""
        return self.source.place(ast.begin(cursor), ast.end(cursor)) if self.source is self.home else NOWHERE

    def is_element(self, key: Key) -> bool:
        """Whether *key* is a member of what a pointer in `records` points to: an element like the others."""
        roots = (key[:n] for n in range(2, len(key)) if key[n] == "*")
        return any(root in self.records or root in self.spots for root in roots)

    def is_settled(self, expr: Expr) -> bool:
        """Whether *expr* keeps its value in an iteration of the loops around it: no data, no variable that changes."""
        fixed = {param.name for param in self.params.values() if param.kind == "scalar"}
        fixed |= {counter.name for counter in self.counters.values()}
        leaves = [part for part in walk_expr(expr) if isinstance(part, Var | Load | Call)]
        return all(isinstance(leaf, Var) and leaf.name in fixed for leaf in leaves)

    def settled(self, parts: Iterable[Expr], name: str, cursor: Cursor) -> tuple[tuple[Expr, ...], list[Stmt]]:
        """Each of *parts* as something that keeps its value, and the declarations, after *name*, that this takes."""
        found: list[Expr] = []
        declared: list[Stmt] = []
        for part in parts:
            kept = part if self.is_settled(part) else Var(self.names.unique(f"{name}_index"), part.dtype)
            if kept is not part and isinstance(kept, Var):
                declared.append(Declare(kept.name, kept.dtype, (), part, self.place(cursor)))
            found.append(kept)
        return tuple(found), declared

    def be_variable(self, key: Key) -> Again:
        """The exception to raise where the counter *key* turns out to need a variable."""
        self.plain.add(key)
        return Again()

    @contextmanager
    def repeated(self) -> Iterator[None]:
        """For expressions that are not evaluated exactly once: nothing can be computed before the statement."""
        outer, self.hoisted = self.hoisted, None
        try:
            yield
        finally:
            self.hoisted = outer

    @contextmanager
    def reading(self, source: SourceText, call: Cursor) -> Iterator[None]:
        """Translate text of *source*, the body of what *call* calls; what is refused there gets a note about it."""
        note = Note("called here", self.source.span(ast.begin(call), ast.end(call)))
        outer, self.source = self.source, source
        before, self.diagnostics = self.diagnostics, []
        try:
            with self.collecting():
                yield
        finally:
            self.source = outer
            self.diagnostics = before + [replace(d, notes=(*d.notes, note)) for d in self.diagnostics]

    def refusal(self, code: str, cursor: Cursor, message: str, advice: str) -> NompError:
        """The error that *cursor* cannot be translated, to be raised."""
        return error(code, message, self.source.span(ast.begin(cursor), ast.end(cursor)), help=advice)

    def is_refused(self, key: Key) -> bool:
        """Whether the variable of *key* was refused where it was declared or captured, which said why."""
        known: tuple[Container[Key], ...] = (self.counters, self.aliases, self.spots, self.places, self.values,
                                              self.structs)  # fmt: skip
        prefixes = [key[:n] for n in range(2, len(key) + 1)]
        if any(prefix in names for names in known for prefix in prefixes):
            return False
        return any(self.locals.get(prefix, key) is None for prefix in prefixes)

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Keep the errors of this block for later, so that one run shows all of them."""
        try:
            yield
        except NompError as problem:
            self.failed = True
            self.diagnostics += [found for found in problem.diagnostics if found not in self.diagnostics]
