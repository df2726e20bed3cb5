"""Whether a schedule runs each iteration of each statement once.

In: a region and the `Schedule` that its scripts made of it.  Out: the `Omission`s: statements that are gone, iterations
that are left out, added or repeated, for some values of the region's scalars.  Used by `legality`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import islpy as isl

from nomp.accesses import parameters
from nomp.arithmetic import Number
from nomp.conflict import given, listed, smallest
from nomp.device_source import Blame, Schedule
from nomp.diagnostics import Diagnostic, Note, Span
from nomp.region import Place, Region
from nomp.walks import place_of, walk


@dataclass(frozen=True, slots=True)
class Omission:
    """*points* are iterations of the statement at *place*, by the counters of *loops*, of which *what* is true.

    All of them if *points* is None.  *sure*: whether that is certain.  *blame* is what did it.
    """

    place: Place
    what: str
    loops: tuple[str, ...] = ()
    points: isl.Set | None = None
    sure: bool = True
    blame: Blame | None = None

    def refusal(self, region: Region, scalars: Mapping[str, Number], script: Span) -> Diagnostic | None:
        """The error (N405), if there are such iterations for *scalars*; *script* is what to blame."""
        where = ""
        if self.points is not None:
            spelled = parameters(region)
            found = self.points.intersect_params(given(spelled, scalars))
            if found.is_empty():
                return None
            numbers = smallest(found)
            values = {region.host_name(name): number for name, number in zip(spelled, numbers, strict=False)}
            counters = dict(zip(self.loops, numbers[len(spelled) :], strict=True))
            where = f", iteration {listed(counters)}" if counters else ""
            where += f" (where {listed(values)})" if values else ""
        message = f"the script's kernel '{region.name}' {self.what}{where}"
        notes = [Note("this statement", region.span(self.place))]
        notes += [Note("last changed by this line of the script", self.blame[1])] if self.blame else []
        step = "a script says when and where iterations run: leave the statements and the bounds of loops as they are"
        return Diagnostic("N405", message, script, notes=tuple(notes), help=step)


def omissions(region: Region, schedule: Schedule) -> Iterator[Omission]:
    """What *schedule* leaves out of *region*, adds to it or repeats."""
    places = [place_of(stmt) for stmt in walk(region.body)]
    for statement, blame in schedule.gone.items():
        yield Omission(places[statement], "does not run a statement of the program", blame=blame)
    for placement in schedule.placements:
        kinds = {"leaves out iterations of a statement": placement.lost,
                 "runs iterations of a statement that the program does not": placement.extra}  # fmt: skip
        if placement.reads & placement.writes:
            kinds["runs iterations of a statement several times"] = placement.again
        for what, text in kinds.items():
            if text:
                points = isl.Set(text).align_params(given(parameters(region), {}).space)
                place = places[placement.statement]
                yield Omission(place, what, placement.loops, points, placement.sure, placement.blame)
