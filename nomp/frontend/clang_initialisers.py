"""Initialisers of variables that a region declares.

In: an initialiser's cursor.  Out: values and assignments.  Called by `frontend.clang_statements` and ``clang_structs``.
Raises N220.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

from clang.cindex import CursorKind, TypeKind

from nomp.arithmetic import cast
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_context import Context, Local
from nomp.frontend.clang_expressions import value
from nomp.region import Assign, Const, Expr, Load, Stmt


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
    """The initialiser list *first* of an array as assignments; what it leaves out is zero."""
    if first.kind != CursorKind.INIT_LIST_EXPR:
        advice = "assign the elements one by one"
        raise ctx.refusal("N220", first, "this initialiser cannot be used in a kernel", advice)
    shape = [int(extent.value) for extent in local.shape if isinstance(extent, Const)]
    refuse_many(ctx, first, prod(shape))
    given = dict(listed(ctx, first, 0, shape))
    for position, index in enumerate(product(*map(range, shape))):
        target = Load(local.name, tuple(Const(i, "int64") for i in index), local.dtype, ctx.place(first))
        yield Assign(target, cast(given.get(position, Const(0, "int32")), local.dtype), ctx.place(first))


def _designated(child: Cursor) -> tuple[int | None, Cursor]:
    """The subscript and the value of ``[subscript] = value``; any other *child* of a list as it is."""
    inner = ast.children(child)
    if child.kind == CursorKind.UNEXPOSED_EXPR and child.type.kind == TypeKind.VOID and len(inner) == 2:
        number = ast.evaluate(inner[0])
        if isinstance(number, int):
            return number, inner[1]
    return None, child


def listed(ctx: Context, cursor: Cursor, position: int, shape: list[int]) -> Iterator[tuple[int, Expr]]:
    """The values in the list *cursor*, which fills the array of *shape* at *position*, by their number in row order.

    A row without braces of its own takes as many values as it has elements.
    """
    width, start = prod(shape[1:]), position
    for child in ast.children(cursor):
        number, child = _designated(child)
        position = position if number is None else start + number * width
        if child.kind != CursorKind.INIT_LIST_EXPR:
            yield position, value(ctx, child)
            position += 1
        elif position % width == 0 and len(shape) > 1:
            yield from listed(ctx, child, position, shape[1:])
            position += width
        else:
            advice = "give each row braces of its own, or none at all"
            raise ctx.refusal("N220", child, "this initialiser cannot be used in a kernel", advice)
