"""What AMD's compiler says about the kernels of a code object: where each argument goes, how large groups may be.

In: an ELF file as hiprtc makes it.  Out: a `Kernel` for each entry point.  Used by the HIP backend.  Source: "User
Guide for AMDGPU Backend" of LLVM, code object metadata V3 to V5: a note of the owner ``AMDGPU`` holds MessagePack.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgpack

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
        described = msgpack.unpackb(metadata, strict_map_key=False)
        return {kernel.name: kernel for kernel in map(_kernel, described["amdhsa.kernels"])}
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
