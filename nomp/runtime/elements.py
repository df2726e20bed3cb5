"""Stretches of memory that a launch may touch, and which elements of which arrays they hold.

In: a region's parameters, each with the host address of its element 0, and where they are mapped.  Out: masks of what
the region may touch, and the elements' values and names.  Used by `runtime.verify` and `runtime.comparison`; made by
`runtime.kernel`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nomp.arithmetic import SIZES, Number, bits, is_signed
from nomp.region import Binary, Const, Expr, Param, Region
from nomp.runtime.spelling import spelled
from nomp.walks import loads, walk

Bytes = NDArray[np.uint8]
Mask = NDArray[np.bool_]


class Stretch:
    """Host bytes [*start*, *end*), which the device has from byte *offset* of *buffer* on, if it has them.

    *params* are those by which *region* knows them, each with the address of its element 0.
    """

    def __init__(
        self, region: Region, start: int, end: int, params: Mapping[str, int], buffer: Any = None, offset: int = 0
    ) -> None:
        self.start = start
        self.end = end
        self.buffer = buffer
        self.offset = offset
        self.elements = [Elements(region, self, region.param(name), address) for name, address in params.items()]

    @property
    def is_single(self) -> bool:
        """Whether it is one variable, or an element that is treated as one."""
        return all(elements.is_single for elements in self.elements)

    @property
    def name(self) -> str:
        """How the program calls it."""
        return self.elements[0].name

    @cached_property
    def touched(self) -> Mask:
        """The bytes that the region may touch."""
        found = np.zeros(self.end - self.start, np.bool_)
        for elements in self.elements:
            found[elements.bytes] |= np.repeat(elements.touched, elements.size)
        return found


class Elements:
    """The elements of *param*, whose element 0 is at *address*, that *stretch* holds and *region* may touch."""

    def __init__(self, region: Region, stretch: Stretch, param: Param, address: int) -> None:
        self.param = param
        self.size = SIZES[param.dtype]
        self.name = param.variable or param.name
        self.is_single = param.kind in ("cell", "counter")
        margin = (address - stretch.start) % self.size
        count = (stretch.end - stretch.start - margin) // self.size
        self.bytes = slice(margin, margin + count * self.size)
        self._first = (stretch.start + margin - address) // self.size
        self.touched = np.ones(count, np.bool_) if self.is_single else _touched(region, param, self._first, count)

    def of(self, data: Bytes) -> NDArray[Any]:
        """The elements' values in *data*, which is all of the stretch."""
        return data[self.bytes].view(np.dtype(self.param.dtype))[self.touched]

    def spelled(self, place: int, scalars: Mapping[str, Number]) -> str:
        """The element *place* of `of`, as the program would write it."""
        if self.is_single:
            return f"'{self.name}'"
        return spelled(self.param, int(np.flatnonzero(self.touched)[place]) + self._first, scalars)


def _touched(region: Region, param: Param, first: int, count: int) -> Mask:
    """Which of *count* elements of *param*, from *first* on, the region may touch, whatever its counters are."""
    numbers = np.arange(first, first + count)
    extents = [int(extent.value) for extent in param.shape if isinstance(extent, Const)]
    found = np.ones(count, np.bool_)
    if len(extents) == len(param.shape) and extents[0] > 1:  # one element may stand for any number
        found = (numbers >= 0) & (numbers < prod(extents))
    indices = {load.index for stmt in walk(region.body) for load in loads(stmt) if load.array == param.name}
    classes = {_class_of(index[0]) if len(index) == 1 else (0, 1) for index in indices}
    if not any(modulus == 1 for _, modulus in classes):
        found &= np.logical_or.reduce(
            [(numbers - rest) % modulus == 0 if modulus else numbers == rest for rest, modulus in classes]
        )
    return found & _members(param)[numbers % len(_members(param))]


def _members(param: Param) -> Mask:
    """Which elements of an array that is as long as a struct are *param*'s; all of one for an array of its own."""
    size, struct = SIZES[param.dtype], param.grid[0][1] if param.grid else 1
    if struct % size:
        return np.ones(1, np.bool_)
    offsets = np.zeros(1, np.int64)
    for count, stride in param.grid[1:]:
        offsets = np.add.outer(offsets, stride * np.arange(count)).ravel()
    found = np.zeros(struct // size, np.bool_)
    found[offsets // size] = True
    return found


def _class_of(index: Expr) -> tuple[int, int]:
    """A number and a modulus: *index* is that number modulo the other (0: it is that number)."""
    match index:
        case Const(value=value):
            return int(value), 0
        case Binary(op="+" | "-" as op, left=left, right=right):
            (one, first), (two, second) = _class_of(left), _class_of(right)
            return one + two if op == "+" else one - two, gcd(first, second, _wrap(index.dtype))
        case Binary(op="*", left=Const(value=factor), right=other) | Binary("*", other, Const(factor)):
            rest, modulus = _class_of(other)
            return rest * int(factor), gcd(modulus * int(factor), _wrap(index.dtype))
    return 0, 1


def _wrap(dtype: str) -> int:
    """After how much arithmetic in *dtype* begins anew; 0: signed arithmetic must not."""
    return 0 if is_signed(dtype) else 1 << bits(dtype)
