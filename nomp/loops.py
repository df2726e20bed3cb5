"""Loop headers as loopy domains.

A loop whose bounds are affine in outer counters and parameters becomes ``lower <= i < upper``, with the names that the
user wrote.  Any other bound is computed first, with C's own arithmetic: at launch where only parameters are needed (a
hidden kernel argument), else on the device, into a scalar.  A step other than 1 counts trips: the counter's value is
then ``lower + step * i``.  `check` refuses headers that count away from their bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from nomp.affine import Affine, Scope, preserves_value
from nomp.arithmetic import cast, evaluate, is_launch_expr, is_signed, promoted
from nomp.diagnostics import error
from nomp.region import Binary, Const, Declare, Expr, For, Region, Relation, Select, Stmt, Var
from nomp.walks import walk

INDEX = "int64"
_ZERO, _ONE = Const(0, INDEX), Const(1, INDEX)
_UP, _DOWN = ("<", "<=", "!="), (">", ">=", "!=")
NEGATED: Mapping[str, str] = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "!=": "=="}
MIRRORED: Mapping[str, Relation] = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
"""``b MIRRORED[op] a`` is ``a op b``; ``a NEGATED[op] b`` its contrary (without NaNs)."""


Fresh = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Header:
    """A loop's domain in isl's terms: *constraints* on the iname over *parameters*, and what the counter's value is.

    *computed* are scalars (int64) that the domain uses and that are not yet known: the lowest ones may be computed at
    launch, the others on the device.  The counter's value is ``base + step * iname``, or the iname itself if *base* is
    None; either part may be the name of a computed scalar.
    """

    constraints: str
    parameters: frozenset[str]
    computed: tuple[tuple[str, Expr], ...] = ()
    base: Affine | None = None
    step: int | str = 1


def check(region: Region) -> None:
    """Refuse loops that step away from their bound.  Raises N250."""
    for stmt in walk(region.body):
        if isinstance(stmt, For) and isinstance(step := signed_step(stmt), Const):
            allowed = _UP if step.value > 0 else _DOWN
            if step.value == 0 or stmt.relation not in allowed:
                message = f"loop '{stmt.iname}' counts away from its bound: a step of {step.value} never ends a"
                raise error(
                    "N250", f"{message} '{stmt.relation}' loop", region.span(stmt.place),
                    help="write the bound on the side to which the counter moves, or use a signed counter",
                )  # fmt: skip


def header(loop: For, scope: Scope, fresh: Fresh, *, from_zero: bool = False) -> Header:
    """The domain of *loop* where it stands; *fresh* makes names for computed scalars.

    *from_zero*: the iname may count from zero where the counter does not start at a constant.  LLVM makes vectors of
    such loops only; the iname that scripts see has the counter's values where it can.
    """
    increment = signed_step(loop)
    step = int(increment.value) if isinstance(increment, Const) else None
    if step is not None and compares_as_integers(loop):
        affine = _affine_header(loop, scope, step, from_zero)
        if affine:
            return affine
    signed = loop.dtype != "uint64"  # else the bounds, as int64, may be on the two sides of zero
    if step == 1 and signed and not from_zero:
        return _unit_header(loop, scope, fresh)
    return _counted_header(loop, scope, step, fresh)


def signed_step(loop: For) -> Expr:
    """The step as int64."""
    return cast(loop.step, INDEX)


def signed_upper(loop: For) -> Expr:
    """The bound as int64.

    Where the counter is signed and the comparison is not, a negative counter that passes is compared with a bound at
    the far end of the unsigned type: that is the order of the signed one.  A counter of zero or more that passed such a
    bound upwards, or got below zero downwards, would leave its own type before it meets the bound.
    """
    upper = loop.upper
    if is_signed(loop.dtype) and not compares_as_integers(loop):
        upper = cast(upper, upper.dtype.removeprefix("u"))
    return cast(upper, INDEX)


def compares_as_integers(loop: For) -> bool:
    """Whether the comparison, in its common type, orders the counter's values as integers."""
    starts_positive = isinstance(loop.lower, Const) and loop.lower.value >= 0 and loop.relation in _UP
    return preserves_value(loop.dtype, loop.upper.dtype) or starts_positive


def _affine_header(loop: For, scope: Scope, step: int, from_zero: bool) -> Header | None:
    lower, upper = scope.affine(loop.lower), scope.affine(loop.upper)
    if lower is None or upper is None or (loop.relation == "!=" and abs(step) != 1):
        return None
    relation = loop.relation if loop.relation != "!=" else "<" if step > 0 else ">"
    names = frozenset(lower.terms) | frozenset(upper.terms)
    if step == 1 and not (from_zero and lower.terms):
        return Header(f"{lower} <= {loop.iname} {relation} {upper}", names)
    value = lower + Affine(0, {loop.iname: step})
    return Header(f"0 <= {loop.iname} and {value} {relation} {upper}", names, base=lower, step=step)


def _unit_header(loop: For, scope: Scope, fresh: Fresh) -> Header:
    start, end = cast(loop.lower, INDEX), signed_upper(loop)
    if loop.relation == "<=":
        end = Binary("+", end, Const(1, INDEX), INDEX)
    if not compares_as_integers(loop):
        end = Select(starts(loop), end, start, INDEX)
    lower, computed = _base(loop, scope, fresh)
    upper = fresh(f"{loop.iname}_ub")
    names = frozenset(lower.terms) | {upper}
    return Header(f"{lower} <= {loop.iname} < {upper}", names, (*computed, (upper, end)))


def _counted_header(loop: For, scope: Scope, step: int | None, fresh: Fresh) -> Header:
    lower, computed = _base(loop, scope, fresh)
    trips = fresh(f"{loop.iname}_trips")
    computed += ((trips, trip_count(loop)),)
    if step is not None:
        return Header(f"0 <= {loop.iname} < {trips}", frozenset({trips}), computed, lower, step)
    stride = fresh(f"{loop.iname}_step")
    computed += ((stride, signed_step(loop)),)
    return Header(f"0 <= {loop.iname} < {trips}", frozenset({trips}), computed, lower, stride)


def _base(loop: For, scope: Scope, fresh: Fresh) -> tuple[Affine, tuple[tuple[str, Expr], ...]]:
    """The first value of the counter: affine, or a scalar to be computed."""
    lower = scope.affine(loop.lower)
    if lower is not None:
        return lower, ()
    name = fresh(f"{loop.iname}_lb")
    return Affine(0, {name: 1}), ((name, cast(loop.lower, INDEX)),)


def starts(loop: For) -> Expr:
    """Whether the first iteration runs, as C compares."""
    return Binary(loop.relation, cast(loop.lower, loop.upper.dtype), loop.upper, "int32")


def trip_count(loop: For) -> Expr:
    """How often the body runs, as an int64 expression (a division by zero where the step is zero)."""
    lower, upper, step = cast(loop.lower, INDEX), signed_upper(loop), signed_step(loop)
    distance = Binary("-", upper, lower, INDEX)
    inclusive = loop.relation in ("<=", ">=")
    if loop.relation == "!=":
        count: Expr = Binary("/", distance, step, INDEX)
    elif step == Const(1, INDEX):
        count = Binary("+", distance, Const(1, INDEX), INDEX) if inclusive else distance
    else:
        # Towards the bound: C's division truncates, so (distance -+ 1) / step + 1 is exact for either sign of step.
        nudge = Const(0 if inclusive else 1, INDEX)
        last = Binary("-" if loop.relation in ("<", "<=") else "+", distance, nudge, INDEX)
        count = Binary("+", Binary("/", last, step, INDEX), Const(1, INDEX), INDEX)
    return Select(starts(loop), count, _ZERO, INDEX)


def constant_trips(loop: For) -> int | None:
    """How often the body runs, None where that is not a constant."""
    count = trip_count(loop)
    return int(evaluate(count, {})) if is_launch_expr(count, frozenset()) else None


def quotient(left: Expr, right: Expr) -> Expr:
    """*left* divided by *right*, which is positive, rounded up."""
    nearly = Binary("-", right, Const(1, INDEX), INDEX)
    return Binary("//", Binary("+", left, nearly, INDEX), right, INDEX)


def value_after(loop: For, trips: Expr) -> Expr:
    """The counter's value after *trips* iterations, in the counter's type."""
    step = Binary("*", trips, signed_step(loop), INDEX)
    return cast(Binary("+", cast(loop.lower, INDEX), step, INDEX), loop.dtype)


def is_last(loop: For) -> Expr:
    """Whether an iteration of *loop* is its last one: whether the counter's next value ends it, as C computes that."""
    wide = promoted(loop.dtype)
    following = Binary("+", cast(Var(loop.iname, loop.dtype), wide), cast(cast(loop.step, loop.dtype), wide), wide)
    return Binary(NEGATED[loop.relation], cast(cast(following, loop.dtype), loop.upper.dtype), loop.upper, "int32")


def trips(loop: For, trip: Var, first: Expr, last: Expr, every: Expr = _ONE) -> For:
    """The trips from *first* to *last* of *loop*, or one of *every* so many."""
    lower, step = cast(loop.lower, INDEX), signed_step(loop)
    if step == every == _ONE:
        # Counted in 64 bits: the last items' shares may begin beyond what the counter's own type holds.
        return For(loop.iname, INDEX, _plus(lower, first), "<", _plus(lower, last), step, loop.body, None, loop.place)
    counter = Declare(loop.iname, loop.dtype, (), value_after(loop, trip))
    return For(trip.name, INDEX, first, "<", last, every, (counter, *loop.body))


def counting(counter: Var, count: Expr, body: Iterable[Stmt] = ()) -> For:
    """*body* for each value of *counter* from 0 up to *count*."""
    return For(counter.name, INDEX, _ZERO, "<", count, _ONE, tuple(body))


def _plus(left: Expr, right: Expr) -> Expr:
    return right if left == _ZERO else Binary("+", left, right, INDEX)
