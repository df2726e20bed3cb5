"""C's arithmetic on Python numbers: what launch expressions and constants are evaluated with.

In: a `region.Expr` without loads, and the values of its scalars.  Out: the number that a C program would compute,
integers wrapped to their type (signed overflow, undefined in C, wraps too), float32 rounded after every operation.
"""

from __future__ import annotations

import ctypes
import math
import operator
import struct
from collections.abc import Callable, Mapping
from functools import cache

from nomp.region import Binary, Cast, Const, Expr, Select, Unary, Var

Number = int | float

_BITS = {"bool": 1} | {f"{sign}int{width}": width for sign in ("", "u") for width in (8, 16, 32, 64)}
SIZES = {name: max(1, width // 8) for name, width in _BITS.items()} | {"float32": 4, "float64": 8}


def is_float(dtype: str) -> bool:
    """Whether *dtype* is a floating-point type."""
    return dtype.startswith("float")


def is_signed(dtype: str) -> bool:
    """Whether *dtype* is a signed integer type."""
    return dtype.startswith("int")


def bits(dtype: str) -> int:
    """The width of the integer type *dtype* (1 for bool)."""
    return _BITS[dtype]


@cache
def limits(dtype: str) -> tuple[int, int]:
    """The smallest and the largest value of the integer type *dtype*."""
    if is_signed(dtype):
        return -(1 << (bits(dtype) - 1)), (1 << (bits(dtype) - 1)) - 1
    return 0, (1 << bits(dtype)) - 1


def promoted(dtype: str) -> str:
    """*dtype* after C's integer promotions."""
    return dtype if is_float(dtype) or bits(dtype) >= 32 else "int32"


def arithmetic_type(left: str, right: str) -> str:
    """The common type of two operands, by C's usual arithmetic conversions."""
    for real in ("float64", "float32"):
        if real in (left, right):
            return real
    left, right = promoted(left), promoted(right)
    if bits(left) != bits(right):
        return left if bits(left) > bits(right) else right
    return right if is_signed(left) else left


def convert(value: Number, dtype: str) -> Number:
    """*value* converted to *dtype* as a C cast does (a float out of range, undefined in C, wraps; NaN gives 0)."""
    if dtype == "float64":
        return float(value)
    if dtype == "float32":
        return ctypes.c_float(_sticky(value) if isinstance(value, int) else value).value
    if dtype == "float16":  # which only the front end of Python knows
        real = float(value)
        return float(struct.unpack("e", struct.pack("e", real))[0]) if abs(real) < 65520 else real * math.inf
    if dtype == "bool":
        return int(value != 0)
    if isinstance(value, float):
        value = math.trunc(value) if math.isfinite(value) else 0
    value, (low, high) = int(value), limits(dtype)
    return value if low <= value <= high else (value - low) % (1 << bits(dtype)) + low


def _sticky(value: int) -> float:
    """*value* to 40 bits, the last one set for all that is lost: to round it to float32 then is to round it once."""
    lost = max(0, value.bit_length() - 40)
    kept = abs(value) >> lost
    exact = math.ldexp(kept | (abs(value) != kept << lost), lost)
    return -exact if value < 0 else exact


def _truncated(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _divide(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int):
        return _truncated(left, right)
    if right == 0:
        return math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left) * math.copysign(1.0, right)
    return left / right


_BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "//": operator.floordiv,
    "%": lambda a, b: int(a) - _truncated(int(a), int(b)) * int(b),
    "<<": lambda a, b: int(a) << (int(b) & 63),
    ">>": lambda a, b: int(a) >> (int(b) & 63),
    "&": lambda a, b: int(a) & int(b),
    "|": lambda a, b: int(a) | int(b),
    "^": lambda a, b: int(a) ^ int(b),
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "min": min,
    "max": max,
}

_UNARY: dict[str, Callable[[Number], Number]] = {"-": operator.neg, "~": lambda a: ~int(a), "!": operator.not_}


def evaluate(expr: Expr, env: Mapping[str, Number]) -> Number:
    """The value of *expr* where *env* gives each scalar's value.

    Raises ZeroDivisionError for an integer division by zero, KeyError for a name that *env* lacks, ValueError for what
    only a device can evaluate (an array element, a mathematical function).
    """
    match expr:
        case Const(value=value):
            return value
        case Var(name=name, dtype=dtype):
            return convert(env[name], dtype)
        case Cast(operand=operand, dtype=dtype):
            return convert(evaluate(operand, env), dtype)
        case Unary(op=op, operand=operand, dtype=dtype):
            return convert(_UNARY[op](evaluate(operand, env)), dtype)
        case Binary(op="&&", left=left, right=right):
            return int(bool(evaluate(left, env)) and bool(evaluate(right, env)))
        case Binary(op="||", left=left, right=right):
            return int(bool(evaluate(left, env)) or bool(evaluate(right, env)))
        case Binary(op=op, left=left, right=right, dtype=dtype):
            return convert(_BINARY[op](evaluate(left, env), evaluate(right, env)), dtype)
        case Select(cond=cond, then=then, other=other):
            return evaluate(then if evaluate(cond, env) else other, env)
        case _:
            raise ValueError(f"{type(expr).__name__} cannot be evaluated at launch")


def is_launch_expr(expr: Expr, scalars: frozenset[str] | set[str]) -> bool:
    """Whether `evaluate` can compute *expr* when it is given the values of *scalars*."""
    match expr:
        case Const():
            return True
        case Var(name=name):
            return name in scalars
        case Cast(operand=operand) | Unary(operand=operand):
            return is_launch_expr(operand, scalars)
        case Binary(left=left, right=right):
            return is_launch_expr(left, scalars) and is_launch_expr(right, scalars)
        case Select(cond=cond, then=then, other=other):
            return all(is_launch_expr(e, scalars) for e in (cond, then, other))
        case _:
            return False


def cast(expr: Expr, dtype: str) -> Expr:
    """*expr* converted to *dtype*: nothing to do where it has that type, folded where it is a constant."""
    if expr.dtype == dtype:
        return expr
    if isinstance(expr, Const):
        return Const(convert(expr.value, dtype), dtype)
    return Cast(expr, dtype)
