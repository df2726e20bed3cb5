"""Counters that outlive their loop: can the host tell their last value without the device?

In: a region's statements.  Out: the loops where it cannot.  Front ends refuse these (N213): the runtime computes a
counter's last value from the loop's bounds, so the loop must run to its end, with bounds that the host can compute.
"""

from __future__ import annotations

from collections.abc import Iterator

from nomp.region import Break, Continue, Expr, For, If, Load, Stmt, Var, expressions, walk_expr


def unknown(body: tuple[Stmt, ...], known: frozenset[str], *, conditional: bool = False) -> Iterator[tuple[For, str]]:
    """The loops in *body* whose `For.final` cannot be computed from the scalars *known*, and why.

    *conditional*: whether *body* itself may not run, or not to its end.
    """
    conditional = conditional or any(_leaves(stmt) for stmt in body)
    for stmt in body:
        if isinstance(stmt, If):
            yield from unknown((*stmt.then, *stmt.other), known, conditional=True)
        elif isinstance(stmt, For):
            if stmt.final and (conditional or any(_breaks(inner) for inner in stmt.body)):
                yield stmt, "may not run to its end"
            elif stmt.final and not all(_is_known(expr, known) for expr in expressions(stmt)):
                yield stmt, "has bounds that only the kernel can compute"
            yield from unknown(stmt.body, known | {stmt.iname}, conditional=conditional)


def _is_known(expr: Expr, known: frozenset[str]) -> bool:
    inner = list(walk_expr(expr))
    return not any(isinstance(e, Load) or (isinstance(e, Var) and e.name not in known) for e in inner)


def _leaves(stmt: Stmt) -> bool:
    """Whether *stmt* may leave the iteration that it stands in."""
    return isinstance(stmt, Break | Continue) or (isinstance(stmt, If) and any(map(_leaves, (*stmt.then, *stmt.other))))


def _breaks(stmt: Stmt) -> bool:
    """Whether *stmt* may leave the loop that it stands in."""
    return isinstance(stmt, Break) or (isinstance(stmt, If) and any(map(_breaks, (*stmt.then, *stmt.other))))
