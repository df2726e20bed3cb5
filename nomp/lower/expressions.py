"""Region expressions spelled in loopy, so that the device computes what C computes.

`Speller.value` keeps every type: casts are explicit, and C's ``/ % << & ...`` become functions of `lower.target`.
`Speller.index` is for subscripts and bounds, where loopy wants plain integers: it spells integer arithmetic on counters
and parameters without casts wherever `affine.is_exact` says that this is the same.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from pymbolic import primitives as p
from pymbolic import var

from nomp.affine import is_exact
from nomp.arithmetic import evaluate, is_float, is_signed
from nomp.lower.names import device_name
from nomp.lower.target import BITS, OPERATORS, loopy_dtype
from nomp.region import COMPARISONS, Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var
from nomp.walks import operands, walk_expr

_FUNCTIONS = {symbol: name for name, symbol in OPERATORS.items()}


@dataclass(frozen=True, slots=True)
class Name:
    """How a scalar is spelled: *plain* has *dtype* where that is given, else an index type (counters, parameters)."""

    plain: Any
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class Speller:
    """Spells expressions.

    *names* says what the scalars mean, *stable* and *wide* are those of `affine.is_exact`, *functions* are the
    program's own.
    """

    names: Mapping[str, Name]
    stable: Container[str]
    wide: Container[str]
    no_wrap: bool
    functions: Set[str] = frozenset()

    def value(self, expr: Expr) -> Any:
        """*expr* as a loopy expression whose loopy type is the expression's."""
        match folded(expr):
            case Const(value=value, dtype=dtype):
                return constant(value, dtype)
            case Var(name=name, dtype=dtype):
                known = self.names[name]
                return known.plain if known.dtype == dtype else converted(known.plain, dtype)
            case Load(array=array, index=index):
                return p.Subscript(var(array), self.subscripts(index))
            case Cast(operand=operand, dtype=dtype):
                return self._cast(operand, dtype)
            case Unary(op=op, operand=operand, dtype=dtype):
                return self._unary(expr, op, operand, dtype)
            case Binary(op=op, left=left, right=right, dtype=dtype):
                return self._binary(expr, op, left, right, dtype)
            case Select(cond=cond, then=then, other=other):
                return p.If(self.condition(cond), self._branch(then), self._branch(other))
            case Call(function=function, args=args, dtype=dtype):
                name = self.function(function)
                name = math_name(name, dtype) if name == function else name
                return var(name)(*[self.value(arg) for arg in args])

    def condition(self, expr: Expr) -> Any:
        """*expr* as a truth value."""
        match expr:
            case Binary(op=op, left=left, right=right) if op in COMPARISONS:
                plain = self.is_plain(left) and self.is_plain(right)
                spell = self.index if plain else self.value
                return p.Comparison(spell(left), op, spell(right))
            case Binary(op="&&", left=left, right=right):
                return p.LogicalAnd((self.condition(left), self.condition(right)))
            case Binary(op="||", left=left, right=right):
                return p.LogicalOr((self.condition(left), self.condition(right)))
            case Unary(op="!", operand=operand):
                return p.LogicalNot(self.condition(operand))
        return p.Comparison(self.value(expr), "!=", constant(0, expr.dtype))

    def subscripts(self, index: tuple[Expr, ...]) -> tuple[Any, ...]:
        """The subscripts *index* of one element.  What loopy multiplies with strides does not wrap around, as in C."""
        strided = len(index) > 1
        return tuple(self._wide(part) if strided and not self._is_wide(part) else self.index(part) for part in index)

    def index(self, expr: Expr) -> Any:
        """*expr*, of an integer type, as an integer for a subscript or a bound: a signed one, as loopy needs it."""
        if not is_exact(expr, self.no_wrap, self.stable, self.wide):
            return self._signed(expr)
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
        return self._signed(expr)

    def _signed(self, expr: Expr) -> Any:
        return self.value(expr) if is_signed(expr.dtype) else self._wide(expr)

    def _wide(self, expr: Expr) -> Any:
        return self.value(expr) if expr.dtype == "int64" else converted(self.value(expr), "int64")

    def _is_wide(self, expr: Expr) -> bool:
        """Whether *expr* is computed with counters and parameters alone, which are int64."""
        leaves = (node for node in walk_expr(expr) if isinstance(node, Var | Load))
        return all(isinstance(leaf, Var) and not self.names[leaf.name].dtype for leaf in leaves)

    def function(self, name: str) -> str:
        """What the function *name* is called in the kernel."""
        return device_name(name) if name in self.functions else name

    def is_plain(self, expr: Expr) -> bool:
        """Whether *expr* is integer arithmetic on counters and parameters alone, whatever their values are."""
        return self._is_wide(expr) and all(is_exact(node, False, (), self.wide) for node in walk_expr(expr))

    def _branch(self, expr: Expr) -> Any:
        """A branch, its type visible: loopy takes expressions for equal that differ in a constant's type alone."""
        value = self.value(expr)
        return converted(value, expr.dtype) if isinstance(expr, Const) else value

    def _cast(self, operand: Expr, dtype: str) -> Any:
        if dtype == "bool":
            return p.If(self.condition(operand), constant(1, "bool"), constant(0, "bool"))
        return converted(self.value(operand), dtype)

    def _unary(self, expr: Expr, op: str, operand: Expr, dtype: str) -> Any:
        if op == "!":
            return _as_int(self.condition(expr))
        if op == "-" and is_float(dtype):
            return p.Product((-1, self.value(operand)))
        return var(f"{'neg' if op == '-' else 'not'}_{dtype}")(self.value(operand))

    def _binary(self, expr: Expr, op: str, left: Expr, right: Expr, dtype: str) -> Any:
        if op in COMPARISONS or op in ("&&", "||"):
            return _as_int(self.condition(expr))
        first, second = self.value(left), self.value(right)
        if op in ("min", "max"):
            return p.If(p.Comparison(first, "<" if op == "min" else ">", second), first, second)
        if op == "+":
            return p.Sum((first, second))
        if op == "*":
            return p.Product((first, second))
        if op == "-" and (is_float(dtype) or is_signed(dtype)):
            return _difference(first, second)
        if op == "/" and is_float(dtype):
            return p.Quotient(first, second)
        return var(f"{_FUNCTIONS[op]}_{dtype}")(first, second)


def _difference(left: Any, right: Any) -> Any:
    """``left - right``.  No product of numbers: loopy may put an equal one of another type in its place."""
    if isinstance(right, np.number):
        return p.Sum((left, -right)) if right != 0 else left  # not -0.0, which is equal to 0.0
    return p.Sum((left, p.Product((-1, right))))


def folded(expr: Expr) -> Expr:
    """*expr*, computed now if its operands are constants (an integer division by zero stays as it is)."""
    parts = () if isinstance(expr, Load | Call) else operands(expr)
    if not parts or not all(isinstance(folded(part), Const) for part in parts):
        return expr
    try:
        return Const(evaluate(expr, {}), expr.dtype)
    except ZeroDivisionError:
        return expr


def constant(value: int | float, dtype: str) -> Any:
    """A constant of exactly this type.

    The most negative integers have no literal in C: they become a difference.  -0.0 becomes a call: loopy takes
    expressions for equal whose constants are, and 0.0 for it.  So do infinity and NaN, see `target.Special`.
    """
    if is_float(dtype) and not math.isfinite(value):
        special = var("nan_float32" if math.isnan(value) else "infinity_float32")()
        special = p.Product((-1, special)) if value < 0 else special
        return special if dtype == "float32" else converted(special, dtype)
    number = loopy_dtype(dtype).dtype.type(value)
    if value == 0 and is_float(dtype) and math.copysign(1, value) < 0:
        return var(math_name("copysign", dtype))(abs(number), type(number)(-1))
    if dtype in ("int32", "int64") and value == np.iinfo(dtype).min:
        return p.Sum((type(number)(value + 1), type(number)(-1)))
    return number


def math_name(function: str, dtype: str) -> str:
    """What *function*, one of ``<math.h>`` or of `BITS`, is called for *dtype*."""
    return f"{function}_{dtype}" if function in BITS else function + ("f" if dtype == "float32" else "")


def converted(value: Any, dtype: str) -> Any:
    """*value*, whatever its loopy type, as *dtype*."""
    return var(f"as_{dtype}")(value)


def _as_int(condition: Any) -> Any:
    """A truth value as C's int."""
    return converted(condition, "int32")
