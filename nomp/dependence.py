"""Which loops have iterations that do not depend on each other: a proof, a pair of iterations that do, or neither.

In: a region.  Out: a `Verdict` for each of its ``for`` loops.  Two iterations of a loop conflict if both mention one
element and one of them writes it; the loops around it stand still.  What an iteration declares, and scalars that all
of them set before they read them, are its own.  Arrays with different names are taken for different arrays
(`runtime.aliasing` looks at each launch).  Called by `schedule`, and by the driver for ``nomp check`` and remarks.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Literal

from nomp import jumps
from nomp.accesses import Access, Accesses, accesses
from nomp.conflict import Conflict, Witness, listed
from nomp.frontend.private import loops_that_set
from nomp.loops import signed_step
from nomp.region import Break, Const, For, Region, Stmt, While
from nomp.walks import bodies

Parallel = Literal["yes", "no", "reduction", "unknown"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the iterations of *loop* may run at the same time, and if not, the mentions of *variable* that conflict.

    ``reduction``: they only conflict in accumulations.  ``unknown``: they conflict, or leave the loop, unless data
    prevent it.
    """

    loop: For
    parallel: Parallel
    variable: str = ""
    mentions: tuple[Access, ...] = ()
    witness: Witness | None = None


def verdicts(region: Region) -> tuple[Verdict, ...]:
    """The verdict on each loop of *region* that is not inside a ``while``, in program order."""
    found = accesses(region)
    return tuple(_judge(region, found, loops) for loops in _loops(region.body, ()))


def outermost(region: Region) -> Verdict:
    """The verdict on the loop that *region* is, as it stands: its iterations share the cells that they write."""
    (loop,) = region.body
    assert isinstance(loop, For)
    return _judge(region, accesses(region), (loop,), {param.name for param in region.params if param.kind == "cell"})


def apart(region: Region) -> Callable[[str, str], bool]:
    """Asks of two loops of *region* (inames), the second one inside the first, whether iterations of the second never
    meet if its counter differs, whatever the first one's is; the loops around them stand still."""
    found = accesses(region)
    nests = {loops[-1].iname: loops for loops in _loops(region.body, ())}

    @cache
    def never_meet(outer: str, inner: str) -> bool:
        loops = nests[inner]
        depth, still = len(loops) - 1, [loop.iname for loop in loops].index(outer)
        inside = _inside(found, loops)
        for first, second in _pairs(inside, inside):
            shared = found.declared[first.variable] <= depth
            if shared and not Conflict(first, second, still, f"x{depth} != y{depth}", found.parameters).never():
                return False
        return True

    return never_meet


def comes_back(first: Region, second: Region) -> bool:
    """Whether an iteration of the loop that *first* is may depend on an earlier one of the loop that *second* is, which
    has the same iterations, or change what that one reads."""
    (loop,) = second.body
    assert isinstance(loop, For)
    found = accesses(first), accesses(second)
    pairs = _pairs(found[0].found, found[1].found)
    order, parameters = _later(loop, 0), found[0].parameters
    return not all(Conflict(early, late, 0, order, parameters).never() for late, early in pairs)


def reason(region: Region, verdict: Verdict) -> str:
    """Why *verdict* is what it is, for somebody who looks at the program."""
    name = f"'{region.host_name(verdict.variable)}'" if verdict.variable else ""
    if verdict.parallel == "yes":
        return "no iteration touches what another one writes"
    if verdict.parallel == "reduction":
        return f"the iterations only meet where they accumulate into {name}"
    if verdict.parallel == "unknown" and not verdict.variable:
        return "an iteration may leave the loop"
    if verdict.parallel == "unknown":
        return f"which elements of {name} the iterations touch depends on data"
    first, second = ("written" if mention.writes else "read" for mention in verdict.mentions)
    if verdict.witness is None:
        return f"{name} is {first} in one iteration and {second} in another"
    source, sink = (listed(side) for side in (verdict.witness.source, verdict.witness.sink))
    names = {region.host_name(name): value for name, value in verdict.witness.parameters.items()}
    given = f" (where {listed(names)})" if names else ""
    return f"{name} is {first} in iteration {source} and {second} in iteration {sink}{given}"


def _loops(body: tuple[Stmt, ...], outer: tuple[For, ...]) -> Iterator[tuple[For, ...]]:
    """Each loop of *body* with the loops around it."""
    for stmt in body:
        if isinstance(stmt, For):
            yield (*outer, stmt)
            yield from _loops(stmt.body, (*outer, stmt))
        elif not isinstance(stmt, While):
            for part in bodies(stmt):
                yield from _loops(part, outer)


def _judge(region: Region, found: Accesses, loops: tuple[For, ...], cells: Container[str] = ()) -> Verdict:
    """The verdict on the innermost of *loops*, whose iterations share *cells*, whenever they set them."""
    loop, depth = loops[-1], len(loops) - 1
    still = region.scalars | {outer.iname for outer in loops[:-1]}
    inside = _inside(found, loops)
    shared = {a.variable for a in inside if a.writes and found.declared[a.variable] <= depth}
    leaves = any(isinstance(jump, Break) for jump in jumps.own(loop.body))
    doubtful = Verdict(loop, "unknown") if leaves else None
    reduced: Verdict | None = None
    for variable in sorted(shared):
        if variable not in cells and loops_that_set(loop.body, variable, still) is not None:
            continue
        mentions = [access for access in inside if access.variable == variable]
        for first, second in _pairs(mentions, mentions):
            pair = Conflict(first, second, depth, _later(loop, depth), found.parameters)
            if pair.never():
                continue
            if first.op and first.op == second.op:
                reduced = reduced or Verdict(loop, "reduction", variable, (first, second))
            elif pair.exact:
                return Verdict(loop, "no", variable, (first, second), pair.witness())
            else:
                doubtful = doubtful or Verdict(loop, "unknown", variable, (first, second))
    return doubtful or reduced or Verdict(loop, "yes")


def _inside(found: Accesses, loops: tuple[For, ...]) -> list[Access]:
    """The accesses in the innermost of *loops*."""
    depth = len(loops) - 1
    return [access for access in found.found if len(access.loops) > depth and access.loops[depth] is loops[-1]]


def _pairs(one: Iterable[Access], other: Iterable[Access]) -> Iterator[tuple[Access, Access]]:
    """The mentions of one variable of which one at least writes it."""
    for first, second in product(one, other):
        if first.variable == second.variable and (first.writes or second.writes):
            yield first, second


def _later(loop: For, depth: int) -> str:
    """That the iteration *y* of *loop* is later than *x*."""
    step = signed_step(loop)
    if not isinstance(step, Const):
        return f"x{depth} != y{depth}"
    return f"x{depth} {'<' if step.value > 0 else '>'} y{depth}"
