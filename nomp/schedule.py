"""The default schedule of a region without a script: its loop's iterations are divided among work items.

In: a region whose loop `dependence` has found to have independent iterations.  Out: the region rewritten, with a loop
over items around, each of which runs a contiguous share of the iterations in order:

    for (i = a; i < b; i++) body     for (item = 0; item < items; item++)
                                       for (i = a + item*share; i < min(a + (item+1)*share, b); i++) body

So a share is as long as the launch's trips allow, contiguous elements stay together, and a few iterations stay on few
items.  Called by `pipeline`; `reduction` shares out iterations in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from nomp import cpu_schedule
from nomp.arithmetic import cast, is_launch_expr
from nomp.frontend import private
from nomp.loops import INDEX, signed_step, trip_count
from nomp.region import Binary, Clauses, Const, Declare, Expr, For, Param, Region, Stmt, Var, While
from nomp.walks import names, walk

LIGHT = 1024
"""How many iterations an item has at least, where a body has no loop: so many are worth the start of an item."""


@dataclass(frozen=True, slots=True)
class Shares:
    """A *region* whose loop *parallel* is over items; *derived* defines its extra scalar parameters."""

    region: Region
    parallel: str
    derived: Mapping[str, Expr]


def is_parallel(region: Region) -> bool:
    """Whether *region* is one loop with bounds that are known at launch, and iterations that are independent.

    They are if that is proven, or if the program says so and data decide.
    """
    return _independent(region) is not None


def _independent(region: Region) -> Region | None:
    """*region*, with the scalars that each iteration sets anew as its own, if it is parallel then."""
    if len(region.body) != 1 or not isinstance(loop := region.body[0], For):
        return None
    if not all(is_launch_expr(expr, region.scalars) for expr in (loop.lower, loop.upper, loop.step)):
        return None
    from nomp.dependence import outermost  # isl, which `nomp cc` starts without

    cells = {param.name for param in region.params if param.kind == "cell"}
    alone, _ = private.apply(region, cells, names(region).unique)
    verdict = outermost(alone).parallel
    vouched = verdict == "unknown" and loop.iname in region.clauses.independent
    return alone if verdict == "yes" or vouched else None


def shares(region: Region, most: int, cpu: bool = False) -> Shares | None:
    """*region* for up to *most* items, None where it is not parallel.  *cpu*: an item's loops are those of a CPU."""
    alone = _independent(region)
    if alone is None:
        return None
    (loop,) = alone.body
    assert isinstance(loop, For)
    light = not any(isinstance(stmt, For | While) for stmt in walk(loop.body))
    count = Binary("min", Const(most, INDEX), _quotient(trip_count(loop), Const(LIGHT if light else 1, INDEX)), INDEX)
    unique = names(alone).unique
    items = Var(unique("_items"), INDEX)
    if cpu:
        proofs = _proofs(alone)
        grain = cpu_schedule.together(loop, proofs)
        everyone, derived = divided(
            loop, items, count, unique, lambda item, share: cpu_schedule.arranged(share, proofs, unique), grain
        )
    else:
        everyone, derived = divided(loop, items, count, unique, lambda item, share: (share,))
    derived[items.name] = count
    extra = tuple(Param(name, INDEX) for name in derived)
    made = replace(region, params=(*region.params, *extra), body=(everyone,), clauses=Clauses(jit=region.clauses.jit))
    return Shares(made, everyone.iname, derived)


def _proofs(region: Region) -> cpu_schedule.Proofs:
    from nomp.dependence import apart, verdicts

    (loop,) = region.body
    assert isinstance(loop, For)
    parallel = {verdict.loop.iname for verdict in verdicts(region) if verdict.parallel == "yes"}
    return cpu_schedule.Proofs(frozenset(parallel | {loop.iname}), apart(region))


def divided(
    loop: For, items: Const | Var, count: Expr, unique: Callable[[str], str],
    body: Callable[[Var, For], tuple[Stmt, ...]], grain: int = 1,
) -> tuple[For, dict[str, Expr]]:  # fmt: skip
    """A loop over *items*, *count* of them, and what its extra scalars are at launch.

    *body* makes an item's statements of its number and of the loop over its share of *loop*'s iterations, which is a
    multiple of *grain*; the last items may have none.
    """
    item, trips, share = (Var(unique(name), INDEX) for name in ("_item", "_trips", "_share"))
    first = Binary("*", item, share, INDEX)
    last = Binary("min", Binary("+", first, share, INDEX), trips, INDEX)
    inner = _part(loop, Var(unique("_trip"), INDEX), first, last)
    everyone = For(item.name, INDEX, Const(0, INDEX), "<", items, Const(1, INDEX), body(item, inner))
    divisor = count if isinstance(count, Const) else Binary("max", Const(1, INDEX), count, INDEX)
    size = _quotient(trip_count(loop), divisor)
    if grain > 1:
        size = Binary("*", _quotient(size, Const(grain, INDEX)), Const(grain, INDEX), INDEX)
    return everyone, {trips.name: trip_count(loop), share.name: size}


def _part(loop: For, trip: Var, first: Expr, last: Expr) -> For:
    """The trips from *first* to *last* of *loop*."""
    lower, step = cast(loop.lower, INDEX), signed_step(loop)
    if step == Const(1, INDEX):
        # Counted in 64 bits: the last items' shares may begin beyond what the counter's own type holds.
        return For(loop.iname, INDEX, _plus(lower, first), "<", _plus(lower, last), step, loop.body, None, loop.place)
    value = _plus(lower, Binary("*", trip, step, INDEX))
    counter = Declare(loop.iname, loop.dtype, (), cast(value, loop.dtype))
    return For(trip.name, INDEX, first, "<", last, Const(1, INDEX), (counter, *loop.body))


def _plus(left: Expr, right: Expr) -> Expr:
    return right if left == Const(0, INDEX) else Binary("+", left, right, INDEX)


def _quotient(left: Expr, right: Expr) -> Expr:
    """*left* divided by *right*, which is positive, rounded up."""
    nearly = Binary("-", right, Const(1, INDEX), INDEX)
    return Binary("//", Binary("+", left, nearly, INDEX), right, INDEX)
