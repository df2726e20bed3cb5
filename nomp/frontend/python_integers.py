"""What is known of integers in a Python loop before it is launched: their signs, and whether they leave their type.

In: translated expressions.  Out: facts that hold whatever the data are.  Used by `frontend.python_arithmetic`,
`python_expressions` and `python_statements`.
"""

from __future__ import annotations

from collections.abc import Callable

from nomp.affine import preserves_value
from nomp.arithmetic import bits, is_float, is_signed
from nomp.frontend.python_context import Context
from nomp.frontend.python_helpers import helper_name
from nomp.region import Binary, Call, Cast, Const, Expr, Select, Unary, Var
from nomp.walks import walk_expr


def is_fixed(ctx: Context, expr: Expr) -> bool:
    """Whether *expr* is computed from counters and what does not change in the loop, as subscripts and bounds are.

    These stay ordinary integers, which no program lets overflow.  Large factors are none of a subscript's: they are a
    random number generator's or a hash's, which wrap around.
    """
    fixed = {counter.name for counter in ctx.counters.values()}
    fixed |= {param.name for param in ctx.params.values()} if not ctx.is_function else set()
    known = all(_keeps_fixed(node, fixed) for node in walk_expr(expr))
    return known and _width(expr, lambda _: 0) <= bits(expr.dtype) // 2


def _keeps_fixed(node: Expr, fixed: set[str]) -> bool:
    """Whether *node* is as fixed as its operands, or one of the names *fixed*."""
    match node:
        case Var(name=name):
            return name in fixed
        case Call(function=function, dtype=dtype):
            return function in (helper_name("floordiv", dtype), helper_name("floormod", dtype))
        case Cast(operand=operand, dtype=dtype):
            return operand.dtype != f"u{dtype}"  # as `modular` has it: this has wrapped around, and so may what follows
    return isinstance(node, Const | Binary | Unary | Select)


def _width(expr: Expr, of: Callable[[Expr], int]) -> int:
    """The bits that the absolute value of the integer *expr* may have; *of* says it where nothing here does."""
    match expr:
        case Const(value=int(constant)):
            return constant.bit_length()
        case Cast(operand=operand, dtype=dtype) if preserves_value(operand.dtype, dtype):
            return _width(operand, of)
        case Binary(op="*", left=left, right=right):
            return _width(left, of) + _width(right, of)
        case Binary(op="+" | "-", left=left, right=right):
            return max(_width(left, of), _width(right, of)) + 1
        case Binary(op="/", left=left):
            return _width(left, of)
        case Binary(op="%", right=Const(value=int(constant))):
            return constant.bit_length()
        case Call() if (modulus := _modulus(expr)) is not None:
            return modulus.bit_length()
    return of(expr)


def _modulus(call: Call) -> int | None:
    """The constant by which *call* takes a remainder as Python does, None where it is something else."""
    match call:
        case Call(function=function, args=(_, Const(value=int(constant))), dtype=dtype):
            return constant if function == helper_name("floormod", dtype) else None
    return None


def lowest(ctx: Context, expr: Expr) -> int | None:
    """A number that the integer *expr* is never below, None where none is known."""
    unsigned = 0 if not is_float(expr.dtype) and not is_signed(expr.dtype) else None
    match expr:
        case Const(value=int(constant)):
            return constant
        case Var(name=name):
            return ctx.lowest.get(name, unsigned)
        case Cast(operand=operand, dtype=dtype) if preserves_value(operand.dtype, dtype):
            return lowest(ctx, operand)
        case Binary(op="+" | "-" | "*") if _may_overflow(ctx, expr):
            return unsigned
        case Binary(op="+", left=left, right=right):
            low, other = lowest(ctx, left), lowest(ctx, right)
            return None if low is None or other is None else low + other
        case Binary(op="-", left=left, right=Const(value=int(constant))):
            low = lowest(ctx, left)
            return None if low is None else low - constant
        case Binary(op="*" | "/" | "%", left=left, right=right):
            low, other = lowest(ctx, left), lowest(ctx, right)
            return 0 if low is not None and other is not None and min(low, other) >= 0 else None
        case Call() if (_modulus(expr) or 0) > 0:
            return 0
    return unsigned


def _may_overflow(ctx: Context, expr: Expr) -> bool:
    """Whether the integer *expr* may leave its type, as far as is known of the counters in it."""
    room = bits(expr.dtype) - is_signed(expr.dtype)
    return _width(expr, lambda leaf: _leaf_width(ctx, leaf)) > room


def _leaf_width(ctx: Context, leaf: Expr) -> int:
    return ctx.widths.get(leaf.name, bits(leaf.dtype)) if isinstance(leaf, Var) else bits(leaf.dtype)


def counter_width(ctx: Context, lower: int, step: Expr) -> int:
    """The bits of a counter that is never below *lower*: no loop lives to see 2**47 iterations."""
    gone = 47 + _width(step, lambda leaf: _leaf_width(ctx, leaf))
    return max(lower.bit_length(), gone) + (lower.bit_length() >= gone)
