"""Outer scalars that every iteration sets anew: the iterations need not share them.

In: a region and the names of ``cell`` parameters.  Out: the region in which each of them that it can be done with is a
local of the annotated loop's body, and the loop's last iteration alone stores it into the cell:

    for (i = 0; i < n; i++) {            for (i = 0; i < n; i++) {
      t = a[i];                            double t_;
      b[i] = t;                            t_ = a[i];
    }                                      b[i] = t_;
                                           if (i + 1 >= n) t = t_;
                                         }

So schedules may run the iterations in any order.  Where ``t = a[i]`` is in a loop that is the same in all iterations,
all set the scalar or none does; the last one stores it if that loop starts.  Front ends call `apply`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nomp import jumps
from nomp.arithmetic import is_launch_expr
from nomp.loops import is_last, starts
from nomp.region import Assign, Continue, Declare, Expr, For, If, Load, Region, Stmt, Switch, Var, While
from nomp.walks import expressions, rewritten, walk, walk_expr


def apply(region: Region, names: set[str], unique: Callable[[str], str]) -> tuple[Region, set[str]]:
    """*region* with those of the cells *names* made private that may be, and which these are.

    *unique* makes the locals' names.
    """
    if len(region.body) != 1 or not isinstance(loop := region.body[0], For) or not _ends_with_scalars(region, loop):
        return region, set()
    if any(isinstance(jump, Continue) for jump in jumps.own(loop.body)):
        return region, set()
    header = expressions(loop)
    unread = {name for name in names if not any(_mentions(expr, name) for expr in header)}
    setters = {name: loops_that_set(loop.body, name, region.scalars) for name in sorted(unread)}
    found = {name: around for name, around in setters.items() if around is not None}
    for name, around in found.items():
        loop = _private(loop, region.param(name).dtype, name, unique(name), around)
    return replace(region, body=(loop,)), set(found)


def _ends_with_scalars(region: Region, loop: For) -> bool:
    """Whether the last iteration can be told from scalars that do not change."""
    inner = [part for expr in (loop.upper, loop.step) for part in walk_expr(expr)]
    return not any(isinstance(e, Load) or (isinstance(e, Var) and e.name not in region.scalars) for e in inner)


def _private(loop: For, dtype: str, name: str, local: str, around: tuple[For, ...]) -> For:
    def renamed(node: Any) -> Any:
        return replace(node, name=local) if isinstance(node, Var) and node.name == name else node

    last: Stmt = Assign(Var(name, dtype), Var(local, dtype))
    for condition in (*map(starts, around), is_last(loop)):
        last = If(condition, (last,))
    return replace(loop, body=(Declare(local, dtype), *rewritten(loop.body, renamed), last))


# ----------------------------------------------------------------------------------------- is it set before it is read?


class _ReadFirst(Exception):
    """The scalar may be read before the iteration sets it."""


def sets_first(body: tuple[Stmt, ...], name: str) -> bool:
    """Whether *body* certainly sets the scalar *name*, and reads it only after that."""
    return loops_that_set(body, name, frozenset()) == ()


def loops_that_set(body: tuple[Stmt, ...], name: str, known: frozenset[str]) -> tuple[For, ...] | None:
    """The loops, one in the other, that must start for *body* to set the scalar *name*: none if it certainly does.

    Their headers depend on nothing but the scalars *known*.  None where *body* may read the scalar before it sets it,
    and where something else decides whether it does.
    """
    try:
        if _after(body, name, False):
            return ()
    except _ReadFirst:
        return None
    setters = [stmt for stmt in body if any(_sets(inner, name) for inner in walk((stmt,)))]
    if len(setters) != 1 or not isinstance(loop := setters[0], For) or any(jumps.own(body)):
        return None
    if not all(is_launch_expr(expr, known) for expr in expressions(loop)):
        return None
    inner = loops_that_set(loop.body, name, known)
    return None if inner is None else (loop, *inner)


def _sets(stmt: Stmt, name: str) -> bool:
    return isinstance(stmt, Assign) and isinstance(stmt.target, Var) and stmt.target.name == name


def _after(body: tuple[Stmt, ...], name: str, known: bool) -> bool:
    """Whether the scalar is set after *body*, whichever way out it takes; `_ReadFirst` if it is read when it is not."""
    left_early = False
    for stmt in body:
        if not known and any(_mentions(expr, name) for expr in expressions(stmt)) and not _body_first(stmt):
            raise _ReadFirst
        known = _after_statement(stmt, name, known)
        left_early = left_early or (not known and any(jumps.own((stmt,))))
    return known and not left_early


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
