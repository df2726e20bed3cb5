"""Sums along rows on a GPU: the items of a group share the inner loop of each of its rows.

In: independent loops around one that only accumulates, into a local variable or an element.  Out: loops over groups and
items around the three steps of a row: neighbouring items, the lanes, have neighbouring iterations of the inner loop,
each adds up its own; they combine what they have in the group's memory, half of them at a time; the first one goes on:

    for (i = 0; i < n; i++) {          for (group in n / 4)                                           # g.0
      s = 0;                             for (row in 4) for (lane in 32) {                            # l.1, l.0
      for (j = a; j < b; j++)              i = 4*group + row; own = 0;
        s += x[i][j];                      for (j = a + lane; j < b; j += 32) own += x[i][j];
      y[i] = s;                            lanes[row][lane] = own;
    }                                    }
                                         for (row in 4) for (lane in 16) lanes[row][lane] += lanes[row][lane + 16]; ...
                                         for (row in 4) for (lane in 1) { s = 0; s += lanes[row][0]; y[i] = s; }

Floating-point numbers are so added in another order, always in the same one.  `wanted` says for which loops this is the
default: where lanes read neighbours and neighbouring rows do not.  Called by `schedule`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from nomp import jumps, loops
from nomp.accumulation import Cell, combined, misuse, neutral
from nomp.cpu_schedule import stride
from nomp.gpu_schedule import Grid, Rounds, Spread, each, rounds_of
from nomp.interleave import Unique, renamed
from nomp.loops import INDEX, constant_trips, counting, trip_count
from nomp.region import Assign, Binary, Const, Declare, Expr, For, If, Load, Select, Stmt, Var, While
from nomp.walks import changed_in, expressions, loads, rewritten, variable, variables, walk, without_places

ITEMS = 128
"""Items of a group: few, since all of them wait for each other."""
UNEVEN_ITEMS = 64
"""The same where only the data tell how long rows are: all of them wait for the longest row."""
LANES = 32
"""Items that share a row, where there is enough for all of them to do."""
SHORT_LANES = 8
"""The same where only the data tell how long rows are: most sparse matrices have so many entries in a row, or more."""
LONG = 16
"""Iterations from which on a loop of which a launch tells the length is shared."""
_OPERATORS = ("+", "*", "min", "max", "&", "|", "^")
_ZERO, _ONE = Const(0, INDEX), Const(1, INDEX)


@dataclass(frozen=True, slots=True)
class Rows:
    """The body of a loop over rows: *before* the *inner* loop, which only accumulates into *sums*, and *after* it.

    *sums* are variables and elements, each with its operator.  *before* sets nothing but local variables.
    """

    before: tuple[Stmt, ...]
    inner: For
    after: tuple[Stmt, ...]
    sums: tuple[tuple[Var | Load, str], ...]


@dataclass(slots=True)
class Items:
    """The statements of a group's items, and the axes of their loops; *rows* of items, or a single one if it is 0."""

    unique: Unique
    rows: int = 0
    axes: dict[str, str] = field(default_factory=dict)

    def each(self, count: int, body: Callable[..., Iterable[Stmt]]) -> For:
        """*body* by the first *count* items of each row."""
        item = Var(self.unique("_item"), INDEX)
        self.axes[item.name] = "l.0"
        if not self.rows:
            return counting(item, Const(count, INDEX), body(item))
        row = Var(self.unique("_row"), INDEX)
        self.axes[row.name] = "l.1"
        return counting(row, Const(self.rows, INDEX), [counting(item, Const(count, INDEX), body(row, item))])

    def halves(self, array: str, dtype: str, combine: Callable[[Load, Load], Expr], count: int) -> Iterator[For]:
        """What combines the first *count* elements of *array*, or of each of its rows, in the first one."""
        while count := count // 2:

            def half(*item: Var, count: int = count) -> Iterable[Stmt]:
                further = Binary("+", item[-1], Const(count, INDEX), INDEX)
                here, other = Load(array, item, dtype), Load(array, (*item[:-1], further), dtype)
                return [Assign(here, combine(here, other))]

            yield self.each(count, half)


def found(loop: For) -> Rows | None:
    """The body of *loop* as that of a loop over rows, if it is one."""
    inner = next((stmt for stmt in loop.body if isinstance(stmt, For)), None)
    if inner is None or inner.final or any(jumps.own(loop.body)) or any(jumps.own(inner.body)):
        return None
    place = loop.body.index(inner)
    before, after = loop.body[:place], loop.body[place + 1 :]
    locals_ = {stmt.name for stmt in before if isinstance(stmt, Declare) and not stmt.shape}
    if not all(_sets_only(stmt, locals_) for stmt in walk(before)) or any(map(_is_loop, walk(after))):
        return None
    own = {stmt.name for stmt in walk(inner.body) if isinstance(stmt, Declare)}
    written = [stmt.target for stmt in walk(inner.body) if isinstance(stmt, Assign)]
    targets = dict.fromkeys(without_places(target) for target in written if variable(target) not in own)
    ops = [_operator(inner, target, locals_) for target in targets]
    sums = tuple((target, op) for target, op in zip(targets, ops, strict=True) if op)
    return Rows(before, inner, after, sums) if sums and len(sums) == len(ops) else None


def _is_loop(stmt: Stmt) -> bool:
    return isinstance(stmt, For | While)


def _sets_only(stmt: Stmt, locals_: set[str]) -> bool:
    match stmt:
        case Declare(name=name) | Assign(target=Var(name=name)):
            return name in locals_
    return isinstance(stmt, If)


def _operator(inner: For, target: Var | Load, locals_: set[str]) -> str | None:
    """What *inner* accumulates into *target* with, if it does nothing else with that variable or array."""
    name = variable(target)
    if isinstance(target, Var) and name not in locals_:
        return None
    if isinstance(target, Load):
        elements = {without_places(load) for stmt in walk(inner.body) for load in loads(stmt) if load.array == name}
        counters = {stmt.iname for stmt in walk((inner,)) if isinstance(stmt, For)}
        if elements != {target} or variables(*target.index) & (changed_in(inner.body) | counters):
            return None
    if name in variables(*expressions(inner)):
        return None
    return next((op for op in _OPERATORS if misuse(inner.body, Cell(target, op)) is None), None)


@dataclass(frozen=True, slots=True)
class Shared:
    """*lanes* items share a row where *condition* is true at launch, and none do *otherwise*, if that can be."""

    lanes: int = 1
    condition: Expr = _ONE
    otherwise: Expr | None = None


NOT_SHARED = Shared(otherwise=_ONE)


def wanted(nest: list[For], rows: Rows, known: Callable[[For], bool], lanes: int | None = None) -> Shared:
    """How *rows* of the loops *nest* should be shared; *lanes*, if a script says how many items should share one.

    *known* says whether a loop's iterations are known at launch.
    """
    if lanes is not None:
        return Shared(lanes) if lanes > 1 else NOT_SHARED
    summed = {variable(target) for target, _ in rows.sums}
    read = [load for stmt in walk(rows.inner.body) for load in loads(stmt) if load.array not in summed]
    along, *across = (sum(abs(stride(load, one.iname)) == 1 for load in read) for one in (rows.inner, *nest))
    if along <= max(across):
        return NOT_SHARED
    if (trips := constant_trips(rows.inner)) is not None:
        return Shared(min(LANES, 1 << trips.bit_length() - 2)) if trips >= LONG else NOT_SHARED
    if not known(rows.inner):
        return Shared(SHORT_LANES)
    count, least = trip_count(rows.inner), Const(LONG, INDEX)
    return Shared(LANES, Binary(">=", count, least, "int32"), Binary("<", count, least, "int32"))


def spread(nest: list[For], rows: Rows, lanes: int, known: Callable[[For], bool], unique: Unique) -> Spread:
    """The loops *nest*, the last of which has *rows*, with *lanes* items for each row.

    *known* says whether a loop's iterations are known at launch.
    """
    *around, loop = nest
    count, derived = _count(rows.inner, known, unique)
    group = UNEVEN_ITEMS if count is None else ITEMS
    items, grid = Items(unique, max(1, group // lanes)), Grid(derived=derived)
    arrays = {unique("_lanes"): sum_ for sum_ in rows.sums}
    rounds = rounds_of(grid, loop, 0, items.rows, unique)
    shape = (Const(items.rows, INDEX), Const(lanes, INDEX))
    declared = tuple(Declare(name, target.dtype, shape) for name, (target, _) in arrays.items())
    body: tuple[Stmt, ...] = (*declared, *rounds.all_of(Row(rows, arrays, lanes, count, rounds, items).steps()))
    for axis, one in enumerate(reversed(around), start=1):
        body = each(grid, one, axis, body, unique)
    whole, axes = grid.around(body)
    return Spread(whole, grid.derived, axes | items.axes, frozenset(arrays), grid.groups, long=count is not None)


def _count(inner: For, known: Callable[[For], bool], unique: Unique) -> tuple[Const | Var | None, dict[str, Expr]]:
    """How many iterations *inner* has, None if only the data tell; and the scalar that this is at launch."""
    if (constant := constant_trips(inner)) is not None:
        return Const(constant, INDEX), {}
    if not known(inner):
        return None, {}
    count = Var(unique("_length"), INDEX)
    return count, {count.name: trip_count(inner)}


@dataclass(frozen=True, slots=True)
class Row:
    """What items do with *rows* in one of the *rounds*.  *arrays* have what *lanes* items of a row have added up of
    each sum; *count* are the iterations of the inner loop, if they are the same in all rows."""

    rows: Rows
    arrays: Mapping[str, tuple[Var | Load, str]]
    lanes: int
    count: Const | Var | None
    rounds: Rounds
    items: Items

    def steps(self) -> tuple[Stmt, ...]:
        """The three of them."""
        shares = self.items.each(self.lanes, lambda row, lane: self.once(row, self.share(row, lane)))
        return (shares, *self.together())

    def together(self) -> Iterator[Stmt]:
        """The second and the third step: what comes of all shares of a row, and what comes after the inner loop."""
        for array, (target, op) in self.arrays.items():
            yield from self.items.halves(array, target.dtype, partial(combined, op), self.lanes)
        yield self.items.each(1, lambda row, _: self.once(row, self._rest(row)))

    def once(self, row: Var, body: Iterable[Stmt]) -> tuple[Stmt, ...]:
        """*body*, and what comes before the inner loop, if there is such a row."""
        return renamed(self.rounds.one(row, (*self.rows.before, *body)), self.items.unique)

    def share(self, row: Var, lane: Var, unless: Expr | None = None) -> Iterator[Stmt]:
        """A lane's share of the inner loop; nothing of it where *unless* is true."""
        unique, inner = self.items.unique, self.rows.inner
        own = {target: Var(unique("_own"), target.dtype) for target, _ in self.rows.sums}
        first = Var(unique("_first"), inner.dtype)
        yield Declare(first.name, first.dtype, (), inner.lower)
        yield from (Declare(own[target].name, target.dtype, (), neutral(op, target)) for target, op in self.rows.sums)
        loop = tuple(self._loop(replace(inner, lower=first, body=accumulating(inner.body, own)), lane))
        if unless:
            loop = (counting(Var(unique("_alone"), INDEX), Select(unless, _ZERO, _ONE, INDEX), loop),)
        yield from loop
        for array, (target, _) in self.arrays.items():
            yield Assign(Load(array, (row, lane), target.dtype), own[target])

    def _loop(self, inner: For, lane: Var) -> Iterator[Stmt]:
        """A lane's iterations of *inner*."""
        count, unique = self.count, self.items.unique
        if count is None:
            count = Var(unique("_length"), INDEX)
            yield Declare(count.name, INDEX, (), trip_count(inner))
        yield loops.trips(inner, Var(unique("_trip"), INDEX), lane, count, Const(self.lanes, INDEX))

    def _rest(self, row: Var) -> Iterator[Stmt]:
        """What comes of all lanes' shares, and what comes after the inner loop."""
        for array, (target, op) in self.arrays.items():
            yield Assign(target, combined(op, target, Load(array, (row, _ZERO), target.dtype)))
        yield from self.rows.after


def accumulating(body: tuple[Stmt, ...], own: Mapping[Var | Load, Var]) -> tuple[Stmt, ...]:
    """*body*, which accumulates into variables of its *own* instead of those that these are for."""

    def changed(node: Any) -> Any:
        return own.get(without_places(node), node) if isinstance(node, Var | Load) else node

    made: tuple[Stmt, ...] = rewritten(body, changed)
    return made
