"""Initialisers of variables that a region declares.

In: an initialiser's cursor.  Out: values and assignments.  Called by `frontend.clang_statements` and ``clang_structs``.
Raises N220.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, product
from math import prod

from clang.cindex import CursorKind, TypeKind

from nomp.arithmetic import cast, convert
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_context import Context, Local
from nomp.frontend.clang_elements import Element
from nomp.frontend.clang_expressions import value
from nomp.frontend.clang_types import layout_of
from nomp.region import Assign, Const, Declare, Expr, Load, Stmt


def initial(ctx: Context, first: Cursor, dtype: str) -> Expr:
    """The value that *first*, which may have braces around it, gives a scalar of *dtype*."""
    inner = ast.children(first) if first.kind == CursorKind.INIT_LIST_EXPR else [first]
    return cast(value(ctx, inner[0]), dtype)


MOST = 4096
"""How many elements are set one by one: each becomes a statement of the kernel."""


def refuse_many(ctx: Context, cursor: Cursor, count: int) -> None:
    """Raise N220 if *cursor* sets more than `MOST` elements."""
    if count > MOST:
        advice = "set them in a loop"
        raise ctx.refusal("N220", cursor, f"{count} elements are too many to set one by one", advice)


def fill(ctx: Context, local: Local, first: Cursor) -> Iterator[Stmt]:
    """The initialiser list or string *first* of an array as assignments; what it leaves out is zero."""
    if first.kind != CursorKind.INIT_LIST_EXPR and not _is_text(first):
        advice = "assign the elements one by one"
        raise ctx.refusal("N220", first, "this initialiser cannot be used in a kernel", advice)
    shape = [int(extent.value) for extent in local.shape if isinstance(extent, Const)]
    refuse_many(ctx, first, prod(shape))
    given = dict(row(ctx, first, 0, shape))
    for position, index in enumerate(product(*map(range, shape))):
        target = Load(local.name, tuple(Const(i, "int64") for i in index), local.dtype, ctx.place(first))
        yield Assign(target, cast(given.get(position, Const(0, "int32")), local.dtype), ctx.place(first))


def literal(ctx: Context, cursor: Cursor) -> Element:
    """The array that the string or compound literal *cursor* is, filled before the statement at hand."""
    layout = layout_of(cursor.type)
    shape = tuple(Const(extent, "int64") for extent in layout.extents if isinstance(extent, int))
    if layout.dtype is None or len(shape) != len(layout.extents) or ctx.hoisted is None:
        advice = "declare a variable for it before the loop"
        raise ctx.refusal("N220", cursor, "this literal cannot be used in a kernel", advice)
    local = Local(ctx.names.unique("literal"), layout.dtype, shape)
    ready = [Declare(local.name, local.dtype, local.shape, None, ctx.place(cursor))]
    ctx.hoisted += [*ready, *fill(ctx, local, ast.children(cursor)[-1] if ast.children(cursor) else cursor)]
    return Element(local.name, local.dtype, len(shape))


_ESCAPE = re.compile(r"\\([0-7]{3}|.)|([^\\])", re.DOTALL)
_CONTROLS = {"a": 7, "b": 8, "e": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


def characters(ctx: Context, cursor: Cursor, position: int, shape: list[int]) -> Iterator[tuple[int, Expr]]:
    """The characters of the string *cursor*, and zeros for what is left of the row of *shape* at *position*."""
    width, text = shape[-1], cursor.spelling.removeprefix("u8")
    if layout_of(cursor.type).dtype not in ("int8", "uint8") or not text.startswith('"') or position % width:
        advice = "assign the elements one by one"
        raise ctx.refusal("N220", cursor, "this string cannot be used in a kernel", advice)
    data = b"".join(_bytes(*found.groups()) for found in _ESCAPE.finditer(text[1:-1]))  # as clang spells it
    for number, byte in enumerate(data[:width].ljust(width, b"\0")):
        yield position + number, Const(int(convert(byte, "int8")), "int8")


def _bytes(escape: str | None, plain: str | None) -> bytes:
    if escape is None:
        return (plain or "").encode()
    return bytes([int(escape, 8) if escape.isdigit() else _CONTROLS.get(escape, ord(escape))])


def _designated(ctx: Context, child: Cursor) -> tuple[list[range], Cursor]:
    """The subscripts and the value of ``[i][j] = value`` or ``[i ... j] = value``; any other *child* as it is."""
    *subscripts, given = ast.children(child) or [child]
    if child.kind != CursorKind.UNEXPOSED_EXPR or child.type.kind != TypeKind.VOID or not subscripts:
        return [], child
    found = [ast.evaluate(subscript) for subscript in subscripts]
    between = [ctx.source.data[ast.end(a) : ast.begin(b)] for a, b in pairwise(subscripts)]
    numbers = [number for number in found if isinstance(number, int)]
    if len(numbers) == len(found) and all(b"]" in text and b"..." not in text for text in between):
        return [range(number, number + 1) for number in numbers], given
    if len(numbers) == len(found) == 2 and b"..." in between[0] and b"]" not in between[0]:
        return [range(numbers[0], numbers[1] + 1)], given
    advice = "give the elements in their order, or assign them one by one"
    raise ctx.refusal("N220", child, "this designator cannot be used in a kernel", advice)


def listed(ctx: Context, cursor: Cursor, position: int, shape: list[int]) -> Iterator[tuple[int, Expr]]:
    """The values in the list *cursor*, which fills the array of *shape* at *position*, by their number in row order.

    A row without braces of its own takes as many values as it has elements.  What comes later counts.
    """
    start = position
    for child in ast.children(cursor):
        subscripts, given = _designated(ctx, child)
        inner, places = shape[-1:] if _is_text(given) else shape[1:], [position]
        if subscripts:
            inner = shape[len(subscripts) :]
            strides = [prod(shape[n + 1 :]) for n in range(len(subscripts))]
            starts = product(*subscripts)
            places = [start + sum(i * by for i, by in zip(at, strides, strict=True)) for at in starts]
        found = list(row(ctx, given, places[0], inner))
        position = places[-1] + len(found)
        yield from ((number - places[0] + place, part) for place in places for number, part in found)


def _is_text(cursor: Cursor) -> bool:
    return bool(cursor.kind == CursorKind.STRING_LITERAL)


def row(ctx: Context, given: Cursor, position: int, shape: list[int]) -> Iterator[tuple[int, Expr]]:
    """What *given* sets: an element, or the whole of the row of *shape* at *position*."""
    if _is_text(given) and shape:
        yield from characters(ctx, given, position, shape)
    elif given.kind != CursorKind.INIT_LIST_EXPR:
        yield position, value(ctx, given)
    elif shape and position % prod(shape) == 0:
        zeros = {position + number: Const(0, "int32") for number in range(prod(shape))}
        yield from (zeros | dict(listed(ctx, given, position, shape))).items()
    else:
        advice = "give each row braces of its own, or none at all"
        raise ctx.refusal("N220", given, "this initialiser cannot be used in a kernel", advice)
