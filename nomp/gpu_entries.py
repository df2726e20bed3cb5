"""Sums along rows whose entries lie one behind the other, as in sparse matrices: a group's items share all of them.

In: a loop around one that only accumulates, and that ends where the one of the next iteration begins.  Out: loops over
groups and items.  Neighbouring items have neighbouring entries, whichever of the group's rows these belong to, and a
portion of them at a time, so that nobody waits for a long row; each row's lanes then add up its part of the portion:

    for (i = 0; i < n; i++) {            for (group in n / 64) {                                                # g.0
      s = 0;                               first = start[64*group]; count = start[64*group + 64] - first;
      for (e = start[i];                   for (portion in count / 1024) {
           e < start[i + 1]; e++)            for (item in 256) for (k in 4)                               # l.1 and l.0
        s += x[e];                             terms[256*k + item] = x[first + 1024*portion + 256*k + item];
      y[i] = s;                              for (row in 64) for (lane in 4)                                # l.1, l.0
    }                                          lanes[row][lane] += the row's of terms, one of four;
                                           }
                                         }                   and then what `gpu_rows` does with what lanes have added up

For that, items first add up blocks of four neighbouring terms, so that a row's lanes have a quarter of the work.  The
group's memory has where each row begins and ends: portions would else have to wait for that once more.

Nothing is read that the program would not read, whatever the data are.  Bounds that rise from *first* to above an entry
do so in one of the group's rows, which has that entry then.  A row with entries outside of these, because bounds do not
rise everywhere, is added up by its lanes alone.  Called by `schedule`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from nomp.accumulation import combined, neutral
from nomp.arithmetic import cast
from nomp.cpu_schedule import stride
from nomp.gpu_rows import Items, Row, Rows, accumulating
from nomp.gpu_schedule import Grid, Rounds, Spread, each, if_below, rounds_of
from nomp.interleave import Unique, renamed
from nomp.loops import INDEX, compares_as_integers, counting, trip_count, value_after
from nomp.region import Assign, Binary, Const, Declare, Expr, For, If, Load, Select, Stmt, Var
from nomp.walks import changed_in, loads, mentioned_in, variables, walk, with_values, without_places

ITEMS = 256
"""Items of a group."""
LANES = 4
"""Items that add up a row's terms, where nobody says how many entries rows have."""
EACH = 4
"""Terms that an item has of each portion."""
AT_ONCE = 8
"""Sums of a row's blocks that a lane reads before it adds them up."""
_SMALL = "int32"
"""The type of numbers within a portion: GPUs compute with 32 bits at a time."""
_COUNTERS = ("int32", "int64", "uint32")
_ZERO, _ONE = Const(0, INDEX), Const(1, INDEX)


def fits(loop: For, rows: Rows) -> bool:
    """Whether the entries of the *rows* of *loop* lie one behind the other, and each is what it is in any row."""
    inner = rows.inner
    if len(rows.sums) > 1 or not all(_counts_up(one) for one in (loop, inner)):
        return False
    (target, op), own = rows.sums[0], changed_in(rows.before)
    here = Var(loop.iname, loop.dtype)
    following = {loop.iname: Binary("+", here, Const(1, loop.dtype), loop.dtype)}
    lower, upper = without_places(inner.lower), without_places(inner.upper)
    body = accumulating(inner.body, {target: Var("", target.dtype)})
    return (
        without_places(with_values(lower, following)) == upper
        and not variables(lower, upper) & own
        and not mentioned_in(body) & {loop.iname, *own}
        and isinstance(neutral(op, target), Const)
    )


def _counts_up(loop: For) -> bool:
    """Whether *loop* goes up one by one, in a type whose differences are numbers of 64 bits."""
    one_by_one = loop.step == Const(1, loop.step.dtype) and loop.relation == "<" and compares_as_integers(loop)
    return one_by_one and loop.dtype == loop.upper.dtype and loop.dtype in _COUNTERS


def spread(nest: list[For], rows: Rows, lanes: int, unique: Unique) -> Spread:
    """The loops *nest*, the last of which has *rows* that fit, with *lanes* items that add up each row's terms."""
    *around, loop = nest
    ((target, op),) = rows.sums
    items, grid = Items(unique, max(1, ITEMS // lanes)), Grid()
    rounds = rounds_of(grid, loop, 0, items.rows, unique)
    arrays = [unique(name) for name in _ARRAYS]
    size, entry = items.rows * lanes, rows.inner.dtype
    shapes = (items.rows, lanes), (EACH * size,), (size,), (items.rows,), (items.rows,)
    dtypes = target.dtype, target.dtype, target.dtype, entry, entry
    declared = (Declare(name, dtype, tuple(Const(extent, INDEX) for extent in shape))
                for name, dtype, shape in zip(arrays, dtypes, shapes, strict=True))  # fmt: skip
    first, last, begin, end = (Var(unique(name), entry) for name in ("_first", "_last", "_begin", "_end"))
    sums, terms, blocks, starts, ends = arrays
    left = Var(unique("_left"), _SMALL)
    names = _Names(sums, terms, blocks, starts, ends, first, last, begin, end, left)
    body: tuple[Stmt, ...] = (*declared, *rounds.all_of(_Group(rows, target, op, lanes, items, rounds, names).steps()))
    for axis, one in enumerate(reversed(around), start=1):
        body = each(grid, one, axis, body, unique)
    whole, axes = grid.around(body)
    once = _read_once(loop, rows.inner)
    return Spread(whole, grid.derived, axes | items.axes, frozenset(arrays), grid.groups, once=once)


def _read_once(loop: For, inner: For) -> frozenset[str]:
    """The arrays of which *inner* reads one element after the other, and *loop* does nothing else with them."""
    found = [load for stmt in walk((loop,)) for load in loads(stmt)]
    others = {load.array for load in found if stride(load, inner.iname) != 1}
    return frozenset({load.array for load in found} - others - changed_in((loop,)))


_ARRAYS = "_lanes", "_terms", "_blocks", "_starts", "_ends"
_PLACES = "_begin", "_end", "_head", "_tail", "_block", "_behind"


@dataclass(frozen=True, slots=True)
class _Names:
    """What a group's items share: *sums* of each row's lanes, *terms* of a portion, and sums of *blocks* of these.

    And where entries are: those of each row, if the group has them, begin at its *starts* and end before its *ends*;
    those of the group begin at *first* and end before *last*; those of a portion, of which there are *left*, begin at
    *begin* and end before *end*."""

    sums: str
    terms: str
    blocks: str
    starts: str
    ends: str
    first: Var
    last: Var
    begin: Var
    end: Var
    left: Var


@dataclass(frozen=True, slots=True)
class _Group:
    """What a group does with *rows* in one of the *rounds*: *target* is what they accumulate into with *op*."""

    rows: Rows
    target: Var | Load
    op: str
    lanes: int
    items: Items
    rounds: Rounds
    names: _Names

    def steps(self) -> Iterator[Stmt]:
        """All of it."""
        row = Row(self.rows, {self.names.sums: (self.target, self.op)}, self.lanes, None, self.rounds, self.items)
        yield from self._range()
        alone = self._each(partial(self._alone, row))
        yield alone
        for stmt in walk((alone,)):
            if isinstance(stmt, For):  # it hardly ever runs, and should not take registers
                self.items.axes.setdefault(stmt.iname, "unr_hint.1")
        yield self.items.each(1, lambda of, _: (*self._no_bounds(of), *row.once(of, self._bounds(of))))
        give = self._each(self._give)
        for stmt in walk((give,)):
            if isinstance(stmt, For) and self._adds_blocks(stmt):  # all others wait for those of a long row
                self.items.axes[stmt.iname] = f"unr_hint.{AT_ONCE}"
        yield self._portions(self._each(self._take), self._each(self._block), give)
        yield from row.together()

    def _adds_blocks(self, loop: For) -> bool:
        return any(load.array == self.names.blocks for stmt in loop.body for load in loads(stmt))

    @property
    def _size(self) -> int:
        """How many items the group has."""
        return self.items.rows * self.lanes

    def _each(self, body: Callable[..., Iterable[Stmt]]) -> For:
        return self.items.each(self.lanes, body)

    def _range(self) -> Iterator[Stmt]:
        """Where the group's entries are: from the first one of its first row to the last one of its last row."""
        loop, inner, size = self.rounds.loop, self.rows.inner, Const(self.items.rows, INDEX)
        begin = _by(self.rounds.group, size)
        end = Binary("-", Binary("min", _plus(begin, size), self.rounds.trips, INDEX), _ONE, INDEX)
        ends = (begin, inner.lower, self.names.first), (end, inner.upper, self.names.last)
        for trip, bound, name in ends:
            row = Var(self.items.unique("_row"), loop.dtype)
            yield Declare(row.name, row.dtype, (), value_after(loop, trip))
            yield Declare(name.name, name.dtype, (), with_values(bound, {loop.iname: row}))

    def _alone(self, work: Row, row: Var, lane: Var) -> Iterator[Stmt]:
        """A lane's share of its row, if there is such a row, and if portions do not have its entries."""
        yield Assign(Load(self.names.sums, (row, lane), self.target.dtype), neutral(self.op, self.target))
        yield from work.once(row, work.share(row, lane, self._is_inside()))

    def _no_bounds(self, row: Var) -> Iterator[Stmt]:
        """Bounds of a row that there may not be."""
        for array in (self.names.starts, self.names.ends):
            yield Assign(Load(array, (row,), self.names.first.dtype), self.names.first)

    def _bounds(self, row: Var) -> Iterator[Stmt]:
        """Where a row's entries are, in the group's memory: each portion looks for its own among them."""
        inner, names = self.rows.inner, self.names
        for array, bound in ((names.starts, inner.lower), (names.ends, inner.upper)):
            here = Select(self._is_inside(), bound, names.first, inner.dtype)
            yield Assign(Load(array, (row,), inner.dtype), here)

    def _is_inside(self) -> Expr:
        """Whether all entries of a row are among the group's."""
        inner, names = self.rows.inner, self.names
        return _both(_compared(names.first, "<=", inner.lower), _compared(inner.upper, "<=", names.last))

    def _portions(self, *steps: Stmt) -> For:
        """*steps* for each portion of the group's entries."""
        names, done, room = self.names, Var(self.items.unique("_done"), INDEX), Const(EACH * self._size, INDEX)
        count = trip_count(replace(self.rows.inner, lower=names.first, upper=names.last))
        left = Binary("min", Binary("-", count, done, INDEX), room, INDEX)
        begin = _plus(cast(names.first, INDEX), done)
        end = Binary("+", names.begin, cast(names.left, names.end.dtype), names.end.dtype)
        body = (
            Declare(names.left.name, _SMALL, (), cast(left, _SMALL)),
            Declare(names.begin.name, names.begin.dtype, (), cast(begin, names.begin.dtype)),
            Declare(names.end.name, names.end.dtype, (), end),
            *steps,
        )
        return For(done.name, INDEX, _ZERO, "<", count, room, body)

    def _number(self, row: Var, lane: Var) -> Expr:
        """An item's number in the group."""
        return cast(_plus(_by(row, Const(self.lanes, INDEX)), lane), _SMALL)

    def _take(self, row: Var, lane: Var) -> Iterator[Stmt]:
        """An item's terms of a portion."""
        unique, inner, names = self.items.unique, self.rows.inner, self.names
        item, place = (Var(unique(name), _SMALL) for name in ("_number", "_place"))
        turn, term = Var(unique("_turn"), INDEX), Var(unique("_term"), self.target.dtype)
        yield Declare(item.name, item.dtype, (), self._number(row, lane))
        entry = Binary("+", names.begin, cast(place, inner.dtype), inner.dtype)
        took = (Declare(inner.iname, inner.dtype, (), entry), *accumulating(inner.body, {self.target: term}))
        before = cast(_by(turn, Const(self._size, INDEX)), _SMALL)
        body = (
            Declare(place.name, place.dtype, (), Binary("+", before, item, _SMALL)),
            Declare(term.name, term.dtype, (), neutral(self.op, self.target)),
            *if_below(place, names.left, renamed(took, unique), unique),
            Assign(Load(names.terms, (place,), term.dtype), term),
        )
        self.items.axes[turn.name] = "unr_hint"
        yield counting(turn, Const(EACH, INDEX), body)

    def _block(self, row: Var, lane: Var) -> Iterator[Stmt]:
        """What an item adds up for others: as many neighbouring terms as it has had itself."""
        item, block = Var(self.items.unique("_number"), _SMALL), Var(self.items.unique("_block"), self.target.dtype)
        yield Declare(item.name, item.dtype, (), self._number(row, lane))
        start = Binary("*", item, Const(EACH, _SMALL), _SMALL)
        places = (Binary("+", start, Const(number, _SMALL), _SMALL) for number in range(EACH))
        first, *others = (Load(self.names.terms, (place,), block.dtype) for place in places)
        yield Declare(block.name, block.dtype, (), first)
        yield from (Assign(block, combined(self.op, block, other)) for other in others)
        yield Assign(Load(self.names.blocks, (item,), block.dtype), block)

    def _give(self, row: Var, lane: Var) -> Iterator[Stmt]:
        """What a lane adds up of its row's terms in a portion: whole blocks, and terms before and behind them."""
        names, unique = self.names, self.items.unique
        begin, end, head, tail, first, last = (Var(unique(name), _SMALL) for name in _PLACES)
        yield from self._place(row, begin, end)
        each = Const(EACH, _SMALL)
        nearly = Binary("+", begin, Const(EACH - 1, _SMALL), _SMALL)
        yield Declare(first.name, _SMALL, (), Binary("/", nearly, each, _SMALL))
        yield Declare(last.name, _SMALL, (), Binary("/", end, each, _SMALL))
        yield Declare(head.name, _SMALL, (), Binary("min", Binary("*", first, each, _SMALL), end, _SMALL))
        yield Declare(tail.name, _SMALL, (), Binary("max", Binary("*", last, each, _SMALL), head, _SMALL))
        own, mine = Var(unique("_own"), self.target.dtype), Load(names.sums, (row, lane), self.target.dtype)
        yield Declare(own.name, own.dtype, (), mine)
        yield self._few(own, names.terms, lane, begin, head)
        yield self._added(own, names.blocks, lane, first, last)
        yield self._few(own, names.terms, lane, tail, end)
        yield Assign(mine, own)

    def _place(self, row: Var, begin: Var, end: Var) -> Iterator[Stmt]:
        """Where the terms of a row *begin* and *end* in a portion: 0 and 0 where there are none."""
        dtype, names, unique = self.rows.inner.dtype, self.names, self.items.unique
        entry, behind = (Var(unique(name), dtype) for name in ("_entry", "_behind"))
        start, stop = (Load(array, (row,), dtype) for array in (names.starts, names.ends))
        yield Declare(entry.name, dtype, (), Binary("max", start, names.begin, dtype))
        yield Declare(behind.name, dtype, (), Binary("min", stop, names.end, dtype))
        for place, at in ((begin, entry), (end, behind)):
            here = cast(Binary("-", at, names.begin, dtype), _SMALL)
            some = Select(_compared(entry, "<", behind), here, Const(0, _SMALL), _SMALL)
            yield Declare(place.name, _SMALL, (), some)

    def _few(self, own: Var, array: str, lane: Var, begin: Var, end: Var) -> Stmt:
        """The same as `_added` for less elements than a block has."""
        if self.lanes < EACH - 1:
            return self._added(own, array, lane, begin, end)
        here = Load(array, (_plus(cast(begin, INDEX), lane),), own.dtype)
        there = _compared(cast(lane, _SMALL), "<", Binary("-", end, begin, _SMALL))
        return If(there, (Assign(own, combined(self.op, own, here)),))

    def _added(self, own: Var, array: str, lane: Var, begin: Var, end: Var) -> For:
        """A lane's elements of *array* between *begin* and *end* are added to its *own* sum."""
        turn, lanes = Var(self.items.unique("_turn"), INDEX), Const(self.lanes, _SMALL)
        most = Binary("-", Const(self.lanes - 1, _SMALL), cast(lane, _SMALL), _SMALL)
        count = Binary("/", Binary("+", Binary("-", end, begin, _SMALL), most, _SMALL), lanes, _SMALL)
        at = _plus(_plus(cast(begin, INDEX), lane), _by(turn, Const(self.lanes, INDEX)))
        add = Assign(own, combined(self.op, own, Load(array, (at,), own.dtype)))
        return counting(turn, cast(count, INDEX), [add])


def _compared(left: Expr, relation: str, right: Expr) -> Expr:
    return Binary(relation, left, right, "int32")


def _both(left: Expr, right: Expr) -> Expr:
    return Binary("&&", left, right, "int32")


def _plus(left: Expr, right: Expr) -> Expr:
    return Binary("+", left, right, INDEX)


def _by(left: Expr, right: Expr) -> Expr:
    return Binary("*", left, right, INDEX)
