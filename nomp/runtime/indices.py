"""Subscripts of Python loops at a launch: which of them are negative, and which leave their array.

In: a translated loop and the numbers of a launch.  Out: how subscripts are to be treated (`Wrapping`); N238 for one
that certainly leaves its array.  Used by `runtime.specialised`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nomp.arithmetic import Number, evaluate, is_launch_expr
from nomp.diagnostics import error
from nomp.frontend.python_context import Wrapping
from nomp.frontend.python_regions import Translated
from nomp.region import Region
from nomp.runtime import bounds, ranges
from nomp.walks import variables


def wrapping(translated: Translated, scalars: Mapping[str, Number]) -> Wrapping:
    """Which subscripts count from the end in this launch, all of the time or sometimes."""
    if not translated.subscripts:
        return Wrapping()
    known = ranges.counters(translated.region, scalars)
    both, below = set[int](), set[int]()
    for subscript in translated.subscripts:
        found = ranges.interval(subscript.expr, known)
        if found is None or found[0] < 0:
            (below if found is not None and found[1] < 0 else both).add(subscript.number)
    return Wrapping(frozenset(both), frozenset(below))


def deciding(translated: Translated) -> frozenset[str]:
    """The scalars on which `wrapping` and `check` depend."""
    exprs = [expr for subscript in translated.subscripts for expr in (subscript.expr, subscript.extent)]
    return ranges.deciding(translated.region) | variables(*exprs)


def check(region: Region, certain: Iterable[bounds.Access], scalars: Mapping[str, Number]) -> None:
    """Raise N238 where the launch certainly uses an element that an array does not have.

    *certain*: `bounds.accesses` of *region*.
    """
    seen: dict[int, tuple[Number, ...]] = {}
    for access in certain:
        extents = access.param.shape
        known = zip(access.subscripts, extents, strict=False)
        pairs = [(index, extent) for index, extent in known if extent is not None]
        if not all(is_launch_expr(extent, region.scalars) for _, extent in pairs):
            continue
        for counters in bounds.corners(access.loops, scalars, {}, seen):
            env = {**scalars, **counters}
            for index, extent in pairs:
                place, length = int(evaluate(index, env)), int(evaluate(extent, env))
                if not 0 <= place < length:
                    where = ", ".join(f"{counter} = {value}" for counter, value in counters.items())
                    shown = f" ({where})" if where else ""
                    message = f"subscript {place} of '{access.param.host}'{shown} is out of range: there are {length}"
                    step = "stop the loop earlier, or use a larger array"
                    raise error("N238", f"{message} elements", region.span(access.place), help=step)
