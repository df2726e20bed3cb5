"""Arrays as kernels see them, NumPy's and those on the device: how their elements lie, and where.

In: an array.  Out: its `Layout`, or what keeps kernels from using it; the bytes that it takes.  Used by
`runtime.python` and `runtime.api`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from nomp.frontend.python_context import Layout, Unusable
from nomp.frontend.python_types import TYPES

Array = Any
"""A NumPy array, or a `device_array.DeviceArray`."""

WRITEABLE, ALIGNED, C_ORDER = 0x400, 0x100, 0x1
"""NumPy's flags (``NPY_ARRAY_...``)."""


def layout_of(array: Array) -> Layout | Unusable:
    """How the elements of *array* lie."""
    dtype, flags = array.dtype, array.flags
    if dtype.name not in TYPES:
        kind = "an array of Python objects" if dtype.hasobject else f"an array of {dtype.name}"
        return Unusable(kind, "use bool, integers, float16, float32 or float64: a.astype(np.float64)")
    if not dtype.isnative:
        return Unusable("a byte-swapped array", "a.astype(a.dtype.newbyteorder('=')) swaps its bytes", "N234")
    if not flags.aligned:
        return Unusable("an array whose elements are not aligned", "use a copy: a.copy()", "N234")
    if not array.ndim:
        return Unusable("an array without axes", "take its number before the loop: a.item()")
    steps = _steps(array)
    if steps is None:
        return Unusable("an array whose elements are not whole elements apart", "use a copy: a.copy()", "N234")
    fixed = "" if flags.writeable else "it is read-only"
    order = tuple(sorted(range(array.ndim), key=lambda axis: -steps[axis]))
    if _overlaps(array.shape, steps):
        fixed = fixed or "some of its elements share memory"
        return Layout(dtype.name, order, False, steps, fixed)
    pitches = [steps[axis] for axis in order]
    if pitches[-1] == 1 and all(step % inner == 0 for step, inner in pairwise(pitches)):
        dense = all(steps[outer] == steps[inner] * array.shape[inner] for outer, inner in pairwise(order))
        return Layout(dtype.name, order, dense, None, fixed)
    return Layout(dtype.name, order, False, steps, fixed)


def _steps(array: Array) -> tuple[int, ...] | None:
    """The distance of neighbours along each axis, in elements; for an axis without neighbours what fits the others."""
    steps, inner = [0] * array.ndim, 1
    for axis in range(array.ndim - 1, -1, -1):
        stride, rest = divmod(array.strides[axis], array.itemsize)
        if array.shape[axis] > 1:
            if rest:
                return None
            steps[axis] = stride
        else:
            steps[axis] = inner
        inner = max(inner, abs(steps[axis]) * max(1, array.shape[axis]))
    return tuple(steps)


def _overlaps(shape: tuple[int, ...], steps: tuple[int, ...]) -> bool:
    """Whether two elements may be one: an axis does not fit between two neighbours of the axes around it."""
    used = 1
    for step, length in sorted(zip(map(abs, steps), shape, strict=True)):
        if length > 1:
            if step < used:
                return True
            used += step * (length - 1)
    return False


def pitch(array: Array, axis: int, order: tuple[int, ...]) -> int:
    """How many times as far apart neighbours along the axis around *axis* are as along *axis* itself."""
    steps = _steps(array)
    assert steps is not None
    return steps[order[order.index(axis) - 1]] // steps[axis]


def address_of(array: Array) -> int:
    """The address of element 0."""
    return int(array.__array_interface__["data"][0] if isinstance(array, np.ndarray) else array.address)


def stretch(array: Array, address: int) -> tuple[int, int]:
    """The addresses between which *array* lies, whose element 0 is at *address*."""
    low, high = address, address + array.itemsize
    for length, stride in zip(array.shape, array.strides, strict=True):
        if length == 0:
            return address, address
        reach = (length - 1) * stride
        low, high = (low + reach, high) if reach < 0 else (low, high + reach)
    return low, high


def is_dense(array: Array, low: int, high: int) -> bool:
    """Whether *array* has all bytes between *low* and *high*."""
    if high - low != array.nbytes or array.flags.c_contiguous:
        return bool(high - low == array.nbytes)
    steps = _steps(array)
    return steps is not None and not _overlaps(array.shape, steps)  # what shares memory here, leaves gaps elsewhere
