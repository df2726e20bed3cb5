"""Cells: single elements that a kernel writes without anyone having mapped them, such as the result of a reduction.

In: the ``cell`` parameters of a region and their host addresses.  Out: a one-element device buffer for each, filled
before the launches and copied back after them; where the host and kernels reach the same memory (CUDA, HIP) and the
cell is read and written once, as by the last kernel of a reduction, it is there, and nothing is copied.  Used by
`runtime.kernel`.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping
from typing import Any

from nomp.arithmetic import SIZES, Number, evaluate, is_float, limits
from nomp.backend import TYPE_CODES, Device, Native
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
        self._stage: tuple[int, Any] | None = None

    @property
    def _is_near(self) -> bool:
        """Whether the buffer is memory of the host's."""
        return self._stage is not None and self._buffer == self._stage[0]

    def buffer(self, device: Device, once: bool = False) -> Any:
        """See `Held.buffer`.  *once*: launches read and write it only once."""
        if self._buffer is None and once and (native := device.native()):
            self._buffer = self.stage(native)[0] or None
        return super().buffer(device)

    def stage(self, native: Native) -> tuple[int, Any]:
        """See `Native.stage`; it is the buffer itself where that is near."""
        self._stage = self._stage or native.stage(self.size)
        return self._stage

    def release(self, device: Device) -> None:
        """See `Held.release`."""
        if self._is_near:
            self._buffer = None
        self._stage = None
        super().release(device)

    def offset(self, scalars: Mapping[str, Number]) -> int:
        """How many bytes the element is away from the parameter's address."""
        return int(evaluate(self.param.index, scalars)) * self.size if self.param.index else 0

    def load(self, device: Device, memory: AddressMap, element: int) -> None:
        """Fill the buffer: with the operator's identity, or from the host *element*'s device copy, or from itself.

        No kernel uses it: the last one has been waited for.
        """
        place = self.mapped(memory, element) if self.start is None else None
        source = element if self.start is None else ctypes.addressof(self.start)
        if self._is_near:
            if place is not None:
                device.copy_from(*place, self._buffer, self.size)
            else:
                ctypes.memmove(self._buffer, source, self.size)
        elif place is not None:
            device.copy(self._buffer, 0, *place, self.size)
        else:
            device.copy_to(self._buffer, 0, source, self.size)

    def store(self, device: Device, memory: AddressMap, element: int) -> None:
        """Bring the result to the host *element*, and to its device copy if there is one; waits for the kernels."""
        place = self.mapped(memory, element)
        if self._is_near:
            device.sync()
            ctypes.memmove(element, self._buffer, self.size)
            if place is not None:
                device.copy_to(*place, element, self.size)
            return
        if place is not None:
            device.copy(*place, self._buffer, 0, self.size)
        device.copy_from(self._buffer, 0, element, self.size)

    def mapped(self, memory: AddressMap, element: int) -> tuple[Any, int] | None:
        """The buffer and the byte in it that hold *element* on the device."""
        entry = memory.containing(element, element + self.size)
        return (entry.buffer, entry.offset(element)) if entry else None
