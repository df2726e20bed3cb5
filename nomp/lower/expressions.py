"""Region expressions spelled in loopy, so that the device computes what C computes.

`Speller.value` keeps every type: casts are explicit, and C's ``/ % << & ...`` become functions of `lower.target`.
`Speller.index` is for subscripts and bounds, where loopy wants plain integers: it spells integer arithmetic on counters
and parameters without casts wherever `affine.is_exact` says that this is the same.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from loopy.symbolic import TypeCast
from pymbolic import primitives as p
from pymbolic import var

from nomp.affine import is_exact
from nomp.arithmetic import is_float, is_signed
from nomp.lower.target import loopy_dtype
from nomp.region import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var

_FUNCTIONS = {"/": "c_div", "%": "c_rem", "<<": "c_shl", ">>": "c_shr", "&": "c_and", "|": "c_or", "^": "c_xor"}
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True, slots=True)
class Name:
    """How a scalar is spelled: *plain* has *dtype* where that is given, else an index type (counters, parameters)."""

    plain: Any
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class Speller:
    """Spells expressions; *names* says what the scalars mean, *stable* is that of `affine.is_exact`."""

    names: Mapping[str, Name]
    stable: Container[str]
    no_wrap: bool

    def value(self, expr: Expr) -> Any:
        """*expr* as a loopy expression whose loopy type is the expression's."""
        match expr:
            case Const(value=value, dtype=dtype):
                return constant(value, dtype)
            case Var(name=name, dtype=dtype):
                known = self.names[name]
                return known.plain if known.dtype == dtype else TypeCast(loopy_dtype(dtype), known.plain)
            case Load(array=array, index=index):
                return p.Subscript(var(array), tuple(self.index(i) for i in index))
            case Cast(operand=operand, dtype=dtype):
                return self._cast(operand, dtype)
            case Unary(op=op, operand=operand, dtype=dtype):
                return self._unary(expr, op, operand, dtype)
            case Binary(op=op, left=left, right=right, dtype=dtype):
                return self._binary(expr, op, left, right, dtype)
            case Select(cond=cond, then=then, other=other):
                return p.If(self.condition(cond), self.value(then), self.value(other))
            case Call(function=function, args=args):
                return var(function)(*[self.value(arg) for arg in args])

    def condition(self, expr: Expr) -> Any:
        """*expr* as a truth value."""
        match expr:
            case Binary(op=op, left=left, right=right) if op in _COMPARISONS:
                return p.Comparison(self.value(left), op, self.value(right))
            case Binary(op="&&", left=left, right=right):
                return p.LogicalAnd((self.condition(left), self.condition(right)))
            case Binary(op="||", left=left, right=right):
                return p.LogicalOr((self.condition(left), self.condition(right)))
            case Unary(op="!", operand=operand):
                return p.LogicalNot(self.condition(operand))
        return p.Comparison(self.value(expr), "!=", constant(0, expr.dtype))

    def index(self, expr: Expr) -> Any:
        """*expr*, of an integer type, as an integer for a subscript or a bound."""
        if not is_exact(expr, self.no_wrap, self.stable):
            return self.value(expr)
        match expr:
            case Const(value=value):
                return int(value)
            case Var(name=name):
                return self.names[name].plain
            case Cast(operand=operand):
                return self.index(operand)
            case Unary(operand=operand):
                return -self.index(operand)
            case Binary(op="+", left=left, right=right):
                return self.index(left) + self.index(right)
            case Binary(op="-", left=left, right=right):
                return self.index(left) - self.index(right)
            case Binary(op="*", left=left, right=right):
                return self.index(left) * self.index(right)
        return self.value(expr)

    def _cast(self, operand: Expr, dtype: str) -> Any:
        if dtype == "bool":
            return p.If(self.condition(operand), constant(1, "bool"), constant(0, "bool"))
        return TypeCast(loopy_dtype(dtype), self.value(operand))

    def _unary(self, expr: Expr, op: str, operand: Expr, dtype: str) -> Any:
        if op == "!":
            return _as_int(self.condition(expr))
        if op == "-" and is_float(dtype):
            return p.Product((-1, self.value(operand)))
        return var("c_neg" if op == "-" else "c_not")(self.value(operand))

    def _binary(self, expr: Expr, op: str, left: Expr, right: Expr, dtype: str) -> Any:
        if op in _COMPARISONS or op in ("&&", "||"):
            return _as_int(self.condition(expr))
        first, second = self.value(left), self.value(right)
        if op in ("min", "max"):
            return p.If(p.Comparison(first, "<" if op == "min" else ">", second), first, second)
        if op == "+":
            return p.Sum((first, second))
        if op == "*":
            return p.Product((first, second))
        if op == "-":
            wraps = not (is_float(dtype) or is_signed(dtype))
            return var("c_sub")(first, second) if wraps else p.Sum((first, p.Product((-1, second))))
        if op == "/" and is_float(dtype):
            return p.Quotient(first, second)
        return var(_FUNCTIONS[op])(first, second)


def constant(value: int | float, dtype: str) -> Any:
    """A constant of exactly this type.  The most negative integers have no literal in C: they become a difference."""
    number = loopy_dtype(dtype).dtype.type(value)
    if dtype in ("int32", "int64") and value == np.iinfo(dtype).min:
        return p.Sum((type(number)(value + 1), type(number)(-1)))
    return number


def _as_int(condition: Any) -> Any:
    """A truth value as C's int."""
    return TypeCast(loopy_dtype("int32"), condition)
