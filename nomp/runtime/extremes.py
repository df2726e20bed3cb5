"""Between which values integer expressions lie, as C computes them: what wraps around may be anything of its type.

In: a region, its scalars' values, and what is known of its arrays' elements.  Out: the ranges of its names, and of
expressions.  Used by `runtime.between`.  Ranges are never too small; signed operations stay in their type, for C leaves
the rest undefined.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from nomp.arithmetic import Number, is_float, is_signed, limits
from nomp.loops import signed_step, signed_upper
from nomp.region import COMPARISONS, Assign, Binary, Cast, Const, Declare, Expr, For, Load, Region, Select, Unary, Var
from nomp.runtime.ranges import Interval
from nomp.walks import walk

_TRUTHS = (*COMPARISONS, "&&", "||")


def known(region: Region, scalars: Mapping[str, Number], elements: Mapping[str, Interval]) -> dict[str, Interval]:
    """The ranges of scalars, of loop counters and of locals that are set once, and those of *elements* (by array)."""
    found = {name: (int(value), int(value)) for name, value in scalars.items() if isinstance(value, int)}
    found.update(elements)
    targets = (stmt.target for stmt in walk(region.body) if isinstance(stmt, Assign))
    unclear = {target.name for target in targets if isinstance(target, Var)}
    unclear |= {stmt.name for stmt in walk(region.body) if isinstance(stmt, Declare) and is_float(stmt.dtype)}
    for stmt in walk(region.body):
        if isinstance(stmt, For):
            found[stmt.iname] = _counter(stmt, found)
        elif isinstance(stmt, Declare) and stmt.init is not None and stmt.name not in unclear:
            found[stmt.name] = extremes(stmt.init, found)
    return found


def _counter(loop: For, ranges: Mapping[str, Interval]) -> Interval:
    lower, upper, step = (extremes(part, ranges) for part in (loop.lower, signed_upper(loop), signed_step(loop)))
    strict = 0 if loop.relation in ("<=", ">=") else 1
    if step[0] > 0:
        return lower[0], max(lower[0], upper[1] - strict)
    return (min(lower[1], upper[0] + strict), lower[1]) if step[1] < 0 else limits(loop.dtype)


def extremes(expr: Expr, ranges: Mapping[str, Interval]) -> Interval:
    """The least and the greatest value that *expr*, of an integer type, may have where names have those of *ranges*."""
    if is_float(expr.dtype):
        raise ValueError("floating-point numbers have no integer range")
    match expr:
        case Const(value=value):
            return int(value), int(value)
        case Var(name=name) | Load(array=name):
            return ranges.get(name, limits(expr.dtype))
        case Cast(operand=operand, dtype=dtype) if not is_float(operand.dtype) and dtype != "bool":
            low, high = extremes(operand, ranges)
            least, most = limits(dtype)
            return (low, high) if least <= low and high <= most else (least, most)
        case Unary(op="-", operand=operand):
            low, high = extremes(operand, ranges)
            return _fitting((-high, -low), expr.dtype)
        case Binary(op=op) if op in _TRUTHS:
            return 0, 1
        case Binary(op=op, left=left, right=right):
            return _fitting(_combined(op, extremes(left, ranges), extremes(right, ranges)), expr.dtype)
        case Select(then=then, other=other):
            return _around(extremes(then, ranges), extremes(other, ranges))
    return limits(expr.dtype)


def _around(*ranges: Interval) -> Interval:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _fitting(found: Interval | None, dtype: str) -> Interval:
    """What is left of *found*, computed without a limit, in *dtype*; None is not known."""
    least, most = limits(dtype)
    if found is None or (not is_signed(dtype) and (found[0] < least or found[1] > most)):
        return least, most
    return max(least, min(found[0], most)), min(most, max(found[1], least))


def _combined(op: str, left: Interval, right: Interval) -> Interval | None:
    """The range of ``left OP right`` in integers, None where nothing is known."""
    match op:
        case "+":
            return left[0] + right[0], left[1] + right[1]
        case "-":
            return left[0] - right[1], left[1] - right[0]
        case "*":
            corners = [one * two for one, two in product(left, right)]
            return min(corners), max(corners)
        case "min" | "max":
            choose = min if op == "min" else max
            return choose(left[0], right[0]), choose(left[1], right[1])
        case "/" | "//" | ">>" if left[0] >= 0 and right[0] >= (op != ">>"):
            return 0, left[1]
        case "%" if right[0] > 0:
            return max(1 - right[1], min(left[0], 0)), min(right[1] - 1, max(left[1], 0))
        case "&" if left[0] >= 0 or right[0] >= 0:
            return 0, min(high for low, high in (left, right) if low >= 0)
        case "|" | "^" if left[0] >= 0 and right[0] >= 0:
            return 0, (1 << max(left[1], right[1]).bit_length()) - 1
    return None
