"""What a kernel made and what the program's loop made of the same memory: the same, up to rounding?

In: a region, its scalars, and what became of each stretch of memory that it may touch.  Out: the first difference in
each array or variable.  Called by `runtime.verify`.

Integers must be equal.  Kernels may contract a multiplication and an addition to one operation, sum reductions in
another order and have other mathematical functions, so that floating-point numbers may differ by half of their digits:
by the square root of the type's precision, as part of the largest in the array.  What sums to nearly nothing, though
its terms are large, has no digits left to compare: so what the launch accumulates in a variable is measured against the
largest number in the launch, and all else is given 16 roundings of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nomp.arithmetic import Number, is_float
from nomp.region import Assign, Param, Region, Var
from nomp.runtime.elements import Bytes, Elements, Mask, Stretch
from nomp.walks import expressions, walk, walk_expr


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
    """All bytes of *stretch*: the kernel's before the launch and after it, and what the program's loop left."""

    stretch: Stretch
    initial: Bytes
    device: Bytes
    host: Bytes


def differences(region: Region, scalars: Mapping[str, Number], made: Sequence[Made]) -> list[Difference]:
    """The first difference in each parameter of a launch of *region* with these *scalars*."""
    comparison = _Comparison(region, scalars, made)
    return [difference for one in made for difference in comparison.differences(one)]


class _Comparison:
    def __init__(self, region: Region, scalars: Mapping[str, Number], made: Sequence[Made]) -> None:
        self._scalars = scalars
        self._precision = _precision(region)
        self._accumulated = _accumulated(region)
        self._singles = [one.stretch for one in made if one.stretch.is_single]
        given = [abs(value) for value in scalars.values() if isinstance(value, float) and isfinite(value)]
        self._largest = max([*given, *map(self._largest_of, made)], default=0.0)

    def _largest_of(self, made: Made) -> float:
        """The largest floating-point number in what the region may touch."""
        values = [elements.of(data) for elements in made.stretch.elements if is_float(elements.param.dtype)
                  for data in made[1:]]  # fmt: skip
        return max(map(_magnitude, values), default=0.0)

    def differences(self, made: Made) -> Iterator[Difference]:
        """The first difference in each parameter of the stretch, and what the kernel changed besides."""
        for elements in made.stretch.elements:
            yield from self._in(elements, elements.of(made.device), elements.of(made.host))
        beyond = (made.device != made.initial) & ~made.stretch.touched
        for single in self._singles:
            start = made.stretch.start
            beyond[max(0, single.start - start) : max(0, single.end - start)] = False
        if beyond.any():
            first = int(np.flatnonzero(beyond)[0])
            place = f"byte {first} of what is mapped with '{made.stretch.name}', which the loop does not reach,"
            yield Difference(place, str(made.device[first]), str(made.initial[first]))

    def _in(self, elements: Elements, device: NDArray[Any], host: NDArray[Any]) -> Iterator[Difference]:
        wrong = np.flatnonzero(self._differ(elements.param, device, host))
        if wrong.size:
            first = int(wrong[0])
            place = elements.spelled(first, self._scalars)
            yield Difference(place, _shown(device[first]), _shown(host[first]), int(wrong.size), int(device.size))

    def _differ(self, param: Param, device: NDArray[Any], host: NDArray[Any]) -> Mask:
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
