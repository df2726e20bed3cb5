"""Small operands, copied the other way round for a CPU, whose vectors would have to gather their elements.

In: a loop of a region, and what is proven of its iterations.  Out: what makes the copies, and the loop that uses them:

    for (e = 0; e < n; e++)              double d_[8][8];
      for (i = 0; i < 8; i++)            for (i ...) for (k ...) d_[k][i] = d[i][k];
        for (k = 0; k < 8; k++)          for (e = 0; e < n; e++)
          w[e][i] += d[i][k] * u[e][k];    for (i ...) for (k ...) w[e][i] += d_[k][i] * u[e][k];

An operand is small if short constant loops go through all that the region reads of it, in each iteration, and the
region does not write to it.  Called by `schedule`.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from nomp import cpu_schedule, jumps
from nomp.arithmetic import cast
from nomp.interleave import Unique, renamed, strips
from nomp.loops import INDEX, constant_trips
from nomp.region import Assign, Binary, Const, Declare, Expr, For, Load, Select, Stmt, Var
from nomp.walks import expressions, operands, rewritten, variables, without_places

MOST_ELEMENTS = 1024
"""How large an operand is that each work item has a copy of."""


@dataclass(frozen=True, slots=True)
class _Copy:
    """The element *original*, which the short *loops* go through, in an array of its own: the last loop is contiguous.
    """

    name: str
    original: Load
    loops: tuple[For, ...]

    @property
    def element(self) -> Load:
        """What stands in the place of *original*."""
        return Load(self.name, tuple(map(_trip, self.loops)), self.original.dtype)

    def made(self, unique: Unique) -> tuple[Stmt, ...]:
        """The statements that make it."""
        body: tuple[Stmt, ...] = (Assign(self.element, self.original),)
        for loop in reversed(self.loops):
            body = (replace(loop, body=body, final=None),)
        shape = tuple(Const(constant_trips(loop) or 0, INDEX) for loop in self.loops)
        return Declare(self.name, self.original.dtype, shape), *renamed(body, unique)


def transposed(
    loop: For, read_only: Set[str], proofs: cpu_schedule.Proofs, unique: Unique
) -> tuple[tuple[Stmt, ...], For]:
    """Copies of small operands among the arrays *read_only*, and *loop* with these where that makes loops contiguous.
    """
    if any(jumps.own(loop.body)):
        return (), loop
    made: list[_Copy] = []

    def with_copies(body: tuple[Stmt, ...], around: tuple[For, ...]) -> tuple[Stmt, ...]:
        return tuple(nest(stmt, around) if isinstance(stmt, For) and _is_short(stmt) else stmt for stmt in body)

    def nest(inner: For, around: tuple[For, ...]) -> For:
        copies = _copies((*around, inner), read_only, unique) if inner.iname in proofs.parallel else []
        better = _with(inner, copies)
        if copies and cpu_schedule.together(better, proofs).form is strips:
            made.extend(copies)
            return better
        return replace(inner, body=with_copies(inner.body, (*around, inner)))

    loop = replace(loop, body=with_copies(loop.body, ()))
    return tuple(stmt for copy in made for stmt in copy.made(unique)), loop


def _is_short(loop: For) -> bool:
    trips = constant_trips(loop)
    plain = isinstance(loop.lower, Const) and loop.step == Const(1, loop.step.dtype)
    return plain and trips is not None and 0 < trips <= cpu_schedule.SHORT and not any(jumps.own(loop.body))


def _copies(nest: tuple[For, ...], read_only: Set[str], unique: Unique) -> list[_Copy]:
    """Copies of the small operands that the loops inside the last one of *nest* walk through with strides in it."""
    loop = nest[-1]
    found: dict[Load, _Copy] = {}
    for load, loops in _reads(loop.body, nest):
        size = prod(constant_trips(each) or 0 for each in loops)
        small = load.array in read_only and variables(*load.index) == {each.iname for each in loops}
        if small and size <= MOST_ELEMENTS and abs(cpu_schedule.stride(load, loop.iname)) > 1 and load not in found:
            others = tuple(each for each in loops if each is not loop)
            found[load] = _Copy(unique(load.array), load, (*others, loop))
    return list(found.values())


def _reads(body: tuple[Stmt, ...], around: tuple[For, ...]) -> Iterator[tuple[Load, tuple[For, ...]]]:
    """The elements that short loops in *body* always read, and those of the loops *around* that their subscripts name.
    """
    for stmt in body:
        if isinstance(stmt, For) and _is_short(stmt):
            nest = (*around, stmt)
            for load in without_places(tuple(_always(stmt.body))):
                yield load, tuple(each for each in nest if each.iname in variables(*load.index))
            yield from _reads(stmt.body, nest)


def _always(body: tuple[Stmt, ...]) -> Iterator[Load]:
    """The elements that the assignments of *body* read whenever it runs."""
    for stmt in body:
        for expr in expressions(stmt) if isinstance(stmt, Assign | Declare) else ():
            yield from _read(expr)


def _read(expr: Expr) -> Iterator[Load]:
    if isinstance(expr, Load):
        yield expr
    match expr:
        case Select(cond=cond):
            yield from _read(cond)
        case Binary(op="&&" | "||", left=left):
            yield from _read(left)
        case _:
            for operand in operands(expr):
                yield from _read(operand)


def _with(loop: For, copies: list[_Copy]) -> For:
    elements = {copy.original: copy.element for copy in copies}

    def changed(node: Any) -> Any:
        return elements.get(without_places(node), node) if isinstance(node, Load) else node

    made: For = rewritten(loop, changed)
    return made


def _trip(loop: For) -> Expr:
    counter = cast(Var(loop.iname, loop.dtype), INDEX)
    lower = cast(loop.lower, INDEX)
    return counter if lower == Const(0, INDEX) else Binary("-", counter, lower, INDEX)
