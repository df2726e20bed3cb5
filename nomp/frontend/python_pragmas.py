"""The ``#pragma nomp`` comments of a Python file, and the statements that they stand before.

In: a file's text and tree.  Out: `Site`s, in the order of the text.  Used by `frontend.python`.  Raises N1xx, N202 and
N204: a pragma is never dropped.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from nomp.diagnostics import Span, error
from nomp.frontend.python_source import FunctionNode, Text, first_line
from nomp.pragma import Pragma
from nomp.pragma import parse as parse_pragma

PRAGMA = re.compile(r"#[ \t\f]*pragma[ \t\f]+(?=nomp\b)")
"""How the comments begin."""


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


_Start = tuple[int, _Block, int]
"""The line in which a statement begins, and its place."""


def sites(text: Text, tree: ast.Module, first: int = 1, last: int | None = None) -> tuple[Site, ...]:
    """The pragmas in lines *first* to *last* of *text*, before statements of *tree*, which has the functions there."""
    places = [(row, column) for row, column in _comments(text) if first <= row <= (last or row)]
    if not places:
        return ()
    blocks = list(_blocks(tree.body, None, False))
    starts = [(first_line(stmt), block, index) for block in blocks for index, stmt in enumerate(block.body)]
    starts.sort(key=_row)
    found = [_site(text, blocks, starts, row, column) for row, column in places]
    _refuse_nested(text.file, found)
    return tuple(found)


@lru_cache(maxsize=64)
def _comments(text: Text) -> tuple[tuple[int, int], ...]:
    """Line (from 1) and column (from 0) of each comment that is a pragma."""
    if not PRAGMA.search(text.text):
        return ()
    tokens = tokenize.generate_tokens(io.StringIO(text.text).readline)
    return tuple(token.start for token in tokens if token.type == tokenize.COMMENT and PRAGMA.match(token.string))


def _site(text: Text, blocks: list[_Block], starts: list[_Start], row: int, column: int) -> Site:
    line = text.lines[row - 1]
    found = PRAGMA.match(line, column)
    assert found is not None
    if line[:column].strip():
        span = Span(text.file, row, column + 1, len(line.rstrip()) - column)
        raise error("N204", "a pragma after other text in its line", span, help="give it a line of its own")
    pragma = parse_pragma(_joined(text, row, found.end()), text.file, row, found.end() + 1)
    block, index = _place(blocks, starts, row, column, pragma)
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


def _joined(text: Text, row: int, start: int) -> str:
    """The pragma's text from *start* on; lines that end in a backslash go on in the next comment."""
    parts = [text.lines[row - 1][start:].rstrip("\r\n")]
    while parts[-1].rstrip().endswith("\\"):
        row += 1
        following = text.lines[row - 1].rstrip("\r\n") if row <= len(text.lines) else ""
        if not following.lstrip().startswith("#"):
            advice = "begin the next line with '#', or remove the backslash"
            raise error("N101", "this pragma goes on, but no comment follows", Span(text.file, row - 1), help=advice)
        parts.append(following.replace("#", " ", 1))
    return "\n".join(parts)


def _row(start: _Start) -> int:
    return start[0]


def _place(blocks: list[_Block], starts: list[_Start], row: int, column: int, pragma: Pragma) -> tuple[_Block, int]:
    """The block to which a comment in line *row* belongs, by its indentation, and the place in it."""
    after = bisect_right(starts, row, key=_row)
    if after < len(starts):
        _, block, index = starts[after]
        if block.body[index].col_offset == column:
            return block, index
    for block in (block for block in blocks if block.body[0].col_offset == column):
        before = [i for i, stmt in enumerate(block.body) if first_line(stmt) < row]
        if before and not any(first_line(stmt) > row for stmt in block.body):
            end = block.body[before[-1]].end_lineno or 0
            if end < row and not any(end < start < row for start, *_ in starts):
                return block, before[-1] + 1
    message = "the indentation of this pragma is that of no block here"
    raise error("N204", message, pragma.span, help="indent it like the statements around it")


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
