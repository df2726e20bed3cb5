"""A set of isl's as a `Condition`, which can be decided without isl.

In: a set of parameters.  Out: a `Condition` on them, or None where that would take long.  Called by `legality`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import islpy as isl
from islpy import dim_type

from nomp.conditions import Condition, Piece, Row

_MOST_WORK = 2_000_000
"""How much isl may do about a set, by its own count of operations: some tenths of a second."""
_MOST_PIECES = 64


def condition(points: isl.Set, names: tuple[str, ...]) -> Condition | None:
    """That values of *names*, one for each parameter of *points*, are in it; None if it has no simple form."""
    context = points.get_ctx()
    context.reset_operations()
    context.set_max_operations(_MOST_WORK)
    try:
        pieces = points.coalesce().compute_divs().get_basic_sets()  # coalescing again would lose quotients
        if len(pieces) > _MOST_PIECES:
            return None
        return Condition(names, tuple(_piece(piece, len(names)) for piece in pieces))
    except (isl.Error, _NoForm):
        return None
    finally:
        context.set_max_operations(0)
        context.reset_operations()


class _NoForm(Exception):
    """A quotient that isl does not spell out."""


def _piece(piece: isl.BasicSet, count: int) -> Piece:
    quotients = tuple(_quotient(piece.get_div(number), count, number) for number in range(piece.dim(dim_type.div)))
    constraints = piece.get_constraints()
    rows = [(one.is_equality(), _row(one, count, piece.dim(dim_type.div), 1)) for one in constraints]
    return Piece(quotients, *(tuple(row for equality, row in rows if equality == kind) for kind in (True, False)))


def _quotient(div: isl.Aff, count: int, number: int) -> tuple[Row, int]:
    if div.is_nan() or any(not div.get_coefficient_val(dim_type.div, k).is_zero()
                           for k in range(number, div.dim(dim_type.div))):  # fmt: skip
        raise _NoForm
    divisor = div.get_denominator_val().to_python()
    return _row(div, count, number, divisor), divisor


def _row(found: Any, count: int, quotients: int, scale: int) -> Row:
    """The factors of an expression or a constraint, times *scale*."""
    return tuple(int((value * isl.Val(scale)).to_python()) for value in _factors(found, count, quotients))


def _factors(found: Any, count: int, quotients: int) -> Iterator[isl.Val]:
    yield found.get_constant_val()
    for kind, number in ((dim_type.param, count), (dim_type.div, quotients)):
        for place in range(number):
            yield found.get_coefficient_val(kind, place)
