"""Short names for nodes of the region's loop IR, for tests that write regions by hand."""

from __future__ import annotations

from nomp.region import Binary, Const, Expr, Var


def i32(value: int) -> Const:
    return Const(value, "int32")


def var(name: str, dtype: str = "int32") -> Var:
    return Var(name, dtype)


def op(text: str, left: Expr, right: Expr, dtype: str = "int32") -> Binary:
    return Binary(text, left, right, dtype)


def add(left: Expr, right: Expr) -> Binary:
    """``left + right``, in the type of *left*."""
    return Binary("+", left, right, left.dtype)
