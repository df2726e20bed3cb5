"""The ``#pragma nomp`` comments of a Python file, and the statements that they stand before.

In: a file's text and tree.  Out: `Site`s, in the order of the text.  Used by `frontend.python`.  Raises N1xx, N202 and
N204: a pragma is never dropped.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from nomp.diagnostics import Span, error
from nomp.frontend.python_source import FunctionNode, Text
from nomp.pragma import Pragma
from nomp.pragma import parse as parse_pragma

_PRAGMA = re.compile(r"#\s*pragma\s+(?=nomp\b)")


@dataclass(frozen=True, slots=True)
class Site:
    """A *pragma* in *line*, and where it stands: before statement *index* of *body*, in *function* (or a module)."""

    pragma: Pragma
    line: int
    body: list[ast.stmt]
    index: int
    function: FunctionNode | None


@dataclass(frozen=True, slots=True)
class _Block:
    body: list[ast.stmt]
    function: FunctionNode | None
    in_class: bool


def sites(text: Text, first: int = 1, last: int | None = None) -> tuple[Site, ...]:
    """The pragmas in lines *first* to *last* of *text*."""
    if "nomp" not in text.text:
        return ()
    lines = text.text.splitlines(keepends=True)
    found = []
    blocks = list(_blocks(text.tree.body, None, False))
    for row, column in _comments(text, lines):
        if first <= row <= (last or row):
            found.append(_site(text, lines, blocks, row, column))
    _refuse_nested(text.file, found)
    return tuple(found)


def _comments(text: Text, lines: list[str]) -> Iterator[tuple[int, int]]:
    """Line (from 1) and column (from 0) of each comment that is a pragma."""
    for token in tokenize.generate_tokens(io.StringIO(text.text).readline):
        if token.type == tokenize.COMMENT and _PRAGMA.match(token.string):
            row, column = token.start
            if token.line[:column].strip():
                span = Span(text.file, row, column + 1, len(token.string))
                raise error("N204", "a pragma after other text in its line", span, help="give it a line of its own")
            yield row, column


def _site(text: Text, lines: list[str], blocks: list[_Block], row: int, column: int) -> Site:
    found = _PRAGMA.match(lines[row - 1], column)
    assert found is not None
    pragma = parse_pragma(_joined(text, lines, row, found.end()), text.file, row, found.end() + 1)
    block, index = _place(text, blocks, row, column, pragma)
    if block.in_class and pragma.directive == "for":
        raise error("N204", "a loop in the body of a class", pragma.span, help="put it into a function")
    following = block.body[index] if index < len(block.body) else None
    if pragma.directive == "for" and not isinstance(following, ast.For):
        what = "the block ends" if following is None else f"there is '{_first_words(following)}'"
        message = f"'nomp for' needs a 'for' loop after it, but {what}"
        raise error("N202", message, pragma.span, help="put the pragma in the line before the loop")
    return Site(pragma, row, block.body, index, block.function)


def _first_words(stmt: ast.stmt) -> str:
    return ast.unparse(stmt).splitlines()[0]


def _joined(text: Text, lines: list[str], row: int, start: int) -> str:
    """The pragma's text from *start* on; lines that end in a backslash go on in the next comment."""
    parts = [lines[row - 1][start:].rstrip("\r\n")]
    while parts[-1].rstrip().endswith("\\"):
        row += 1
        following = lines[row - 1].rstrip("\r\n") if row <= len(lines) else ""
        if not following.lstrip().startswith("#"):
            advice = "begin the next line with '#', or remove the backslash"
            raise error("N101", "this pragma goes on, but no comment follows", Span(text.file, row - 1), help=advice)
        parts.append(following.replace("#", " ", 1))
    return "\n".join(parts)


def _place(text: Text, blocks: list[_Block], row: int, column: int, pragma: Pragma) -> tuple[_Block, int]:
    """The block to which a comment in line *row* belongs, by its indentation, and the place in it."""
    starts = [(_begin(stmt), block, index) for block in blocks for index, stmt in enumerate(block.body)]
    later = [start for start in starts if start[0] > row]
    nearest = min(later, key=lambda start: start[0], default=None)
    if nearest is not None and nearest[1].body[nearest[2]].col_offset == column:
        return nearest[1], nearest[2]
    for block in blocks:
        before = [i for i, stmt in enumerate(block.body) if _begin(stmt) < row]
        if block.body[0].col_offset == column and before and not any(_begin(stmt) > row for stmt in block.body):
            last = block.body[before[-1]]
            inside = [start for start, *_ in starts if start < row and start > (last.end_lineno or 0)]
            if (last.end_lineno or 0) < row and not inside:
                return block, before[-1] + 1
    message = "the indentation of this pragma is that of no block here"
    raise error("N204", message, pragma.span, help="indent it like the statements around it")


def _begin(stmt: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
    return min([stmt.lineno, *(decorator.lineno for decorator in decorators)])


def _blocks(body: list[ast.stmt], function: FunctionNode | None, in_class: bool) -> Iterator[_Block]:
    if body:
        yield _Block(body, function, in_class)
    for stmt in body:
        inner = stmt if isinstance(stmt, FunctionNode) else function
        within = isinstance(stmt, ast.ClassDef) or (in_class and not isinstance(stmt, FunctionNode))
        for part in _parts(stmt):
            yield from _blocks(part, inner, within)


def _parts(stmt: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statement lists in *stmt*."""
    for name in ("body", "orelse", "finalbody"):
        yield getattr(stmt, name, [])
    for inner in (*getattr(stmt, "handlers", []), *getattr(stmt, "cases", [])):
        yield inner.body


def _refuse_nested(file: str, found: list[Site]) -> None:
    loops = [site.body[site.index] for site in found if site.pragma.directive == "for"]
    for site in found:
        if any(loop.lineno < site.line <= (loop.end_lineno or 0) for loop in loops):
            advice = "annotate the outer loop only; a transform script decides about the inner ones"
            raise error("N204", "a pragma inside an annotated loop", site.pragma.span, help=advice)
