"""Pairs of iterations that depend on each other, and that a schedule does not run as the program does.

In: a region, and the `Schedule` that its scripts made of it.  Out: `Danger`s: two mentions of a variable, and the pairs
of iterations for which the schedule is wrong, in terms of the region's scalars.  Used by `legality`.

A dependence is wrong if its two iterations are run in the other order, or by different items without a barrier between
them.  A local has one copy an item, or one a group, for all iterations that have a local of their own in the program:
it is wrong as well if one of these gets between two mentions of another one's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import islpy as isl

from nomp.accesses import Access, accesses
from nomp.arithmetic import is_float
from nomp.conflict import Conflict
from nomp.device_source import Blame, Placement, Schedule
from nomp.frontend.private import sets_first
from nomp.region import For, Region
from nomp.reordering import Timeline, in_program_order, keeps_order, relation, shared_loops
from nomp.walks import place_of, walk

AT_ONCE, REORDERED = "run at the same time", "do not run in the program's order"
SEPARATED, ELSEWHERE = "have others that write between them", "use different copies"


@dataclass(frozen=True, slots=True)
class Danger:
    """Pairs of mentions that are wrong if they happen: their iterations, *what* they do then, and what did that."""

    pairs: Conflict
    what: str
    blame: Blame | None = None


@dataclass(frozen=True, slots=True)
class _Event:
    """A mention of a variable where a schedule places it."""

    access: Access
    placement: Placement

    @property
    def loops(self) -> tuple[For, ...]:
        """The loops around that the schedule knows."""
        return self.access.loops[: len(self.placement.loops)]


def found(region: Region, schedule: Schedule) -> Iterator[Danger]:
    """What may be wrong with *schedule*, if anything."""
    for danger in _Finder(region, schedule).all():
        if not danger.pairs.never():
            yield danger


class _Finder:
    def __init__(self, region: Region, schedule: Schedule) -> None:
        self.region, self.schedule, self.timeline = region, schedule, Timeline(schedule)
        self.accesses = accesses(region, each=True)
        self.parameters = self.accesses.parameters
        self.shared = {param.name for param in region.params}
        self.together = self.shared | schedule.shared | schedule.common
        placed = defaultdict[int, list[Placement]](list)
        self.placements = [placement for placement in schedule.placements if placement.path]
        for placement in self.placements:
            placed[placement.statement].append(placement)
        self.events = defaultdict[str, list[_Event]](list)
        for access in self.accesses.found:
            own = placed[access.statement]
            mentions = [p for p in own if access.variable in (p.writes if access.writes else p.reads)]
            self.events[access.variable] += [_Event(access, placement) for placement in mentions or own]
        self.declared = dict(self.accesses.declared)
        self._hidden()
        self._met: dict[tuple[int, int], Conflict] = {}

    def _hidden(self) -> None:
        """Note the mentions of what the program does not have, such as the truth of a condition in a local."""
        statements = list(walk(self.region.body))
        loops = {stmt.iname: stmt for stmt in statements if isinstance(stmt, For)}
        known = self.declared.keys()
        for placement in self.placements:
            around = tuple(loops[iname] for iname in placement.loops)
            for names, writes in ((placement.writes, True), (placement.reads, False)):
                for name in names - known if placement.when else ():
                    domain, place = isl.Map(placement.when).domain(), place_of(statements[placement.statement])
                    access = Access(name, writes, (), around, domain, placement.exact, place)
                    self.events[name].append(_Event(access, placement))
        for name in self.events.keys() - known:
            self.declared[name] = min(len(event.loops) for event in self.events[name])

    def all(self) -> Iterator[Danger]:
        """All that may be wrong."""
        for variable, events in self.events.items():
            for first, second in product(events, repeat=2):
                if first.access.writes or second.access.writes:
                    yield from self._between(first, second)
            if variable not in self.shared and not all(self._is_kept(*pair) for pair in product(events, repeat=2)):
                yield from self._separated(events)

    # ------------------------------------------------------------------------------------------------------- pairs

    def _between(self, first: _Event, second: _Event) -> Iterator[Danger]:
        """What is wrong about iterations of *first* that come before those of *second* in the program."""
        if self._is_kept(first, second):
            return
        order, exact = self._in_order(first, second)
        if order.is_empty():
            return
        if not (first.placement.when and second.placement.when):
            yield self._danger(first, second, order, REORDERED, exact=False)
            return
        accumulate = bool(first.access.op and first.access.op == second.access.op)
        variable = first.access.variable
        any_order = accumulate and self._is_any_order(variable)
        for what, pairs in self._wrong(first.placement, second.placement, variable, order, any_order=any_order).items():
            yield self._danger(first, second, pairs, what, exact=exact)

    def _is_kept(self, first: _Event, second: _Event) -> bool:
        """Whether one item runs the two where they may mean the same, and in the program's order."""
        one, other, variable = first.placement, second.placement, first.access.variable
        if any(variable in copies for p in (one, other) for copies in (p.cells, p.lanes)):
            return False
        shared = [loop.iname for loop in shared_loops(first.loops, second.loops)]
        spread = one.spread
        if self.schedule.groups + self.schedule.items > 0:
            own = shared[: self._copies(variable, shared_loops(first.loops, second.loops))]
            known = spread is not None and spread == other.spread and spread <= {*own} & one.same & other.same
            if variable in self.together or not known:
                return False
        return keeps_order(one, other, [loop for loop in shared if loop not in (spread or ())])

    def _in_order(self, first: _Event, second: _Event) -> tuple[isl.Map, bool]:
        """The iterations of *first* that come before those of *second* in the program, and have the same copy."""
        shared = shared_loops(first.loops, second.loops)
        order, exact = in_program_order(shared, equal=first.placement.number < second.placement.number)
        return self._relation(first, second, f"({order}) and ({self._one_copy(first, second)})"), exact

    def _one_copy(self, first: _Event, second: _Event) -> str:
        """That iterations *x* and *y* of the two mean the same local."""
        shared = shared_loops(first.loops, second.loops)
        return " and ".join(f"x{k} = y{k}" for k in range(self._copies(first.access.variable, shared))) or "true"

    def _copies(self, variable: str, shared: list[For]) -> int:
        """How many of the loops *shared* have a *variable* of their own in each iteration, outermost first."""
        depth = self.declared[variable]
        if variable not in self.shared:
            mentions = [event.access.loops for event in self.events[variable]]
            for number, loop in enumerate(shared[depth:], start=depth + 1):
                inside = all(any(other is loop for other in loops) for loops in mentions)
                if inside and sets_first(loop.body, variable):
                    depth = number
        return min(depth, len(shared))

    def _wrong(
        self, one: Placement, other: Placement, variable: str, order: isl.Map, *, any_order: bool
    ) -> dict[str, isl.Map]:
        """The iterations of the two, of those in *order*, that do not follow each other, by what they do then."""
        early, late = self.timeline.early(one, other) & order, self.timeline.early(other, one).reverse() & order
        wrong = order - (early | late) if any_order else (order - early) | late
        if variable in self.together:
            wrong = (wrong | (self.timeline.apart(one, other) & order)) - self._waited(one, other, variable)
        found = {AT_ONCE: wrong} if any_order else {REORDERED: wrong & late, AT_ONCE: wrong - late}
        found[ELSEWHERE] = order - self._one_cell(one, other, variable)
        return found

    def _waited(self, one: Placement, other: Placement, variable: str) -> isl.Map:
        """The iterations of the two between which all items that share *variable* wait for each other."""
        return self.timeline.synchronised(one, other, self.timeline.waits(variable))

    def _is_any_order(self, variable: str) -> bool:
        """Whether what is accumulated into *variable* may come in any order: integers, and what a clause names."""
        named = any(reduction.name == variable for reduction in self.region.clauses.reductions)
        return named or any(p.name == variable and not is_float(p.dtype) for p in self.region.params)

    def _danger(self, first: _Event, second: _Event, pairs: isl.Map, what: str, *, exact: bool) -> Danger:
        exact = exact and first.placement.exact and second.placement.exact
        conflict = self._meeting(first, second).among(pairs, exact=exact)
        if not conflict.exact:
            conflict.pairs -= conflict.padded(self._relation(first, second, self._vouched_for(first, second)))
        blames = [event.placement.blame for event in (first, second) if event.placement.blame]
        return Danger(conflict, what, max(blames, key=lambda blame: blame[0], default=None))

    def _meeting(self, first: _Event, second: _Event) -> Conflict:
        """All pairs of iterations in which the two mean the same element."""
        key = id(first.access), id(second.access)
        if key not in self._met:
            self._met[key] = Conflict(first.access, second.access, 0, "true", self.parameters)
        return self._met[key]

    def _vouched_for(self, first: _Event, second: _Event) -> str:
        """That the program says of two iterations that they do not depend on each other."""
        cases = [
            " and ".join([*(f"x{k} = y{k}" for k in range(depth)), f"x{depth} != y{depth}"])
            for depth, loop in enumerate(shared_loops(first.loops, second.loops))
            if loop.iname in self.region.clauses.independent
        ]
        return " or ".join(f"({case})" for case in cases) or "false"

    def _relation(self, first: _Event, second: _Event, constraint: str) -> isl.Map:
        return relation(first.placement, second.placement, self.parameters, constraint)

    # ----------------------------------------------------------------------------------------------------- in between

    def _separated(self, events: list[_Event]) -> Iterator[Danger]:
        """Where a copy is written for other iterations between two that mean the same local."""
        writes = [event for event in events if event.access.writes]
        reads = [event for event in events if not event.access.writes]
        for first, other, second in product(writes, writes, reads):
            if all(event.placement.when for event in (first, other, second)):
                order, exact = self._in_order(first, second)
                between = self._overwritten(first, other).apply_range(self._follows(other, second))
                if not (pairs := order & between).is_empty():
                    exact = exact and other.access.exact and other.placement.exact
                    yield self._danger(first, second, pairs, SEPARATED, exact=exact)

    def _follows(self, first: _Event, second: _Event) -> isl.Map:
        """The pairs of iterations of which that of *second* may come later, where they may have the same copy."""
        one, other, variable = first.placement, second.placement, first.access.variable
        early, late = self.timeline.early(one, other), self.timeline.early(other, one).reverse()
        if variable not in self.together:
            return early
        waited = self._waited(other, one, variable).reverse() | (late - self.timeline.apart(one, other))
        return self.timeline.sharing(one, other, variable) - waited

    def _overwritten(self, first: _Event, second: _Event) -> isl.Map:
        """The iterations of *first* whose element *second* may overwrite later with another local's."""
        same = self._relation(first, second, self._one_copy(first, second))
        elements = self._meeting(first, second).pairs
        inner = [event.access.loops[len(event.loops) :] for event in (first, second)]
        elements = elements.project_out(isl.dim_type.in_, len(first.loops), len(inner[0]))
        elements = elements.project_out(isl.dim_type.out, len(second.loops), len(inner[1]))
        follows = self._follows(first, second)
        follows &= self._one_cell(first.placement, second.placement, first.access.variable)
        if first.access.variable not in first.placement.cells:
            return (follows - same) & elements
        return follows - (same & elements)

    def _one_cell(self, one: Placement, other: Placement, variable: str) -> isl.Map:
        """The iterations of the two that use the same copy and element of what a script has made of *variable*."""
        found = isl.Map.universe(self.timeline.early(one, other).space)
        for copies, others in ((one.cells, other.cells), (one.lanes, other.lanes)):
            if variable in copies and variable in others:
                found &= isl.Map(copies[variable]).apply_range(isl.Map(others[variable]).reverse())
        return found
