"""What AMD's compiler says about the kernels of a code object: where each argument goes, how large groups may be.

In: an ELF file as hiprtc makes it.  Out: a `Kernel` for each entry point.  Used by the HIP backend.  Source: "User
Guide for AMDGPU Backend" of LLVM, code object metadata V3 to V5: a note of the owner ``AMDGPU`` holds MessagePack.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nomp.backend import BackendError

_PT_NOTE = 4
_AMDGPU_METADATA = 32


@dataclass(frozen=True, slots=True)
class Parameter:
    """The place of an argument among the packed ones, in bytes."""

    offset: int
    size: int

    def __str__(self) -> str:
        return f"{self.size} bytes at {self.offset}"


@dataclass(frozen=True, slots=True)
class Kernel:
    """An entry point: its arguments without those that the compiler adds, and the most items of a group."""

    name: str
    parameters: tuple[Parameter, ...]
    max_items: int


def kernels(code: bytes) -> dict[str, Kernel]:
    """The entry points of *code* by name.  Raises `BackendError` if it is no code object."""
    try:
        (metadata,) = (text for owner, kind, text in _notes(code) if (owner, kind) == (b"AMDGPU", _AMDGPU_METADATA))
        return {kernel.name: kernel for kernel in map(_kernel, _Reader(metadata).value()["amdhsa.kernels"])}
    except (struct.error, IndexError, KeyError, ValueError, TypeError) as reason:
        raise BackendError(f"hiprtc made something that is no code object of AMD's: {reason}") from reason


def _kernel(described: dict[str, Any]) -> Kernel:
    arguments = (a for a in described.get(".args", ()) if not a[".value_kind"].startswith("hidden_"))
    parameters = tuple(Parameter(argument[".offset"], argument[".size"]) for argument in arguments)
    return Kernel(described[".name"], parameters, described[".max_flat_workgroup_size"])


def _notes(code: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """The owner, kind and contents of each note of a 64-bit little-endian ELF file."""
    if code[:6] != b"\x7fELF\x02\x01":
        raise ValueError("no 64-bit ELF file")
    (headers,) = struct.unpack_from("<Q", code, 32)
    size, count = struct.unpack_from("<HH", code, 54)
    for place in range(headers, headers + size * count, size):
        kind, _, start, _, _, length, _, alignment = struct.unpack_from("<IIQQQQQQ", code, place)
        at = start
        while kind == _PT_NOTE and at < start + length:
            owner_size, text_size, note = struct.unpack_from("<III", code, at)
            text = at + 12 + _aligned(owner_size, alignment)
            yield code[at + 12 : at + 12 + owner_size].rstrip(b"\0"), note, code[text : text + text_size]
            at = text + _aligned(text_size, alignment)


def _aligned(size: int, alignment: int) -> int:
    step = max(4, alignment)
    return -(-size // step) * step


class _Reader:
    """MessagePack, read from the front; what metadata never has (extensions) is an error."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def value(self) -> Any:
        """The next value."""
        tag = self._number("B")
        if tag < 0x80:
            return tag
        if tag < 0x90:
            return self._map(tag & 0xF)
        if tag < 0xA0:
            return self._list(tag & 0xF)
        if tag < 0xC0:
            return self._bytes(tag & 0x1F).decode()
        if tag >= 0xE0:
            return tag - 0x100
        return self._tagged(tag)

    def _tagged(self, tag: int) -> Any:
        """A value whose first byte is a type of its own."""
        constants = {0xC0: None, 0xC2: False, 0xC3: True}
        numbers = {0xCA: "f", 0xCB: "d", 0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i",
                   0xD3: "q"}  # fmt: skip
        sizes = {0xC4: "B", 0xC5: "H", 0xC6: "I", 0xD9: "B", 0xDA: "H", 0xDB: "I", 0xDC: "H", 0xDD: "I", 0xDE: "H",
                 0xDF: "I"}  # fmt: skip
        if tag in constants:
            return constants[tag]
        if tag in numbers:
            return self._number(numbers[tag])
        if tag not in sizes:
            raise ValueError(f"MessagePack of type {tag:#x}")
        size = self._number(sizes[tag])
        if tag < 0xD9:
            return self._bytes(size)
        if tag < 0xDC:
            return self._bytes(size).decode()
        return self._list(size) if tag < 0xDE else self._map(size)

    def _number(self, code: str) -> Any:
        (value,) = struct.unpack_from(f">{code}", self._data, self._at)
        self._at += struct.calcsize(code)
        return value

    def _bytes(self, size: int) -> bytes:
        self._at += size
        if self._at > len(self._data):
            raise ValueError("it ends too early")
        return self._data[self._at - size : self._at]

    def _list(self, size: int) -> list[Any]:
        return [self.value() for _ in range(size)]

    def _map(self, size: int) -> dict[Any, Any]:
        return {self.value(): self.value() for _ in range(size)}
