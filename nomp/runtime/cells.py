"""Cells: single elements that a kernel writes without anyone having mapped them, such as the result of a reduction.

In: the ``cell`` parameters of a region and their host addresses.  Out: a one-element device buffer for each, filled
before the launches and copied back after them.  Used by `runtime.kernel`.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping
from typing import Any

from nomp.arithmetic import SIZES, Number, evaluate, is_float, limits
from nomp.backend import TYPE_CODES, Device
from nomp.region import Param, Region
from nomp.runtime.held import Held
from nomp.runtime.memory import AddressMap


def identity(op: str, dtype: str) -> Number:
    """The value that *op* leaves alone: what an overwriting reduction starts from."""
    if op in ("min", "max"):
        if is_float(dtype):
            return float("inf" if op == "min" else "-inf")
        return limits(dtype)[op == "min"]
    if op == "&":
        return limits(dtype)[1] if dtype.startswith(("u", "bool")) else -1
    return 1 if op in ("*", "&&") else 0


class Cell(Held):
    """A ``cell`` parameter: *position* among the parameters, and the device's buffer for it."""

    def __init__(self, region: Region, position: int) -> None:
        self.position = position
        self.param: Param = region.params[position]
        super().__init__(SIZES[self.param.dtype])
        ops = [r.op for r in region.clauses.reductions if r.name == self.param.name]
        self.start: Any = None
        if region.overwrite and ops:
            start = struct.pack(f"={TYPE_CODES[self.param.dtype]}", identity(ops[0], self.param.dtype))
            self.start = ctypes.create_string_buffer(start, len(start))

    def offset(self, scalars: Mapping[str, Number]) -> int:
        """How many bytes the element is away from the parameter's address."""
        return int(evaluate(self.param.index, scalars)) * self.size if self.param.index else 0

    def load(self, device: Device, memory: AddressMap, element: int) -> None:
        """Fill the buffer: with the operator's identity, or from the host *element*'s device copy, or from itself."""
        if self.start is not None:
            device.copy_to(self._buffer, 0, ctypes.addressof(self.start), self.size)
        elif (place := self.mapped(memory, element)) is not None:
            device.copy(self._buffer, 0, *place, self.size)
        else:
            device.copy_to(self._buffer, 0, element, self.size)

    def store(self, device: Device, memory: AddressMap, element: int) -> None:
        """Bring the result to the host *element*, and to its device copy if there is one; waits for the kernels."""
        if (place := self.mapped(memory, element)) is not None:
            device.copy(*place, self._buffer, 0, self.size)
        device.copy_from(self._buffer, 0, element, self.size)

    def mapped(self, memory: AddressMap, element: int) -> tuple[Any, int] | None:
        """The buffer and the byte in it that hold *element* on the device."""
        entry = memory.containing(element, element + self.size)
        return (entry.buffer, entry.offset(element)) if entry else None
