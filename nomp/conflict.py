"""Two mentions of a variable, and the pairs of iterations in which they mean the same element.

In: two `Access`es, and what else holds of their iterations.  Out: a `Conflict`: whether there are such pairs, for which
parameters, and a small one as an example.  Used by `dependence`, `dangers` and `legality`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from itertools import product

import islpy as isl

from nomp.accesses import Access
from nomp.arithmetic import Number
from nomp.polynomial import Dimension, Polynomial, constant, split
from nomp.region import For

_BOXES = tuple(product((4, 16, 256, 65536), (0, -1)))
"""Where small witnesses are looked for: values up to the first number, from that times the second on."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Two iterations of a loop that conflict: the counters' values in the earlier and in the later one."""

    source: Mapping[str, int]
    sink: Mapping[str, int]
    parameters: Mapping[str, int]


def listed(numbers: Mapping[str, int]) -> str:
    """*numbers* as messages say them."""
    return ", ".join(f"{name} = {number}" for name, number in numbers.items())


class Conflict:
    """The pairs of iterations in which *first* and *second* mention the same element.

    Counter number *k* is called ``xk`` in the iteration of *first*, ``yk`` in that of *second*.  The outermost *still*
    loops, which are around both, do not move; *order* says what else holds of the two, in isl's text.  *parameters*
    gives the names that sets have for the region's scalars.  *exact*: whether the pairs found are real.
    """

    def __init__(
        self, first: Access, second: Access, still: int, order: str, parameters: Mapping[str, str]
    ) -> None:
        self.first, self.second, self.parameters = first, second, parameters
        self.exact = first.exact and second.exact
        sides = [{loop.iname: f"{'x' if k < still else letter}{k}" for k, loop in enumerate(access.loops)}
                 | dict(parameters) for letter, access in (("x", first), ("y", second))]  # fmt: skip
        constraints = [*(f"x{k} = y{k}" for k in range(still)), f"({order})"]
        if len(first.index) == len(second.index):
            for one, two in zip(first.index, second.index, strict=True):
                constraints += self._equal(one, two, sides)
        else:
            self.exact = False  # of two regions, one of which leaves the rows of the array
        self.pairs = isl.Map.from_domain_and_range(first.domain, second.domain) & self._map(constraints)

    def among(self, order: isl.Map, *, exact: bool) -> Conflict:
        """Those of the pairs that *order*, a relation of some of the outermost counters, allows."""
        found = copy(self)
        found.exact = self.exact and exact
        found.pairs = self.pairs & self.padded(order)
        return found

    def padded(self, order: isl.Map) -> isl.Map:
        """*order*, a relation of some of the outermost counters, of all."""
        for side, access in ((isl.dim_type.in_, self.first), (isl.dim_type.out, self.second)):
            order = order.add_dims(side, len(access.loops) - order.dim(side))
        return order

    def never(self) -> bool:
        """Whether there are no such pairs, whatever the parameters are."""
        return bool(self.pairs.is_empty())

    def happens(self, scalars: Mapping[str, Number]) -> bool:
        """Whether there are such pairs for the parameters *scalars*."""
        return not self._given(scalars).is_empty()

    def witness(self, scalars: Mapping[str, Number] | None = None) -> Witness:
        """The smallest such pair that is found, with parameters for which it exists: *scalars*, if given."""
        numbers = smallest(self._given(scalars or {}).wrap().flatten())
        count, middle = len(self.parameters), len(self.parameters) + len(self.first.loops)
        return Witness(
            _values(self.first.loops, numbers[count:middle]),
            _values(self.second.loops, numbers[middle:]),
            dict(zip(self.parameters, numbers, strict=False)),
        )

    def _given(self, scalars: Mapping[str, Number]) -> isl.Map:
        return self.pairs.intersect_params(given(self.parameters, scalars))

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


def _values(loops: tuple[For, ...], numbers: list[int]) -> dict[str, int]:
    return {loop.iname: number for loop, number in zip(loops, numbers, strict=True)}


def given(parameters: Mapping[str, str], scalars: Mapping[str, Number]) -> isl.Set:
    """That *parameters*, as sets call them, are what *scalars* says."""
    known = [f"{text} = {int(scalars[name])}" for name, text in parameters.items() if name in scalars]
    return isl.Set(f"[{', '.join(parameters.values())}] -> {{ : {' and '.join(known) or 'true'} }}")


def smallest(points: isl.Set) -> list[int]:
    """One of *points*, which are not none: its parameters first, small numbers in a small box.

    One coordinate after the other is made as small as it can be; isl's lexmin finds some sets empty that are not.
    """
    rest = points.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, points.dim(isl.dim_type.param))
    names = [f"v{k}" for k in range(rest.dim(isl.dim_type.set))]

    def where(constraint: str) -> isl.Set:
        return rest & isl.Set(f"{{ [{', '.join(names)}] : {constraint} }}")

    boxes = (" and ".join(f"{least * most} <= {name} <= {most}" for name in names) for most, least in _BOXES)
    rest = next((inside for box in boxes if not (inside := where(box)).is_empty()), rest)
    for number, name in enumerate(names):
        lower = rest.dim_min_val(number)
        if lower.is_int() and not (less := where(f"{name} = {lower}")).is_empty():
            rest = less
    point = rest.sample_point()
    return [point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(len(names))]
