"""Whether arrays with different names overlap at a launch, so that a schedule made for distinct arrays may be wrong.

In: a region; then where its scalars and counters lie, and the arrays' addresses.  Out: yes or no; "yes" may be too
careful, "no" is certain.  Called by `runtime.kernel`, which then has the loops run in the order of the source, where
nothing is wrong with overlap.

Two arrays of which one is written are apart if they are members of one array of structs, if the bytes that the loops
can reach are, or if they are interleaved: members of structs by two names, or the even and the odd elements of one
array.  The same address under two names is harmless where every access has the same subscript: that is one array, and
the schedule is the user's affair.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from math import gcd

from nomp.affine import Affine, Scope
from nomp.arithmetic import SIZES
from nomp.region import Assign, For, Load, Param, Region, Var
from nomp.runtime.ranges import Interval, interval
from nomp.walks import loads, walk, walk_expr, without_places


@dataclass(frozen=True, slots=True)
class Reach:
    """What a launch may touch of an array: elements in *elements* (None: any), one of *rests* modulo *stride*."""

    elements: Interval | None
    stride: int
    rests: frozenset[int]


def matters(region: Region) -> bool:
    """Whether overlap could matter at all: two arrays, one of them written."""
    arrays = [param for param in region.params if param.kind == "array"]
    return len(arrays) > 1 and any(param.writes for param in arrays)


def read_by_bounds(region: Region) -> dict[str, For]:
    """The arrays that bounds and steps of loops are read from: a kernel reads them once, C before each iteration."""
    loops = (stmt for stmt in walk(region.body) if isinstance(stmt, For))
    parts = ((loop, node) for loop in loops for expr in (loop.upper, loop.step) for node in walk_expr(expr))
    return {node.array: loop for loop, node in parts if isinstance(node, Load)}


def overlap(
    region: Region, known: Mapping[str, Interval], pointers: Mapping[str, int], mapped: Mapping[str, tuple[int, int]],
    among: Container[str] | None = None,
) -> bool:  # fmt: skip
    """Whether two arrays may share an element that one of them writes; *among*: the other one is one of these.

    *known* says where scalars and counters lie (nothing of any, if a subscript may wrap around).  *pointers* are the
    addresses of the arrays' elements 0, *mapped* the addresses between which each array is mapped.
    """
    arrays = [p for p in region.params if p.kind == "array" and p.name in mapped and (p.reads or p.writes)]
    reaches = {param.name: _reach(region, param, known) for param in arrays}
    pairs = (
        pair
        for pair in combinations(arrays, 2)
        if any(one.writes and (among is None or other.name in among) for one, other in (pair, pair[::-1]))
    )
    return not all(_apart(region, reaches, *pair, pointers, mapped) for pair in pairs)


def _apart(
    region: Region, all_reaches: Mapping[str, Reach], first: Param, second: Param, pointers: Mapping[str, int],
    mapped: Mapping[str, tuple[int, int]],
) -> bool:  # fmt: skip
    if first.record and first.record == second.record:
        return True
    reaches = [all_reaches[param.name] for param in (first, second)]
    starts = [pointers[param.name] for param in (first, second)]
    sizes = [SIZES[param.dtype] for param in (first, second)]
    (low, high), (other_low, other_high) = (
        _bytes(reach, start, size, mapped[param.name])
        for reach, start, size, param in zip(reaches, starts, sizes, (first, second), strict=True)
    )
    if high <= other_low or other_high <= low:
        return True
    modulus = gcd(reaches[0].stride * sizes[0], reaches[1].stride * sizes[1])
    shifted = zip(reaches, starts, sizes, strict=True)
    places = product(*([start + rest * size for rest in reach.rests] for reach, start, size in shifted))
    if all(_interleaved(modulus, *pair, *sizes) for pair in places):
        return True
    return starts[0] == starts[1] and first.dtype == second.dtype and _same_subscripts(region, first, second)


def _bytes(reach: Reach, start: int, size: int, mapped: tuple[int, int]) -> tuple[int, int]:
    if reach.elements is None:
        return mapped
    low, high = reach.elements
    return max(mapped[0], start + low * size), min(mapped[1], start + (high + 1) * size)


def _interleaved(modulus: int, first: int, second: int, size: int, other: int) -> bool:
    """Whether stretches of *size* and *other* bytes that start at these places of a circle are apart."""
    if modulus < size + other:
        return False
    return (second - first) % modulus >= size and (first - second) % modulus >= other


def _same_subscripts(region: Region, first: Param, second: Param) -> bool:
    """Whether every access to the two has one and the same subscript, whose value does not change in an iteration."""
    found = {without_places(load.index) for load in _loads(region, {first.name, second.name})}
    if len(found) != 1 or first.shape[1:] != second.shape[1:]:
        return False
    targets = (stmt.target for stmt in walk(region.body) if isinstance(stmt, Assign))
    written = {target.array if isinstance(target, Load) else target.name for target in targets}
    nodes = [node for index in found for part in index for node in walk_expr(part)]
    used = {node.array if isinstance(node, Load) else node.name for node in nodes if isinstance(node, Load | Var)}
    return not used & written


def _loads(region: Region, names: set[str]) -> Iterator[Load]:
    return (load for stmt in walk(region.body) for load in loads(stmt) if load.array in names)


def _reach(region: Region, param: Param, known: Mapping[str, Interval]) -> Reach:
    """The elements of *param* that the region can touch."""
    forms = {name: Affine(0, {name: 1}) for name in known}
    scope = Scope(forms, forms.keys(), (), no_wrap=True)
    found: list[Interval] = []
    stride, rests = 0, set()
    for load in _loads(region, {param.name}):
        flat = interval(load.index[0], known) if len(load.index) == 1 else None
        form = scope.affine(load.index[0]) if len(load.index) == 1 else None
        if flat is None or form is None:
            return Reach(None, 1, frozenset({0}))
        found.append(flat)
        rests.add(form.constant)
        stride = gcd(stride, *form.terms.values())
    low, high = min((low for low, _ in found), default=0), max((high for _, high in found), default=-1)
    return Reach((low, high), stride, frozenset(rests))
