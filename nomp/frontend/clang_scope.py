"""Where things are in a translation unit: the function around a pragma, the statement after it, the names it can see.

Called by `frontend.clang` for each pragma and by the modules that capture variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from clang.cindex import CursorKind

from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor, SourceText, Unit
from nomp.frontend.clang_context import Key
from nomp.frontend.clang_paths import path_of

_DECLARATIONS = (CursorKind.VAR_DECL, CursorKind.PARM_DECL)
_BLOCKS = (CursorKind.COMPOUND_STMT, CursorKind.NULL_STMT)
_BLANK = re.compile(rb"(?:\s|\\\r?\n|//(?:\\\r?\n|[^\n])*|/\*.*?\*/)*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a function: its byte *offset*, and the cursors around it, *function* first, innermost last."""

    source: SourceText
    unit: Unit
    function: Cursor
    around: tuple[Cursor, ...]
    offset: int

    def following(self) -> Cursor | None:
        """The first statement after this place in the block around it."""
        for child in ast.children(self.around[-1]):
            if ast.begin(child) >= self.offset and ast.within(child, self.source):
                return child
        return None

    def addressed(self) -> frozenset[Key]:
        """The variables whose address, or that of a member, is taken in the function."""
        known = self.unit.addressed
        if self.function.hash not in known:
            known[self.function.hash] = frozenset(_addressed(self.function))
        return known[self.function.hash]

    def visible(self) -> dict[str, Cursor]:
        """The variables that can be named here; inner declarations hide outer ones."""
        found = {cursor.spelling: cursor for cursor in self.unit.variables}
        found |= {parameter.spelling: parameter for parameter in self.function.get_arguments()}
        for block in self.around[1:]:
            for child in ast.children(block):
                if child.kind == CursorKind.DECL_STMT and ast.begin(child) < self.offset:
                    found |= {declared.spelling: declared for declared in ast.children(child)}
        return {name: cursor for name, cursor in found.items() if cursor.kind in _DECLARATIONS}


def _addressed(function: Cursor) -> Iterator[Key]:
    for cursor in ast.walk(function):
        if cursor.kind == CursorKind.UNARY_OPERATOR and ast.operator(cursor) == "&":
            path = path_of(ast.children(cursor)[0])
            if path and "*" not in path.key:
                yield path.key[:2]


def sites(unit: Unit, source: SourceText, begin: int, end: int) -> list[Site]:
    """The place between *begin* and *end* (a pragma) of *source*, in each function that has this text.

    None outside functions, more than one if the program includes the text more than once.
    """
    return [
        Site(source, unit, function.cursor, tuple(_around(source, function.cursor, begin)), end)
        for function in unit.functions
        if function.source is source and function.begin < begin < function.end
    ]


def _around(source: SourceText, cursor: Cursor, offset: int) -> Iterator[Cursor]:
    yield cursor
    for child in ast.children(cursor):
        if ast.begin(child) < offset < ast.end(child) and ast.within(child, source):
            yield from _around(source, child, offset)
            return


def only_blank(source: SourceText, begin: int, end: int) -> bool:
    """Whether nothing but blanks and comments stands between two offsets."""
    return bool(_BLANK.fullmatch(source.data, begin, end))


def statement_end(site: Site, statement: Cursor) -> int:
    """The offset just after *statement*, its semicolon included (libclang leaves that of an expression out)."""
    source, end, last = site.source, ast.end(statement), statement
    while last.kind in (CursorKind.FOR_STMT, CursorKind.WHILE_STMT, CursorKind.IF_STMT, CursorKind.LABEL_STMT):
        last = ast.children(last)[-1]
    if last.kind in _BLOCKS and source.data[end - 1 : end] in (b"}", b";"):
        return end
    # Where the last token is an argument of a macro, libclang's end is where the macro's use begins.
    ends = [use.end for use in site.unit.expansions if use.source is source and use.begin == end]
    end = max([end, *ends])
    blank = _BLANK.match(source.data, end)
    after = blank.end() if blank else end
    return after + 1 if source.data[after : after + 1] == b";" else end  # else the semicolon is a macro's
