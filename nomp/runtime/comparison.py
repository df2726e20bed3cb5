"""What a kernel made and what the program's loop made of the same memory: the same, up to rounding?

In: a region, its scalars, and what became of each stretch of memory that it may touch.  Out: the first difference in
each array or variable.  Called by `runtime.verify`.

Integers must be equal.  Kernels may contract a multiplication and an addition to one operation, sum reductions in
another order and have other mathematical functions, so that floating-point numbers may differ by half of their digits:
by the square root of the type's precision, as part of the larger of the two or of the array's largest.  What sums to
nearly nothing, though its terms are large, has no digits left to compare: so what the launch accumulates in a variable
is measured against the largest number in the launch, and all else is given 16 roundings of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, prod, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nomp.arithmetic import SIZES, Number, evaluate, is_float, is_launch_expr
from nomp.region import Assign, Binary, Const, Expr, Load, Param, Region, Var
from nomp.walks import expressions, loads, walk, walk_expr

if TYPE_CHECKING:
    from nomp.runtime.verify import Stretch

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first element of an array, or the variable, in which the two differ; *count* of *total* elements do."""

    place: str
    device: str
    host: str
    count: int = 1
    total: int = 1

    def __str__(self) -> str:
        return f"{self.place} is {self.device} on the device, {self.host} on the host"


class Made(NamedTuple):
    """All bytes of *stretch*: before the launch, after it, and after the program's loop."""

    stretch: Stretch
    initial: Bytes
    device: Bytes
    host: Bytes


def differences(region: Region, scalars: Mapping[str, Number], made: Sequence[Made]) -> list[Difference]:
    """The first difference in each parameter of a launch of *region* with these *scalars*."""
    if all(np.array_equal(one.device, one.host) for one in made):
        return []
    comparison = _Comparison(region, scalars, made)
    return [difference for one in made for difference in comparison.differences(one)]


class _Comparison:
    def __init__(self, region: Region, scalars: Mapping[str, Number], made: Sequence[Made]) -> None:
        self._region = region
        self._scalars = scalars
        self._precision = _precision(region)
        self._accumulated = _accumulated(region)
        self._singles = [one.stretch for one in made if not any(param.shape for param, _ in one.stretch.params)]
        given = [abs(value) for value in scalars.values() if isinstance(value, float) and isfinite(value)]
        self._largest = max([*given, *map(self._largest_of, made)], default=0.0)

    def _largest_of(self, made: Made) -> float:
        """The largest floating-point number in what the region may touch."""
        found = [0.0]
        for param, address in made.stretch.params:
            if is_float(param.dtype):
                elements = _Elements(self._region, made.stretch, param, address)
                found += [_magnitude(elements.of(data)[elements.touched]) for data in made[1:]]
        return max(found)

    def differences(self, made: Made) -> Iterator[Difference]:
        """The first difference in each parameter of the stretch, or else in what the region does not reach."""
        stretch = made.stretch
        structs = any(param.record for param, _ in stretch.params)  # C may copy the bytes between members
        beyond = made.device != (made.initial if structs else made.host)
        for param, address in stretch.params:
            elements = _Elements(self._region, stretch, param, address)
            beyond[elements.bytes] &= ~np.repeat(elements.touched, elements.size)
        for single in self._singles:
            beyond[max(0, single.start - stretch.start) : max(0, single.end - stretch.start)] = False
        for param, address in stretch.params:
            elements = _Elements(self._region, stretch, param, address)
            yield from self._in(param, elements, elements.of(made.device), elements.of(made.host))
        if beyond.any():
            first = int(np.flatnonzero(beyond)[0])
            place = f"byte {first} of what is mapped with {stretch.name}, which the loop does not reach,"
            yield Difference(place, str(made.device[first]), str(made.host[first]))

    def _in(
        self, param: Param, elements: _Elements, device: NDArray[Any], host: NDArray[Any]
    ) -> Iterator[Difference]:
        places = np.flatnonzero(elements.touched)
        device, host = device[places], host[places]
        wrong = np.flatnonzero(self._differ(param, device, host))
        if wrong.size:
            first = int(wrong[0])
            place = elements.spelled(int(places[first]), self._scalars)
            yield Difference(place, _shown(device[first]), _shown(host[first]), int(wrong.size), int(places.size))

    def _differ(self, param: Param, device: NDArray[Any], host: NDArray[Any]) -> NDArray[np.bool_]:
        """Where the two are not the same value; NaN is NaN."""
        if not is_float(param.dtype):
            return np.asarray(device != host)
        precision = max(self._precision, float(np.finfo(device.dtype).eps))
        own = self._largest if param.name in self._accumulated else max(_magnitude(device), _magnitude(host))
        one, two = device.astype(np.float64), host.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(one - two) > sqrt(precision) * own + 16 * precision * self._largest
        both = np.isfinite(one) & np.isfinite(two)
        return np.where(both, apart, ~((one == two) | (np.isnan(one) & np.isnan(two))))


class _Elements:
    """The whole elements of *param*, whose element 0 is at *address*, that *stretch* holds."""

    def __init__(self, region: Region, stretch: Stretch, param: Param, address: int) -> None:
        self.size = SIZES[param.dtype]
        self._param = param
        self._unit = stretch.unit
        margin = (address - stretch.start) % self.size
        count = (stretch.end - stretch.start - margin) // self.size
        self.bytes = slice(margin, margin + count * self.size)
        self.first = (stretch.start + margin - address) // self.size
        self.touched = _touched(region, param, self.first, count)

    def of(self, data: Bytes) -> NDArray[Any]:
        """The elements' values in *data*, which is all of the stretch."""
        return data[self.bytes].view(np.dtype(self._param.dtype))

    def spelled(self, place: int, scalars: Mapping[str, Number]) -> str:
        """The element *place* as the program would write it."""
        param, number = self._param, place + self.first
        name = param.variable or param.name
        if not param.shape:
            return f"'{name}'"
        if param.record:
            inner, rest = divmod(number * self.size, self._unit) if self._unit else (0, 1)
            if rest or name.count("[]") != 1:
                return f"element {number} of '{name}'"
            return f"'{name.replace('[]', f'[{inner}]')}'"
        inner_extents = param.shape[1:]
        if number < 0 or not all(extent and is_launch_expr(extent, scalars) for extent in inner_extents):
            return f"'{name}[{number}]'" if not inner_extents else f"element {number} of '{name}'"
        extents = [int(evaluate(extent, scalars)) for extent in inner_extents if extent]
        indices = []
        for position in range(len(extents) + 1):
            index, number = divmod(number, prod(extents[position:]))
            indices.append(f"[{index}]")
        return f"'{name}{''.join(indices)}'"


def _touched(region: Region, param: Param, first: int, count: int) -> NDArray[np.bool_]:
    """Which of *count* elements of *param*, from *first* on, the region may touch, whatever its counters are."""
    if not param.shape:
        return np.ones(count, np.bool_)
    numbers, found = np.arange(first, first + count), np.zeros(count, np.bool_)
    mentions = {load.index for stmt in walk(region.body) for load in loads(stmt) if load.array == param.name}
    for rest, modulus in {_class_of(index[0]) if len(index) == 1 else (0, 1) for index in mentions}:
        found |= (numbers - rest) % modulus == 0 if modulus else numbers == rest
    return found


def _class_of(index: Expr) -> tuple[int, int]:
    """A number and a modulus, so that *index* is that number modulo the latter (0: it is that number)."""
    match index:
        case Const(value=value):
            return int(value), 0
        case Binary(op="+" | "-" as op, left=left, right=right):
            (one, first), (two, second) = _class_of(left), _class_of(right)
            return one + two if op == "+" else one - two, int(np.gcd(first, second))
        case Binary(op="*", left=left, right=Const(value=factor)):
            rest, modulus = _class_of(left)
            return rest * int(factor), abs(modulus * int(factor))
    return 0, 1


def _precision(region: Region) -> float:
    """That of the coarsest floating-point type in the region: what is computed in float is no better as a double."""
    bodies = (region.body, *(function.body for function in region.functions))
    nodes = (node for body in bodies for stmt in walk(body) for expr in expressions(stmt) for node in walk_expr(expr))
    single = any(node.dtype == "float32" for node in nodes)
    return float(np.finfo(np.float32 if single else np.float64).eps)


def _accumulated(region: Region) -> set[str]:
    """The variables whose new value is made from the old one."""
    return {
        stmt.target.name
        for stmt in walk(region.body)
        if isinstance(stmt, Assign) and isinstance(stmt.target, Var)
        and any(isinstance(node, Var) and node.name == stmt.target.name for node in walk_expr(stmt.value))
    }  # fmt: skip


def _magnitude(values: NDArray[Any]) -> float:
    finite = values[np.isfinite(values)]
    return float(np.max(np.abs(finite))) if finite.size else 0.0


def _shown(value: Any) -> str:
    """*value* with all its digits."""
    return str(bool(value)).lower() if isinstance(value, np.bool_) else str(value)
