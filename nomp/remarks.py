"""``nomp cc --remarks``: what becomes of each region, as a remark (N506) at its pragma.

In: a region that passed the checks.  Out: a `Diagnostic`.  Called by the driver and by `runtime.python`.
"""

from __future__ import annotations

from collections.abc import Iterable

from nomp import reduction, schedule
from nomp.dependence import Verdict, reason, verdicts
from nomp.diagnostics import Diagnostic, Note
from nomp.region import For, Region
from nomp.walks import walk


def remark(region: Region) -> Diagnostic:
    """What nomp does with *region*: the kernel's name, its loops, who schedules them, and what they allow."""
    loops = ", ".join(f"'{stmt.iname}'" for stmt in walk(region.body) if isinstance(stmt, For))
    plural = "s" if "," in loops else ""
    message = f"loop{plural} {loops} become{'' if plural else 's'} kernel '{region.name}', {scheduled(region)}"
    found = verdicts(region)
    notes = tuple(
        Note(f"loop '{v.loop.iname}' may run in parallel: {v.parallel}, {reason(region, v)}", region.span(v.loop.place))
        for v in found
    )
    return Diagnostic("N506", message, region.span(region.place), "remark", notes, advice(region, found))


def scheduled(region: Region) -> str:
    """Who decides how *region* runs, in words that follow the kernel's name."""
    if region.clauses.transforms:
        return f"scheduled by {' and '.join(f'{s.module}.{s.function}' for s in region.clauses.transforms)}"
    if reduction.is_divided(region):
        names = " and ".join(f"'{r.name}'" for r in region.clauses.reductions)
        return f"a parallel reduction to {names}"
    divided = " and ".join(f"'{iname}'" for iname in schedule.divided_loops(region))
    if divided:
        return f"the iterations of {divided} divided among work items"
    return "run in order by one work item"


def advice(region: Region, found: Iterable[Verdict]) -> str | None:
    """What would make *region* run in parallel, if it does not."""
    parallel = region.clauses.transforms or reduction.is_divided(region) or schedule.divided_loops(region)
    if parallel or not any(v.parallel in ("yes", "unknown") for v in found):
        return None
    return 'a script can make it parallel: transform("module", "function")'
