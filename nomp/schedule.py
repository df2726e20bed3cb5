"""The default schedule of a region without a script: the iterations of its loop are divided among work items.

In: a region, which is one loop.  Out: `Part`s to run one after the other, with loops over groups and items around.  On
a GPU an item has one iteration at a time (`gpu_schedule`), on a CPU a contiguous share of them (`cpu_schedule`):

    for (i = a; i < b; i++) body     for (item = 0; item < items; item++)
                                       for (i = a + item*share; i < min(a + (item+1)*share, b); i++) body

So a share is as long as the launch's trips allow, contiguous elements stay together, and a few iterations stay on few
items.  A loop whose iterations depend on each other may still have some inside that do not: it is cut into loops where
no dependence goes back, and a loop around nothing but another one changes places with it, if the iterations of that one
are independent then.  Called by `pipeline`; `reduction` shares out iterations in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from nomp import cpu_schedule, gpu_schedule, jumps
from nomp.arithmetic import cast, is_launch_expr
from nomp.frontend import private
from nomp.interleave import Unique, can_enter, named_in
from nomp.loops import INDEX, signed_step, trip_count
from nomp.region import Binary, Clauses, Const, Declare, Expr, For, Param, Region, Stmt, Var, While
from nomp.walks import names, walk

LIGHT = 1024
"""How many iterations an item has at least, where a body has no loop: so many are worth the start of an item."""
MOST_PIECES = 16
"""How many statements a loop that is cut may have: each pair of them is compared."""


@dataclass(frozen=True, slots=True)
class Part:
    """A *region* with *axes* for its loops over groups and items; *derived* defines its extra scalars."""

    region: Region
    axes: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, Expr] = field(default_factory=dict)


def divided_loops(region: Region) -> tuple[str, ...]:
    """The loops of *region* whose iterations are divided among work items."""
    found = (part.body[0] for part in _pieces(region) if _is_parallel(part))
    return tuple(loop.iname for loop in found if isinstance(loop, For))


def parts(region: Region, most: int, cpu: bool = False) -> tuple[Part, ...]:
    """*region* on a grid, () where nothing in it is parallel.  *cpu*: for a CPU, on up to *most* items."""
    unique = names(region).unique
    return tuple(_made(piece, most, unique, number, cpu) for number, piece in enumerate(_pieces(region)))


# ---------------------------------------------------------------------------------------------- what can be divided


def _pieces(region: Region) -> tuple[Region, ...]:
    """Regions that do what *region* does one after the other, at least one of them parallel; () if there are none.

    Each is one loop, whose iterations are independent, or are not.
    """
    if len(region.body) != 1 or not isinstance(loop := region.body[0], For) or not _known(region, loop):
        return ()
    whole = _turned(region)
    if whole:
        return (whole,)
    pieces: list[tuple[str, Region]] = []
    for piece in _cut(region, loop):
        turned = None if _is_parallel(piece) else _turned(piece)
        kind = "turned" if turned else "parallel" if _is_parallel(piece) else "sequential"
        before = _together(pieces[-1][1], piece) if pieces and pieces[-1][0] == kind != "turned" else None
        if before and (kind == "sequential" or _is_parallel(before)):
            pieces[-1] = kind, before
        else:
            pieces.append((kind, turned or piece))
    return tuple(piece for _, piece in pieces) if any(kind != "sequential" for kind, _ in pieces) else ()


def _known(region: Region, loop: For) -> bool:
    """Whether the iterations of *loop* are known at launch."""
    return all(is_launch_expr(expr, region.scalars) for expr in (loop.lower, loop.upper, loop.step))


def _turned(region: Region) -> Region | None:
    """*region* with a parallel loop outermost: as it is, or with its two outer loops in the other order."""
    (loop,) = region.body
    assert isinstance(loop, For)
    cells = {param.name for param in region.params if param.kind == "cell"}
    alone, _ = private.apply(region, cells, names(region).unique)
    if _is_parallel(alone):
        return alone
    inner = loop.body[0] if len(loop.body) == 1 else None
    if isinstance(inner, For) and can_enter(loop, inner) and _known(region, inner):
        other = replace(region, body=(replace(inner, body=(replace(loop, body=inner.body),)),))
        if _is_parallel(other):
            return other
    return None


def _is_parallel(region: Region) -> bool:
    """Whether the iterations of the loop that *region* is are independent: by proof, or by the program's word where
    data decide."""
    from nomp.dependence import outermost  # isl, which `nomp cc` starts without

    verdict = outermost(region)
    vouched = verdict.parallel == "unknown" and verdict.loop.iname in region.clauses.independent
    return verdict.parallel == "yes" or vouched


def _cut(region: Region, loop: For) -> Iterator[Region]:
    """*region* in pieces with some of the statements of *loop* each, wherever its iterations allow."""
    cells = any(param.kind == "cell" for param in region.params)
    if len(loop.body) > MOST_PIECES or cells or any(jumps.own(loop.body)):
        yield region
        return
    start = 0
    for stop in range(1, len(loop.body) + 1):
        if stop == len(loop.body) or _may_cut(region, loop, stop):
            yield _with_body(region, loop, loop.body[start:stop])
            start = stop


def _may_cut(region: Region, loop: For, place: int) -> bool:
    """Whether all iterations may do the first *place* statements of *loop* before one of them does the others."""
    first, second = loop.body[:place], loop.body[place:]
    if {stmt.name for stmt in walk(first) if isinstance(stmt, Declare)} & named_in(second):
        return False
    from nomp.dependence import comes_back

    return not comes_back(_with_body(region, loop, first), _with_body(region, loop, second))


def _with_body(region: Region, loop: For, body: tuple[Stmt, ...]) -> Region:
    return replace(region, body=(replace(loop, body=body),))


def _together(first: Region, second: Region) -> Region:
    """One loop that does what those of *first* and then of *second* do, which have the same iterations."""
    (loop,), (other,) = first.body, second.body
    assert isinstance(loop, For) and isinstance(other, For)
    return _with_body(first, loop, (*loop.body, *other.body))


# ---------------------------------------------------------------------------------------------------- dividing it


def _made(region: Region, most: int, unique: Unique, number: int, cpu: bool) -> Part:
    (loop,) = region.body
    assert isinstance(loop, For)
    region = replace(region, name=f"{region.name}_{number}" if number else region.name)
    if not _is_parallel(region):
        return Part(region)
    proofs = _proofs(region)
    if cpu:
        everyone, derived = _shares(loop, most, proofs, unique)
        axes = {everyone.iname: "g.0"}
    else:
        everyone, derived, axes = gpu_schedule.spread(loop, proofs.parallel, partial(_known, region), unique)
    extra = tuple(Param(name, INDEX) for name in derived)
    made = replace(region, params=(*region.params, *extra), body=(everyone,), clauses=Clauses(jit=region.clauses.jit))
    return Part(made, axes, derived)


def _shares(loop: For, most: int, proofs: cpu_schedule.Proofs, unique: Unique) -> tuple[For, dict[str, Expr]]:
    light = not any(isinstance(stmt, For | While) for stmt in walk(loop.body))
    count = Binary("min", Const(most, INDEX), quotient(trip_count(loop), Const(LIGHT if light else 1, INDEX)), INDEX)
    grain = Const(cpu_schedule.together(loop, proofs), INDEX)
    fair = quotient(trip_count(loop), Binary("max", Const(1, INDEX), count, INDEX))
    size = Binary("max", Const(1, INDEX), Binary("*", quotient(fair, grain), grain, INDEX), INDEX)
    items = Var(unique("_items"), INDEX)
    everyone, derived = divided(
        loop, items, size, unique, lambda item, share: cpu_schedule.arranged(share, proofs, unique)
    )
    return everyone, derived | {items.name: quotient(trip_count(loop), size)}


def _proofs(region: Region) -> cpu_schedule.Proofs:
    from nomp.dependence import apart, verdicts

    (loop,) = region.body
    assert isinstance(loop, For)
    parallel = {verdict.loop.iname for verdict in verdicts(region) if verdict.parallel == "yes"}
    return cpu_schedule.Proofs(frozenset(parallel | {loop.iname}), apart(region))


def divided(
    loop: For, items: Const | Var, size: Expr, unique: Callable[[str], str],
    body: Callable[[Var, For], tuple[Stmt, ...]],
) -> tuple[For, dict[str, Expr]]:  # fmt: skip
    """A loop over *items* with shares of *size* iterations of *loop*, and what its extra scalars are at launch.

    *body* makes an item's statements of its number and of the loop over its share; the last ones may be short or empty.
    """
    item, trips, share = (Var(unique(name), INDEX) for name in ("_item", "_trips", "_share"))
    first, last = (Var(unique(name), INDEX) for name in ("_first", "_last"))
    end = Binary("min", Binary("+", first, share, INDEX), trips, INDEX)
    bounds = Declare(first.name, INDEX, (), Binary("*", item, share, INDEX)), Declare(last.name, INDEX, (), end)
    inner = _part(loop, Var(unique("_trip"), INDEX), first, last)
    everyone = For(item.name, INDEX, Const(0, INDEX), "<", items, Const(1, INDEX), (*bounds, *body(item, inner)))
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


def quotient(left: Expr, right: Expr) -> Expr:
    """*left* divided by *right*, which is positive, rounded up."""
    nearly = Binary("-", right, Const(1, INDEX), INDEX)
    return Binary("//", Binary("+", left, nearly, INDEX), right, INDEX)
