"""Numbers of 16 bits, which most devices do not compute with: NumPy's ``float16`` in terms of other types.

In: a region in which parameters, variables and operations have the type float16.  Out: the same region without it, as
NumPy does it: numbers are floats, each operation is rounded to half precision, and arrays hold the bits, as uint16.
Used by `frontend.python_regions`.  Devices have other functions for this, or none; these are right on all.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from nomp.arithmetic import cast, convert
from nomp.frontend.python_helpers import helper_name
from nomp.region import (
    Assign,
    Binary,
    Call,
    Cast,
    Const,
    Declare,
    Expr,
    Function,
    If,
    Load,
    Param,
    Region,
    Return,
    Select,
    Stmt,
    Unary,
    Var,
)
from nomp.walks import rewritten

HALF = "float16"
_EXACT = {"fabs", "copysign", "floor", "ceil", "trunc", "rint", "fmax", "fmin"}
"""Functions that give a number of 16 bits for such numbers."""
_TO_FLOAT, _ROUND = helper_name("half", "float32"), helper_name("half", "rounded")
_TO_HALF = {dtype: helper_name("half", f"of_{dtype}") for dtype in ("float32", "float64")}
_WIDE = "uint64"


def without_halves(region: Region) -> Region:
    """*region* without numbers of 16 bits."""
    change = _Change({function.name for function in region.functions})
    made: Region = rewritten(region, change)
    return replace(made, functions=(*_functions(), *made.functions)) if change.found else region


class _Change:
    """What becomes of a node whose parts have been changed; *found*: whether there was anything to change.

    *own* are the functions of the region, whose results are rounded already.
    """

    def __init__(self, own: set[str]) -> None:
        self._own = own
        self.found = False

    def __call__(self, node: Any) -> Any:
        if isinstance(node, Assign) and isinstance(node.target, Call):  # what became of a load
            (load,) = node.target.args
            return replace(node, target=load, value=_stored(node.value))
        if isinstance(node, Function):
            params = tuple((name, _held(dtype)) for name, dtype in node.params)
            return replace(node, dtype=_held(node.dtype), params=params)
        if isinstance(node, Cast) and node.dtype == node.operand.dtype:
            return node.operand
        if getattr(node, "dtype", "") != HALF:
            return node
        self.found = True
        match node:
            case Param(kind=kind):
                return replace(node, dtype="uint16" if kind == "array" else "float32")
            case Const(value=number):
                return Const(convert(number, HALF), "float32")
            case Load():
                return Call(_TO_FLOAT, (replace(node, dtype="uint16"),), "float32")
            case Cast(operand=operand):
                return _rounded(operand if operand.dtype == "float64" else cast(operand, "float32"))
            case Binary():
                return _rounded(replace(node, dtype="float32"))
            case Call(function=name) if name not in _EXACT | self._own:
                return _rounded(replace(node, dtype="float32"))
            case Var() | Unary() | Select() | Call() | Declare():
                return replace(node, dtype="float32")
        raise AssertionError(node)


def _held(dtype: str) -> str:
    return "float32" if dtype == HALF else dtype


def _rounded(expr: Expr) -> Expr:
    if expr.dtype == "float32":
        return Call(_ROUND, (expr,), "float32")
    return Call(_TO_FLOAT, (Call(_TO_HALF[expr.dtype], (expr,), "uint16"),), "float32")


def _functions() -> tuple[Function, ...]:
    number = Call(_TO_FLOAT, (Call(_TO_HALF["float32"], (Var("a", "float32"),), "uint16"),), "float32")
    return (
        Function(_TO_FLOAT, "float32", (("a", "uint16"),), _to_float()),
        *(Function(name, "uint16", (("a", dtype),), _to_half(dtype)) for dtype, name in _TO_HALF.items()),
        Function(_ROUND, "float32", (("a", "float32"),), (Return(number),)),
    )


def _stored(value: Expr) -> Expr:
    """The 16 bits of *value*, to which it need not have been rounded before."""
    match value:
        case Call(function=name, args=(number,)) if name == _ROUND:
            return Call(_TO_HALF["float32"], (number,), "uint16")
        case Call(function=name, args=(bits,)) if name == _TO_FLOAT:
            return bits
    return Call(_TO_HALF["float32"], (value,), "uint16")


def _bits(number: int) -> Expr:
    return Const(number, _WIDE)


def _op(op: str, left: Expr, right: Expr) -> Expr:
    return Binary(op, left, right, "int32" if op in ("==", "!=", ">", ">=", "&&", "||") else left.dtype)


def _to_float() -> tuple[Stmt, ...]:
    """The number that 16 bits are: a sign, an exponent of 5 bits, and a mantissa of 10."""
    bits, real = cast(Var("a", "uint16"), _WIDE), "float32"
    exponent, mantissa, number = Var("e", _WIDE), Var("m", real), Var("x", real)
    power = _op("*", cast(_op("<<", _bits(1), exponent), real), Const(2.0**-25, real))
    special = Select(_op("==", mantissa, Const(0.0, real)), Const(math.inf, real), Const(math.nan, real), real)
    return (
        Declare("e", _WIDE, (), _op("&", _op(">>", bits, _bits(10)), _bits(31))),
        Declare("m", real, (), cast(_op("&", bits, _bits(1023)), real)),
        Declare("x", real, (), _op("*", _op("+", mantissa, Const(1024.0, real)), power)),
        If(_op("==", exponent, _bits(0)), (Assign(number, _op("*", mantissa, Const(2.0**-24, real))),)),
        If(_op("==", exponent, _bits(31)), (Assign(number, special),)),
        Return(Select(_op("!=", _op(">>", bits, _bits(15)), _bits(0)), Unary("-", number, real), number, real)),
    )


def _to_half(dtype: str) -> tuple[Stmt, ...]:
    """The 16 bits of the nearest number, of two as near the even one.

    *u* is the number in units of a quarter of the smallest, with its last bit set for all that is lost; *k* of its bits
    are more than the mantissa has, and *r* is what remains without them.
    """
    a, x, sign, u, k, r = Var("a", dtype), Var("x", dtype), *(Var(name, _WIDE) for name in "sukr")
    scaled = _op("*", x, Const(2.0**26, dtype))
    below = Binary("<", Call("copysign", (Const(1.0, dtype), a), dtype), Const(0.0, dtype), "int32")
    rest, half = _op("&", u, _op("-", _op("<<", _bits(1), k), _bits(1))), _op("<<", _bits(1), _op("-", k, _bits(1)))
    odd = _op("&&", _op("==", rest, half), _op("!=", _op("&", r, _bits(1)), _bits(0)))
    longer = [
        If(_op(">=", _op(">>", u, _op("+", k, _bits(step - 1))), _bits(2048)),
           (Assign(k, _op("+", k, _bits(step))),))
        for step in (16, 8, 4, 2, 1)
    ]  # fmt: skip
    number = _op("+", _op("<<", _op("-", k, _bits(2)), _bits(10)), r)
    return (
        Declare("x", dtype, (), Call("fabs", (a,), dtype)),
        Declare("s", _WIDE, (), Select(below, _bits(1 << 15), _bits(0), _WIDE)),
        If(_op("!=", x, x), (Return(cast(_op("+", sign, _bits(0x7E00)), "uint16")),)),
        If(_op(">=", x, Const(65520.0, dtype)), (Return(cast(_op("+", sign, _bits(0x7C00)), "uint16")),)),
        Declare("u", _WIDE, (), cast(scaled, _WIDE)),
        If(_op("!=", cast(u, dtype), scaled), (Assign(u, _op("|", u, _bits(1))),)),
        Declare("k", _WIDE, (), _bits(2)),
        *longer,
        Declare("r", _WIDE, (), _op(">>", u, k)),
        If(_op("||", _op(">", rest, half), odd), (Assign(r, _op("+", r, _bits(1))),)),
        Return(cast(_op("+", sign, number), "uint16")),
    )
