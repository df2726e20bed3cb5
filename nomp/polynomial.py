"""Subscripts and bounds as polynomials in counters and parameters: what integer sets can say of them, and rows.

``a[i*m + j]`` is an element of a matrix with rows of *m* elements, if ``0 <= j < m``: `split` finds such rows.
Used by `accesses` and `conflict`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from nomp.affine import is_exact, preserves_value
from nomp.arithmetic import bits, is_signed
from nomp.region import Binary, Cast, Const, Expr, Unary, Var

Monomial = tuple[str, ...]  # names in alphabetical order, repeated where they are multiplied with themselves


@dataclass(frozen=True, slots=True)
class Polynomial:
    """The sum of the *terms*: each the product of a coefficient and the names of its monomial."""

    terms: Mapping[Monomial, int] = field(default_factory=dict)

    def __add__(self, other: Polynomial) -> Polynomial:
        sums = Counter(self.terms)
        for monomial, coefficient in other.terms.items():
            sums[monomial] += coefficient
        return Polynomial({monomial: c for monomial, c in sums.items() if c})

    def __mul__(self, other: Polynomial) -> Polynomial:
        products: Counter[Monomial] = Counter()
        for one, factor in self.terms.items():
            for two, coefficient in other.terms.items():
                products[tuple(sorted((*one, *two)))] += factor * coefficient
        return Polynomial({monomial: c for monomial, c in products.items() if c})

    def renamed(self, names: Mapping[str, str]) -> Polynomial:
        """This with other names for those in *names*."""
        return Polynomial({tuple(sorted(names.get(n, n) for n in m)): c for m, c in self.terms.items()})

    @property
    def is_affine(self) -> bool:
        """Whether no two names are multiplied."""
        return all(len(monomial) < 2 for monomial in self.terms)

    def text(self) -> str:
        """This, which is affine, for isl."""
        return " + ".join("*".join([str(c), *monomial]) for monomial, c in self.terms.items()) or "0"


ZERO = Polynomial()


def constant(value: int) -> Polynomial:
    """*value* as a polynomial."""
    return Polynomial({(): value} if value else {})


def polynomial(expr: Expr, known: Mapping[str, Polynomial], *, offset: bool = True) -> Polynomial | None:
    """The integer expression *expr*, in which names mean what *known* says; None for everything else.

    *offset*: *expr* is a subscript, or a bound of a loop.
    There, arithmetic in 32 or 64 bits is taken not to wrap around, but for constants close to the type's largest value:
    what does is out of bounds, unless the array has more than 2^31 elements, and then `Variant.wraps` tells.  Anywhere
    else, as in a condition, unsigned arithmetic may wrap around, and is no polynomial.
    """
    if not is_exact(expr, offset, known, ()):
        return None
    match expr:
        case Const(value=value, dtype=dtype):
            return constant(_as_offset(int(value), dtype))
        case Var(name=name):
            return known.get(name)
        case Cast(operand=operand, dtype=dtype) if preserves_value(operand.dtype, dtype) or bits(dtype) >= 32:
            return polynomial(operand, known, offset=offset)
        case Unary(operand=operand):
            found = polynomial(operand, known, offset=offset)
            return None if found is None else found * constant(-1)
        case Binary(op=op, left=left, right=right):
            first, second = (polynomial(side, known, offset=offset) for side in (left, right))
            if first is None or second is None:
                return None
            return first * second if op == "*" else first + (second if op == "+" else second * constant(-1))
    return None


def _as_offset(value: int, dtype: str) -> int:
    """*value*, or what adding it does: ``i + 4294967295u`` is ``i - 1``."""
    size: int = 2 ** bits(dtype)
    return value - size if not is_signed(dtype) and dtype != "bool" and 2 * value >= size else value


@dataclass(frozen=True, slots=True)
class Dimension:
    """One subscript of a matrix; it must lie in ``0 <= index < extent`` (*extent* is None for the outermost)."""

    index: Polynomial
    extent: Polynomial | None


def split(subscripts: tuple[Polynomial, ...], counters: frozenset[str]) -> tuple[tuple[Dimension, ...], ...] | None:
    """Each of the *subscripts* of one array in the same rows, outermost dimension first; None if there are none.

    After Grosser et al., Optimistic Delinearization of Parametrically Sized Arrays, ICS 2015: the parameters that
    counters are multiplied with are the sizes of rows.
    """
    strides = {_parameters(m, counters) for s in subscripts for m in s.terms if any(name in counters for name in m)}
    ordered = sorted(strides | {()}, key=len, reverse=True)
    extents = [_quotient(large, small) for large, small in pairwise(ordered)]
    if any(extent is None or len(extent) != 1 for extent in extents):
        return None
    sizes = [None, *(Polynomial({extent: 1}) for extent in extents if extent is not None)]
    found = []
    for subscript in subscripts:
        parts = _in_rows(subscript, ordered, counters)
        if parts is None or not all(part.is_affine for part in parts):
            return None
        found.append(tuple(Dimension(part, size) for part, size in zip(parts, sizes, strict=True)))
    return tuple(found)


def _in_rows(subscript: Polynomial, strides: list[Monomial], counters: frozenset[str]) -> list[Polynomial] | None:
    """The part of *subscript* that each of *strides* multiplies, largest stride first."""
    parts = [ZERO] * len(strides)
    for monomial, coefficient in subscript.terms.items():
        for number, stride in enumerate(strides):
            rest = _quotient(monomial, stride)
            if rest is not None and len(rest) < 2:
                parts[number] += Polynomial({rest: coefficient})
                break
        else:
            return None
    return parts


def _parameters(monomial: Monomial, counters: frozenset[str]) -> Monomial:
    return tuple(name for name in monomial if name not in counters)


def _quotient(whole: Monomial, part: Monomial) -> Monomial | None:
    """*whole* divided by *part*, None if it is no multiple."""
    rest = Counter(whole)
    rest.subtract(part)
    return None if min(rest.values(), default=0) < 0 else tuple(sorted(rest.elements()))
