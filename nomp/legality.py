"""Whether a schedule runs iterations at the same time that depend on each other, or in the wrong order.

In: a region, and the `Schedule` that its scripts made of it.  Out: a `Watch` over what may be wrong then: the values of
a launch tell whether it is.  Called by `pipeline`, which warns of what cannot be proven, and by `runtime.kernel`, which
refuses launches that are wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import islpy as isl

from nomp.accesses import Access, accesses
from nomp.arithmetic import Number, is_float
from nomp.conflict import Conflict, Witness, listed
from nomp.device_source import Placement, Schedule
from nomp.diagnostics import Diagnostic, Note, Span
from nomp.frontend.private import sets_first
from nomp.region import For, Region
from nomp.reordering import Timeline, in_program_order, keeps_order, relation, shared_loops
from nomp.walks import walk

# ---------------------------------------------------------------------------------------------------- what conflicts


_AT_ONCE, _REORDERED = "run at the same time", "do not run in the program's order"
_STEP = 'if they do touch different elements, say so: annotate("independent", "i") for the loop over i'


@dataclass(frozen=True, slots=True)
class _Danger:
    """Pairs of mentions that are wrong if they happen: their iterations, and *what* they do then."""

    pairs: Conflict
    what: str


class Watch:
    """The pairs of mentions of a variable that a schedule is wrong for, for some values of the region's scalars.

    Those that two items may get to at the same time, and those that it runs in another order than the program.
    """

    def __init__(self, region: Region, schedule: Schedule) -> None:
        self.region, self.schedule = region, schedule
        self._assumed = isl.Set(schedule.assumes) if schedule.assumes else None
        self._accesses = accesses(region, each=True)
        self._timeline = Timeline(schedule)
        self._placed = defaultdict[int, list[Placement]](list)
        for placement in schedule.placements:
            self._placed[placement.statement].append(placement)
        self._mentions = defaultdict[str, list[Access]](list)
        for access in self._accesses.found:
            self._mentions[access.variable].append(access)
        dangers = [danger for danger in self._dangers() if not danger.pairs.never()]
        self._certain = [danger for danger in dangers if danger.pairs.exact]
        self._doubtful = [danger for danger in dangers if not danger.pairs.exact]

    def _dangers(self) -> Iterator[_Danger]:
        for first, second in self._conflicting():
            for one in self._placements(first):
                for other in self._placements(second):
                    yield from self._between(first, second, one, other)

    def _conflicting(self) -> Iterator[tuple[Access, Access]]:
        for mentions in self._mentions.values():
            for first, second in product(mentions, repeat=2):
                if first.writes or second.writes:
                    yield first, second

    def _placements(self, access: Access) -> list[Placement]:
        """When the instructions run that *access* is part of."""
        found = self._placed[access.statement]
        return [p for p in found if access.variable in (p.writes if access.writes else p.reads)] or found

    def _between(self, first: Access, second: Access, one: Placement, other: Placement) -> Iterator[_Danger]:
        """What is wrong about iterations of *first* that come before those of *second* in the program."""
        around = [access.loops[: len(p.loops)] for access, p in ((first, one), (second, other))]
        shared = shared_loops(*around)
        parallel = self.schedule.groups + self.schedule.items > 0
        if not parallel and keeps_order(one, other, [loop.iname for loop in shared]):
            return
        equal = first.statement < second.statement and one.instruction != other.instruction
        order, exact = in_program_order(shared, equal=equal)
        own = [f"x{k} = y{k}" for k in range(self._copies(first.variable, shared))]
        pairs = relation(one, other, self._accesses.parameters, " and ".join([f"({order})", *own]))
        if pairs.is_empty():
            return
        known = bool(one.when and other.when)
        wrong = self._wrong(first, second, one, other) if known else {_REORDERED: pairs}
        exact = exact and known and one.exact and other.exact
        for what, times in wrong.items():
            found = Conflict(first, second, 0, pairs & times, self._accesses.parameters, exact=exact)
            if not found.exact:
                found.pairs -= self._vouched_for(one, other, shared, found)
            yield _Danger(found, what)

    def _vouched_for(self, one: Placement, other: Placement, shared: list[For], found: Conflict) -> isl.Map:
        """The pairs of iterations of which the program says that they do not depend on each other."""
        cases = [
            " and ".join([*(f"x{k} = y{k}" for k in range(depth)), f"x{depth} != y{depth}"])
            for depth, loop in enumerate(shared)
            if loop.iname in self.region.clauses.independent
        ]
        constraint = " or ".join(f"({case})" for case in cases) or "false"
        return found.padded(relation(one, other, self._accesses.parameters, constraint))

    def _wrong(self, first: Access, second: Access, one: Placement, other: Placement) -> dict[str, isl.Map]:
        """The iterations of the two that do not follow each other, by what they do then."""
        timeline = self._timeline
        early, late = timeline.early(one, other), timeline.early(other, one).reverse()
        local = first.variable not in self._shared and first.variable not in self.schedule.shared
        apart = timeline.apart(one, other)
        kinds = ("all", "group") if first.variable in self._shared else ("all", "group", "local")
        waited = timeline.synchronised(one, other, kinds)
        everything = isl.Map.universe(early.space)
        if first.op and first.op == second.op and self._is_any_order(first.variable):
            return {_AT_ONCE: everything - waited - ((early | late) - apart)}
        wrong = everything - early if local else everything - waited - (early - apart)
        return {_REORDERED: wrong & late, _AT_ONCE: wrong - late}

    @cached_property
    def _shared(self) -> set[str]:
        """Arrays and cells, which all items share."""
        return {param.name for param in self.region.params}

    def _copies(self, variable: str, shared: list[For]) -> int:
        """How many of the loops *shared* have a *variable* of their own in each iteration, outermost first."""
        depth = self._accesses.declared[variable]
        if variable not in self._shared:
            mentions = self._mentions[variable]
            for number, loop in enumerate(shared[depth:], start=depth + 1):
                if all(loop in access.loops for access in mentions) and sets_first(loop.body, variable):
                    depth = number
        return min(depth, len(shared))

    def _is_any_order(self, variable: str) -> bool:
        """Whether what is accumulated into *variable* may come in any order: integers, and what a clause names."""
        named = any(reduction.name == variable for reduction in self.region.clauses.reductions)
        return named or any(p.name == variable and not is_float(p.dtype) for p in self.region.params)

    def unproven(self) -> Diagnostic | None:
        """A warning (N404), if it cannot be told whether the schedule is right, and the program does not say it is."""
        if not self._doubtful:
            return None if self.schedule.complete else self._unknown()
        doubtful = self._doubtful[0]
        name = self.region.host_name(doubtful.pairs.first.variable)
        message = f"cannot prove that iterations of kernel '{self.region.name}' touch different elements of '{name}'"
        if doubtful.what != _AT_ONCE:
            message += ", which the script reorders"
        notes = tuple(Note(_what(access), self.region.span(access.place)) for access in _both(doubtful.pairs))
        return Diagnostic("N404", message, _script(self.region), "warning", notes, _STEP)

    def _unknown(self) -> Diagnostic | None:
        """The warning where scripts have done what `execution` does not follow, unless the program vouches for it."""
        loops = {stmt.iname for stmt in walk(self.region.body) if isinstance(stmt, For)}
        if loops <= self.region.clauses.independent:
            return None
        message = f"cannot tell what the script has made of the statements of kernel '{self.region.name}'"
        step = 'if all its loops are independent, say so: annotate("independent", "i") for each'
        return Diagnostic("N404", message, _script(self.region), "warning", help=step)

    def refusal(self, scalars: Mapping[str, Number]) -> Diagnostic | None:
        """The error (N403, N309), if the schedule is wrong for these *scalars*, with an example."""
        if self._assumed is not None and (wrong := self._breach(self._assumed, scalars)):
            return wrong
        for danger in self._certain:
            if danger.pairs.happens(scalars):
                return self._refusal(danger, danger.pairs.witness(scalars))
        return None

    def _breach(self, assumed: isl.Set, scalars: Mapping[str, Number]) -> Diagnostic | None:
        """The error (N309), if *scalars* are not what the script has *assumed*."""
        names = sorted(name for name in assumed.get_var_names(isl.dim_type.param) if name in self.region.scalars)
        values = {name: int(scalars[name]) for name in names}
        given = " and ".join(f"{name} = {value}" for name, value in values.items())
        if not values or not (assumed & isl.Set(f"[{', '.join(names)}] -> {{ : {given} }}")).is_empty():
            return None
        told = str(assumed).partition("{")[2].rpartition("}")[0].strip(" :")
        message = f"the script assumes '{told}' in kernel '{self.region.name}', which is launched with {listed(values)}"
        step = "leave the assumption out, or launch the loop with such values only"
        return Diagnostic("N309", message, _script(self.region), help=step)

    def _refusal(self, danger: _Danger, witness: Witness) -> Diagnostic:
        name = self.region.host_name(danger.pairs.first.variable)
        first, second = listed(witness.source), listed(witness.sink)
        message = f"iterations {first} and {second} of kernel '{self.region.name}' {danger.what}, and both touch"
        values = listed({self.region.host_name(key): value for key, value in witness.parameters.items()})
        element = "one element of " if danger.pairs.first.index else ""
        what = f"{message} {element}'{name}'{f' (where {values})' if values else ''}"
        notes = tuple(Note(_what(access), self.region.span(access.place)) for access in _both(danger.pairs))
        step = "leave a loop sequential that carries this dependence; 'nomp check' says which may run in parallel"
        if danger.what != _AT_ONCE:
            step = "leave the loops in the program's order, or skew them first so that no dependence points backwards"
        return Diagnostic("N403", what, _script(self.region), notes=notes, help=step)


def _script(region: Region) -> Span:
    scripts = region.clauses.transforms
    return region.span(scripts[-1].place if scripts else region.place)


def _what(access: Access) -> str:
    return "written here" if access.writes else "read here"


def _both(conflict: Conflict) -> tuple[Access, ...]:
    """The two mentions, or the one that conflicts with itself."""
    first, second = conflict.first, conflict.second
    return (first,) if (first.place, first.writes) == (second.place, second.writes) else (first, second)
