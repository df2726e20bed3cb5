"""Counters that outlive their loop: can the host tell their last value without the device?

In: a region's statements.  Out: the loops where it cannot.  Where the host can, the runtime computes a counter's last
value from the loop's bounds: the loop must run to its end, with bounds that the host can compute.
"""

from __future__ import annotations

from collections.abc import Iterator

from nomp.frontend.jumps import own
from nomp.loops import last_value, signed_step, trip_count
from nomp.region import Binary, Break, Cast, Const, Expr, For, Load, Select, Stmt, Var
from nomp.walks import bodies, expressions, walk_expr


def unknown(body: tuple[Stmt, ...], known: frozenset[str], *, conditional: bool = False) -> Iterator[tuple[For, str]]:
    """The loops in *body* whose `For.final` cannot be computed from the scalars *known*, and why.

    *conditional*: whether *body* itself may not run, or not to its end.
    """
    conditional = conditional or any(own(body))
    for stmt in body:
        if isinstance(stmt, For):
            if stmt.final and (conditional or any(isinstance(jump, Break) for jump in own(stmt.body))):
                yield stmt, "may not run to its end"
            elif stmt.final and not all(_is_known(expr, known) for expr in expressions(stmt)):
                yield stmt, "has bounds that only the kernel can compute"
            yield from unknown(stmt.body, known | {stmt.iname}, conditional=conditional)
        else:
            for part in bodies(stmt):
                yield from unknown(part, known, conditional=True)


def _is_known(expr: Expr, known: frozenset[str]) -> bool:
    inner = list(walk_expr(expr))
    return not any(isinstance(e, Load) or (isinstance(e, Var) and e.name not in known) for e in inner)


def after(loop: For) -> Expr:
    """The value that the counter has after *loop* has run to its end, in the counter's type."""
    step = signed_step(loop)
    if not isinstance(step, Const) or abs(step.value) != 1:
        return last_value(loop, trip_count(loop))
    end = loop.upper if loop.upper.dtype == loop.dtype else Cast(loop.upper, loop.dtype)
    if loop.relation in ("<=", ">="):
        end = Binary("+" if step.value == 1 else "-", end, Const(1, loop.dtype), loop.dtype)
    lower = loop.lower if loop.lower.dtype == loop.upper.dtype else Cast(loop.lower, loop.upper.dtype)
    return Select(Binary(loop.relation, lower, loop.upper, "int32"), end, loop.lower, loop.dtype)
