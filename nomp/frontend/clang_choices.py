"""``&&``, ``||`` and ``?:``, one operand of which may not be evaluated.

Where such an operand changes something, an `If` that stands before the statement at hand evaluates it, and a variable
takes the value:

    found = a[i] > 0 && k++ < n;          int truth = a[i] > 0;
                                          if (truth) { int k_value = k; k = k + 1; truth = k_value < n; }
                                          found = truth;

Called by `frontend.clang_expressions`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_context import Context
from nomp.region import Assign, Binary, Const, Declare, Expr, If, Select, Stmt, Unary, Var

Translate = Callable[[], Expr]
T = TypeVar("T")


def decided(ctx: Context, cursor: Cursor, operator: str, left: Expr, translate: Translate) -> Expr:
    """``left && right`` or ``left || right``, the right one being what *translate* returns."""
    before, right = perhaps(ctx, translate)
    if not before or ctx.hoisted is None:
        return Binary(operator, left, right, "int32")
    found, place = Var(ctx.names.unique("truth"), "int32"), ctx.place(cursor)
    undecided = found if operator == "&&" else Unary("!", found, "int32")
    ctx.hoisted.append(Declare(found.name, found.dtype, (), _truth(left), place))
    ctx.hoisted.append(If(undecided, (*before, Assign(found, _truth(right), place)), (), place))
    return found


def chosen(ctx: Context, cursor: Cursor, cond: Expr, branches: tuple[Translate, Translate], dtype: str) -> Expr:
    """``cond ? then : other``, of *dtype*."""
    (before, then), (before_other, other) = (perhaps(ctx, translate) for translate in branches)
    if not (before or before_other) or ctx.hoisted is None:
        return Select(cond, then, other, dtype)
    found, place = Var(ctx.names.unique("chosen"), dtype), ctx.place(cursor)
    ctx.hoisted.append(Declare(found.name, dtype, place=place))
    one, two = (*before, Assign(found, then, place)), (*before_other, Assign(found, other, place))
    ctx.hoisted.append(If(cond, one, two, place))
    return found


def perhaps(ctx: Context, translate: Callable[[], T]) -> tuple[tuple[Stmt, ...], T]:
    """What must be done before an operand is evaluated, if it is, and what *translate* makes of it."""
    if ctx.hoisted is None:
        return (), translate()
    outer, ctx.hoisted = ctx.hoisted, []
    try:
        found = translate()
        return tuple(ctx.hoisted), found
    finally:
        ctx.hoisted = outer


def _truth(expr: Expr) -> Expr:
    return Binary("!=", expr, Const(0, expr.dtype), "int32")
