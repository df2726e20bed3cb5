"""Python's and NumPy's types in the loop IR: what an operation on two objects gives, and how it is computed.

In: the kinds of the operands.  Out: the type in which devices compute, and the kind of the result.  Used by the other
``frontend.python_*`` modules; NumPy itself says what its promotion (NEP 50) is.

A *kind* is the Python type of a number: ``pybool pyint pyfloat`` for Python's own, NumPy's names for NumPy's scalars.
The two differ where they meet others: ``2.0`` times a float32 is a float32, ``np.float64(2)`` times it is a float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from nomp.arithmetic import SIZES, cast, convert, is_float, limits
from nomp.region import Const, Expr

OWN = {"pybool": "bool", "pyint": "int64", "pyfloat": "float64"}
"""Python's own numbers, and the types in which devices hold them."""
TYPES = {*SIZES, "float16"}
"""NumPy's types that loops may have; `python_halves` has others in the place of float16."""
_CLASSES: dict[str, Any] = {"pybool": np.dtype(bool), "pyint": int, "pyfloat": float}
COMPARISONS = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}
"""NumPy's names of operators, and C's symbols."""
BITWISE = {"bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}
_RANKS = ("pybool", "pyint", "pyfloat")
_SHOWN = {"pybool": "bool", "pyint": "int", "pyfloat": "float"}


class NoType(Exception):
    """The operation is not defined, or gives what devices do not have, or (*out_of_range*) a number that is too large.
    """

    def __init__(self, message: str, *, out_of_range: bool = False) -> None:
        super().__init__(message)
        self.out_of_range = out_of_range


@dataclass(frozen=True, slots=True)
class Value:
    """A number: the expression that computes it, and the kinds that it may have, all of one type on devices.

    A constant of Python's own is a `Const` whose value may be any number: where it is used decides on its type.
    """

    expr: Expr
    kinds: frozenset[str]

    @property
    def constant(self) -> int | float | None:
        """The value, where it is one of Python's own constants."""
        own = self.kinds <= OWN.keys() and len(self.kinds) == 1
        return self.expr.value if own and isinstance(self.expr, Const) else None


def value(expr: Expr, kind: str) -> Value:
    """*expr*, of one *kind*."""
    return Value(expr, frozenset({kind}))


def number(constant: bool | int | float) -> Value:
    """A constant of Python's."""
    kind = "pybool" if isinstance(constant, bool) else "pyint" if isinstance(constant, int) else "pyfloat"
    return value(Const(int(constant) if kind == "pybool" else constant, OWN[kind]), kind)


def constant_of(found: Any) -> Value | None:
    """The object *found* as a constant, None where it is no number."""
    if isinstance(found, np.generic):
        dtype = found.dtype.name
        return value(Const(found.item(), dtype), dtype) if dtype in TYPES else None
    return number(found) if isinstance(found, bool | int | float) else None


def device(kind: str) -> str:
    """The type in which devices hold numbers of *kind*."""
    return OWN.get(kind, kind)


def shown(kinds: frozenset[str] | str) -> str:
    """How messages call *kinds*: ``int``, ``numpy.float32``."""
    names = [kinds] if isinstance(kinds, str) else sorted(kinds)
    return " or ".join(_SHOWN.get(name, f"numpy.{name}") for name in names)


def is_integer(kinds: frozenset[str]) -> bool:
    """Whether all are integers or truth values."""
    return not any(is_float(device(kind)) for kind in kinds)


def fits(constant: int | float, dtype: str) -> bool:
    """Whether *dtype* has *constant* exactly."""
    if isinstance(constant, float) and not math.isfinite(constant):
        return is_float(dtype)
    if is_float(dtype):
        try:
            return convert(constant, dtype) == constant
        except OverflowError:
            return False
    low, high = limits(dtype)
    return constant == int(constant) and low <= constant <= high


def result(ufunc: np.ufunc, kinds: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The types in which *ufunc* computes with *kinds*, and the kind of what it gives.  Raises `NoType`."""
    return _own_result(ufunc, kinds) if set(kinds) <= OWN.keys() else resolved(ufunc, kinds)


@cache
def resolved(ufunc: np.ufunc, kinds: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """`result` where NumPy decides, also of Python's own numbers alone.  Raises `NoType`."""
    own = set(kinds) <= OWN.keys()  # then NumPy makes scalars of its own of them
    given = tuple(np.dtype(device(kind)) if own else _CLASSES.get(kind, np.dtype(device(kind))) for kind in kinds)
    try:
        *operands, out = ufunc.resolve_dtypes((*given, None))
    except TypeError:
        operands_ = " and ".join(map(shown, kinds))
        raise NoType(f"'{ufunc.__name__}' is not defined for {operands_}") from None
    for dtype in (*operands, out):
        if dtype.name not in TYPES:
            raise NoType(f"'{ufunc.__name__}' of {' and '.join(map(shown, kinds))} is a {dtype.name}")
    return tuple(dtype.name for dtype in operands), out.name


@cache
def _own_result(ufunc: np.ufunc, kinds: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """What Python's operator gives for numbers of its own, which is not what NumPy's function does."""
    name, largest = ufunc.__name__, max(kinds, key=_RANKS.index)
    arithmetic = "pyint" if largest == "pybool" else largest
    if name in COMPARISONS:
        return (device(arithmetic),) * len(kinds), "pybool"
    if name == "divide":
        return ("float64",) * 2, "pyfloat"
    if name in (*BITWISE, "left_shift", "right_shift", "invert"):
        if largest == "pyfloat":
            raise NoType(f"'{name}' is not defined for {' and '.join(map(shown, kinds))}")
        kind = "pybool" if name in BITWISE and arithmetic != largest else "pyint"
        return (device(kind),) * len(kinds), kind
    return (device(arithmetic),) * len(kinds), arithmetic


def as_type(given: Value, dtype: str) -> Expr:
    """*given* converted to *dtype*.  Raises `NoType` for a constant that the type does not hold."""
    constant = given.constant
    if isinstance(constant, int) and not is_float(dtype) and dtype != "bool":
        low, high = limits(dtype)
        if not low <= constant <= high:
            raise NoType(f"the integer {constant} does not fit into {dtype}", out_of_range=True)
    if isinstance(given.expr, Const):
        try:
            return Const(convert(given.expr.value, dtype), dtype)
        except OverflowError:
            raise NoType(f"the integer {constant} does not fit into {dtype}", out_of_range=True) from None
    return cast(given.expr, dtype)
