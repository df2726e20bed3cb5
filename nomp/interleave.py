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

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import Any

from nomp import jumps
from nomp.arithmetic import SIZES, cast
from nomp.loops import INDEX, compares_as_integers, signed_upper
from nomp.region import Assign, Binary, Const, Declare, Expr, For, If, Load, Return, Stmt, Var
from nomp.walks import bodies, expressions, rewritten, walk, walk_expr

Unique = Callable[[str], str]
_ONE = Const(1, INDEX)
_MOST_BYTES = 1 << 15
"""How large a local may become that each iteration of a strip has its own of: what caches hold."""


def strips(loop: For, width: int, unique: Unique) -> tuple[Stmt, ...] | None:
    """*loop* in strips of *width* iterations that run through its inner loops together; None where that cannot be."""
    if not can_interleave(loop):
        return None
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
    return whole, *renamed((rest,), unique)


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
    leaves = any(jumps.own(loop.body)) or any(isinstance(stmt, Return) for stmt in walk(loop.body))
    return own and not leaves and any(can_enter(loop, stmt) for stmt in walk(loop.body))


def can_enter(loop: For, inner: Stmt) -> bool:
    """Whether *inner* is a loop with the same iterations in each iteration of *loop*, so that these may share it."""
    return isinstance(inner, For) and not any(jumps.own(inner.body)) and _same(loop, expressions(inner))


def _same(loop: For, exprs: tuple[Expr, ...]) -> bool:
    """Whether *exprs* have the same values in all iterations of *loop*."""
    named = {node.array if isinstance(node, Load) else node.name
             for expr in exprs for node in walk_expr(expr) if isinstance(node, Load | Var)}  # fmt: skip
    return not named & (set(_names(loop.body)) | {loop.iname})


def _names(body: tuple[Stmt, ...]) -> Iterator[str]:
    """What *body* declares or writes."""
    for stmt in walk(body):
        if isinstance(stmt, Declare):
            yield stmt.name
        elif isinstance(stmt, Assign):
            yield stmt.target.array if isinstance(stmt.target, Load) else stmt.target.name


def _upper(loop: For) -> Expr:
    upper = signed_upper(loop)
    return upper if loop.relation == "<" else Binary("+", upper, _ONE, INDEX)


def renamed(body: tuple[Stmt, ...], unique: Unique) -> tuple[Stmt, ...]:
    """*body* again: its loops and locals have names of their own."""
    return _substituted(body, {name: unique(name) for name in _declared(body)})


def _declared(body: tuple[Stmt, ...]) -> list[str]:
    """The counters and locals of *body*."""
    return [s.iname if isinstance(s, For) else s.name for s in walk(body) if isinstance(s, For | Declare)]


def _substituted(
    body: tuple[Stmt, ...], names: dict[str, str], change: Callable[[Any], Any] = lambda node: node
) -> tuple[Stmt, ...]:
    """*body* with its loops, locals and their uses renamed, and every node changed by *change*."""

    def renamed(node: Any) -> Any:
        match node:
            case Var(name=name) | Declare(name=name) if name in names:
                return change(replace(node, name=names[name]))
            case Load(array=name) if name in names:
                return change(replace(node, array=names[name]))
            case For(iname=name) if name in names:
                return change(replace(node, iname=names[name]))
        return change(node)

    made: tuple[Stmt, ...] = rewritten(body, renamed)
    return made


class _Spreading:
    """Goes through the body of *loop*; `side_by_side` makes the statements between inner loops of all iterations."""

    def __init__(self, loop: For, unique: Unique) -> None:
        self.loop = loop
        self.unique = unique

    def spread(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """The statements of *body* for all iterations."""
        out: list[Stmt] = []
        for entered, stmts in self.groups(body):
            out += [self._entered(stmts[0])] if entered else self.side_by_side(stmts)
        return tuple(out)

    def groups(self, body: tuple[Stmt, ...]) -> Iterator[tuple[bool, tuple[Stmt, ...]]]:
        """*body* in pieces: single statements that all iterations enter together, and what lies between them."""
        run: list[Stmt] = []
        for stmt in body:
            if self._shared(stmt):
                if run:
                    yield False, tuple(run)
                run = []
                yield True, (stmt,)
            else:
                run.append(stmt)
        if run:
            yield False, tuple(run)

    def _shared(self, stmt: Stmt) -> bool:
        if isinstance(stmt, If):
            return _same(self.loop, (stmt.cond,)) and any(can_enter(self.loop, inner) for inner in walk((stmt,)))
        return can_enter(self.loop, stmt)

    def _entered(self, stmt: Stmt) -> Stmt:
        if isinstance(stmt, If):
            return replace(stmt, then=self.spread(stmt.then), other=self.spread(stmt.other))
        assert isinstance(stmt, For)
        return replace(stmt, body=self.spread(stmt.body))

    def side_by_side(self, stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """*stmts* of all iterations."""
        raise NotImplementedError


class _Copies(_Spreading):
    """*count* iterations, from that of *at* on, written out one after the other."""

    def __init__(self, loop: For, count: int, unique: Unique, at: Var) -> None:
        super().__init__(loop, unique)
        self.at = at
        entered = {id(stmt) for stmt in self._all_entered(loop.body)}
        own = [s for s in walk(loop.body) if isinstance(s, Declare) or (isinstance(s, For) and id(s) not in entered)]
        names = [stmt.iname if isinstance(stmt, For) else stmt.name for stmt in own]
        self.names = [{name: unique(name) if number else name for name in names} for number in range(count)]

    def _all_entered(self, body: tuple[Stmt, ...]) -> Iterator[Stmt]:
        for entered, stmts in self.groups(body):
            if entered:
                yield stmts[0]
                for part in bodies(stmts[0]):
                    yield from self._all_entered(part)

    def side_by_side(self, stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """*stmts* once for each iteration."""
        return tuple(stmt for number in range(len(self.names)) for stmt in self._copy(stmts, number))

    def _copy(self, stmts: tuple[Stmt, ...], number: int) -> tuple[Stmt, ...]:
        def counted(node: Any) -> Any:
            if not isinstance(node, Var) or node.name != self.loop.iname:
                return node
            at = replace(self.at, dtype=node.dtype)
            return Binary("+", at, Const(number, node.dtype), node.dtype) if number else at

        return _substituted(stmts, self.names[number], counted)


class _Strips(_Spreading):
    """The iterations from *at* to *end*, at most *width*, as loops; locals that outlive one of these get a row each."""

    def __init__(self, loop: For, width: int, unique: Unique, at: Var, end: Expr) -> None:
        super().__init__(loop, unique)
        self.width, self.at, self.end = width, at, end
        declared = {stmt.name for stmt in walk(loop.body) if isinstance(stmt, Declare)}
        seen: dict[str, int] = {}
        self.rows: set[str] = set()
        for number, stmts in enumerate(self._all_groups(loop.body)):
            for name in named_in(stmts) & declared:
                if seen.setdefault(name, number) != number:
                    self.rows.add(name)

    def _all_groups(self, body: tuple[Stmt, ...]) -> Iterator[tuple[Stmt, ...]]:
        for entered, stmts in self.groups(body):
            if not entered:
                yield stmts
                continue
            for part in bodies(stmts[0]):
                yield from self._all_groups(part)

    def is_possible(self) -> bool:
        """Whether all rows are declared where they can be, and are not too large."""
        found = {s.name: s for stmts in self._all_groups(self.loop.body) for s in stmts if isinstance(s, Declare)}
        return self.rows <= found.keys() and not any(self._too_large(found[name]) for name in self.rows)

    def side_by_side(self, stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """A loop of *stmts* over the strip, behind the rows that they declare."""
        rows = [stmt for stmt in stmts if isinstance(stmt, Declare) and stmt.name in self.rows]
        local = Var(self.unique(self.loop.iname), INDEX)
        place = Binary("-", local, self.at, INDEX)

        def changed(node: Any) -> Any:
            match node:
                case Var(name=name) if name == self.loop.iname:
                    return replace(node, name=local.name)
                case Var(name=name, dtype=dtype) if name in self.rows:
                    return Load(name, (place,), dtype)
                case Load(array=name, index=index) if name in self.rows:
                    return replace(node, index=(*index, place))
                case Declare(name=name, dtype=dtype, init=init) if name in self.rows and init is not None:
                    return Assign(Load(name, (place,), dtype), init)
            return node

        inner = tuple(s for s in stmts if not (s in rows and isinstance(s, Declare) and s.init is None))
        body = rewritten(inner, changed)
        hoisted = (replace(row, shape=(*row.shape, Const(self.width, INDEX)), init=None) for row in rows)
        loop = For(local.name, INDEX, self.at, "<", self.end, _ONE, body)
        return (*hoisted, loop) if body else tuple(hoisted)

    def _too_large(self, row: Declare) -> bool:
        if not all(isinstance(extent, Const) for extent in row.shape):
            return True
        extents = [int(extent.value) for extent in row.shape if isinstance(extent, Const)]
        return prod(extents) * self.width * SIZES[row.dtype] > _MOST_BYTES


def named_in(stmts: tuple[Stmt, ...]) -> set[str]:
    """The variables that *stmts* name."""
    found = set(_names(stmts))
    for stmt in walk(stmts):
        for expr in expressions(stmt):
            found |= {n.array if isinstance(n, Load) else n.name for n in walk_expr(expr) if isinstance(n, Load | Var)}
    return found
