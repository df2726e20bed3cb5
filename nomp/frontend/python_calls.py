"""Calls in Python loops: ``math``, NumPy's functions of numbers, some of Python's own, and functions of the program.

In: an ``ast.Call``.  Out: a `Value`.  Used by `frontend.python_expressions`.  Raises `NompError` N208, N231 and
`NoType`.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable
from itertools import product
from types import FunctionType
from typing import Any

import numpy as np

from nomp.arithmetic import cast, is_float, is_signed
from nomp.frontend import python_arithmetic as arithmetic
from nomp.frontend.python_context import Array, Context, Object, Static
from nomp.frontend.python_helpers import modular
from nomp.frontend.python_types import TYPES, NoType, Value, as_type, device, is_integer, number, resolved, shown, value
from nomp.region import Binary, Call, Const, Expr, Select

Translate = Callable[[Context, ast.expr], Object]
Numbers = Callable[[Context, ast.expr], Value]

_NAMES = """
    acos acosh asin asinh atan atan2 atanh copysign cos cosh erf erfc exp expm1 fabs fmod hypot lgamma log10 log1p log2
    pow remainder sin sinh sqrt tan tanh cbrt exp2 nextafter fma
"""
_MATH = {name: name for name in _NAMES.split()} | {"gamma": "tgamma"}
_ARGUMENTS = {"atan2": 2, "copysign": 2, "fmod": 2, "hypot": 2, "pow": 2, "remainder": 2, "nextafter": 2, "fma": 3}
_UFUNCS = {
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh", "cbrt": "cbrt", "copysign": "copysign", "cos": "cos", "cosh": "cosh", "exp": "exp",
    "exp2": "exp2", "expm1": "expm1", "fabs": "fabs", "fmod": "fmod", "hypot": "hypot", "log": "log",
    "log10": "log10", "log1p": "log1p", "log2": "log2", "nextafter": "nextafter", "sin": "sin", "sinh": "sinh",
    "sqrt": "sqrt", "tan": "tan", "tanh": "tanh", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint",
    "fmax": "fmax", "fmin": "fmin",
}  # fmt: skip
_ADVICE = {
    "print": "print after the loop", "input": "read before the loop", "open": "read or write after the loop",
    "round": "write int(np.rint(x)), which rounds halves to even numbers as round does",
    "sum": "write a loop, and name the variable in a reduce clause", "len": "len takes an array here",
    "str": "make strings after the loop", "range": "use range in the header of a for loop only",
    "enumerate": "write for i in range(len(a))", "zip": "write for i in range(len(a))",
    "sorted": "sort before the loop", "list": "use NumPy arrays", "isinstance": "ask before the loop",
}  # fmt: skip


def call(ctx: Context, node: ast.Call, translate: Translate, number_of: Numbers) -> Object:
    """What the call *node* gives."""
    target = _target(ctx, node, translate)
    if node.keywords and not isinstance(target, FunctionType):
        raise ctx.refusal("N208", node, f"'{ast.unparse(node.func)}' takes no keywords in a kernel",
                          "give the arguments in their order")  # fmt: skip
    if target is builtins.len and len(node.args) == 1:
        owner = translate(ctx, node.args[0])
        if isinstance(owner, Array) and not owner.index:
            return value(ctx.extent(owner, 0, node), "pyint")
        raise ctx.refusal("N208", node, "len takes an array here", "give it a NumPy array")
    if isinstance(target, FunctionType):
        from nomp.frontend.python_functions import own

        return own(ctx, node, target, number_of)
    args = [number_of(ctx, argument) for argument in node.args]
    known = _found(ctx, target, args)
    if known is not None:
        return known
    name = getattr(target, "__name__", ast.unparse(node.func))
    advice = _ADVICE.get(name, "write its computation into the loop, or compute the value before the loop")
    raise ctx.refusal("N208", node, f"a kernel cannot call '{ast.unparse(node.func)}'", advice)


def _target(ctx: Context, node: ast.Call, translate: Translate) -> Any:
    """The function that *node* calls."""
    if isinstance(node.func, ast.Attribute):
        advice = "call functions of modules, or of the program, on numbers"
        try:
            found = translate(ctx, node.func)
        except NoType:
            found = None
    else:
        found, advice = translate(ctx, node.func), "call a function that has a name"
    if isinstance(found, Static):
        return found.object
    raise ctx.refusal("N208", node, f"a kernel cannot call '{ast.unparse(node.func)}'", advice)


def _found(ctx: Context, target: Any, args: list[Value]) -> Value | None:
    if isinstance(target, type):
        return _conversion(target, args)
    if isinstance(target, np.ufunc):
        return _ufunc(ctx, target, args)
    if target in (builtins.min, builtins.max) and len(args) > 1:
        return _extreme("<" if target is builtins.min else ">", args)
    if target is builtins.abs and len(args) == 1:
        return arithmetic.absolute(args[0])
    if target is builtins.pow and len(args) == 2:
        return arithmetic.binary(ctx, np.power, *args)
    name = getattr(target, "__name__", "")
    if getattr(target, "__module__", None) == "math" and getattr(math, name, None) is target:
        return _math(ctx, name, args)
    return None


# ------------------------------------------------------------------------------------------------------ conversions


def _conversion(target: type, args: list[Value]) -> Value | None:
    if len(args) != 1:
        return None
    (given,) = args
    if target is bool:
        return value(arithmetic.truth(given), "pybool")
    if target in (int, float):
        if given.constant is not None:
            return number(target(given.constant))
        kind = "pyint" if target is int else "pyfloat"
        return value(as_type(given, device(kind)), kind)
    if issubclass(target, np.generic):
        dtype = np.dtype(target).name
        if dtype not in TYPES:
            raise NoType(f"devices have no {dtype}")
        expr = arithmetic.truth(given) if dtype == "bool" else as_type(given, dtype)
        return value(cast(expr, dtype), dtype)
    return None


def _extreme(op: str, args: list[Value]) -> Value:
    """``min`` or ``max`` as Python finds it: the first one that no other one beats."""
    best, *rest = args
    for other in rest:
        (one, two), kinds = arithmetic.unified([best, other])
        best = Value(Select(Binary(op, two, one, "int32"), two, one, one.dtype), kinds)
    return best


# ------------------------------------------------------------------------------------------------------------- math


def _math(ctx: Context, name: str, args: list[Value]) -> Value | None:
    reals = tuple(as_type(arg, "float64") for arg in args)
    if name in _MATH and len(args) == _ARGUMENTS.get(name, 1):
        return value(Call(_MATH[name], reals, "float64"), "pyfloat")
    if name == "log" and args:
        parts = [Call("log", (real,), "float64") for real in reals]
        whole = parts[0] if len(parts) == 1 else Binary("/", parts[0], parts[1], "float64")
        return value(whole, "pyfloat")
    if name in ("floor", "ceil", "trunc") and len(args) == 1:
        if is_integer(args[0].kinds):
            return value(as_type(args[0], "int64"), "pyint")
        return value(cast(Call(name, reals, "float64"), "int64"), "pyint")
    if name in _TESTS and len(args) == 1:
        return value(_TESTS[name](reals[0]), "pybool")
    if name in ("degrees", "radians") and len(args) == 1:
        factor = Const(180.0 / math.pi if name == "degrees" else math.pi / 180.0, "float64")
        return value(Binary("*", reals[0], factor, "float64"), "pyfloat")
    return None


def _is_nan(x: Expr) -> Expr:
    return Binary("!=", x, x, "int32")


def _is_inf(x: Expr) -> Expr:
    return Binary("==", Call("fabs", (x,), x.dtype), Const(math.inf, x.dtype), "int32")


def _is_finite(x: Expr) -> Expr:
    return Binary("<", Call("fabs", (x,), x.dtype), Const(math.inf, x.dtype), "int32")


_TESTS: dict[str, Callable[[Expr], Expr]] = {"isnan": _is_nan, "isinf": _is_inf, "isfinite": _is_finite}

# ------------------------------------------------------------------------------------------------------------ NumPy


def _ufunc(ctx: Context, ufunc: np.ufunc, args: list[Value]) -> Value | None:
    name = ufunc.__name__
    if len(args) != ufunc.nin or ufunc.nout != 1 or getattr(np, name, None) is not ufunc:
        return None
    if name in arithmetic.OPERATORS:
        return arithmetic.binary(ctx, ufunc, *args, called=True)
    results = {resolved(ufunc, kinds) for kinds in product(*(sorted(arg.kinds) for arg in args))}
    if len(results) != 1:
        raise NoType(f"the type of '{name}' depends on the data: {' and '.join(shown(arg.kinds) for arg in args)}")
    ((types, kind),) = results
    given = tuple(as_type(arg, dtype) for arg, dtype in zip(args, types, strict=True))
    expr = _computed(name, given, types[0])
    return None if expr is None else value(cast(expr, kind), kind)


def _computed(name: str, given: tuple[Expr, ...], dtype: str) -> Expr | None:
    first = given[0]
    if name == "nextafter" and dtype == "float16":
        raise NoType("devices have no neighbours of a float16")
    if name in _UFUNCS and is_float(dtype):
        return Call(_UFUNCS[name], given, dtype)
    if name in ("floor", "ceil", "trunc", "rint"):
        return first
    if name in ("fmax", "maximum", "fmin", "minimum"):
        return _numpy_extreme("<" if name in ("fmin", "minimum") else ">", *given)
    if name == "square" and dtype != "bool":
        return modular("*", first, first, dtype) if not is_float(dtype) else Binary("*", first, first, dtype)
    if name == "absolute":
        return arithmetic.absolute(value(first, dtype)).expr
    if name == "negative":
        return arithmetic.negated(first, dtype)
    if name == "sign" and dtype != "bool":
        return _sign(first, dtype)
    if name in _TESTS:
        return _TESTS[name](first) if is_float(dtype) else Const(int(name == "isfinite"), "int32")
    if name == "signbit":
        return Binary("<", Call("copysign", (Const(1.0, dtype), first), dtype), Const(0.0, dtype), "int32")
    return _logical(name, given, dtype)


def _logical(name: str, given: tuple[Expr, ...], dtype: str) -> Expr | None:
    truths = [arithmetic.truth(value(part, dtype)) for part in given]
    if name == "logical_not":
        return Binary("==", truths[0], Const(0, "int32"), "int32")
    symbol = {"logical_and": "&&", "logical_or": "||", "logical_xor": "!="}.get(name)
    return Binary(symbol, truths[0], truths[1], "int32") if symbol else None


def _numpy_extreme(op: str, one: Expr, other: Expr) -> Expr:
    """NumPy's ``minimum`` and ``maximum``: NaN if one of the two is."""
    first = Binary(f"{op}=", one, other, "int32")
    if is_float(one.dtype):
        first = Binary("||", first, _is_nan(one), "int32")
    return Select(first, one, other, one.dtype)


def _sign(x: Expr, dtype: str) -> Expr:
    zero, one = (Const(0.0, dtype), Const(1.0, dtype)) if is_float(dtype) else (Const(0, dtype), Const(1, dtype))
    below: Expr = Select(_is_nan(x), x, zero, dtype) if is_float(dtype) else zero  # -0.0 gives 0.0
    if is_float(dtype) or is_signed(dtype):
        below = Select(Binary("<", x, zero, "int32"), Const(-one.value, dtype), below, dtype)
    return Select(Binary(">", x, zero, "int32"), one, below, dtype)
