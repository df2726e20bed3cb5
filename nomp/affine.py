"""Which integer expressions are exact as plain integer arithmetic, and which of these are affine.

C computes `i * n + j` in a type that may wrap around; loopy and isl compute with integers.  The two agree where every
operation's true result fits its type.  Signed operations always do (C leaves the rest undefined); unsigned ones do when
`runtime.ranges` has shown it for the values at hand, which is what `Variant.no_wrap` says.  The integers are 64 bits
wide and signed, so that an unsigned 64-bit value needs the same proof.  Used by `lower` and
`runtime.ranges`; knows no loopy.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from nomp.arithmetic import is_float, is_signed, limits
from nomp.region import Binary, Cast, Const, Expr, Load, Unary, Var
from nomp.walks import walk_expr

_LARGEST = limits("int64")[1]


@dataclass(frozen=True, slots=True)
class Affine:
    """``constant + sum of coefficient * name``; names are inames and integer parameters."""

    constant: int = 0
    terms: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Affine) -> Affine:
        names = self.terms.keys() | other.terms.keys()
        sums = {name: self.terms.get(name, 0) + other.terms.get(name, 0) for name in names}
        return Affine(self.constant + other.constant, {name: c for name, c in sums.items() if c})

    def scaled(self, factor: int) -> Affine:
        """This times *factor*."""
        return Affine(self.constant * factor, {name: c * factor for name, c in self.terms.items() if c * factor})

    def __str__(self) -> str:
        parts = [f"{self.terms[name]}*{name}" for name in sorted(self.terms)]
        return " + ".join([*parts, str(self.constant)])


def preserves_value(operand: str, target: str) -> bool:
    """Whether a conversion between these integer types keeps every value."""
    if is_float(operand) or is_float(target) or target == "bool":
        return operand == target
    (low, high), (target_low, target_high) = limits(operand), limits(target)
    return target_low <= low and high <= target_high


def is_exact(expr: Expr, no_wrap: bool, stable: Container[str], wide: Container[str]) -> bool:
    """Whether *expr* (one node, not its operands) computes what plain integer arithmetic computes.

    *stable* holds the names of counters and parameters whose range is known at launch, *wide* those of unsigned 64-bit
    parameters.
    """
    if is_float(expr.dtype):
        return False
    match expr:
        case Const(value=value):
            return abs(value) <= _LARGEST
        case Var(name=name):
            return no_wrap or name not in wide
        case Load():
            return True
        case Binary(op="+" | "-" | "*", dtype=dtype) | Unary(op="-", dtype=dtype):
            return is_signed(dtype) or (no_wrap and _all_stable(expr, stable))
        case Cast(operand=operand, dtype=dtype):
            if is_float(operand.dtype) or dtype == "bool":
                return False
            return preserves_value(operand.dtype, dtype) or (no_wrap and _all_stable(expr, stable))
    return False


def _all_stable(expr: Expr, stable: Container[str]) -> bool:
    """Whether the range of *expr* can be known at launch: no data, no locals."""
    leaves = [node for node in walk_expr(expr) if isinstance(node, Var | Load)]
    return all(isinstance(leaf, Var) and leaf.name in stable for leaf in leaves)


@dataclass(frozen=True, slots=True)
class Scope:
    """What names mean where an expression stands: *forms* of counters and parameters, and see `is_exact`."""

    forms: Mapping[str, Affine]
    stable: Container[str]
    wide: Container[str]
    no_wrap: bool

    def affine(self, expr: Expr) -> Affine | None:
        """*expr* as an affine form, or None."""
        if not is_exact(expr, self.no_wrap, self.stable, self.wide):
            return None
        match expr:
            case Const(value=value):
                return Affine(int(value))
            case Var(name=name):
                return self.forms.get(name)
            case Cast(operand=operand):
                return self.affine(operand)
            case Unary(operand=operand):
                form = self.affine(operand)
                return form.scaled(-1) if form else None
            case Binary(op=op, left=left, right=right):
                return _combine(op, self.affine(left), self.affine(right))
        return None


def _combine(op: str, left: Affine | None, right: Affine | None) -> Affine | None:
    if left is None or right is None:
        return None
    if op == "*":
        return _product(left, right)
    return left + (right if op == "+" else right.scaled(-1))


def _product(first: Affine, second: Affine) -> Affine | None:
    if not second.terms:
        return first.scaled(second.constant)
    return second.scaled(first.constant) if not first.terms else None
