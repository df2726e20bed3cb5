"""What is read from code objects, on files made here."""

from __future__ import annotations

import struct

import pytest
from nomp_backends.code_object import Kernel, Parameter, kernels

from nomp.backend import BackendError


def text(value: str) -> bytes:
    head = bytes([0xA0 | len(value)]) if len(value) < 32 else bytes([0xD9, len(value)])
    return head + value.encode()


def parameter(kind: str, offset: bytes, size: bytes) -> bytes:
    return b"\x83" + text(".offset") + offset + text(".size") + size + text(".value_kind") + text(kind)


def metadata(*arguments: bytes, more: bytes = b"\xc0") -> bytes:
    """One kernel with *arguments*, and the value *more* under a key that nobody reads."""
    described = (b"\xde\x00\x04" + text(".name") + text("f") + text(".max_flat_workgroup_size") + b"\xcd\x04\x00"
                 + text(".more") + more + text(".args") + b"\xdc" + struct.pack(">H", len(arguments))
                 + b"".join(arguments))  # fmt: skip
    return b"\x81" + text("amdhsa.kernels") + b"\x91" + described


def elf(*notes: tuple[bytes, int, bytes]) -> bytes:
    """A 64-bit ELF file with nothing but *notes*."""
    held = b""
    for owner, kind, contents in notes:
        held += struct.pack("<III", len(owner) + 1, len(contents), kind)
        held += b"".join(part + bytes(-len(part) % 4) for part in (owner + b"\0", contents))
    header = b"\x7fELF\x02\x01".ljust(32, b"\0") + struct.pack("<QQIHHHHHH", 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 4, 4, 120, 0, 0, len(held), len(held), 4) + held


def amd(contents: bytes) -> bytes:
    return elf((b"GNU", 3, b"12345"), (b"AMDGPU", 32, contents))


def test_arguments_without_those_that_the_compiler_adds() -> None:
    arguments = [parameter("by_value", b"\x00", b"\x04"), parameter("global_buffer", b"\xcc\x88", b"\x08"),
                 parameter("by_value", b"\xcd\x01\x00", b"\xce\x00\x00\x00\x02"),
                 parameter("hidden_global_offset_x", b"\x10", b"\x08")]  # fmt: skip
    found = kernels(amd(metadata(*arguments)))
    assert found == {"f": Kernel("f", (Parameter(0, 4), Parameter(136, 8), Parameter(256, 2)), 1024)}


@pytest.mark.parametrize(
    "more",
    [b"\xc2", b"\xc3", b"\xff", b"\xca" + bytes(4), b"\xcb" + bytes(8), b"\xcf" + bytes(8), b"\xd0\x80",
     b"\xd1" + bytes(2), b"\xd2" + bytes(4), b"\xd3" + bytes(8), b"\xc4\x02ab", b"\xc5\x00\x01a",
     b"\xc6\x00\x00\x00\x01a", b"\xda\x00\x01a", b"\xdb\x00\x00\x00\x01a", b"\xdd\x00\x00\x00\x02\x01\x02",
     b"\xdf\x00\x00\x00\x01\x01\x02", text("a" * 40)],
)  # fmt: skip
def test_all_types_of_values_are_passed_over(more: bytes) -> None:
    assert kernels(amd(metadata(more=more)))["f"].parameters == ()


@pytest.mark.parametrize(
    "code",
    [b"", b"no ELF file", elf(), elf((b"AMDGPU", 31, metadata())), amd(metadata()[:-9]), amd(b"\x81\xa1a\x00"),
     amd(metadata(more=b"\xc1")), amd(metadata())[:70], amd(metadata(more=b"\xd9\xff"))],
)  # fmt: skip
def test_what_is_no_code_object_is_an_error(code: bytes) -> None:
    with pytest.raises(BackendError, match=r"^hiprtc made something that is no code object of AMD's: "):
        kernels(code)
