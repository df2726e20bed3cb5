"""Which loops have iterations that do not depend on each other: a proof, a pair of iterations that do, or neither.

In: a region.  Out: a `Verdict` for each of its ``for`` loops.  Two iterations of a loop conflict if both mention one
element and one of them writes it; the loops around it stand still.  What an iteration declares, and scalars that it
sets before it reads them, are its own.  Arrays with different names are taken for different arrays (`runtime.aliasing`
looks at each launch).  Called by the driver, for ``nomp check`` and remarks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

import islpy as isl

from nomp.accesses import Access, Accesses, accesses
from nomp.frontend.private import sets_first
from nomp.loops import signed_step
from nomp.polynomial import Dimension, Polynomial, constant, split
from nomp.region import Const, For, Region, Stmt, While
from nomp.walks import bodies

Parallel = Literal["yes", "no", "reduction", "unknown"]
_BOXES = tuple(product((4, 16, 256, 65536), (0, -1)))
"""Where small witnesses are looked for: values up to the first number, from that times the second on."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Two iterations of a loop that conflict: the counters' values in the earlier and in the later one."""

    source: Mapping[str, int]
    sink: Mapping[str, int]
    parameters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the iterations of *loop* may run at the same time, and if not, the mentions of *variable* that conflict.

    ``reduction``: they only conflict in accumulations.  ``unknown``: they conflict unless data prevent it.
    """

    loop: For
    parallel: Parallel
    variable: str = ""
    mentions: tuple[Access, ...] = ()
    witness: Witness | None = None


def verdicts(region: Region) -> tuple[Verdict, ...]:
    """The verdict on each loop of *region* that is not inside a ``while``, in program order."""
    found = accesses(region)
    return tuple(_judge(found, loops) for loops in _loops(region.body, ()))


def reason(region: Region, verdict: Verdict) -> str:
    """Why *verdict* is what it is, for somebody who looks at the program."""
    name = f"'{region.host_name(verdict.variable)}'" if verdict.variable else ""
    if verdict.parallel == "yes":
        return "no iteration touches what another one writes"
    if verdict.parallel == "reduction":
        return f"the iterations only meet where they accumulate into {name}"
    if verdict.parallel == "unknown":
        return f"which elements of {name} the iterations touch depends on data"
    first, second = ("written" if mention.writes else "read" for mention in verdict.mentions)
    if verdict.witness is None:
        return f"{name} is {first} in one iteration and {second} in another"
    source, sink = (_listed(side) for side in (verdict.witness.source, verdict.witness.sink))
    names = {region.host_name(name): value for name, value in verdict.witness.parameters.items()}
    given = f" (where {_listed(names)})" if names else ""
    return f"{name} is {first} in iteration {source} and {second} in iteration {sink}{given}"


def _listed(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {number}" for name, number in numbers.items())


def _loops(body: tuple[Stmt, ...], outer: tuple[For, ...]) -> Iterator[tuple[For, ...]]:
    """Each loop of *body* with the loops around it."""
    for stmt in body:
        if isinstance(stmt, For):
            yield (*outer, stmt)
            yield from _loops(stmt.body, (*outer, stmt))
        elif not isinstance(stmt, While):
            for part in bodies(stmt):
                yield from _loops(part, outer)


def _judge(found: Accesses, loops: tuple[For, ...]) -> Verdict:
    loop, depth = loops[-1], len(loops) - 1
    inside = [access for access in found.found if len(access.loops) > depth and access.loops[depth] is loop]
    shared = {a.variable for a in inside if a.writes and found.declared[a.variable] <= depth}
    doubtful: Verdict | None = None
    reduced: Verdict | None = None
    for variable in sorted(shared):
        if sets_first(loop.body, variable):
            continue
        mentions = [access for access in inside if access.variable == variable]
        for first, second in product(mentions, repeat=2):
            if not (first.writes or second.writes):
                continue
            pair = _Pair(first, second, depth, found.parameters)
            if pair.is_apart():
                continue
            if first.op and first.op == second.op:
                reduced = reduced or Verdict(loop, "reduction", variable, (first, second))
            elif pair.exact:
                return Verdict(loop, "no", variable, (first, second), pair.witness())
            else:
                doubtful = doubtful or Verdict(loop, "unknown", variable, (first, second))
    return doubtful or reduced or Verdict(loop, "yes")


class _Pair:
    """The iterations of the loop at *depth* in which *first* and, later, *second* mention the same element.

    *exact*: whether there are such iterations if the set is not empty.
    """

    def __init__(self, first: Access, second: Access, depth: int, parameters: Mapping[str, str]) -> None:
        self.first, self.second, self.parameters = first, second, parameters
        self.exact = first.exact and second.exact
        sides = [{loop.iname: f"{'x' if k < depth else letter}{k}" for k, loop in enumerate(access.loops)}
                 | dict(parameters) for letter, access in (("x", first), ("y", second))]  # fmt: skip
        constraints = [f"x{k} = y{k}" for k in range(depth)]
        constraints.append(_later(first.loops[depth], depth))
        for one, two in zip(first.index, second.index, strict=True):
            constraints += self._equal(one, two, sides)
        self.conflicts = isl.Map.from_domain_and_range(first.domain, second.domain) & self._map(constraints)

    def is_apart(self) -> bool:
        """Whether there are no such iterations, whatever the parameters are."""
        return bool(self.conflicts.is_empty())

    def witness(self) -> Witness:
        """The smallest such pair that is found, with parameters for which it exists."""
        point = _smallest(self.conflicts)
        size = point.space.dim(isl.dim_type.set)
        numbers = [point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(size)]
        count, middle = len(self.parameters), len(self.parameters) + len(self.first.loops)
        return Witness(
            _values(self.first.loops, numbers[count:middle]),
            _values(self.second.loops, numbers[middle:]),
            dict(zip(self.parameters, numbers, strict=False)),
        )

    def _map(self, constraints: list[str]) -> isl.Map:
        left, right = (
            ", ".join(f"{letter}{k}" for k in range(len(access.loops)))
            for letter, access in (("x", self.first), ("y", self.second))
        )
        names = ", ".join(self.parameters.values())
        return isl.Map(f"[{names}] -> {{ [{left}] -> [{right}] : {' and '.join(constraints)} }}")

    def _equal(self, one: Polynomial | None, two: Polynomial | None, sides: list[dict[str, str]]) -> list[str]:
        """That the subscripts are equal, as far as it can be said; what cannot be said makes the pair inexact."""
        if one is not None and two is not None:
            difference = one.renamed(sides[0]) + two.renamed(sides[1]) * constant(-1)
            if difference.is_affine:
                return [f"{difference.text()} = 0"]
            counters = frozenset(loop.iname for access in (self.first, self.second) for loop in access.loops)
            rows = split((one, two), counters)
            if rows and all(map(self._in_bounds, (self.first, self.second), rows)):
                pairs = zip(*rows, strict=True)
                return [f"{a.index.renamed(sides[0]).text()} = {b.index.renamed(sides[1]).text()}" for a, b in pairs]
        self.exact = False
        return []

    def _in_bounds(self, access: Access, row: tuple[Dimension, ...]) -> bool:
        """Whether each subscript of *row* stays within its extent in all iterations of *access*."""
        counters = {loop.iname: f"i{k}" for k, loop in enumerate(access.loops)}
        names, spelled = ", ".join(self.parameters.values()), counters | dict(self.parameters)
        for dimension in row:
            if dimension.extent is None:
                continue
            index, extent = (part.renamed(spelled).text() for part in (dimension.index, dimension.extent))
            inside = isl.Set(f"[{names}] -> {{ [{', '.join(counters.values())}] : 0 <= {index} < {extent} }}")
            if not access.domain <= inside:
                return False
        return True


def _later(loop: For, depth: int) -> str:
    """That the iteration *y* of *loop* is later than *x*."""
    step = signed_step(loop)
    if not isinstance(step, Const):
        return f"x{depth} != y{depth}"
    return f"x{depth} {'<' if step.value > 0 else '>'} y{depth}"


def _values(loops: tuple[For, ...], numbers: list[int]) -> dict[str, int]:
    return {loop.iname: number for loop, number in zip(loops, numbers, strict=True)}


def _smallest(conflicts: isl.Map) -> isl.Point:
    """A point of *conflicts*, which is not empty: parameters first, small numbers in a small box.

    One coordinate after the other is made as small as it can be; isl's lexmin finds some sets empty that are not.
    """
    count = conflicts.dim(isl.dim_type.param)
    rest = conflicts.move_dims(isl.dim_type.in_, 0, isl.dim_type.param, 0, count).wrap().flatten()
    names = [f"v{k}" for k in range(rest.dim(isl.dim_type.set))]

    def where(constraint: str) -> isl.Set:
        return rest & isl.Set(f"{{ [{', '.join(names)}] : {constraint} }}")

    boxes = (" and ".join(f"{least * most} <= {name} <= {most}" for name in names) for most, least in _BOXES)
    rest = next((inside for box in boxes if not (inside := where(box)).is_empty()), rest)
    for number, name in enumerate(names):
        lower = rest.dim_min_val(number)
        if lower.is_int() and not (less := where(f"{name} = {lower}")).is_empty():
            rest = less
    return rest.sample_point()
