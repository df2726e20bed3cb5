"""Whether a schedule runs iterations at the same time that depend on each other, or in the wrong order.

In: a region, and the `Schedule` that its scripts made of it.  Out: a `Watch` over what may be wrong then: the values of
a launch tell whether it is.  Called by `pipeline`, which warns of what cannot be proven, and by `runtime.guard`, which
refuses launches that are wrong.
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl

from nomp.accesses import Access, parameters, spelled
from nomp.arithmetic import Number
from nomp.conditions import Condition
from nomp.conflict import Conflict, Witness, given, listed
from nomp.dangers import AT_ONCE, REORDERED, Danger, found
from nomp.decided import condition
from nomp.device_source import Schedule
from nomp.diagnostics import Diagnostic, Note, Span
from nomp.omissions import omissions
from nomp.region import For, Region
from nomp.walks import walk

_STEP = 'if they do touch different elements, say so: annotate("independent", "i") for the loop over i'


class Watch:
    """The pairs of mentions of a variable that a schedule is wrong for, for some values of the region's scalars.

    Those that two items may get to at the same time, and those that it runs in another order than the program.
    """

    def __init__(self, region: Region, schedule: Schedule) -> None:
        self.region, self.schedule = region, schedule
        self._assumed = isl.Set(schedule.assumes) if schedule.assumes else None
        self._omissions = list(omissions(region, schedule))
        dangers = list(found(region, schedule))
        self._certain = [danger for danger in dangers if danger.pairs.exact]
        self._doubtful = [danger for danger in dangers if not danger.pairs.exact]

    def unproven(self) -> Diagnostic | None:
        """A warning (N404), if it cannot be told whether the schedule is right, and the program does not say it is."""
        if not self._doubtful:
            doubt = not self.schedule.complete or not all(omission.sure for omission in self._omissions)
            doubt = doubt or not all(scalars for _, scalars in self.schedule.unwaited)
            return self._unknown() if doubt else None
        doubtful = self._doubtful[0]
        name = self.region.host_name(doubtful.pairs.first.variable)
        message = f"cannot prove that iterations of kernel '{self.region.name}' touch different elements of '{name}'"
        if doubtful.what == REORDERED:
            message += ", which the script reorders"
        notes = _notes(self.region, doubtful)
        return Diagnostic("N404", message, _script(self.region), "warning", notes, _STEP)

    def _unknown(self) -> Diagnostic | None:
        """The warning where scripts have done what `execution` does not follow, unless the program vouches for it."""
        loops = {stmt.iname for stmt in walk(self.region.body) if isinstance(stmt, For)}
        if loops <= self.region.clauses.independent:
            return None
        message = f"cannot tell what the script has made of the statements of kernel '{self.region.name}'"
        step = 'if all its loops are independent, say so: annotate("independent", "i") for each'
        return Diagnostic("N404", message, _script(self.region), "warning", help=step)

    def is_needed(self) -> bool:
        """Whether there are values for which `refusal` may have something to say."""
        sure = any(omission.sure for omission in self._omissions)
        unwaited = any(values for _, values in self.schedule.unwaited)
        return sure or unwaited or bool(self._certain or self.schedule.assumes)

    def wrong(self) -> Condition | None:
        """For which scalars `refusal` has something to say; None if that has no simple form."""
        names = parameters(self.region)
        everywhere = given(names, {})
        found = everywhere - everywhere
        if self._assumed is not None:
            found |= everywhere - isl.Set(spelled(self._assumed, names)[0])
        for omission in self._omissions:
            if omission.sure:
                found |= everywhere if omission.points is None else omission.points.params()
        for _, values in self.schedule.unwaited:
            if values:
                found |= isl.Set(values).params()
        for danger in self._certain:
            found |= danger.pairs.pairs.params()
        return condition(found.align_params(everywhere.space), tuple(names))

    def refusal(self, scalars: Mapping[str, Number]) -> Diagnostic | None:
        """The error (N309, N403, N405), if the schedule is wrong for these *scalars*, with an example."""
        if self._assumed is not None and (wrong := self._breach(self._assumed, scalars)):
            return wrong
        for omission in self._omissions:
            if omission.sure and (wrong := omission.refusal(self.region, scalars, _script(self.region))):
                return wrong
        for name, values in self.schedule.unwaited:
            if values and not (isl.Set(values) & given(parameters(self.region), scalars)).is_empty():
                return self._unwaited(name)
        for danger in self._certain:
            if danger.pairs.happens(scalars):
                return self._refusal(danger, danger.pairs.witness(scalars))
        return None

    def _unwaited(self, name: str) -> Diagnostic:
        message = f"work items of kernel '{self.region.name}' do not wait for each other before they use '{name}'"
        step = f"leave the barriers around '{name}', which the script has added, to loopy: no 'no_sync_with'"
        return Diagnostic("N403", message, _script(self.region), help=step)

    def _breach(self, assumed: isl.Set, scalars: Mapping[str, Number]) -> Diagnostic | None:
        """The error (N309), if *scalars* are not what the script has *assumed*."""
        names = sorted(name for name in assumed.get_var_names(isl.dim_type.param) if name in self.region.scalars)
        values = {name: int(scalars[name]) for name in names}
        told_of = " and ".join(f"{name} = {value}" for name, value in values.items())
        if not values or not (assumed & isl.Set(f"[{', '.join(names)}] -> {{ : {told_of} }}")).is_empty():
            return None
        told = str(assumed).partition("{")[2].rpartition("}")[0].strip(" :")
        message = f"the script assumes '{told}' in kernel '{self.region.name}', which is launched with {listed(values)}"
        step = "leave the assumption out, or launch the loop with such values only"
        return Diagnostic("N309", message, _script(self.region), help=step)

    def _refusal(self, danger: Danger, witness: Witness) -> Diagnostic:
        name = self.region.host_name(danger.pairs.first.variable)
        first, second = (listed(side) or "outside of loops" for side in (witness.source, witness.sink))
        message = f"iterations {first} and {second} of kernel '{self.region.name}' {danger.what}, and both touch"
        values = listed({self.region.host_name(key): value for key, value in witness.parameters.items()})
        element = "one element of " if danger.pairs.first.index else ""
        what = f"{message} {element}'{name}'{f' (where {values})' if values else ''}"
        notes = _notes(self.region, danger)
        step = "leave a loop sequential that carries this dependence; 'nomp check' says which may run in parallel"
        if danger.what != AT_ONCE:
            step = "leave the loops in the program's order, or skew them first so that no dependence points backwards"
        return Diagnostic("N403", what, _script(self.region), notes=notes, help=step)


def _script(region: Region) -> Span:
    scripts = region.clauses.transforms
    return region.span(scripts[-1].place if scripts else region.place)


def _notes(region: Region, danger: Danger) -> tuple[Note, ...]:
    """The places in the program, and the line of the script."""
    notes = [Note(_what(access), region.span(access.place)) for access in _both(danger.pairs)]
    return (*notes, *([Note("last changed by this line of the script", danger.blame[1])] if danger.blame else []))


def _what(access: Access) -> str:
    return "written here" if access.writes else "read here"


def _both(conflict: Conflict) -> tuple[Access, ...]:
    """The two mentions, or the one that conflicts with itself."""
    first, second = conflict.first, conflict.second
    return (first,) if (first.place, first.writes) == (second.place, second.writes) else (first, second)
