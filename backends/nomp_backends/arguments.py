"""The arguments of a launch in memory: where drivers, and kernels on the host, find them."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable, Sequence
from typing import Any

from nomp.backend import TYPE_CODES


def packers(types: Iterable[str | None]) -> list[struct.Struct]:
    """What makes bytes of arguments of these *types*; those of buffers are addresses."""
    return [struct.Struct(f"={TYPE_CODES[dtype].replace('P', 'Q')}") for dtype in types]


class Arguments:
    """*values* in memory: a slot for each, and at *address* the pointers to the *slots*."""

    def __init__(self, packers: Iterable[struct.Struct], values: Sequence[Any]) -> None:
        packed = [packer.pack(0 if value is None else value) for packer, value in zip(packers, values, strict=True)]
        self._kept = [ctypes.create_string_buffer(data, len(data)) for data in packed]
        self.slots = tuple(map(ctypes.addressof, self._kept))
        self._pointers = (ctypes.c_void_p * max(1, len(self.slots)))(*self.slots)
        self.address = ctypes.addressof(self._pointers)
