"""What Python's operators compute and C's do not: integers that wrap around, and helpers that become functions.

In: operands of one type.  Out: expressions; the helpers' text goes to the region's functions.  Used by
`frontend.python_arithmetic` and `python_calls`; their names, by `python_integers` and `python_halves`.
"""

from __future__ import annotations

from collections.abc import Callable

from nomp.arithmetic import bits, cast, is_float, is_signed
from nomp.frontend.python_context import Context
from nomp.region import Assign, Binary, Call, Const, Declare, Expr, Function, If, Return, Stmt, Var, While


def wide_type(dtype: str) -> str:
    """The type of at least 32 bits in which arithmetic of *dtype* is done."""
    if dtype == "float16":
        return "float32"
    return dtype if is_float(dtype) or bits(dtype) >= 32 else "int32" if is_signed(dtype) else "uint32"


def modular(op: str, left: Expr, right: Expr, dtype: str) -> Expr:
    """``left op right`` for an integer type, which wraps around: C's signed types need not."""
    wide = wide_type(dtype)
    wide = wide if wide != dtype else f"u{dtype.removeprefix('u')}"
    return cast(Binary(op, cast(left, wide), cast(right, wide), wide), dtype)


def helper_name(name: str, dtype: str) -> str:
    """What the helper *name* that computes in *dtype* is called in the region: no function of the program's is."""
    return f"{name}_{dtype}"


def helper(ctx: Context, name: str, dtype: str, left: Expr, right: Expr) -> Expr:
    """A call of the helper *name* for *dtype*, which becomes a function of the region."""
    wide = wide_type(dtype)
    full = helper_name(name, wide)
    if (name, wide) not in ctx.shared.functions:
        body = _HELPERS[name, is_float(wide)](wide)
        ctx.shared.functions[name, wide] = Function(full, wide, (("a", wide), ("b", wide)), body)
    return cast(Call(full, (cast(left, wide), cast(right, wide)), wide), dtype)


def _equal(left: Expr, right: Expr) -> Expr:
    return Binary("==", left, right, "int32")


def _signs_differ(left: Expr, right: Expr, dtype: str) -> Expr:
    zero = Const(0, dtype) if not is_float(dtype) else Const(0.0, dtype)
    return Binary("!=", Binary("<", left, zero, "int32"), Binary("<", right, zero, "int32"), "int32")


def _integer_floordiv(dtype: str) -> tuple[Stmt, ...]:
    a, b, q = Var("a", dtype), Var("b", dtype), Var("q", dtype)
    zero = Const(0, dtype)
    body: list[Stmt] = [If(_equal(b, zero), (Return(zero),))]
    quotient = Declare("q", dtype, (), Binary("/", a, b, dtype))
    if not is_signed(dtype):
        return (*body, quotient, Return(q))
    body.append(If(_equal(b, Const(-1, dtype)), (Return(modular("-", zero, a, dtype)),)))
    inexact = Binary("!=", Binary("%", a, b, dtype), zero, "int32")
    below = Binary("&&", inexact, _signs_differ(a, b, dtype), "int32")
    return (*body, quotient, If(below, (Return(Binary("-", q, Const(1, dtype), dtype)),)), Return(q))


def _integer_floormod(dtype: str) -> tuple[Stmt, ...]:
    a, b, r = Var("a", dtype), Var("b", dtype), Var("r", dtype)
    zero = Const(0, dtype)
    idle = _equal(b, zero)
    if is_signed(dtype):
        idle = Binary("||", idle, _equal(b, Const(-1, dtype)), "int32")
    body: tuple[Stmt, ...] = (If(idle, (Return(zero),)), Declare("r", dtype, (), Binary("%", a, b, dtype)))
    if not is_signed(dtype):
        return (*body, Return(r))
    below = Binary("&&", Binary("!=", r, zero, "int32"), _signs_differ(r, b, dtype), "int32")
    return (*body, If(below, (Return(Binary("+", r, b, dtype)),)), Return(r))


def _float_floordiv(dtype: str) -> tuple[Stmt, ...]:
    a, b, m, d, f = (Var(name, dtype) for name in "abmdf")
    zero, one = Const(0.0, dtype), Const(1.0, dtype)
    adjust = If(_signs_differ(b, m, dtype), (Assign(d, Binary("-", d, one, dtype)),))
    half = Binary(">", Binary("-", d, f, dtype), Const(0.5, dtype), "int32")
    return (
        If(_equal(b, zero), (Return(Binary("/", a, b, dtype)),)),
        Declare("m", dtype, (), Call("fmod", (a, b), dtype)),
        Declare("d", dtype, (), Binary("/", Binary("-", a, m, dtype), b, dtype)),
        If(Binary("!=", m, zero, "int32"), (adjust,)),
        If(_equal(d, zero), (Return(Call("copysign", (zero, Binary("/", a, b, dtype)), dtype)),)),
        Declare("f", dtype, (), Call("floor", (d,), dtype)),
        If(half, (Assign(f, Binary("+", f, one, dtype)),)),
        Return(f),
    )


def _float_floormod(dtype: str) -> tuple[Stmt, ...]:
    a, b, m = (Var(name, dtype) for name in "abm")
    zero = Const(0.0, dtype)
    return (
        Declare("m", dtype, (), Call("fmod", (a, b), dtype)),
        If(_equal(b, zero), (Return(m),)),
        If(_equal(m, zero), (Return(Call("copysign", (zero, b), dtype)),)),
        If(_signs_differ(b, m, dtype), (Return(Binary("+", m, b, dtype)),)),
        Return(m),
    )


def _integer_power(dtype: str) -> tuple[Stmt, ...]:
    b, r, e = Var("b", dtype), Var("r", dtype), Var("e", dtype)
    base = Var("c", dtype)
    one = Const(1, dtype)
    odd = Binary("!=", Binary("&", e, one, dtype), Const(0, dtype), "int32")
    body = (
        If(odd, (Assign(r, modular("*", r, base, dtype)),)),
        Assign(e, Binary(">>", e, one, dtype)),
        Assign(base, modular("*", base, base, dtype)),
    )
    return (
        Declare("r", dtype, (), one),
        Declare("e", dtype, (), b),
        Declare("c", dtype, (), Var("a", dtype)),
        While(Binary(">", e, Const(0, dtype), "int32"), body),
        Return(r),
    )


_HELPERS: dict[tuple[str, bool], Callable[[str], tuple[Stmt, ...]]] = {
    ("floordiv", False): _integer_floordiv,
    ("floormod", False): _integer_floormod,
    ("floordiv", True): _float_floordiv,
    ("floormod", True): _float_floormod,
    ("intpow", False): _integer_power,
}
