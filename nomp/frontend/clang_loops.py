"""Headers of C ``for`` loops to the fields of a `region.For`.

In: the cursor of a loop whose counter has no name yet.  Out: a `Header`.  Called by `frontend.clang_control`.
Raises N205 for every form that is not ``for (i = lower; i OP upper; STEP)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from clang.cindex import CursorKind

from nomp.affine import preserves_value
from nomp.arithmetic import bits, cast, is_float, is_launch_expr, is_signed, limits, promoted
from nomp.diagnostics import NompError
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_bounds import Shift, unshifted
from nomp.frontend.clang_context import Context, Key
from nomp.frontend.clang_elements import folded
from nomp.frontend.clang_expressions import value
from nomp.frontend.clang_paths import path_of
from nomp.frontend.clang_types import dtype_of
from nomp.loops import MIRRORED
from nomp.region import Const, Expr, Load, Relation, Unary, Var
from nomp.walks import walk_expr

_FORM = "write it as for (int i = lower; i < upper; i += step)"
_ONE = "keep one counter, and compute the other variable from it in the body"


@dataclass(frozen=True, slots=True)
class Counter:
    """The variable that a loop counts with.  *inside*: the header declares it."""

    key: Key
    name: str
    dtype: str
    inside: bool


@dataclass(frozen=True, slots=True)
class Header:
    """A loop header in the loop IR's terms (see `region.For`)."""

    counter: Counter
    lower: Expr
    relation: Relation
    upper: Expr
    step: Expr
    body: Cursor


def header(ctx: Context, loop: Cursor) -> Header:
    """The header of *loop*."""
    parts = ast.children(loop)
    if len(parts) != 4 or not _is_condition(parts[1]):
        raise ctx.refusal("N205", loop, "this loop's header lacks its start, its condition or its step", _FORM)
    first, condition, last, body = parts
    counter, start = _start(ctx, first)
    if is_float(counter.dtype):
        message = f"loop counter '{counter.name}' has a floating-point type"
        raise ctx.refusal("N205", first, message, "count with an integer")
    lower = cast(value(ctx, start), counter.dtype)
    relation, bound, shift = _condition(ctx, condition, counter)
    with ctx.repeated():
        upper = value(ctx, bound)
    if is_float(upper.dtype):
        advice = "compute the bound as an integer before the loop"
        raise ctx.refusal("N205", bound, "the loop's bound is a floating-point number", advice)
    with ctx.repeated():
        step = _step(ctx, last, counter, relation)
    if shift is not None:
        climbs = isinstance(step, Const) and 0 < step.value < _LARGE_STEP
        exact = unshifted(shift, relation, upper, lower, climbs)
        if exact is None:
            raise _not_a_bound(ctx, condition, counter)
        relation, upper = exact
    if relation == "!=" and is_signed(counter.dtype):
        upper = cast(upper, _signed_type(upper.dtype))  # equal modulo the type's size is equal
    return Header(counter, lower, relation, upper, step, body)


def refuse_wrapping(ctx: Context, loop: Cursor, found: Header) -> None:
    """Refuse a header whose counter is sure to wrap around, or may do so unseen by the check before each launch."""
    parts = (found.lower, found.upper, found.step)
    checked = all(is_launch_expr(e, {v.name for v in walk_expr(e) if isinstance(v, Var)}) for e in parts)
    if (found.relation == "!=" and _is_ordered(found) is False) or (may_leave_type(found) and not checked):
        ends = "equals" if found.relation == "!=" else "passes"
        message = f"loop counter '{found.counter.name}' may wrap around before it {ends} the bound"
        advice = "compare with < or >, or use a signed counter"
        raise ctx.refusal("N205", ast.children(loop)[1], message, advice)


def may_leave_type(found: Header) -> bool:
    """Whether the counter may wrap around in its type before it passes the bound, as far as the header tells.

    A signed counter of 32 bits or more may not, in C, unless it counts away from the bound.  Others are trusted where
    that takes so many iterations that no program can mean it: where they go towards the bound in constant steps that
    are small for the type.
    """
    dtype, step, relation = found.counter.dtype, found.step, found.relation
    wide = bits(dtype) >= 32
    if not isinstance(step, Const):
        return not (is_signed(dtype) and wide)
    if abs(step.value) >= (_LARGE_STEP if wide else 2):  # signed, too: distances are computed in int64
        return True
    if relation == "!=":
        return not (is_signed(dtype) and wide) and _is_ordered(found) is not True
    away = step.value < 0 if relation in ("<", "<=") else step.value > 0
    return away or not (wide or preserves_value(dtype, found.upper.dtype) or _is_within(found.upper, dtype))


_LARGE_STEP = 1 << 16


def _is_ordered(found: Header) -> bool | None:
    """Whether the counter starts on that side of its bound from which it steps towards it, None where not known."""
    low, high = limits(found.counter.dtype)
    down = isinstance(found.step, Const) and found.step.value < 0
    start, end = (found.upper, found.lower) if down else (found.lower, found.upper)
    first = start.value if isinstance(start, Const) else None
    last = end.value if isinstance(end, Const) else None
    if first is not None and last is not None:
        return first <= last
    return True if first == low or last == high else False if first == high or last == low else None


def _is_within(upper: Expr, dtype: str) -> bool:
    low, high = limits(dtype)
    return isinstance(upper, Const) and low <= upper.value <= high


def _is_condition(cursor: Cursor) -> bool:
    return bool(cursor.kind.is_expression())


# ---------------------------------------------------------------------------------------------------------- start


def _start(ctx: Context, first: Cursor) -> tuple[Counter, Cursor]:
    """The counter and the cursor of its first value."""
    if first.kind == CursorKind.DECL_STMT:
        declared = ast.children(first)
        if len(declared) != 1:
            raise ctx.refusal("N205", first, "this loop's header declares more than one variable", _ONE)
        start = ast.initialiser(declared[0])
        if start is None:
            raise ctx.refusal("N205", first, f"loop counter '{declared[0].spelling}' has no first value", _FORM)
        return _counter(ctx, declared[0], declared[0].spelling, ast.key(declared[0]), inside=True), start
    if ast.operator(first) == ",":
        raise ctx.refusal("N205", first, "this loop has more than one counter", _ONE)
    if ast.operator(first) != "=":
        raise ctx.refusal("N205", first, "this loop's header does not set its counter", _FORM)
    target, start = ast.children(first)
    path = path_of(target)
    if path is None or path.field is not None:
        raise ctx.refusal("N205", target, "a loop must count with a variable, not with a member or an element", _FORM)
    return _counter(ctx, target, path.host, path.key, inside=False), start


def _counter(ctx: Context, cursor: Cursor, name: str, key: Key, *, inside: bool) -> Counter:
    dtype = dtype_of(cursor.type)
    if dtype is None or dtype == "bool":
        advice = "count with an integer"
        raise ctx.refusal("N205", cursor, f"loop counter '{name}' has type '{cursor.type.spelling}'", advice)
    return Counter(key, name, dtype, inside)


# ------------------------------------------------------------------------------------------------------ condition


def _condition(ctx: Context, condition: Cursor, counter: Counter) -> tuple[Relation, Cursor, Shift | None]:
    """The relation of the counter (on its left) to the bound, the bound's cursor, and what is added to the counter."""
    condition = ast.bare(condition)
    operator = ast.operator(condition)
    sides = ast.children(condition)
    if operator not in MIRRORED:
        raise ctx.refusal("N205", condition, "this loop's condition is not one comparison by < <= > >= or !=", _FORM)
    flipped = MIRRORED[operator]
    for side, other, relation in ((sides[0], sides[1], MIRRORED[flipped]), (sides[1], sides[0], flipped)):
        shift = _shift(side, counter)
        if _is_counter(side, counter) or shift is not None:
            _refuse_counter_in(ctx, other, counter)
            return relation, other, shift
    raise _not_a_bound(ctx, condition, counter)


def _not_a_bound(ctx: Context, condition: Cursor, counter: Counter) -> NompError:
    message = f"this loop's condition does not compare '{counter.name}' itself with a bound"
    return ctx.refusal("N205", condition, message, _FORM)


def _shift(cursor: Cursor, counter: Counter) -> Shift | None:
    """What is added to the counter in *cursor*, None where it is anything but ``i + c``, ``c + i`` or ``i - c``."""
    cursor = ast.bare(cursor)
    operator, sides = ast.operator(cursor), ast.children(cursor)
    if operator not in ("+", "-") or len(sides) != 2:
        return None
    if operator == "+" and _is_counter(sides[1], counter):
        sides = sides[::-1]
    amount, dtype = ast.evaluate(sides[1]), dtype_of(cursor.type)
    if not _is_counter(sides[0], counter) or not isinstance(amount, int) or not dtype or abs(amount) >= 1 << 31:
        return None
    return Shift(amount if operator == "+" else -amount, dtype)


def _is_counter(cursor: Cursor, counter: Counter) -> bool:
    path = path_of(ast.bare(cursor))
    return path is not None and path.key == counter.key


def _refuse_counter_in(ctx: Context, cursor: Cursor, counter: Counter) -> None:
    for inner in ast.walk(cursor):
        if _is_counter(inner, counter):
            advice = "the bound and the step must not depend on the counter"
            raise ctx.refusal("N205", inner, f"'{counter.name}' is part of its own loop's bound or step", advice)


# ----------------------------------------------------------------------------------------------------------- step


def _step(ctx: Context, last: Cursor, counter: Counter, relation: Relation) -> Expr:
    """What the header adds to the counter, in a signed type where it leads, or may lead, down."""
    last = _without_parentheses(last)
    operator = ast.operator(last)
    if operator == ",":
        raise ctx.refusal("N205", last, "this loop changes more than one variable in its step", _ONE)
    target = ast.children(last)[0] if operator else None
    if target is None or not _is_counter(target, counter):
        raise _not_a_step(ctx, last, counter)
    if operator in ("x++", "++x"):
        return Const(1, counter.dtype)
    if operator in ("x--", "--x"):
        return _negated(Const(1, counter.dtype))
    if len(ast.children(last)) != 2:
        raise _not_a_step(ctx, last, counter)  # +i, ~i
    change = ast.children(last)[1]
    if operator in ("+=", "-="):
        return _amount(ctx, change, counter, relation, operator[0])
    if operator == "=":
        return _assigned_step(ctx, last, change, counter, relation)
    raise _not_a_step(ctx, last, counter)


def _assigned_step(ctx: Context, last: Cursor, change: Cursor, counter: Counter, relation: Relation) -> Expr:
    """The step of ``i = i + c``, ``i = c + i`` or ``i = i - c``."""
    change = ast.bare(change)
    operator = ast.operator(change)
    if operator in ("+", "-"):
        left, right = ast.children(change)
        if _is_counter(left, counter):
            return _amount(ctx, right, counter, relation, operator)
        if operator == "+" and _is_counter(right, counter):
            return _amount(ctx, left, counter, relation, operator)
    raise _not_a_step(ctx, last, counter)


def _amount(ctx: Context, change: Cursor, counter: Counter, relation: Relation, operator: str) -> Expr:
    _refuse_counter_in(ctx, change, counter)
    amount = value(ctx, ast.bare(change)) if _is_widened(change) else value(ctx, change)
    if is_float(amount.dtype):
        raise ctx.refusal("N205", change, "the loop's step is a floating-point number", "step by an integer")
    step = cast(amount, counter.dtype)
    if isinstance(step, Const) and step.value == 0:
        raise ctx.refusal("N205", change, "the loop's step is 0: it never ends", _FORM)
    if operator == "-":
        return _negated(step)
    return step if _grows(amount, step, relation) else cast(step, _signed_type(step.dtype))


def _grows(amount: Expr, step: Expr, relation: Relation) -> bool:
    """Whether adding *amount*, which is *step* in the counter's type, is meant to count up."""
    upward = relation in ("<", "<=")
    if isinstance(amount, Const) and isinstance(step, Const):
        return step.value <= limits(_signed_type(step.dtype))[1] or (upward and amount.value > 0)
    return upward and not any(is_signed(part.dtype) for part in walk_expr(amount) if isinstance(part, Var | Load))


def _is_widened(change: Cursor) -> bool:
    """Whether *change* is a constant that clang converted to the sum's type (an unsigned one would hide its sign)."""
    return isinstance(ast.evaluate(change), int) and not is_float(dtype_of(change.type) or "float64")


def _negated(step: Expr) -> Expr:
    """Minus *step*, in a signed type, so that a step down from an unsigned counter can be told from a step up."""
    signed = _signed_type(step.dtype)
    wide = promoted(signed)  # as C does: no arithmetic on types narrower than int
    return cast(folded(Unary("-", cast(step, wide), wide)), signed)


def _signed_type(dtype: str) -> str:
    return dtype.removeprefix("u")


def _without_parentheses(cursor: Cursor) -> Cursor:
    while cursor.kind == CursorKind.PAREN_EXPR:
        (cursor,) = ast.children(cursor)
    return cursor


def _not_a_step(ctx: Context, last: Cursor, counter: Counter) -> NompError:
    name = counter.name
    advice = f"the step may be {name}++, {name}--, {name} += c, {name} -= c or {name} = {name} + c"
    return ctx.refusal("N205", last, f"this loop's step does not add to '{counter.name}'", advice)
