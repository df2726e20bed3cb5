"""The address map against a model that knows, byte by byte, what host and device hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from fake import FakeDevice
from hypothesis import given, settings
from hypothesis import strategies as st

from nomp.diagnostics import NompError
from nomp.runtime.memory import ALLOC, FREE, FROM, TO, AddressMap, Entry

A = 0x1000
SIZE = 40


@dataclass
class Block:
    """Host bytes *bytes* with their device values, mapped under *bases*."""

    bytes: dict[int, int]
    bases: set[int] = field(default_factory=set)


class Model:
    """The same rules without buffers, addresses or sorting."""

    def __init__(self) -> None:
        self.host = bytearray(range(SIZE))
        self.blocks: list[Block] = []

    def update(self, base: int, wanted: range, op: int) -> bool:
        """False if the request is an error."""
        if not wanted:
            return True
        held = {byte for block in self.blocks for byte in block.bytes}
        if op & (FROM | FREE) and not op & TO and not held.issuperset(wanted):
            return False
        if op & (ALLOC | TO):
            self.join(base, wanted)
        for block in [b for b in self.blocks if b.bytes.keys() & set(wanted)]:
            for byte in sorted(block.bytes.keys() & set(wanted)):
                if op & TO:
                    block.bytes[byte] = self.host[byte]
                if op & FROM:
                    self.host[byte] = block.bytes[byte]
            if op & FREE:
                self.blocks.remove(block)
        return True

    def join(self, base: int, wanted: range) -> None:
        based = [block for block in self.blocks if base in block.bases]
        same = based or [block for block in self.blocks if base in block.bytes]
        same += [block for block in self.blocks if block.bases & set(wanted)]
        own = [byte for block in same for byte in block.bytes]
        whole = range(min([*wanted, *own]), max([*wanted, *own]) + 1)
        parts = [block for block in self.blocks if block.bytes.keys() & set(whole)]
        joined = Block({}, {base}.union(*(part.bases for part in parts)))
        for byte in range(min([*whole, *(b for p in parts for b in p.bytes)]), max([*whole, *(b for p in parts for b in p.bytes)]) + 1):  # fmt: skip  # noqa: E501
            joined.bytes[byte] = 0 if byte in wanted else self.host[byte]
        for part in parts:
            joined.bytes.update(part.bytes)
        self.blocks = [block for block in self.blocks if block not in parts] + [joined]


operations = st.tuples(
    st.sampled_from(["update", "update", "host", "kernel", "share"]),
    st.integers(0, SIZE // 2),  # base
    st.integers(0, 9), st.integers(0, 9),  # start, length
    st.sampled_from([1, 1, 2]),  # unit
    st.integers(1, 15),  # directions
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(operations, max_size=12))
def test_the_map_does_what_the_model_does(steps: list[tuple[str, int, int, int, int, int]]) -> None:
    model, device = Model(), FakeDevice(bytearray(range(SIZE)))
    mapped = AddressMap(device)
    for number, (what, base, start, length, unit, op) in enumerate(steps):
        wanted = range(base + start * unit, min(SIZE, base + (start + length) * unit))
        if what == "update" and base + (start + length) * unit <= SIZE:
            fine = model.update(base, wanted, op)
            try:
                mapped.update(A + base, start, start + length, unit, op)
            except NompError as error:
                assert not fine and error.code == "N604"
            else:
                assert fine
        elif what == "host":
            for byte in wanted:
                model.host[byte] = device.host[byte] = 100 + number
        elif what == "share":  # of which the model knows nothing: it changes nothing
            if (before := mapped.ending(A + base)) and (entry := mapped.containing(A + base, A + base + 1)):
                mapped.share(before, entry)
                before, entry = mapped.ending(A + base), mapped.containing(A + base, A + base + 1)
                assert before and entry and before.buffer is entry.buffer
                assert before.offset(A + base) == entry.offset(A + base)
        else:  # a kernel writes what is mapped
            for block in model.blocks:
                block.bytes.update({byte: 200 + number for byte in wanted if byte in block.bytes})
            for entry in mapped:
                for byte in wanted:
                    if entry.start <= A + byte < entry.end:
                        entry.buffer[entry.offset(A + byte)] = 200 + number
        check(model, mapped, device)
    mapped.clear()
    assert device.live == []


def held(entry: Entry) -> bytes:
    return bytes(entry.buffer[entry.offset(entry.start) : entry.offset(entry.end)])


def check(model: Model, mapped: AddressMap, device: FakeDevice) -> None:
    assert device.host == model.host
    expected = sorted((min(b.bytes), bytes(b.bytes[k] for k in sorted(b.bytes)), b.bases) for b in model.blocks)
    got = [(entry.start - A, held(entry), {base - A for base in entry.bases}) for entry in mapped]
    assert got == expected
    assert len(device.live) == len({id(entry.buffer) for entry in mapped})
    for block in model.blocks:
        for base in block.bases:
            entry = mapped.find(A + base)
            assert entry is not None and entry.start - A == min(block.bytes)
