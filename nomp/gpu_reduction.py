"""How a reduction runs on a GPU: two kernels, any trip count, one pass over memory.

In: a region that only reduces.  Out: two `Part`s.  In the first, neighbouring items of all groups have neighbouring
iterations, in turn; each adds up its own, and the items of a group combine what they have in the group's memory, half
of them at a time.  In the second, one group does the same with the results of the groups, and with the variable:

    for (group = 0; group < groups; group++)                                            # g.0
      for (item = 0; item < 256; item++) {                                              # l.0
        own = 0; for (i = group*256 + item; i < n; i += groups*256) own += a[i]; row[item] = own;
      }
      for (item = 0; item < 128; item++) row[item] += row[item + 128];  ... 64, 32 ... 1
      part[group] = row[0];

Called by `reduction`, which knows the operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from nomp.device_source import Scratch
from nomp.gpu_rows import Items
from nomp.gpu_schedule import ITEMS
from nomp.interleave import Unique
from nomp.loops import INDEX, counting, quotient, trip_count, trips
from nomp.region import Assign, Binary, Clauses, Const, Declare, Expr, For, Load, Param, Region, Stmt, Var
from nomp.schedule import Part

Combine = Callable[[Var | Load, Expr], Expr]
"""``x OP y`` for one of the reduced variables."""

_ZERO, _ONE = Const(0, INDEX), Const(1, INDEX)


@dataclass(frozen=True, slots=True)
class Reduced:
    """A reduced variable *cell*: *start* is where an accumulator begins, *own* is an item's, *part* has one for each
    group, *row* one for each item of a group."""

    cell: Var
    start: Expr
    own: Var
    part: Param
    row: str
    combine: Combine


def parts(region: Region, loop: For, found: Iterable[Reduced], most: int, unique: Unique) -> tuple[Part, ...]:
    """The two stages of *region*, which is *loop* with its accumulators in place of the variables *found*, on up to
    *most* groups."""
    found = tuple(found)
    groups = Var(unique("_groups"), INDEX)
    total = Var(unique("_trips"), INDEX)
    count = trip_count(loop)
    wanted = Binary("min", Const(most, INDEX), quotient(count, Const(ITEMS, INDEX)), INDEX)
    derived = {total.name: count, groups.name: Binary("max", _ONE, wanted, INDEX)}
    extra = (*(Param(name, INDEX) for name in derived), *(one.part for one in found))
    scratch = tuple(Scratch(one.part.name, one.own.dtype, groups) for one in found)
    local = frozenset(one.row for one in found)
    first, axes = _first(loop, found, groups, total, unique)
    region = replace(region, params=(*region.params, *extra), clauses=Clauses(jit=region.clauses.jit))
    second, more = _second(found, groups, unique)
    cells = tuple(param for param in region.params if param.name in {one.cell.name for one in found})
    params = (*cells, Param(groups.name, INDEX), *(one.part for one in found))
    finish = replace(region, name=f"{region.name}_finish", params=params, body=second, clauses=Clauses(), functions=())
    known = {groups.name: derived[groups.name]}
    return (Part(replace(region, body=(first,)), axes, derived, scratch, local),
            Part(finish, more, known, scratch, local))  # fmt: skip


def _rows(found: Iterable[Reduced]) -> tuple[Declare, ...]:
    return tuple(Declare(one.row, one.own.dtype, (Const(ITEMS, INDEX),)) for one in found)


def _first(
    loop: For, found: tuple[Reduced, ...], groups: Var, total: Var, unique: Unique
) -> tuple[For, Mapping[str, str]]:
    """Each group's share of the iterations of *loop*."""
    items, group = Items(unique), Var(unique("_group"), INDEX)
    step = Binary("*", groups, Const(ITEMS, INDEX), INDEX)

    def share(item: Var) -> Iterable[Stmt]:
        begin = Binary("+", Binary("*", group, Const(ITEMS, INDEX), INDEX), item, INDEX)
        yield from (Declare(one.own.name, one.own.dtype, (), one.start) for one in found)
        yield trips(loop, Var(unique("_trip"), INDEX), begin, total, step)
        yield from (Assign(Load(one.row, (item,), one.own.dtype), one.own) for one in found)

    def store(_: Var) -> Iterable[Stmt]:
        return [Assign(Load(one.part.name, (group,), one.own.dtype), Load(one.row, (_ZERO,), one.own.dtype))
                for one in found]  # fmt: skip

    halves = [half for one in found for half in items.halves(one.row, one.own.dtype, one.combine, ITEMS)]
    body: tuple[Stmt, ...] = (*_rows(found), items.each(ITEMS, share), *halves, items.each(1, store))
    return counting(group, groups, body), {group.name: "g.0", **items.axes}


def _second(found: tuple[Reduced, ...], groups: Var, unique: Unique) -> tuple[tuple[Stmt, ...], Mapping[str, str]]:
    """What one group makes of the parts, and of the variables."""
    items = Items(unique)
    again = tuple(replace(one, own=replace(one.own, name=unique(one.own.name))) for one in found)

    def share(item: Var) -> Iterable[Stmt]:
        for one in again:
            part = Var(unique("_part"), INDEX)
            step = Assign(one.own, one.combine(one.own, Load(one.part.name, (part,), one.own.dtype)))
            yield Declare(one.own.name, one.own.dtype, (), one.start)
            yield For(part.name, INDEX, item, "<", groups, Const(ITEMS, INDEX), (step,))
            yield Assign(Load(one.row, (item,), one.own.dtype), one.own)

    def store(_: Var) -> Iterable[Stmt]:
        return [Assign(one.cell, one.combine(one.cell, Load(one.row, (_ZERO,), one.own.dtype))) for one in found]

    halves = [half for one in found for half in items.halves(one.row, one.own.dtype, one.combine, ITEMS)]
    return (*_rows(found), items.each(ITEMS, share), *halves, items.each(1, store)), items.axes
