"""Python's and NumPy's operators in the loop IR's terms, whose operators are C's.

In: translated operands.  Out: a `Value`.  Where C computes something else (``//`` and ``%`` of negative numbers,
divisions by zero, shifts by more than there are bits, overflow) what Python or NumPy computes is spelled out, longer
things as functions of the region.  Raises `NoType`.  Used by `frontend.python_expressions` and `python_calls`.

What raises an exception in Python gives some number here: division by zero, ``math.sqrt(-1.0)``, negative shifts.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from nomp.arithmetic import bits, cast, is_float, is_signed
from nomp.frontend.python_context import Context
from nomp.frontend.python_helpers import helper, modular, wide_type
from nomp.frontend.python_integers import is_fixed, lowest
from nomp.frontend.python_types import (
    BITWISE,
    COMPARISONS,
    OWN,
    NoType,
    Value,
    as_type,
    device,
    fits,
    is_integer,
    number,
    resolved,
    result,
    shown,
)
from nomp.region import (
    Binary,
    Call,
    Const,
    Expr,
    Select,
    Unary,
)
from nomp.walks import walk_expr

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "divide": operator.truediv,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "power": operator.pow,
    "left_shift": operator.lshift, "right_shift": operator.rshift, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge, "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip
"""Operators by NumPy's names for them, as Python computes them."""
_SYMBOLS = {"add": "+", "subtract": "-", "multiply": "*"} | COMPARISONS | BITWISE
_LARGEST_SHIFT = 4096
"""Of a constant of Python's, which may be of any size."""


def binary(ctx: Context, ufunc: np.ufunc, left: Value, right: Value, *, called: bool = False) -> Value:
    """``left OP right``, where *ufunc* is NumPy's name for the operator.

    *called*: as a function, ``np.add(left, right)``, which makes NumPy's scalars of Python's own numbers.
    """
    name = ufunc.__name__
    if not called and (own := _own(ctx, name, left, right)) is not None:
        return own
    find = resolved if called else result
    results = {find(ufunc, kinds) for kinds in product(sorted(left.kinds), sorted(right.kinds))}
    kinds = frozenset(kind for _, kind in results)
    operands = {operands for operands, _ in results}
    if name in COMPARISONS and is_integer(left.kinds | right.kinds):
        return Value(_compare_integers(_SYMBOLS[name], left, right), kinds)
    if len(operands) > 1 or len({device(kind) for kind in kinds}) > 1:
        raise NoType(f"the type of this depends on the data: {shown(left.kinds)} with {shown(right.kinds)}")
    (types,) = operands
    converted = as_type(left, types[0]), as_type(right, types[1])
    return Value(_compute(ctx, name, types[0], *converted), kinds)


def _own(ctx: Context, name: str, left: Value, right: Value) -> Value | None:
    """What Python has rules for that are not NumPy's: constants, and powers of its integers."""
    if name in OPERATORS and left.constant is not None and right.constant is not None:
        return _fold(name, _python(left), _python(right))
    if name == "power" and is_integer(left.kinds) and right.kinds == {"pyint"} and left.kinds <= {"pyint", "pybool"}:
        return _own_power(ctx, left, right)
    return None


def _python(given: Value) -> bool | int | float:
    constant = given.constant
    assert constant is not None
    return bool(constant) if given.kinds == {"pybool"} else constant


def _fold(name: str, left: Any, right: Any) -> Value:
    try:
        if name in ("left_shift", "power") and isinstance(right, int) and abs(right) > _LARGEST_SHIFT:
            raise OverflowError("the result is too large")
        folded = OPERATORS[name](left, right)
    except (ArithmeticError, ValueError, TypeError) as reason:
        raise NoType(f"this cannot be computed: {reason}", out_of_range=True) from None
    if isinstance(folded, complex):
        raise NoType("this is a complex number")
    return number(folded)


def _compute(ctx: Context, name: str, dtype: str, left: Expr, right: Expr) -> Expr:
    """The operation *name* in *dtype*."""
    if name in COMPARISONS:
        return Binary(_SYMBOLS[name], left, right, "int32")
    if dtype == "bool":
        return _logical(name, left, right)
    if name in ("add", "subtract", "multiply"):
        plain = Binary(_SYMBOLS[name], left, right, dtype)
        if is_float(dtype) or (is_signed(dtype) and bits(dtype) >= 32 and is_fixed(ctx, plain)):
            return plain
        return modular(_SYMBOLS[name], left, right, dtype)
    if name in BITWISE:
        wide = wide_type(dtype)
        return cast(Binary(_SYMBOLS[name], cast(left, wide), cast(right, wide), wide), dtype)
    if name == "divide":
        return Binary("/", left, right, dtype)
    return _SPECIAL[name](ctx, dtype, left, right)


def _logical(name: str, left: Expr, right: Expr) -> Expr:
    """The operators of NumPy's truth values."""
    op = {"add": "||", "bitwise_or": "||", "multiply": "&&", "bitwise_and": "&&"}.get(name)
    if op:
        return cast(Binary(op, left, right, "int32"), "bool")
    if name == "bitwise_xor":
        return cast(Binary("!=", left, right, "int32"), "bool")
    raise NoType(f"'{name}' of two truth values")


def _compare_integers(op: str, left: Value, right: Value) -> Expr:
    """Integers compare by their values, whatever their types are."""
    one, other = _as_compared(left), _as_compared(right)
    if one.dtype == other.dtype:
        return Binary(op, one, other, "int32")
    if other.dtype == "uint64":  # the left one is int64
        negative = Binary("<", one, Const(0, "int64"), "int32")
        low = Const(1 if op in ("<", "<=", "!=") else 0, "int32")
        return Select(negative, low, Binary(op, cast(one, "uint64"), other, "int32"), "int32")
    negative = Binary("<", other, Const(0, "int64"), "int32")
    high = Const(1 if op in (">", ">=", "!=") else 0, "int32")
    return Select(negative, high, Binary(op, one, cast(other, "uint64"), "int32"), "int32")


def _as_compared(given: Value) -> Expr:
    constant = given.constant
    wide = given.expr.dtype == "uint64" or (constant is not None and constant >= 1 << 63)
    return as_type(given, "uint64" if wide else "int64")


# ------------------------------------------------------------------------------------------------ division, remainder


def _is_plain(ctx: Context, dtype: str, left: Expr, right: Expr) -> bool:
    """Whether C divides *left* by *right* as Python does: neither is below zero."""
    if is_float(dtype) or not (isinstance(right, Const) and right.value > 0):
        return False
    low = lowest(ctx, left)
    return low is not None and low >= 0


def _floor_divide(ctx: Context, dtype: str, left: Expr, right: Expr) -> Expr:
    return _divided(ctx, "/", "floordiv", dtype, left, right)


def _remainder(ctx: Context, dtype: str, left: Expr, right: Expr) -> Expr:
    return _divided(ctx, "%", "floormod", dtype, left, right)


def _divided(ctx: Context, op: str, name: str, dtype: str, left: Expr, right: Expr) -> Expr:
    """``left op right``, by the helper *name* where C's operator gives something else."""
    if _is_plain(ctx, dtype, left, right):
        wide = wide_type(dtype)
        return cast(Binary(op, cast(left, wide), cast(right, wide), wide), dtype)
    return helper(ctx, name, dtype, left, right)


# --------------------------------------------------------------------------------------------------- powers, shifts


def _own_power(ctx: Context, left: Value, right: Value) -> Value:
    exponent = right.constant
    if not isinstance(exponent, int):
        if (low := lowest(ctx, right.expr)) is not None and low >= 0:
            powered = _power(ctx, "int64", as_type(left, "int64"), as_type(right, "int64"))
            return Value(powered, frozenset({"pyint"}))
        raise NoType("whether this is an int or a float depends on the exponent's sign: write float(x) ** y")
    if exponent < 0:
        power = Call("pow", (as_type(left, "float64"), Const(float(exponent), "float64")), "float64")
        return Value(power, frozenset({"pyfloat"}))
    return Value(_power(ctx, "int64", as_type(left, "int64"), Const(exponent, "int64")), frozenset({"pyint"}))


def _power(ctx: Context, dtype: str, left: Expr, right: Expr) -> Expr:
    if is_float(dtype):
        if isinstance(right, Const) and right.value in (0.5, 2) and _is_short(left):
            return _root(left, dtype) if right.value == 0.5 else Binary("*", left, left, dtype)
        return Call("pow", (left, right), dtype)
    if isinstance(right, Const) and right.value < 0:
        raise NoType("integers to negative integer powers are not defined")
    if isinstance(right, Const) and right.value in (1, 2) and _is_short(left):
        return left if right.value == 1 else modular("*", left, left, dtype)
    return helper(ctx, "intpow", dtype, left, right)


def _root(expr: Expr, dtype: str) -> Expr:
    """``expr ** 0.5``, by the square root, but for the two numbers for which these differ: -0.0 and minus infinity."""
    root = Call("sqrt", (Binary("+", expr, Const(0.0, dtype), dtype),), dtype)
    lowest_of_all = Binary("==", expr, Const(-math.inf, dtype), "int32")
    return Select(lowest_of_all, Const(math.inf, dtype), root, dtype)


def _is_short(expr: Expr) -> bool:
    """Whether *expr* may as well be written twice."""
    return sum(1 for _ in walk_expr(expr)) <= 24


def _left_shift(ctx: Context, dtype: str, left: Expr, right: Expr) -> Expr:
    wide = f"u{wide_type(dtype).removeprefix('u')}"
    amount = cast(right, "int64")
    if isinstance(amount, Const) and 0 <= amount.value < bits(wide):
        return cast(Binary("<<", cast(left, wide), Const(int(amount.value), wide), wide), dtype)
    fits = Binary("<", cast(amount, "uint64"), Const(bits(wide), "uint64"), "int32")
    moved = Binary("<<", cast(left, wide), cast(amount, wide), wide)
    return cast(Select(fits, moved, Const(0, wide), wide), dtype)


def _right_shift(ctx: Context, dtype: str, left: Expr, right: Expr) -> Expr:
    wide = wide_type(dtype)
    amount, most = cast(right, "int64"), Const(bits(wide) - 1, "int64")
    if not is_signed(wide):
        fits = Binary("<=", cast(amount, "uint64"), cast(most, "uint64"), "int32")
        moved = Binary(">>", cast(left, wide), cast(amount, wide), wide)
        return cast(Select(fits, moved, Const(0, wide), wide), dtype)
    least = Select(Binary("<", cast(amount, "uint64"), cast(most, "uint64"), "int32"), amount, most, "int64")
    amount = amount if isinstance(amount, Const) and 0 <= amount.value <= most.value else least
    return cast(Binary(">>", cast(left, wide), cast(amount, wide), wide), dtype)


_SPECIAL: dict[str, Callable[[Context, str, Expr, Expr], Expr]] = {
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "power": _power,
    "left_shift": _left_shift,
    "right_shift": _right_shift,
}

# ------------------------------------------------------------------------------------------------------ one operand


def negative(ctx: Context, given: Value) -> Value:
    """``-x``."""
    if given.constant is not None:
        return number(-given.constant)
    return _unary(np.negative, given, negated)


def positive(ctx: Context, given: Value) -> Value:
    """``+x``."""
    if given.constant is not None:
        return number(+given.constant)
    return _unary(np.positive, given, lambda expr, dtype: expr)


def invert(ctx: Context, given: Value) -> Value:
    """``~x``."""
    if isinstance(given.constant, int):
        return number(~int(given.constant))
    return _unary(np.invert, given, _inverted)


def _unary(ufunc: np.ufunc, given: Value, compute: Callable[[Expr, str], Expr]) -> Value:
    results = {result(ufunc, (kind,)) for kind in given.kinds}
    types = {operands[0] for operands, _ in results}
    if len(types) > 1:
        raise NoType(f"the type of this depends on the data: {shown(given.kinds)}")
    (dtype,) = types
    return Value(compute(as_type(given, dtype), dtype), frozenset(kind for _, kind in results))


def negated(expr: Expr, dtype: str) -> Expr:
    """``-expr`` in *dtype*."""
    if is_float(dtype):
        return Unary("-", expr, dtype)
    return modular("-", Const(0, dtype), expr, dtype) if dtype != "int64" else Unary("-", expr, dtype)


def _inverted(expr: Expr, dtype: str) -> Expr:
    if dtype == "bool":
        return cast(Unary("!", expr, "int32"), "bool")
    wide = wide_type(dtype)
    return cast(Unary("~", cast(expr, wide), wide), dtype)


def absolute(given: Value) -> Value:
    """``abs(x)``."""
    if given.constant is not None:
        return number(abs(given.constant))
    return _unary(np.absolute, given, _absolute)


def _absolute(expr: Expr, dtype: str) -> Expr:
    if is_float(dtype):
        return Call("fabs", (expr,), dtype)
    if not is_signed(dtype):
        return expr
    return Select(Binary("<", expr, Const(0, dtype), "int32"), negated(expr, dtype), expr, dtype)


def truth(given: Value) -> Expr:
    """Whether *given* is true, as a condition."""
    constant = given.constant
    if constant is not None:
        return Const(int(bool(constant)), "int32")
    expr = given.expr
    if isinstance(expr, Binary) and expr.dtype == "int32" and given.kinds <= {"pybool", "bool"}:
        return expr
    zero = Const(0.0 if is_float(expr.dtype) else 0, expr.dtype)
    return Binary("!=", expr, zero, "int32")


def unified(values: list[Value]) -> tuple[tuple[Expr, ...], frozenset[str]]:
    """*values*, of which the data choose one, in one type, and the kinds of the result."""
    kinds = frozenset().union(*(given.kinds for given in values))
    strict = {device(kind) for given in values if given.constant is None for kind in given.kinds}
    loose = [given.constant for given in values if given.constant is not None]
    if not strict:
        strict = {device(max(kinds, key=list(OWN).index))}
    (dtype, *others) = sorted(strict)
    if others or not all(fits(constant, dtype) for constant in loose):
        raise NoType(f"the type of this depends on the data: {shown(kinds)}")
    return tuple(as_type(given, dtype) for given in values), kinds
