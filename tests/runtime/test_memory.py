"""The address map, over a device of bytearrays."""

from __future__ import annotations

import random
import sys

import pytest
from fake import FakeDevice

from nomp.diagnostics import NompError, Span, register_source
from nomp.runtime.memory import ALLOC, FREE, FROM, TO, AddressMap, Entry

A = 0x1000
"""The address of the array under test: host byte 0."""


@pytest.fixture
def device() -> FakeDevice:
    return FakeDevice(bytearray(range(100)))


@pytest.fixture
def mapped(device: FakeDevice) -> AddressMap:
    return AddressMap(device)


def entry_of(mapped: AddressMap, address: int) -> Entry:
    entry = mapped.find(address)
    assert entry is not None
    return entry


def ranges(mapped: AddressMap) -> list[tuple[int, int]]:
    return [(entry.start - A, entry.end - A) for entry in mapped]


def refused(mapped: AddressMap, address: int, start: int, end: int, unit: int, op: int) -> str:
    with pytest.raises(NompError) as caught:
        mapped.update(address, start, end, unit, op, name="a")
    return str(caught.value)


def test_to_allocates_and_copies_just_the_range(device: FakeDevice, mapped: AddressMap) -> None:
    mapped.update(A, 5, 15, 2, TO)
    assert device.log == ["alloc 20", "to 10 20"]
    entry = entry_of(mapped, A + 10)
    assert entry.buffer == device.host[10:30]


def test_from_brings_back_a_part(device: FakeDevice, mapped: AddressMap) -> None:
    mapped.update(A, 0, 20, 1, TO)
    entry_of(mapped, A).buffer[:] = bytes([200]) * 20
    mapped.update(A, 5, 8, 1, FROM)
    assert device.host[:20] == bytes([*range(5), 200, 200, 200, *range(8, 20)])


def test_alloc_and_to_on_a_mapped_range_keep_the_buffer(device: FakeDevice, mapped: AddressMap) -> None:
    mapped.update(A, 0, 10, 1, TO)
    buffer = entry_of(mapped, A).buffer
    buffer[0] = 77
    mapped.update(A, 0, 10, 1, ALLOC)
    mapped.update(A, 3, 6, 1, ALLOC)
    mapped.update(A, 3, 6, 1, TO)
    assert entry_of(mapped, A).buffer is buffer
    assert buffer[0] == 77


def test_members_of_the_first_element_belong_to_its_map(mapped: AddressMap) -> None:
    """Structs of 16 bytes, of which the third and fourth are mapped: a pointer to element 0's member at byte 12."""
    mapped.update(A, 2, 4, 16, TO)
    assert mapped.find(A + 12) is entry_of(mapped, A)
    assert mapped.find(A + 16) is None and mapped.find(A - 1) is None
    mapped.update(A, 2, 4, 16, FREE)
    assert mapped.find(A + 12) is None


def test_growing_keeps_what_the_device_holds(device: FakeDevice, mapped: AddressMap) -> None:
    mapped.update(A, 10, 20, 1, TO)
    entry_of(mapped, A).buffer[:] = bytes([200]) * 10
    mapped.update(A, 15, 30, 1, ALLOC)
    assert ranges(mapped) == [(10, 30)]
    assert entry_of(mapped, A).buffer == bytes([200] * 10 + [0] * 10)
    mapped.update(A, 18, 22, 1, TO)
    assert entry_of(mapped, A).buffer == bytes([200] * 8 + [18, 19, 20, 21] + [0] * 8)
    assert len(device.live) == 1


def test_one_range_may_join_several_arrays(mapped: AddressMap) -> None:
    mapped.update(A, 0, 10, 1, TO)
    mapped.update(A + 20, 0, 10, 1, TO)
    mapped.update(A + 5, 0, 20, 1, TO)
    assert ranges(mapped) == [(0, 30)]
    assert mapped.find(A) is mapped.find(A + 20) is mapped.find(A + 5)


def test_neighbours_under_other_pointers_stay_apart(mapped: AddressMap) -> None:
    mapped.update(A, 0, 10, 1, TO)
    mapped.update(A + 10, 0, 10, 1, TO)
    assert ranges(mapped) == [(0, 10), (10, 20)]
    mapped.update(A, 0, 10, 1, FREE)
    assert ranges(mapped) == [(10, 20)]


def test_pieces_under_one_pointer_are_one_entry_with_the_gap_from_the_host(
    device: FakeDevice, mapped: AddressMap
) -> None:
    mapped.update(A, 0, 10, 1, TO)
    mapped.update(A, 20, 30, 1, TO)
    assert ranges(mapped) == [(0, 30)]
    assert entry_of(mapped, A).buffer == device.host[:30]


def test_pieces_under_one_pointer_take_in_what_lies_between(mapped: AddressMap) -> None:
    mapped.update(A, 0, 10, 1, TO)
    mapped.update(A + 12, 0, 4, 1, TO)
    entry_of(mapped, A + 12).buffer[0] = 99
    mapped.update(A, 20, 30, 1, ALLOC)
    assert ranges(mapped) == [(0, 30)]
    assert entry_of(mapped, A + 12).buffer[12] == 99


def test_from_may_span_neighbours(device: FakeDevice, mapped: AddressMap) -> None:
    mapped.update(A, 0, 10, 1, TO)
    mapped.update(A + 10, 0, 10, 1, TO)
    device.host[:20] = bytes(20)
    mapped.update(A, 5, 15, 1, FROM)
    assert device.host[:20] == bytes([0] * 5 + list(range(5, 15)) + [0] * 5)


def test_freeing_a_part_frees_the_whole(device: FakeDevice, mapped: AddressMap) -> None:
    mapped.update(A, 0, 10, 1, TO)
    mapped.update(A, 3, 4, 1, FREE)
    assert ranges(mapped) == []
    assert device.live == []
    assert mapped.find(A) is None


def test_another_unit_on_the_same_bytes(device: FakeDevice, mapped: AddressMap) -> None:
    mapped.update(A, 0, 80, 1, ALLOC)
    for unit in (1, 2, 4, 8):
        mapped.update(A, 2, 10, unit, TO)
        assert entry_of(mapped, A).buffer[2 * unit : 10 * unit] == device.host[2 * unit : 10 * unit]
    assert ranges(mapped) == [(0, 80)]


@pytest.mark.parametrize("op", [TO | FREE, TO | FROM | FREE, ALLOC | TO | FREE])
def test_combined_directions_end_with_free(device: FakeDevice, mapped: AddressMap, op: int) -> None:
    before = bytes(device.host)
    mapped.update(A, 0, 10, 1, op)
    assert device.live == [] and device.host == before


def test_from_then_free_in_one(device: FakeDevice, mapped: AddressMap) -> None:
    mapped.update(A, 0, 10, 1, ALLOC | TO)
    entry_of(mapped, A).buffer[:] = bytes(10)
    mapped.update(A, 0, 10, 1, FROM | FREE)
    assert device.host[:11] == bytes([0] * 10 + [10])
    assert device.live == []


def test_to_and_from_in_one_change_nothing(device: FakeDevice, mapped: AddressMap) -> None:
    before = bytes(device.host)
    mapped.update(A, 0, 10, 1, TO | FROM)
    assert device.host == before and entry_of(mapped, A).buffer == before[:10]


@pytest.mark.parametrize("op", [ALLOC, TO, FROM, FREE, TO | FROM])
@pytest.mark.parametrize("address", [0, A])
@pytest.mark.parametrize("unit", [0, 8])
def test_an_empty_range_does_nothing(device: FakeDevice, mapped: AddressMap, op: int, address: int, unit: int) -> None:
    mapped.update(address, 3, 3, unit, op)
    assert device.log == []
    assert ranges(mapped) == []


def test_interior_pointers_and_ends(mapped: AddressMap) -> None:
    mapped.update(A, 10, 20, 1, TO)
    assert mapped.find(A + 10) is mapped.find(A + 19) is mapped.find(A)
    assert mapped.find(A + 9) is mapped.find(A + 20) is mapped.find(A + 1) is None


@pytest.mark.parametrize("order", [1, -1])
def test_pieces_of_one_array_under_two_pointers_are_one_entry(mapped: AddressMap, order: int) -> None:
    for base, start in ((A, 0), (A + 15, 10))[::order]:  # element 0 of the second lies in the first, its map does not
        mapped.update(base, start, 20, 1, TO)
    whole = entry_of(mapped, A + 15)
    assert (whole.start, whole.end) == (A, A + 35) and whole is mapped.find(A)


def test_what_ends_at_a_pointer(mapped: AddressMap) -> None:
    mapped.update(A, 0, 10, 1, TO)
    mapped.update(A + 10, 0, 10, 1, TO)
    assert mapped.ending(A + 10) is mapped.find(A) is not mapped.find(A + 10)
    assert mapped.ending(A + 9) is mapped.ending(A + 11) is None
    mapped.update(A, 5, 15, 1, TO)
    assert mapped.ending(A + 10) is None and mapped.ending(A + 20) is mapped.find(A)
    mapped.update(A, 0, 1, 1, FREE)
    assert mapped.ending(A + 20) is None


def test_clear_frees_everything(device: FakeDevice, mapped: AddressMap) -> None:
    for start in range(0, 90, 10):
        mapped.update(A + start, 0, 5, 1, TO)
    mapped.clear()
    assert device.live == [] and ranges(mapped) == []


def test_a_refused_growth_changes_nothing(device: FakeDevice, mapped: AddressMap) -> None:
    mapped.update(A, 0, 10, 1, TO)
    assert "[N611]" in refused(mapped, A, 0, 1 << 30, 1, TO)
    assert ranges(mapped) == [(0, 10)] and len(device.live) == 1


def test_unmapped_from_and_free_are_refused(mapped: AddressMap) -> None:
    mapped.update(A, 0, 10, 1, TO)
    for op in (FROM, FREE, FROM | FREE, ALLOC | FROM):
        for start, end in ((10, 12), (8, 12), (50, 60)):
            assert "[N604]" in refused(mapped, A, start, end, 1, op)
    assert ranges(mapped) == [(0, 10)]


@pytest.mark.parametrize("op", [0, 16, -1, 17, 1 << 40])
@pytest.mark.parametrize("end", [0, 10])
def test_unknown_directions_are_refused(mapped: AddressMap, op: int, end: int) -> None:
    assert "[N605]" in refused(mapped, A, 0, end, 1, op)


@pytest.mark.parametrize("op", [ALLOC, TO, FROM, FREE])
@pytest.mark.parametrize("bounds", [(10, 5, 8), (-1, 5, 8), (0, 1 << 63, 8), (0, sys.maxsize * 2 + 1, 1), (0, 5, -8)])
def test_impossible_ranges_are_refused(mapped: AddressMap, bounds: tuple[int, int, int], op: int) -> None:
    assert "[N606]" in refused(mapped, A, *bounds, op)


@pytest.mark.parametrize("op", [ALLOC, TO, FROM, FREE, TO | FROM])
def test_null_is_refused(mapped: AddressMap, op: int) -> None:
    assert "[N608]" in refused(mapped, 0, 0, 10, 8, op)


def test_messages_show_the_place(mapped: AddressMap) -> None:
    register_source("m.c", "#pragma nomp update(from : a[0, n])\n")
    with pytest.raises(NompError) as caught:
        mapped.update(A, 0, 10, 8, FROM, "a", Span("m.c", 1, 28, 7))
    assert str(caught.value) == (
        "m.c:1:28: error: 'a[0, 10]' is not mapped: NOMP_FREE or NOMP_FROM can only be called on a pointer which is "
        "already on the device. [N604]\n"
        "    1 | #pragma nomp update(from : a[0, n])\n"
        "      |                            ^~~~~~~\n"
        "help: map it first: #pragma nomp update(to : a[0, 10])"
    )


def test_messages_without_a_place(mapped: AddressMap) -> None:
    assert refused(mapped, A, 0, 10, 8, 16) == (
        "nomp: error: 16 is not a direction for an update of 'a' [N605]\n"
        "help: combine NOMP_ALLOC (1), NOMP_TO (2), NOMP_FROM (4) and NOMP_FREE (8)"
    )
    assert refused(mapped, A, 7, 3, 8, TO) == (
        "nomp: error: the range [7, 3) of 'a' ends before it starts [N606]\n"
        "help: give the first element and the one after the last, counted from the pointer on: a[start, end]"
    )
    assert refused(mapped, A, 0, 1 << 63, 8, TO) == (
        "nomp: error: the range [0, 9223372036854775808) of 'a' with elements of 8 bytes leaves the address space "
        "[N606]\n"
        "help: check the bounds for negative numbers: they are unsigned"
    )
    assert refused(mapped, 0, 0, 1, 8, TO) == (
        "nomp: error: 'a' is a null pointer: it cannot be on the device [N608]\n"
        "help: allocate the array before the update, and check that the allocation worked"
    )
    assert refused(mapped, A, 0, 1 << 30, 8, TO) == (
        "nomp: error: updating 'a' on the device failed: out of memory [N611]\n"
        "help: nomp devices lists the devices, how much memory they have and whether they work"
    )


def test_a_thousand_maps(mapped: AddressMap) -> None:
    device = FakeDevice(bytearray(20_000))
    mapped = AddressMap(device)
    starts = list(range(0, 20_000, 20))
    random.Random(1).shuffle(starts)
    for start in starts:
        mapped.update(A + start, 0, 10, 1, TO)
    assert [entry.start for entry in mapped] == sorted(A + start for start in starts)
    assert all(entry_of(mapped, A + start + 9).start == A + start for start in starts)
    assert all(mapped.find(A + start + 10) is None for start in starts)


def test_arrays_that_share_a_buffer(device: FakeDevice, mapped: AddressMap) -> None:
    """Each stays an entry of its own; the buffer goes with the last of them."""
    for place in (3, 10, 20):
        mapped.update(A + place, 0, {3: 7, 10: 10, 20: 5}[place], 1, TO)
    mapped.share(entry_of(mapped, A + 3), entry_of(mapped, A + 10))
    mapped.share(entry_of(mapped, A + 10), entry_of(mapped, A + 20))
    assert ranges(mapped) == [(3, 10), (10, 20), (20, 25)] and len(device.live) == 1
    assert all(entry.offset(A + 16) % 16 == 0 for entry in mapped)
    first = entry_of(mapped, A + 3)
    assert bytes(first.buffer[first.offset(A + 3) : first.offset(A + 25)]) == bytes(range(3, 25))
    mapped.update(A + 10, 0, 10, 1, FREE)
    mapped.update(A + 3, 0, 7, 1, FREE)
    assert ranges(mapped) == [(20, 25)] and len(device.live) == 1
    mapped.update(A + 20, 0, 5, 1, FREE)
    assert device.live == []
