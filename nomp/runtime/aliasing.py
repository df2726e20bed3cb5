"""Whether parameters with different names overlap at a launch, which a schedule made for distinct ones may not allow.

In: a region; then where its scalars and counters lie, and the parameters' addresses.  Out: yes or no; "yes" may be too
careful, "no" is certain.  Called by `runtime.kernel`.  Where arrays overlap it has the loops run in the order of the
source, where nothing is wrong with that; a single variable that is also an element of an array is refused, because the
kernel has a copy of the variable.

Two arrays of which one is written are apart if they are members of one array of structs, if the bytes that the loops
can reach are, or if they are interleaved: members of structs by two names, or the even and the odd elements of one
array.  The same address under two names is harmless where one statement has all accesses, with the same subscript: that
is one array, and the schedule is the user's affair.  For a bound that is read from one of them it is not: that is read
once.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import gcd, prod

from nomp.affine import Affine, Scope
from nomp.arithmetic import SIZES, cast
from nomp.region import Binary, Const, Expr, For, If, Load, Param, Region
from nomp.runtime.ranges import Interval, interval
from nomp.walks import loads, variables, walk, walk_expr, without_places, written_in


@dataclass(frozen=True, slots=True)
class Reach:
    """What a launch may touch of a parameter: elements in *elements* (None: any), one of *rests* modulo *stride*."""

    elements: Interval | None
    stride: int
    rests: frozenset[int]


@dataclass(frozen=True, slots=True)
class Used:
    """A parameter's memory on the host: element 0 at *start*, *reach* of what lies between *low* and *high*."""

    param: Param
    start: int
    low: int
    high: int
    reach: Reach

    def meets(self, other: Used) -> bool:
        """Whether the two may share an element that one of the two parameters writes."""
        one, two = self.param, other.param
        if not (one.writes or two.writes) or (one.record and one.record == two.record):
            return False
        if {one.kind, two.kind} == {"counter", "scalar"} and one.host == two.host:
            return False  # its last value is set after the launch
        if not self.touches(*other._bytes()):
            return False
        size, other_size = SIZES[one.dtype], SIZES[two.dtype]
        modulus = gcd(self.reach.stride * size, other.reach.stride * other_size)
        pairs = product(self._rests(), other._rests())
        return not all(_interleaved(modulus, *pair, size, other_size) for pair in pairs)

    def touches(self, low: int, high: int) -> bool:
        """Whether the launch may touch a byte of [*low*, *high*)."""
        first, last = self._bytes()
        return first < high and low < last

    def _bytes(self) -> tuple[int, int]:
        if self.reach.elements is None:
            return self.low, self.high
        size, (first, last) = SIZES[self.param.dtype], self.reach.elements
        return max(self.low, self.start + first * size), min(self.high, self.start + (last + 1) * size)

    def _rests(self) -> list[int]:
        return [self.start + rest * SIZES[self.param.dtype] for rest in self.reach.rests]


def matters(region: Region) -> bool:
    """Whether overlap could matter at all: two arrays, one of them written."""
    arrays = [param for param in region.params if param.kind == "array"]
    return len(arrays) > 1 and any(param.writes for param in arrays)


def singles_matter(region: Region) -> bool:
    """Whether it could matter that a single variable overlaps with something."""
    params = [param for param in region.params if param.kind != "table"]
    return len(params) > 1 and any(p.writes for p in params) and any(p.kind != "array" for p in params)


def read_by_bounds(region: Region) -> dict[str, For]:
    """The arrays that bounds and steps of loops are read from: a kernel reads them once, C before each iteration."""
    loops = (stmt for stmt in walk(region.body) if isinstance(stmt, For))
    parts = ((loop, node) for loop in loops for expr in (loop.upper, loop.step) for node in walk_expr(expr))
    return {node.array: loop for loop, node in parts if isinstance(node, Load)}


def reaches(region: Region, known: Mapping[str, Interval]) -> dict[str, Reach]:
    """What a launch may touch of the arrays that are used, where scalars and counters lie as *known* (nothing of any,
    if a subscript may wrap around)."""
    used = [p for p in region.params if p.kind == "array" and (p.reads or p.writes)]
    return {param.name: _reach(region, param, known) for param in used}


def arrays(
    region: Region, reach: Mapping[str, Reach], pointers: Mapping[str, int], mapped: Mapping[str, tuple[int, int]]
) -> tuple[Used, ...]:
    """What the loops use of the arrays.

    *reach* is that of each.  *pointers* are the addresses of their elements 0, *mapped* the addresses between which
    each array is mapped.
    """
    used = [p for p in region.params if p.name in reach and p.name in mapped]
    return tuple(Used(p, pointers[p.name], *mapped[p.name], reach[p.name]) for p in used)


def single(param: Param, address: int) -> Used:
    """What a launch uses of a variable that it copies."""
    return Used(param, address, address, address + SIZES[param.dtype], Reach((0, 0), 0, frozenset({0})))


def apart(used: Iterable[Used]) -> bool:
    """Whether no two arrays share an element that one of them writes, whatever their accesses are."""
    return not any(one.meets(other) for one, other in combinations(used, 2))


def overlap(region: Region, used: Iterable[Used], among: Container[str] | None = None) -> bool:
    """Whether two arrays may share an element that one of them writes; *among*: the other one is one of these."""
    for pair in combinations(used, 2):
        counts = among is None or any(one.param.writes and two.param.name in among for one, two in (pair, pair[::-1]))
        if counts and pair[0].meets(pair[1]) and not (among is None and _is_one(region, *pair)):
            return True
    return False


def meeting(singles: Sequence[Used], used: Iterable[Used]) -> tuple[Param, Param] | None:
    """A single variable and another parameter that share memory which one of the two writes."""
    pairs = (*combinations(singles, 2), *product(singles, used))
    return next(((one.param, other.param) for one, other in pairs if one.meets(other)), None)


def _interleaved(modulus: int, first: int, second: int, size: int, other: int) -> bool:
    """Whether stretches of *size* and *other* bytes that start at these places of a circle are apart."""
    if modulus < size + other:
        return False
    return (second - first) % modulus >= size and (first - second) % modulus >= other


def _is_one(region: Region, first: Used, second: Used) -> bool:
    """Whether the two are one array, every access to which has one subscript that does not change in an iteration.

    All accesses must be in one statement or in the conditions around it: the order of two would be free.
    """
    one, two = first.param, second.param
    if first.start != second.start or one.dtype != two.dtype or one.shape[1:] != two.shape[1:]:
        return False
    both = {one.name, two.name}
    users = [stmt for stmt in walk(region.body) if any(load.array in both for load in loads(stmt))]
    if not all(isinstance(user, If) and any(users[-1] is inner for inner in walk((user,))) for user in users[:-1]):
        return False
    found = {without_places(load.index) for load in _loads(region, both)}
    return len(found) == 1 and not variables(*found.pop()) & written_in(region.body)


def element(load: Load, param: Param) -> Expr:
    """Which element *load* is, counted from the array's first, rows one after the other."""
    flat = cast(load.index[0], "int64")
    for subscript, extent in zip(load.index[1:], param.shape[1:], strict=True):
        assert extent is not None, "only the first extent of an array may be unknown"
        row = Binary("*", flat, cast(extent, "int64"), "int64")
        flat = Binary("+", row, cast(subscript, "int64"), "int64")
    return flat


def _loads(region: Region, names: set[str]) -> Iterator[Load]:
    return (load for stmt in walk(region.body) for load in loads(stmt) if load.array in names)


def _reach(region: Region, param: Param, known: Mapping[str, Interval]) -> Reach:
    """The elements of *param* that the region can touch."""
    forms = {name: Affine(0, {name: 1}) for name in known}
    scope = Scope(forms, forms.keys(), (), no_wrap=True)
    found: list[Interval] = []
    stride, rests = 0, set()
    for load in _loads(region, {param.name}):
        flat = element(load, param)
        between, form = interval(flat, known), scope.affine(flat) or Affine(0, {"": 1})  # any element
        if between is None:
            return Reach(_declared(param), 1, frozenset({0}))
        found.append(between)
        rests.add(form.constant)
        stride = gcd(stride, *form.terms.values())
    low, high = min((low for low, _ in found), default=0), max((high for _, high in found), default=-1)
    return Reach((low, high), stride, frozenset(rests))


def _declared(param: Param) -> Interval | None:
    """All elements of *param*, if it is declared with constant extents (one element may stand for any number)."""
    extents = [int(extent.value) for extent in param.shape if isinstance(extent, Const)]
    return (0, prod(extents) - 1) if len(extents) == len(param.shape) and extents[0] > 1 else None
