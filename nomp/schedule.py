"""The default schedule of a region without a script: the iterations of its loop are divided among work items.

In: a region, which is one loop.  Out: `Part`s to run one after the other, with loops over groups and items around.  On
a GPU an item has one iteration at a time (`gpu_schedule`), or shares it with others (`gpu_rows`, `gpu_entries`), on a
CPU a contiguous share of them (`cpu_schedule`):

    for (i = a; i < b; i++) body     for (item = 0; item < items; item++)
                                       for (i = a + item*share; i < min(a + (item+1)*share, b); i++) body

So a share is as long as the launch's trips allow, contiguous elements stay together, and a few iterations stay on few
items.  A CPU gets copies of small operands first (`small_operands`).  A loop whose iterations depend on each other may
still have some inside that do not: it is cut into loops where no dependence goes back, and a loop around nothing but
another one changes places with it, if the iterations of that one are independent then.  Called by `pipeline`;
`reduction` shares out iterations in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from nomp import cpu_schedule, gpu_entries, gpu_rows, gpu_schedule, jumps, small_operands
from nomp.arithmetic import is_launch_expr
from nomp.device_source import Scratch
from nomp.frontend import private
from nomp.interleave import Unique, can_enter
from nomp.loops import INDEX, counting, quotient, trip_count, trips
from nomp.region import Binary, Clauses, Const, Declare, Expr, For, Param, Region, Stmt, Var, While
from nomp.walks import bodies, mentioned_in, names, walk

LIGHT = 1024
"""How many iterations an item of a CPU has at least, those of inner loops included: so many are worth its start."""
HEAVY = 1 << 15
"""How many it has if there are more items than threads need: the start of one takes less than a hundredth of theirs."""
MOST_PIECES = 16
"""How many statements a loop that is cut may have: each pair of them is compared."""


@dataclass(frozen=True, slots=True)
class Part:
    """A *region* with *axes* for its loops over groups and items; *derived* defines its extra scalars, *scratch* its
    extra arrays.  The items of a group share the locals *shared*, and wait for each other between loops over items.  A
    compiler is to make vectors of as many numbers as *widths* says of the loops that it names.  *long*: each item has
    much to load before it computes.  Of the arrays *once* no element is read twice, and none written."""

    region: Region
    axes: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, Expr] = field(default_factory=dict)
    scratch: tuple[Scratch, ...] = ()
    shared: frozenset[str] = frozenset()
    widths: Mapping[str, int] = field(default_factory=dict)
    long: bool = False
    once: frozenset[str] = frozenset()


def divided_loops(region: Region) -> tuple[str, ...]:
    """The loops of *region* whose iterations are divided among work items."""
    found = (piece.region.body[0] for piece in _pieces(region) if piece.kind != "sequential")
    return tuple(loop.iname for loop in found if isinstance(loop, For))


def parts(
    region: Region, most: int, cpu: bool = False, apart: bool = True, lanes: int | None = None, few: int | None = None
) -> tuple[Part, ...]:
    """*region* on a grid, () where nothing in it is parallel.

    *cpu*: for a CPU, on up to *most* items, or *few* if more would have less than `HEAVY` iterations each.  *apart*: no
    two of its arrays share an element that is written.  *lanes*: how many items of a GPU share a row that is summed up,
    where a script has said so.
    """
    unique = names(region).unique
    made: list[Part] = []
    for number, piece in enumerate(_pieces(region)):
        whole = replace(piece.region, name=f"{piece.region.name}_{number}" if number else piece.region.name)
        if piece.kind == "sequential":
            made.append(Part(whole))
        else:
            made += [_on_cpu(whole, (few or most, most), apart, unique)] if cpu else _on_gpu(whole, lanes, unique)
    return tuple(made)


# ---------------------------------------------------------------------------------------------- what can be divided


@dataclass(frozen=True, slots=True)
class _Piece:
    """A *region* that is one loop: its iterations are independent as it was, or after it has been turned, or not."""

    region: Region
    kind: Literal["parallel", "turned", "sequential"]


def _pieces(region: Region) -> tuple[_Piece, ...]:
    """What does the same as *region*, one piece after the other; () if none of them is parallel."""
    if len(region.body) != 1 or not isinstance(loop := region.body[0], For) or not _known(region, loop):
        return ()
    whole = _piece(region)
    if whole.kind != "sequential":
        return (whole,)
    cuts = list(_cut(region, loop))
    pieces: list[_Piece] = []
    for piece in map(_piece, cuts) if len(cuts) > 1 else ():
        if joined := _joined(pieces[-1], piece) if pieces else None:
            pieces[-1] = joined
        else:
            pieces.append(piece)
    return tuple(pieces) if any(piece.kind != "sequential" for piece in pieces) else ()


def _known(region: Region, loop: For) -> bool:
    """Whether the iterations of *loop* are known at launch."""
    return all(is_launch_expr(expr, region.scalars) for expr in (loop.lower, loop.upper, loop.step))


def _piece(region: Region) -> _Piece:
    """*region*, one loop, with a parallel loop outermost if it can be: as it is, or with its two outer loops in the
    other order."""
    from nomp.dependence import outermost  # isl, which `nomp cc` starts without

    (loop,) = region.body
    assert isinstance(loop, For)
    cells = {param.name for param in region.params if param.kind == "cell"}
    alone, _ = private.apply(region, cells, names(region).unique)
    verdict = outermost(alone).parallel
    if verdict == "yes" or (verdict == "unknown" and loop.iname in region.clauses.independent):
        return _Piece(alone, "parallel")
    inner = loop.body[0] if len(loop.body) == 1 else None
    if isinstance(inner, For) and can_enter(loop, inner) and _known(region, inner):
        other = replace(region, body=(replace(inner, body=(replace(loop, body=inner.body),)),))
        if outermost(other).parallel == "yes":  # what the program says of *inner* holds while *loop* stands still
            return _Piece(other, "turned")
    return _Piece(region, "sequential")


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
    if {stmt.name for stmt in walk(first) if isinstance(stmt, Declare)} & mentioned_in(second):
        return False
    from nomp.dependence import comes_back

    return not comes_back(_with_body(region, loop, first), _with_body(region, loop, second))


def _with_body(region: Region, loop: For, body: tuple[Stmt, ...]) -> Region:
    return replace(region, body=(replace(loop, body=body),))


def _joined(first: _Piece, second: _Piece) -> _Piece | None:
    """One piece that does what *first* and then *second* do, if it is as parallel as they are."""
    if first.kind != second.kind or first.kind == "turned":
        return None
    (loop,), (other,) = first.region.body, second.region.body
    assert isinstance(loop, For) and isinstance(other, For)
    both = _piece(_with_body(first.region, loop, (*loop.body, *other.body)))
    return both if both.kind == first.kind else None


# ---------------------------------------------------------------------------------------------------- dividing it


def _on_cpu(region: Region, counts: tuple[int, int], apart: bool, unique: Unique) -> Part:
    (loop,) = region.body
    assert isinstance(loop, For)
    read_only = {param.name for param in region.params if apart and not param.writes}
    everyone, derived = _shares(loop, read_only, counts, _proofs(region), partial(_known, region), unique)
    made = _made(region, gpu_schedule.Spread(everyone, derived, {everyone.iname: "g.0"}))
    return replace(made, widths=cpu_schedule.widths(made.region.body))


def _on_gpu(region: Region, lanes: int | None, unique: Unique) -> Iterator[Part]:
    """One part, or one for long rows and one for short ones, of which a launch chooses."""
    (loop,) = region.body
    assert isinstance(loop, For)
    known = partial(_known, region)
    nest = gpu_schedule.nest(loop, _proofs(region).parallel, known)
    rows = gpu_rows.found(nest[-1])
    shared = gpu_rows.wanted(nest, rows, known, lanes) if rows else gpu_rows.NOT_SHARED
    if rows and shared.lanes > 1:
        if not known(rows.inner) and gpu_entries.fits(nest[-1], rows):
            spread = gpu_entries.spread(nest, rows, lanes or gpu_entries.LANES, unique)
        else:
            spread = gpu_rows.spread(nest, rows, shared.lanes, known, unique)
        yield _made(replace(region, name=f"{region.name}_rows"), spread.only_if(shared.condition))
    if shared.otherwise:
        yield _made(region, gpu_schedule.spread(nest, unique).only_if(shared.otherwise))


def _made(region: Region, spread: gpu_schedule.Spread) -> Part:
    extra = tuple(Param(name, INDEX) for name in spread.derived)
    body, clauses = (spread.loop,), Clauses(jit=region.clauses.jit)
    made = replace(region, params=(*region.params, *extra), body=body, clauses=clauses)
    return Part(made, spread.axes, spread.derived, shared=spread.shared, long=spread.long, once=spread.once)


def _shares(
    loop: For, read_only: set[str], counts: tuple[int, int], proofs: cpu_schedule.Proofs, known: Callable[[For], bool],
    unique: Unique,
) -> tuple[For, dict[str, Expr]]:  # fmt: skip
    """*loop* in shares, and the scalars that this needs: a few shares, or most that there may be (*counts*)."""
    copied, loop = small_operands.transposed(loop, read_only, proofs, unique)
    work, total = _work(loop.body, known), trip_count(loop)

    def shares(least: int) -> Expr:
        """So many that each has at least so many iterations."""
        return quotient(total, quotient(Const(least, INDEX), work or Const(least, INDEX)))

    few, most = counts
    count = Binary("min", Const(few, INDEX), shares(LIGHT), INDEX)
    if few < most:  # a multiple of few, which all threads have as many of
        times = Binary("min", Const(most // few, INDEX), Binary("/", shares(HEAVY), Const(few, INDEX), INDEX), INDEX)
        count = Binary("max", count, Binary("*", Const(few, INDEX), times, INDEX), INDEX)
    grain = Const(cpu_schedule.together(loop, proofs).count, INDEX)
    fair = quotient(total, Binary("max", Const(1, INDEX), count, INDEX))
    size = Binary("max", Const(1, INDEX), Binary("*", quotient(fair, grain), grain, INDEX), INDEX)
    items = Var(unique("_items"), INDEX)
    everyone, derived = divided(
        loop, items, size, unique, lambda item, share: (*copied, *cpu_schedule.arranged(share, proofs, unique))
    )
    return everyone, derived | {items.name: quotient(total, size)}


def _work(body: tuple[Stmt, ...], known: Callable[[For], bool]) -> Expr | None:
    """How many iterations *body* has, itself and those of loops in it, `LIGHT` for each of these at most; None if a
    launch does not tell."""
    total: Expr = Const(1, INDEX)
    for stmt in body:
        inner = [_work(part, known) for part in bodies(stmt)]
        if isinstance(stmt, While) or (isinstance(stmt, For) and not known(stmt)) or None in inner:
            return None
        for work in inner:
            assert work is not None
            if isinstance(stmt, For):
                trips = Binary("min", trip_count(stmt), Const(LIGHT, INDEX), INDEX)
                work = Binary("*", trips, work, INDEX)
            total = Binary("+", total, work, INDEX)
    return total


def _proofs(region: Region) -> cpu_schedule.Proofs:
    from nomp.dependence import apart, verdicts

    (loop,) = region.body
    assert isinstance(loop, For)
    parallel = {verdict.loop.iname for verdict in verdicts(region) if verdict.parallel == "yes"}
    return cpu_schedule.Proofs(frozenset(parallel | {loop.iname}), apart(region))


def divided(
    loop: For, items: Const | Var, size: Expr, unique: Unique, body: Callable[[Var, For], tuple[Stmt, ...]]
) -> tuple[For, dict[str, Expr]]:
    """A loop over *items* with shares of *size* iterations of *loop*, and what its extra scalars are at launch.

    *body* makes an item's statements of its number and of the loop over its share; the last ones may be short or empty.
    """
    item, total, share = (Var(unique(name), INDEX) for name in ("_item", "_trips", "_share"))
    first, last = (Var(unique(name), INDEX) for name in ("_first", "_last"))
    end = Binary("min", Binary("+", first, share, INDEX), total, INDEX)
    bounds = Declare(first.name, INDEX, (), Binary("*", item, share, INDEX)), Declare(last.name, INDEX, (), end)
    inner = trips(loop, Var(unique("_trip"), INDEX), first, last)
    everyone = counting(item, items, (*bounds, *body(item, inner)))
    return everyone, {total.name: trip_count(loop), share.name: size}
