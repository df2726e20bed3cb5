"""Iterations that do not depend on each other, run side by side in the loops inside them.

In: a loop whose iterations may be interleaved in any way (the caller's proof).  Out: statements that compute the same,
every iteration's own operations in their order, in one of two forms:

    for (i = 0; i < n; i++) {      strips(64):                         copies(2):
      s = 0;                       for (at = 0; at < n; at += 64) {    for (at = 0; at < n - 1; at += 2) {
      for (k = 0; k < m; k++)        for (i in strip) s[i - at] = 0;     s = 0; s_ = 0;
        s += a[k][i];                for (k = 0; k < m; k++)             for (k = 0; k < m; k++) {
      b[i] = s;                        for (i_ in strip)                   s += a[k][at]; s_ += a[k][at + 1];
    }                                    s[i_ - at] += a[k][i_];         }
                                     for (i__ in strip) b[i__] = ...     b[at] = s; b[at + 1] = s_;
                                   }                                   } and the loop itself for the rest

Strips make vectors of what is contiguous in the loop; copies keep several sums in flight and use a value that they
share several times.  Used by `cpu_schedule`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from math import prod
from typing import Any

from nomp import jumps
from nomp.arithmetic import SIZES, cast
from nomp.loops import INDEX, compares_as_integers, constant_trips, signed_upper
from nomp.region import Assign, Binary, Const, Declare, Expr, For, If, Load, Stmt, Var
from nomp.walks import bodies, changed_in, expressions, mentioned_in, rewritten, variables, walk

Unique = Callable[[str], str]
_ONE = Const(1, INDEX)
_MOST_BYTES = 1 << 15
"""How large a local may become that each iteration of a strip has its own of: what caches hold."""


def strips(loop: For, width: int, unique: Unique) -> tuple[Stmt, ...] | None:
    """*loop* in strips of *width* iterations that run through its inner loops together; None where that cannot be.

    Where it is known to have no more iterations than that, it is one strip.
    """
    if not can_interleave(loop):
        return None
    if (trips := constant_trips(loop)) is not None and 0 < trips <= width:
        strip = _Strips(loop, trips, unique, cast(loop.lower, INDEX), _upper(loop))
        return strip.spread(loop.body) if strip.is_possible() else None
    at, end = (Var(unique(name), INDEX) for name in ("_at", "_end"))
    last = Binary("min", Binary("+", at, Const(width, INDEX), INDEX), _upper(loop), INDEX)
    strip = _Strips(loop, width, unique, at, end)
    if not strip.is_possible():
        return None
    body = (Declare(end.name, INDEX, (), last), *strip.spread(loop.body))
    return (For(at.name, INDEX, cast(loop.lower, INDEX), "<", _upper(loop), Const(width, INDEX), body),)


def copies(loop: For, count: int, unique: Unique) -> tuple[Stmt, ...] | None:
    """*loop* with *count* iterations at a time in its inner loops, and one at a time for the rest; None if it cannot.
    """
    if not can_interleave(loop):
        return None
    at = Var(unique("_at"), INDEX)
    whole, rest = in_groups(loop, count, at, _Copies(loop, count, unique, at).spread(loop.body))
    trips = constant_trips(loop)
    return (whole,) if trips is not None and trips % count == 0 else (whole, *renamed((rest,), unique))


def in_groups(loop: For, count: int, at: Var, body: tuple[Stmt, ...]) -> tuple[For, For]:
    """*body* for each group of *count* iterations of *loop*, the first of which is *at*; *loop* for what remains."""
    lower, upper = cast(loop.lower, INDEX), _upper(loop)
    before = Binary("-", upper, Const(count - 1, INDEX), INDEX)
    trips = Binary("max", Const(0, INDEX), Binary("-", upper, lower, INDEX), INDEX)
    done = Binary("*", Binary("/", trips, Const(count, INDEX), INDEX), Const(count, INDEX), INDEX)
    rest = replace(loop, dtype=INDEX, lower=Binary("+", lower, done, INDEX), relation="<", upper=upper, step=_ONE)
    return For(at.name, INDEX, lower, "<", before, Const(count, INDEX), body), rest


def can_interleave(loop: For) -> bool:
    """Whether *loop* counts up one by one, its iterations end where their body does, and what they set is their own."""
    if loop.step != Const(1, loop.step.dtype) or loop.relation not in ("<", "<=") or not compares_as_integers(loop):
        return False
    declared = {stmt.name for stmt in walk(loop.body) if isinstance(stmt, Declare)}
    targets = (stmt.target for stmt in walk(loop.body) if isinstance(stmt, Assign))
    own = all(isinstance(target, Load) or target.name in declared for target in targets)
    return own and not any(jumps.own(loop.body)) and any(can_enter(loop, stmt) for stmt in walk(loop.body))


def can_enter(loop: For, inner: Stmt) -> bool:
    """Whether *inner* is a loop with the same iterations in each iteration of *loop*, so that these may share it."""
    return isinstance(inner, For) and not any(jumps.own(inner.body)) and _same(loop, expressions(inner))


def _same(loop: For, exprs: tuple[Expr, ...]) -> bool:
    """Whether *exprs* have the same values in all iterations of *loop*."""
    return not variables(*exprs) & (changed_in(loop.body) | {loop.iname})


def _upper(loop: For) -> Expr:
    upper = signed_upper(loop)
    return upper if loop.relation == "<" else Binary("+", upper, _ONE, INDEX)


def renamed(body: tuple[Stmt, ...], unique: Unique) -> tuple[Stmt, ...]:
    """*body* again: its loops and locals have names of their own."""
    own = [s.iname if isinstance(s, For) else s.name for s in walk(body) if isinstance(s, For | Declare)]
    return substituted(body, {name: unique(name) for name in own})


def substituted(body: tuple[Stmt, ...], names: Mapping[str, str]) -> tuple[Stmt, ...]:
    """*body* with loops, locals and other variables under the new *names* that are given for them."""

    def renamed(node: Any) -> Any:
        match node:
            case Var(name=name) | Declare(name=name) if name in names:
                return replace(node, name=names[name])
            case Load(array=name) if name in names:
                return replace(node, array=names[name])
            case For(iname=name) if name in names:
                return replace(node, iname=names[name])
        return node

    made: tuple[Stmt, ...] = rewritten(body, renamed)
    return made


class _Spreading(ABC):
    """Goes through the body of *loop*; `side_by_side` makes the statements between inner loops of all iterations."""

    def __init__(self, loop: For, unique: Unique) -> None:
        self.loop = loop
        self.unique = unique

    @abstractmethod
    def side_by_side(self, stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """*stmts* of all iterations."""

    def spread(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The statements of *body* for all iterations."""
        out: list[Stmt] = []
        for entered, stmts in self._pieces(body):
            out += [self._entered(stmts[0])] if entered else self.side_by_side(stmts)
        return tuple(out)

    def all_pieces(self, body: tuple[Stmt, ...]) -> Iterator[tuple[bool, tuple[Stmt, ...]]]:
        """The pieces of *body*, each single one followed by those inside it."""
        for entered, stmts in self._pieces(body):
            yield entered, stmts
            for part in bodies(stmts[0]) if entered else ():
                yield from self.all_pieces(part)

    def _pieces(self, body: tuple[Stmt, ...]) -> Iterator[tuple[bool, tuple[Stmt, ...]]]:
        """Single statements that all iterations enter together (True), and what lies between them."""
        for entered, run in groupby(body, self._is_entered):
            if entered:
                yield from ((True, (stmt,)) for stmt in run)
            else:
                yield False, tuple(run)

    def _is_entered(self, stmt: Stmt) -> bool:
        if isinstance(stmt, If):
            return _same(self.loop, (stmt.cond,)) and any(can_enter(self.loop, inner) for inner in walk((stmt,)))
        return can_enter(self.loop, stmt)

    def _entered(self, stmt: Stmt) -> Stmt:
        if isinstance(stmt, If):
            return replace(stmt, then=self.spread(stmt.then), other=self.spread(stmt.other))
        assert isinstance(stmt, For)
        return replace(stmt, body=self.spread(stmt.body))


class _Copies(_Spreading):
    """*count* iterations, from that of *at* on, written out one after the other."""

    def __init__(self, loop: For, count: int, unique: Unique, at: Var) -> None:
        super().__init__(loop, unique)
        self._at = at
        entered = {id(stmts[0]) for entered, stmts in self.all_pieces(loop.body) if entered}
        own = [s for s in walk(loop.body) if isinstance(s, Declare) or (isinstance(s, For) and id(s) not in entered)]
        names = [stmt.iname if isinstance(stmt, For) else stmt.name for stmt in own]
        self._names = [{name: unique(name) if number else name for name in names} for number in range(count)]

    def side_by_side(self, stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """*stmts* once for each iteration."""
        return tuple(stmt for number in range(len(self._names)) for stmt in self._copy(stmts, number))

    def _copy(self, stmts: tuple[Stmt, ...], number: int) -> tuple[Stmt, ...]:
        def counted(node: Any) -> Any:
            if not isinstance(node, Var) or node.name != self.loop.iname:
                return node
            at = replace(self._at, dtype=node.dtype)
            return Binary("+", at, Const(number, node.dtype), node.dtype) if number else at

        made: tuple[Stmt, ...] = rewritten(substituted(stmts, self._names[number]), counted)
        return made


class _Strips(_Spreading):
    """The iterations from *at* to *end*, at most *width*, as loops; locals that outlive one of these get a row each."""

    def __init__(self, loop: For, width: int, unique: Unique, at: Expr, end: Expr) -> None:
        super().__init__(loop, unique)
        self._width, self._at, self._end = width, at, end
        between = [stmts for entered, stmts in self.all_pieces(loop.body) if not entered]
        named = Counter(name for stmts in between for name in mentioned_in(stmts))
        declared = {stmt.name for stmt in walk(loop.body) if isinstance(stmt, Declare)}
        self._rows = {name for name in declared if named[name] > 1}
        self._declared = {s.name: s for stmts in between for s in stmts if isinstance(s, Declare)}

    def is_possible(self) -> bool:
        """Whether all rows are declared where they can be, and are not too large."""
        return self._rows <= self._declared.keys() and all(self._fits(self._declared[name]) for name in self._rows)

    def _fits(self, row: Declare) -> bool:
        extents = [int(extent.value) for extent in row.shape if isinstance(extent, Const)]
        return len(extents) == len(row.shape) and prod(extents) * self._width * SIZES[row.dtype] <= _MOST_BYTES

    def side_by_side(self, stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """A loop of *stmts* over the strip, behind the rows that they declare."""
        rows = [stmt for stmt in stmts if isinstance(stmt, Declare) and stmt.name in self._rows]
        local = Var(self.unique(self.loop.iname), INDEX)
        place = Binary("-", local, self._at, INDEX)

        def changed(node: Any) -> Any:
            match node:
                case Var(name=name) if name == self.loop.iname:
                    return replace(node, name=local.name)
                case Var(name=name, dtype=dtype) if name in self._rows:
                    return Load(name, (place,), dtype)
                case Load(array=name, index=index) if name in self._rows:
                    return replace(node, index=(*index, place))
                case Declare(name=name, dtype=dtype, init=init) if name in self._rows and init is not None:
                    return Assign(Load(name, (place,), dtype), init)
            return node

        body = tuple(stmt for stmt in rewritten(stmts, changed) if stmt not in rows)  # what only declares stays outside
        hoisted = (replace(row, shape=(*row.shape, Const(self._width, INDEX)), init=None) for row in rows)
        loop = For(local.name, INDEX, self._at, "<", self._end, _ONE, body)
        return (*hoisted, loop) if body else tuple(hoisted)
