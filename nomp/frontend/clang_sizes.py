"""``sizeof`` of arrays whose size is no constant.

In: the cursor of a ``sizeof``.  Out: its value: a parameter that the host program computes where it declares the array,
a product of the extents where the region does.  Called by `frontend.clang_expressions`.  Raises N220.
"""

from __future__ import annotations

from clang.cindex import CursorKind

from nomp.arithmetic import SIZES, cast
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_context import Context, Local
from nomp.frontend.clang_elements import folded
from nomp.frontend.clang_paths import Path, path_of
from nomp.frontend.clang_types import is_array
from nomp.region import Binary, Const, Expr, Param, Var


def size_of(ctx: Context, cursor: Cursor) -> Expr:
    """The value of the ``sizeof`` *cursor*, which is no constant."""
    operand = [child for child in ast.children(cursor) if is_array(child.type)]  # that of a type has a number
    found = _part(operand[0]) if operand else None
    if found is not None:
        path, rank = found
        local = ctx.locals.get(path.key)
        if isinstance(local, Local) and rank <= len(local.shape):
            return _product(local, rank)
        if path.key not in ctx.locals:
            return _measured(ctx, cursor, path, rank)
    advice = "compute it before the loop"
    raise ctx.refusal("N220", cursor, "this size is not a constant", advice)


def _part(cursor: Cursor) -> tuple[Path, int] | None:
    """The variable of which *cursor* is a part, and by how many subscripts: plain ones, which change nothing."""
    cursor = ast.bare(cursor)
    path = path_of(cursor)
    if path is not None:
        return path, 0
    inner, index = ast.children(cursor)[:1], ast.children(cursor)[1:]
    if cursor.kind != CursorKind.ARRAY_SUBSCRIPT_EXPR and ast.operator(cursor) != "*":
        return None
    if not all(part.kind in _PLAIN for found in index for part in ast.walk(found)):
        return None
    found = _part(inner[0])
    return found and (found[0], found[1] + 1)


_PLAIN = (CursorKind.INTEGER_LITERAL, CursorKind.DECL_REF_EXPR, CursorKind.UNEXPOSED_EXPR, CursorKind.PAREN_EXPR)


def _product(local: Local, rank: int) -> Expr:
    total: Expr = Const(SIZES[local.dtype], "uint64")
    for extent in local.shape[rank:]:
        total = folded(Binary("*", total, cast(extent, "uint64"), "uint64"))
    return total


def _measured(ctx: Context, cursor: Cursor, path: Path, rank: int) -> Expr:
    text = f"sizeof(({path.host}){'[0]' * rank})"
    if (text,) not in ctx.params:
        name = ctx.names.unique(f"{path.name}_size")
        ctx.params[text,] = Param(name, "uint64", "scalar", text, place=ctx.place(cursor))
    return Var(ctx.params[text,].name, "uint64")
