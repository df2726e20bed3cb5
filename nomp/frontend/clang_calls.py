"""Calls: the functions of ``<math.h>`` and of the program that a region may call; every other one is refused."""

from __future__ import annotations

import math
from collections.abc import Callable

from clang.cindex import CursorKind

from nomp.arithmetic import cast, is_float
from nomp.diagnostics import NompError
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_callees import definition
from nomp.frontend.clang_context import Context
from nomp.frontend.clang_elements import number
from nomp.frontend.clang_types import dtype_of
from nomp.region import Binary, Call, Const, Expr, Select, Unary

_NAMES = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma
    fmax fmin fmod hypot lgamma log log10 log1p log2 logb nearbyint nextafter pow remainder rint round sin sinh sqrt
    tan tanh tgamma trunc
"""
MATH = frozenset(_NAMES.split())
_ABSOLUTE = ("abs", "labs", "llabs")
_CONSTANTS = ("inf", "inff", "huge_val", "huge_valf", "nan", "nanf")
_POINTERS = ("frexp", "modf", "remquo", "sincos", "lgamma_r")
_OTHERS = ("ldexp", "scalbn", "scalbln", "ilogb", "nexttoward")
_ALIKE = {"nearbyint": "rint"}
"""Functions that differ from others in the floating-point exceptions alone."""
_ROUNDED = {"lrint": "rint", "llrint": "rint", "lround": "round", "llround": "round"}
_EXPECTED = ("expect", "expect_with_probability")


def call(ctx: Context, cursor: Cursor, args: tuple[Expr, ...]) -> Expr:
    """The call *cursor* of translated, converted *args*.  Raises N208 for a function that has no device version."""
    called = cursor.referenced
    if called is None or called.kind != CursorKind.FUNCTION_DECL:
        advice = "write the computation into the loop, with 'if' to choose"
        raise ctx.refusal("N208", cursor, "a kernel cannot call through a pointer", advice)
    callee = definition(cursor)
    name = cursor.spelling.removeprefix("__builtin_")
    dtype = dtype_of(cursor.type)
    if callee is not None and not (is_math(name) and callee.location.is_in_system_header):
        return _own(ctx, cursor, callee, args)
    found = _known(name, args)
    if cursor.spelling.startswith("__builtin_"):
        found = found or _builtin(name, args)
    if found is None and (cursor.spelling.startswith("__builtin_") or called.location.is_in_system_header):
        found = _tested(name.strip("_"), args)  # names that a program, too, may give its functions
    if found is not None:
        return found
    if name in _CONSTANTS and dtype and (value := ast.evaluate(cursor)) is not None:
        return number(value, dtype)
    if not is_math(name) or dtype is None or not args:
        raise _refusal(ctx, cursor, name)
    base = _base(name)
    return Call(_ALIKE.get(base, base), args, dtype, ctx.place(cursor))


def _base(name: str) -> str:
    """*name* without a type's suffix."""
    return name if name in MATH else name.removesuffix("f")


def is_math(name: str) -> bool:
    """Whether *name* is that of a function of ``<math.h>`` that devices have."""
    return _base(name) in MATH


def is_reserved(name: str) -> bool:
    """Whether a function *name* of the program would be taken for one that devices have."""
    return is_math(name) or name in BITS


def _known(name: str, args: tuple[Expr, ...]) -> Expr | None:
    """What other operations compute: absolute values, rounding to integers."""
    if (rounding := _ROUNDED.get(name.removesuffix("f"))) and len(args) == 1:
        return cast(Call(rounding, args, args[0].dtype), "int64")
    if name in _ABSOLUTE and args:
        negative = Binary("<", args[0], Const(0, args[0].dtype), "int32")
        return Select(negative, Unary("-", args[0], args[0].dtype), args[0], args[0].dtype)
    return None


def _tested(name: str, args: tuple[Expr, ...]) -> Expr | None:
    """The tests and comparisons of floating-point numbers that are macros in C."""
    if name in _COMPARED and len(args) == 2:
        return _COMPARED[name](*args)
    base = name if name in _TESTS else name.removesuffix("f")
    return _TESTS[base](args[0]) if base in _TESTS and len(args) == 1 else None


BITS = ("popcount", "clz")
"""Functions of unsigned integers that devices have, by OpenCL's names; C's compilers have them as built-in ones."""


def _builtin(name: str, args: tuple[Expr, ...]) -> Expr | None:
    """``__builtin_expect``; ``__builtin_popcount`` and its like: functions of the bits of an integer, of its type."""
    if name in _EXPECTED and args:
        return args[0]
    base = name if name in _COUNTS else name.removesuffix("l").removesuffix("l")
    if base not in _COUNTS or len(args) != 1 or is_float(args[0].dtype):
        return None
    return cast(_COUNTS[base](cast(args[0], f"u{args[0].dtype.removeprefix('u')}")), "int32")


def _ones(x: Expr) -> Expr:
    return Call("popcount", (x,), x.dtype)


def _trailing_zeros(x: Expr) -> Expr:
    """The ones in what is below the lowest one of *x*."""
    below = Binary("-", x, Const(1, x.dtype), x.dtype)
    return _ones(Binary("&", Unary("~", x, x.dtype), below, x.dtype))


def _first_one(x: Expr) -> Expr:
    zero = Const(0, x.dtype)
    position = Binary("+", _trailing_zeros(x), Const(1, x.dtype), x.dtype)
    return Select(Binary("==", x, zero, "int32"), zero, position, x.dtype)


_COUNTS: dict[str, Callable[[Expr], Expr]] = {
    "popcount": _ones,
    "clz": lambda x: Call("clz", (x,), x.dtype),
    "ctz": _trailing_zeros,
    "parity": lambda x: Binary("&", _ones(x), Const(1, x.dtype), x.dtype),
    "ffs": _first_one,
}


def _is_nan(x: Expr) -> Expr:
    return Binary("!=", x, x, "int32")


def _infinity(x: Expr, sign: float) -> Expr:
    return number(sign * math.inf, x.dtype)


def _is_inf(x: Expr) -> Expr:
    up, down = (Binary("==", x, _infinity(x, sign), "int32") for sign in (1.0, -1.0))
    return Binary("||", up, down, "int32")


def _sign_of_inf(x: Expr) -> Expr:
    down = Binary("==", x, _infinity(x, -1.0), "int32")
    return Binary("-", Binary("==", x, _infinity(x, 1.0), "int32"), down, "int32")


def _is_finite(x: Expr) -> Expr:
    above, below = (Binary(op, x, _infinity(x, sign), "int32") for op, sign in ((">", -1.0), ("<", 1.0)))
    return Binary("&&", above, below, "int32")


def _sign_bit(x: Expr) -> Expr:
    one = Call("copysign", (Const(1.0, x.dtype), x), x.dtype)
    return Binary("<", one, Const(0.0, x.dtype), "int32")


def _compared(op: str) -> Callable[[Expr, Expr], Expr]:
    return lambda left, right: Binary(op, left, right, "int32")


def _either(left: Expr, right: Expr) -> Expr:
    return Binary("||", Binary("<", left, right, "int32"), Binary(">", left, right, "int32"), "int32")


def _unordered(left: Expr, right: Expr) -> Expr:
    return Binary("||", _is_nan(left), _is_nan(right), "int32")


_COMPARED: dict[str, Callable[[Expr, Expr], Expr]] = {
    "isgreater": _compared(">"),
    "isgreaterequal": _compared(">="),
    "isless": _compared("<"),
    "islessequal": _compared("<="),
    "islessgreater": _either,
    "isunordered": _unordered,
}
_TESTS: dict[str, Callable[[Expr], Expr]] = {
    "isnan": _is_nan,
    "isinf": _is_inf,
    "isinf_sign": _sign_of_inf,
    "isfinite": _is_finite,
    "finite": _is_finite,
    "signbit": _sign_bit,
}


def _own(ctx: Context, cursor: Cursor, callee: Cursor, args: tuple[Expr, ...]) -> Expr:
    """A call of a function of the program, which becomes a function of the kernel."""
    key = ast.key(callee)
    if key not in ctx.callees.functions:
        refuse_recursion(ctx, cursor, callee)
        ctx.callees.functions[key] = ctx.callees.define(ctx, cursor, callee)
    function = ctx.callees.functions[key]
    if len(args) != len(function.params):
        advice = "declare the function with its parameters before the loop"
        raise ctx.refusal("N208", cursor, f"'{function.name}' is called with {len(args)} arguments", advice)
    given = zip(args, function.params, strict=True)
    converted_args = tuple(cast(arg, dtype) for arg, (_, dtype) in given)
    return Call(function.name, converted_args, function.dtype, ctx.place(cursor))


def refuse_recursion(ctx: Context, cursor: Cursor, callee: Cursor) -> None:
    """Raise N208 if *callee* is being translated already: the call of it is recursive."""
    names = [function.spelling for function in ctx.callees.calling]
    if callee in ctx.callees.calling:
        cycle = " -> ".join([*names[names.index(callee.spelling) :], callee.spelling])
        advice = "write it as a loop"
        raise ctx.refusal("N208", cursor, f"a kernel cannot call a recursive function: {cycle}", advice)


def _refusal(ctx: Context, cursor: Cursor, name: str) -> NompError:
    why, advice = "has no device version", "write its computation into the loop, or compute the value before the loop"
    if _base(name) in (*_POINTERS, *_OTHERS):
        advice = "compute it from other functions of <math.h>, such as exp2, floor and rint"
    elif name == cursor.spelling and not cursor.referenced.location.is_in_system_header:
        why, advice = "is not defined in this file", "define it in a header that this file includes"
    return ctx.refusal("N208", cursor, f"'{cursor.spelling}' {why}: a kernel cannot call it", advice)
