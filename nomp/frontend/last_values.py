"""Counters that outlive their loop: can the host tell their last value without the device?

In: a region's statements.  Out: the loops where it cannot.  Where the host can, the runtime computes a counter's last
value from the loop's bounds: the loop must run to its end, with bounds that the host can compute.
"""

from __future__ import annotations

from collections.abc import Iterator

from nomp.arithmetic import cast, is_launch_expr
from nomp.jumps import own
from nomp.loops import signed_step, starts, trip_count, value_after
from nomp.region import Binary, Break, Const, Expr, For, Select, Stmt
from nomp.walks import bodies, expressions


def unknown(body: tuple[Stmt, ...], known: frozenset[str], *, conditional: bool = False) -> Iterator[tuple[For, str]]:
    """The loops in *body* whose `For.final` cannot be computed from the scalars *known*, and why.

    *conditional*: whether *body* itself may not run, or not to its end.
    """
    conditional = conditional or any(own(body))
    for stmt in body:
        if isinstance(stmt, For):
            if stmt.final and (conditional or any(isinstance(jump, Break) for jump in own(stmt.body))):
                yield stmt, "may not run to its end"
            elif stmt.final and not all(is_launch_expr(expr, known) for expr in expressions(stmt)):
                yield stmt, "has bounds that only the kernel can compute"
            yield from unknown(stmt.body, known | {stmt.iname}, conditional=conditional)
        else:
            for part in bodies(stmt):
                yield from unknown(part, known, conditional=True)


def after(loop: For) -> Expr:
    """The value that the counter has after *loop* has run to its end, in the counter's type."""
    step = signed_step(loop)
    if not isinstance(step, Const) or abs(step.value) != 1:
        return value_after(loop, trip_count(loop))
    end = cast(loop.upper, loop.dtype)
    if loop.relation in ("<=", ">="):
        end = Binary("+" if step.value == 1 else "-", end, Const(1, loop.dtype), loop.dtype)
    return Select(starts(loop), end, loop.lower, loop.dtype)
