"""Calls: the functions of ``<math.h>`` that a region may call, and the refusal of every other one."""

from __future__ import annotations

from nomp.diagnostics import did_you_mean
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
    name = cursor.spelling.removeprefix("__builtin_")
    if _is_own(ctx, cursor):
        raise _refusal(ctx, cursor, "is a function of this program")
    if name in _ABSOLUTE:
        negative = Binary("<", args[0], Const(0, args[0].dtype), "int32")
        return Select(negative, Unary("-", args[0], args[0].dtype), args[0], args[0].dtype)
    function = name if name in MATH else name.removesuffix("f")
    dtype = dtype_of(cursor.type)
    if function not in MATH or dtype is None:
        raise _refusal(ctx, cursor, "has no device version")
    return Call(function, args, dtype, ctx.place(cursor))


def _is_own(ctx: Context, cursor: Cursor) -> bool:
    """Whether the called function is defined in a user file (libc's and clang's own have no definition there)."""
    function = cursor.referenced
    return function is None or function.get_definition() is not None


def _refusal(ctx: Context, cursor: Cursor, why: str) -> Exception:
    name = cursor.spelling
    near = did_you_mean(name, MATH) if name not in MATH else None
    advice = near or "write its computation into the loop, or compute the value before the loop"
    message = f"'{name}' {why}: it cannot be called in a kernel" if name else "a kernel cannot call through a pointer"
    return ctx.refusal("N208", cursor, message, advice)
