"""Calls: the functions of ``<math.h>`` that a region may call, and the refusal of every other one."""

from __future__ import annotations

from clang.cindex import CursorKind

from nomp.diagnostics import NompError
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_context import Context
from nomp.frontend.clang_types import dtype_of
from nomp.region import Binary, Call, Const, Expr, Select, Unary

_NAMES = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma
    fmax fmin fmod hypot lgamma log log10 log1p log2 logb nearbyint nextafter pow remainder rint round sin sinh sqrt
    tan tanh tgamma trunc
"""
MATH = frozenset(_NAMES.split())
_ABSOLUTE = ("abs", "labs", "llabs")


def call(ctx: Context, cursor: Cursor, args: tuple[Expr, ...]) -> Expr:
    """The call *cursor* of translated, converted *args*.  Raises N208 for a function that has no device version."""
    called = cursor.referenced
    if called is None or called.kind != CursorKind.FUNCTION_DECL:
        advice = "write the computation into the loop, with 'if' to choose"
        raise ctx.refusal("N208", cursor, "a kernel cannot call through a pointer", advice)
    name = cursor.spelling.removeprefix("__builtin_")
    if called.get_definition() is not None:
        raise _refusal(ctx, cursor, "is a function of this program")
    if name in _ABSOLUTE:
        negative = Binary("<", args[0], Const(0, args[0].dtype), "int32")
        return Select(negative, Unary("-", args[0], args[0].dtype), args[0], args[0].dtype)
    function = name if name in MATH else name.removesuffix("f")
    dtype = dtype_of(cursor.type)
    if function not in MATH or dtype is None:
        raise _refusal(ctx, cursor, "has no device version")
    return Call(function, args, dtype, ctx.place(cursor))


def _refusal(ctx: Context, cursor: Cursor, why: str) -> NompError:
    advice = "write its computation into the loop, or compute the value before the loop"
    return ctx.refusal("N208", cursor, f"'{cursor.spelling}' {why}: a kernel cannot call it", advice)
