"""Conditions of loops that compare ``i + c`` with a bound: as ones that compare ``i``.

In: the relation and the bound as C compares them.  Out: the relation of the counter to a bound of its own, exactly: for
every value of the bound, the same iterations run.  Called by `frontend.clang_loops`.
"""

from __future__ import annotations

from dataclasses import dataclass

from nomp.arithmetic import bits, cast, is_signed, limits
from nomp.frontend.clang_elements import folded
from nomp.region import Binary, Cast, Const, Expr, Relation, Select

_LOWEST, _HIGHEST = limits("int64")


@dataclass(frozen=True, slots=True)
class Shift:
    """``i + amount``, which C computes in *dtype*."""

    amount: int
    dtype: str


def unshifted(
    shift: Shift, relation: Relation, upper: Expr, lower: Expr, climbs: bool
) -> tuple[Relation, Expr] | None:
    """What the counter is compared with where *shift* is; None where that is not exact.

    It begins at *lower*; *climbs*: it goes up in small constant steps, so that an unsigned one stays below its bound.
    """
    amount, first = shift.amount, lower.value if isinstance(lower, Const) and climbs else -1
    if not is_signed(upper.dtype):  # i + c may begin below zero, where i does not, or the other way round
        small = 0 <= first <= limits(shift.dtype)[1] - amount
        if relation not in ("<", "<=") or amount < 0 or not small:
            return None
    if relation == "<=" and amount > 0:
        relation, amount = "<", amount - 1  # so that a bound below all values of the counter lets none pass
    elif relation == ">=" and amount < 0:
        relation, amount = ">", amount + 1
    if amount == 0:
        return relation, upper
    if is_signed(upper.dtype):
        return (relation, _moved(upper, amount)) if is_signed(shift.dtype) and relation != "!=" else None
    by = Const(amount, upper.dtype)
    below = Binary("<", upper, by, "int32")
    return relation, Select(below, Const(0, upper.dtype), Binary("-", upper, by, upper.dtype), upper.dtype)


def _moved(upper: Expr, amount: int) -> Expr:
    """``upper - amount`` as int64, or the end of that type that it would pass."""
    wide = cast(upper, "int64")
    moved = folded(Binary("-", wide, Const(amount, "int64"), "int64"))
    inner = upper.operand if isinstance(upper, Cast) else upper
    if isinstance(upper, Const) or bits(inner.dtype) <= 32:
        return moved
    relation, last, end = ("<", _LOWEST + amount, _LOWEST) if amount > 0 else (">", _HIGHEST + amount, _HIGHEST)
    return Select(Binary(relation, wide, Const(last, "int64"), "int32"), Const(end, "int64"), moved, "int64")
