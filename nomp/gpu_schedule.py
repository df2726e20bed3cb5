"""How the iterations of independent loops are laid over a GPU's grid: one at a time for each work item.

In: a loop, and which of those inside it are independent.  Out: loops over groups and items around one iteration, and
the axes they go on.  The loop in which most elements are contiguous is on axis 0, so that neighbouring items touch
neighbouring elements; up to two others, around or directly inside it, are on axes 1 and 2:

    for (i = a; i < b; i++)          for (group in min(trips_i, 65535))                      # g.1
      for (j = c; j < d; j++)          for (group_ in trips_j / 256, item in 256)            # g.0, l.0
        body                             for (i from group on, in steps of the grid)
                                           if (j = 256*group_ + item is one of trips_j)
                                             body

A grid is as large as the loop, if the device allows; then there is one step of it.  On axis 0 all devices allow more
than memory has room for, and there is no loop over steps: CUDA's compiler would have less loads under way in one.  A
launch of more is refused by the device.

Called by `schedule`, for a region without a script.  `gpu_rows` and `gpu_entries` are for iterations that several items
share.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace

from nomp.cpu_schedule import stride
from nomp.interleave import Unique, can_enter
from nomp.loops import INDEX, counting, quotient, trip_count, value_after
from nomp.region import Binary, Const, Declare, Expr, For, If, Select, Stmt, Var
from nomp.walks import loads, walk

ITEMS = 256
"""Items in a group: a multiple of every warp size, few enough for every device."""
AXES = 3
MOST_GROUPS = 65535
"""How many groups CUDA allows on all axes but the first, where it allows 2**31 - 1."""

_ZERO, _ONE = Const(0, INDEX), Const(1, INDEX)


@dataclass(slots=True)
class Grid:
    """*loops* over groups and items, innermost first, with their axes; *derived* are the scalars that they need, among
    them *groups*, of axis 0."""

    loops: list[tuple[For, str]] = field(default_factory=list)
    derived: dict[str, Expr] = field(default_factory=dict)
    groups: str = ""

    def around(self, body: tuple[Stmt, ...]) -> tuple[For, dict[str, str]]:
        """The loops around *body*, and their axes."""
        for made, _ in self.loops:
            body = (replace(made, body=body),)
        (whole,) = body
        assert isinstance(whole, For)
        return whole, {made.iname: tag for made, tag in self.loops}


@dataclass(frozen=True, slots=True)
class Spread:
    """A *loop* over the grid, the scalars that this needs at launch (*derived*), the *axes* of loops, the locals
    that the items of a group share, and the scalar that says how many *groups* there are on axis 0.  *long*: each item
    has much to load before it computes.  Of the arrays *once* no element is read twice, and none written."""

    loop: For
    derived: Mapping[str, Expr]
    axes: Mapping[str, str]
    shared: frozenset[str] = frozenset()
    groups: str = ""
    long: bool = False
    once: frozenset[str] = frozenset()

    def only_if(self, condition: Expr) -> Spread:
        """The same, without any groups where *condition* is false at launch."""
        if isinstance(condition, Const):
            return self
        some = Select(condition, self.derived[self.groups], _ZERO, INDEX)
        return replace(self, derived={**self.derived, self.groups: some})


def nest(loop: For, parallel: Container[str], known: Callable[[For], bool]) -> list[For]:
    """*loop* and those directly inside it that go on the grid with it, outermost first.

    *parallel* names the loops with independent iterations, *known* says whether a loop's are known at launch.
    """
    found = [loop]
    while len(found) < AXES and len(found[-1].body) == 1:
        inner = found[-1].body[0]
        if not (isinstance(inner, For) and inner.iname in parallel and known(inner)):
            break
        if not all(can_enter(around, inner) for around in found):
            break
        found.append(inner)
    return found


def spread(nest: list[For], unique: Unique) -> Spread:
    """The loops *nest* over the grid."""
    fast = max(reversed(nest), key=lambda one: _contiguous(one, nest[-1]))
    grid, body = Grid(), nest[-1].body
    for axis, one in enumerate([fast, *(one for one in reversed(nest) if one is not fast)]):
        body = each(grid, one, axis, body, unique)
    whole, axes = grid.around(body)
    return Spread(whole, grid.derived, axes, groups=grid.groups)


def _contiguous(loop: For, innermost: For) -> int:
    """How many mentions of elements in the nest move on by one element with *loop*."""
    found = (load for stmt in walk(innermost.body) for load in loads(stmt))
    return sum(abs(stride(load, loop.iname)) == 1 for load in found)


def each(grid: Grid, loop: For, axis: int, body: tuple[Stmt, ...], unique: Unique) -> tuple[Stmt, ...]:
    """*body* for those iterations of *loop* that an item on *axis* has; adds what is around to *grid*."""
    items = ITEMS if axis == 0 else 1
    item = Var(unique("_item"), INDEX) if items > 1 else None
    if item:
        grid.loops.append((counting(item, Const(items, INDEX)), f"l.{axis}"))
    rounds = rounds_of(grid, loop, axis, items, unique)
    return rounds.all_of(rounds.one(item, body))


@dataclass(frozen=True, slots=True)
class Rounds:
    """How groups go through *loop*: *items* of its iterations at once for each *group*, in *count* rounds, which
    *number* counts, or in a single one (None).  *step* are the iterations of a round, *trips* those of all."""

    loop: For
    items: int
    group: Var
    number: Var | None
    count: Var
    step: Expr
    trips: Var
    unique: Unique

    def one(self, item: Var | None, body: Iterable[Stmt]) -> tuple[Stmt, ...]:
        """*body* for the iteration that *item* of a group has in a round, if there is such a one."""
        here: Expr = self.group
        if item:
            here = Binary("+", Binary("*", self.group, Const(self.items, INDEX), INDEX), item, INDEX)
        if self.number:
            here = Binary("+", here, Binary("*", self.number, self.step, INDEX), INDEX)
        trip = Var(self.unique("_trip"), INDEX)
        counter = Declare(self.loop.iname, self.loop.dtype, (), value_after(self.loop, trip))
        start = Declare(trip.name, INDEX, (), here)
        return (start, *if_below(trip, self.trips, (counter, *body), self.unique))

    def all_of(self, body: Iterable[Stmt]) -> tuple[Stmt, ...]:
        """*body* in each round."""
        return (counting(self.number, self.count, body),) if self.number else tuple(body)


def rounds_of(grid: Grid, loop: For, axis: int, items: int, unique: Unique) -> Rounds:
    """*loop* by groups on *axis*, *items* iterations at once in each; adds as many groups as can be to *grid*."""
    trips, groups, group = (Var(unique(name), INDEX) for name in ("_trips", "_groups", "_group"))
    number, count = (Var(unique(name), INDEX) for name in ("_round", "_rounds"))
    size = Const(items, INDEX)
    wanted = quotient(trip_count(loop), size)
    grid.derived[trips.name] = trip_count(loop)
    grid.derived[groups.name] = wanted if axis == 0 else Binary("min", wanted, Const(MOST_GROUPS, INDEX), INDEX)
    if axis:
        at_once = Binary("max", _ONE, Binary("*", grid.derived[groups.name], size, INDEX), INDEX)
        grid.derived[count.name] = quotient(trip_count(loop), at_once)
    grid.groups = grid.groups or groups.name
    grid.loops.append((counting(group, groups), f"g.{axis}"))
    step = Binary("*", groups, size, INDEX)
    return Rounds(loop, items, group, number if axis else None, count, step, trips, unique)


def if_below(trip: Var, trips: Var, body: tuple[Stmt, ...], unique: Unique) -> tuple[Stmt, ...]:
    """*body* if *trip* is one of *trips*.  Around loops that is a loop, too: loopy puts conditions into the innermost.
    """
    if not any(isinstance(stmt, For) for stmt in walk(body)):
        return (If(Binary("<", trip, trips, "int32"), body),)
    times = Select(Binary("<", trip, trips, "int32"), _ONE, _ZERO, INDEX)
    return (counting(Var(unique("_once"), INDEX), times, body),)
