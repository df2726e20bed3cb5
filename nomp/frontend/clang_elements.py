"""Parts of arrays, and constant folding: the pieces of expressions that need no clang.

An `Element` is what the front end makes of a pointer: pointers have no value in the loop IR.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from nomp.arithmetic import bits, cast, convert, evaluate, is_float
from nomp.region import Binary, Const, Expr, Unary


@dataclass(frozen=True, slots=True)
class Element:
    """An element of *array*; with fewer subscripts than *rank*, a part of it.  A pointer is what it points to."""

    array: str
    dtype: str
    rank: int
    index: tuple[Expr, ...] = ()
    flat: bool = False  # as in a `Load`

    @property
    def dimensions(self) -> int:
        """Those of what a pointer here points into: the subscripts that are left, and the last one that it has."""
        return self.rank - len(self.index) + 1

    def moved(self, offset: Expr, *, pointer: bool) -> Element:
        """The element *offset* further on in the last dimension that has a subscript, by a *pointer* or in its row."""
        *outer, last = self.index
        flat = self.flat or (pointer and bool(outer))
        return replace(self, index=(*outer, offset_by("+", last, offset)), flat=flat)


def offset_by(op: str, left: Expr, right: Expr) -> Expr:
    """``left op right`` in the type of C's address arithmetic."""
    if isinstance(left, Const) and left.value == 0 and op == "+":
        return right
    if isinstance(right, Const) and right.value == 0:
        return left
    return folded(Binary(op, cast(left, "int64"), cast(right, "int64"), "int64"))


def number(found: int | float, dtype: str) -> Expr:
    """*found*, a constant, in type *dtype*; what no literal can spell becomes a quotient."""
    if not is_float(dtype) or math.isfinite(found):
        return Const(convert(float(found) if is_float(dtype) else found, dtype), dtype)
    sign = 0.0 if math.isnan(found) else math.copysign(1.0, found)
    return Binary("/", Const(sign, dtype), Const(0.0, dtype), dtype)


def folded(expr: Unary | Binary) -> Expr:
    """*expr*, computed where it is constant and C defines the result."""
    match expr:
        case Unary(operand=Const()):
            return Const(evaluate(expr, {}), expr.dtype)
        case Binary(op=op, left=Const(), right=Const(value=right)):
            shift = op in ("<<", ">>")
            defined = (right != 0 or op not in ("/", "%")) and (not shift or 0 <= right < bits(expr.dtype))
            return number(evaluate(expr, {}), expr.dtype) if defined else expr
    return expr
