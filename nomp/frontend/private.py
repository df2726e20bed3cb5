"""Outer scalars that every iteration sets anew: the iterations need not share them.

In: a region and the names of ``cell`` parameters.  Out: the region in which each of them that it can be done with is a
local of the annotated loop's body, and the loop's last iteration alone stores it into the cell:

    for (i = 0; i < n; i++) {            for (i = 0; i < n; i++) {
      t = a[i];                            double t_;
      b[i] = t;                            t_ = a[i];
    }                                      b[i] = t_;
                                           if (i + 1 >= n) t = t_;
                                         }

So schedules may run the iterations in any order.  Front ends call `apply`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nomp import jumps
from nomp.loops import is_last
from nomp.region import Assign, Continue, Declare, Expr, For, If, Load, Region, Stmt, Switch, Var, While
from nomp.walks import expressions, rewritten, walk_expr


def apply(region: Region, names: set[str], unique: Callable[[str], str]) -> tuple[Region, set[str]]:
    """*region* with those of the cells *names* made private that may be, and which these are.

    *unique* makes the locals' names.
    """
    if len(region.body) != 1 or not isinstance(loop := region.body[0], For) or not _ends_with_scalars(region, loop):
        return region, set()
    if any(isinstance(jump, Continue) for jump in jumps.own(loop.body)):
        return region, set()
    header = expressions(loop)
    found = {n for n in names if not any(_mentions(expr, n) for expr in header) and sets_first(loop.body, n)}
    for name in sorted(found):
        loop = _private(loop, region.param(name).dtype, name, unique(name))
    return replace(region, body=(loop,)), found


def _ends_with_scalars(region: Region, loop: For) -> bool:
    """Whether the last iteration can be told from scalars that do not change."""
    inner = [part for expr in (loop.upper, loop.step) for part in walk_expr(expr)]
    return not any(isinstance(e, Load) or (isinstance(e, Var) and e.name not in region.scalars) for e in inner)


def _private(loop: For, dtype: str, name: str, local: str) -> For:
    def renamed(node: Any) -> Any:
        return replace(node, name=local) if isinstance(node, Var) and node.name == name else node

    last = If(is_last(loop), (Assign(Var(name, dtype), Var(local, dtype)),))
    return replace(loop, body=(Declare(local, dtype), *rewritten(loop.body, renamed), last))


# ----------------------------------------------------------------------------------------- is it set before it is read?


class _ReadFirst(Exception):
    """The scalar may be read before the iteration sets it."""


def sets_first(body: tuple[Stmt, ...], name: str) -> bool:
    """Whether *body* certainly sets the scalar *name*, and reads it only after that."""
    try:
        return _after(body, name, False)
    except _ReadFirst:
        return False


def _after(body: tuple[Stmt, ...], name: str, known: bool) -> bool:
    """Whether the scalar is set after *body*; `_ReadFirst` if it is read when it is not."""
    for stmt in body:
        if not known and any(_mentions(expr, name) for expr in expressions(stmt)) and not _body_first(stmt):
            raise _ReadFirst
        known = _after_statement(stmt, name, known)
    return known


def _body_first(stmt: Stmt) -> bool:
    return isinstance(stmt, While) and stmt.first


def _after_statement(stmt: Stmt, name: str, known: bool) -> bool:
    match stmt:
        case Assign(target=Var(name=target)):
            return known or target == name
        case If(then=then, other=other):
            return all([_after(then, name, known), _after(other, name, known)])
        case For(body=body):
            _after(body, name, known)
        case While(cond=cond, body=body, first=first):
            once = _after(body, name, known) and not any(jumps.own(body))
            if first and not once and _mentions(cond, name) and not known:
                raise _ReadFirst
            return known or (first and once)
        case Switch(cases=cases):
            for case in cases:
                _after(case.body, name, known)
    return known


def _mentions(expr: Expr, name: str) -> bool:
    return any(isinstance(inner, Var) and inner.name == name for inner in walk_expr(expr))
