"""``reduce`` clauses: does the region really accumulate into the variable with that operator?

In: a translated region (any source language) and a clause.  Out: the region in which the variable is a ``cell``, an
element ``s[k]`` of an array parameter being replaced by the scalar ``s``.  Front ends call `apply`; it raises N215.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from nomp.accumulation import Cell, misuse
from nomp.arithmetic import is_float, is_launch_expr
from nomp.diagnostics import NompError, Note, did_you_mean, error
from nomp.pragma import Reduce
from nomp.pragma_help import OPERATORS
from nomp.region import (
    NOWHERE,
    Binary,
    Cast,
    Const,
    Expr,
    Load,
    Param,
    Reduction,
    Region,
    Stmt,
    Var,
)
from nomp.walks import mentioned, rewritten, walk, walk_expr, without_places

_FORMS = {"min": "if (x < s) s = x", "max": "if (x > s) s = x"}


def apply(region: Region, clause: Reduce) -> tuple[Region, str]:
    """*region* with the clause's variable as a cell, and the name of that parameter."""
    param = _named(region, clause)
    if param.kind == "array":
        region, param = _element_as_cell(region, param, clause)
    if param.kind != "cell":
        raise _misfit(clause, f"'{clause.variable}' is never written in this loop", "remove the clause")
    _check(region, param, clause)
    return region, param.name


def recognised(region: Region) -> tuple[Reduction, ...]:
    """The reductions that *region* does without a clause: integers with which it does nothing but accumulate.

    Floating-point numbers are left alone: their sum in another order is another number, which only a clause allows.
    """
    found = []
    for param in region.params:
        if param.kind == "cell" and not is_float(param.dtype):
            ops = (op for op in OPERATORS if _fits(region, param, op))
            found += [Reduction(param.name, op) for op in list(ops)[:1]]
    return tuple(found)


def _fits(region: Region, param: Param, op: str) -> bool:
    try:
        _check(region, param, Reduce(param.host, op, region.span(NOWHERE)))
    except NompError:
        return False
    return True


def _misfit(clause: Reduce, message: str, advice: str) -> NompError:
    return error("N215", message, clause.span, help=advice)


def _plain(text: str) -> str:
    """*text* without blanks."""
    return re.sub(r"\s+", "", text)


def _named(region: Region, clause: Reduce) -> Param:
    base = re.sub(r"\[.*|^\*", "", _plain(clause.variable))
    usable = {_plain(param.variable): param for param in region.params if param.kind != "counter"}
    if base in usable:
        return usable[base]
    advice = did_you_mean(base, usable) or "name the variable that the loop accumulates into"
    raise _misfit(clause, f"the loop uses no variable '{base}' of the program around it", advice)


# ------------------------------------------------------------------------------------------- elements of arrays


def _element_as_cell(region: Region, param: Param, clause: Reduce) -> tuple[Region, Param]:
    """*region* with the one element of array *param* that it uses as the scalar of that name."""
    loads = [expr for stmt in walk(region.body) for expr in _mentioned(stmt) if isinstance(expr, Load)]
    indices = {without_places(load.index) for load in loads if load.array == param.name}
    if len(indices) != 1:
        message = f"the loop uses {len(indices) or 'no'} different elements of '{clause.variable}'"
        raise _misfit(clause, message, "reduce into one element, and keep nothing else in that array")
    (index,) = indices
    _check_subscripts(region, index, clause)
    if not all(is_launch_expr(part, region.scalars) for part in index):
        message = f"the element of '{clause.variable}' that is reduced into is not known before the loop"
        advice = "reduce into one element, whose subscript needs no arrays, no calls and no counters"
        raise _misfit(clause, message, advice)
    cell = replace(param, kind="cell", shape=(), index=_flat(index, param.shape), writes=True)

    def scalar(node: Any) -> Any:
        return Var(node.array, node.dtype, node.place) if isinstance(node, Load) and node.array == param.name else node

    body = rewritten(region.body, scalar)
    params = tuple(cell if p.name == param.name else p for p in region.params)
    return replace(region, body=body, params=params), cell


def _check_subscripts(region: Region, index: tuple[Expr, ...], clause: Reduce) -> None:
    """Raise N215 where the clause names another element than the loop uses, as far as names and numbers show it."""
    hosts = {param.name: param.host for param in region.params}
    for used, named in zip(index, re.findall(r"\[([^]]*)\]", clause.variable), strict=False):
        simple = used.value if isinstance(used, Const) else hosts.get(used.name) if isinstance(used, Var) else None
        if simple is not None and re.fullmatch(r"\s*\w+\s*", named) and str(simple) != named.strip():
            advice = "name the element that the loop accumulates into"
            raise _misfit(clause, f"the loop uses element {simple} of the array, not {named.strip()}", advice)


def _mentioned(stmt: Stmt) -> Iterator[Expr]:
    """All expressions and subexpressions in *stmt* itself, a written element included."""
    for expr in mentioned(stmt):
        yield from walk_expr(expr)


def _flat(index: tuple[Expr, ...], shape: tuple[Expr | None, ...]) -> Expr:
    """The number of an element, in rows of the outer dimensions' order."""
    flat, *rest = index
    for position, extent in zip(rest, shape[1:], strict=True):
        assert extent is not None
        rows = Binary("*", Cast(flat, "int64"), Cast(extent, "int64"), "int64")
        flat = Binary("+", rows, Cast(position, "int64"), "int64")
    return flat


# ------------------------------------------------------------------------------------------- is it a reduction?


def _check(region: Region, param: Param, clause: Reduce) -> None:
    """Raise N215 unless every mention of *param* accumulates with the clause's operator."""
    cell = Cell(Var(param.name, param.dtype), clause.op)
    if wrong := misuse(region.body, cell):
        raise _wrong_use(region, wrong, clause)
    if not any(map(cell.accumulates, walk(region.body))):
        raise _misfit(clause, f"the loop does not accumulate into '{clause.variable}'", "remove the clause")


def _wrong_use(region: Region, stmt: Stmt, clause: Reduce) -> NompError:
    form = _FORMS.get(clause.op, f"s = s {clause.op} x")
    message = f'this does not fit reduce("{clause.variable}", "{clause.op}")'
    advice = f"the variable may only be used in statements like '{form}', whose x does not contain it"
    note = Note("the clause is here", clause.span)
    return error("N215", message, region.span(stmt.place), help=advice, notes=(note,))
