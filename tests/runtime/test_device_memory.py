"""Memory of the device without a host's: whose it is, and when the address map knows it."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import Any

import pytest
from fake import INFO, FakeDevice

from nomp.diagnostics import NompError, Span
from nomp.runtime import device_memory
from nomp.runtime.device_memory import MOST, Borrowed, DeviceMemory, View, allocate, collect
from nomp.runtime.lent import HostArray
from nomp.runtime.memory import ALLOC, FREE, AddressMap

HERE = Span("a.py", 1)


@pytest.fixture(params=[True, False], ids=["addresses", "handles"])
def map(request: pytest.FixtureRequest) -> AddressMap:
    device = FakeDevice(bytearray())
    device.info = replace(INFO, pointer_arithmetic=request.param)
    numbers = iter(range(0x100000, 1 << 30, 0x1000))
    device.alloc = lambda nbytes: next(numbers)  # type: ignore[method-assign,assignment,return-value]
    device.zero = device.free = lambda *arguments: None  # type: ignore[method-assign]
    return AddressMap(device)


def array_at(memory: DeviceMemory, low: int, high: int) -> HostArray:
    return HostArray("a", low, high, True, True, None, memory)


def theirs(map: AddressMap, low: int, high: int, queue: int = 0) -> HostArray:
    return array_at(DeviceMemory(map, low, high, low, queue), low, high)


def ranges(map: AddressMap) -> list[tuple[int, int]]:
    return [(entry.start, entry.end) for entry in map]


def test_ours_is_freed_when_nobody_has_it(map: AddressMap) -> None:
    freed: list[Any] = []
    map.device.free = freed.append  # type: ignore[method-assign]
    first, second = allocate(map, 100), allocate(map, 0)
    assert first.end - first.start == 100 and second.end - second.start == 1
    assert first.end < second.start or second.end < first.start
    buffer, _ = first.place(first.start, first.end)
    assert first.place(first.start + 8, first.end) == (buffer, 8)
    del first
    gc.collect()
    assert freed == []  # not in the middle of anything
    collect(map)
    assert freed == [buffer] and ranges(map) == [(second.start, second.end)]
    map.clear()
    with pytest.raises(NompError, match="N634"):
        second.place(second.start, second.end)


def test_theirs_is_not_freed(map: AddressMap) -> None:
    freed: list[Any] = []
    map.device.free = freed.append  # type: ignore[method-assign]
    borrowed = Borrowed()
    assert borrowed.provide(map, [theirs(map, 1000, 1100, queue=7), theirs(map, 1050, 1200)], HERE) == {7}
    assert ranges(map) == [(1000, 1200)]  # they share bytes
    version = map.version
    borrowed.provide(map, [theirs(map, 1100, 1200)], HERE)
    assert map.version == version
    borrowed.provide(map, [theirs(map, 900, 1010), theirs(map, 0, 0)], HERE)
    assert ranges(map) == [(900, 1010)]  # what was there has been freed since
    for n in range(1, 2 * MOST):
        borrowed.provide(map, [theirs(map, 10_000 * n, 10_000 * n + 5)], HERE)
    assert len(ranges(map)) == MOST
    borrowed.provide(map, [theirs(map, 10_000 * n, 10_000 * n + 5) for n in range(1, 2 * MOST)], HERE)
    assert len(ranges(map)) == 2 * MOST - 1  # as many as one launch needs
    map.clear()
    assert freed == []


def test_an_older_smaller_stretch_does_not_take_the_larger_one_along(map: AddressMap) -> None:
    borrowed = Borrowed()
    borrowed.provide(map, [theirs(map, 100, 200)], HERE)
    large = theirs(map, 50, 300)
    for n in range(1, MOST + 2):
        borrowed.provide(map, [large, theirs(map, 10_000 * n, 10_000 * n + 5)], HERE)
        assert map.containing(50, 300) is not None


def test_buffers_without_addresses_keep_theirs_while_anyone_has_them(map: AddressMap) -> None:
    borrowed = Borrowed()
    first = borrowed.whole(map, 77, 40, 0, None)
    for n in range(2 * MOST):
        other = borrowed.whole(map, 0x5000_0000 + 0x1000 * n, 8, 0, None)
        borrowed.provide(map, [array_at(other, other.start, other.end)], HERE)
    again = borrowed.whole(map, 77, 40, 0, None)
    assert again.start == first.start
    assert len(borrowed._starts) <= MOST + 2


def test_what_stands_for_buffers_goes_with_the_last_that_has_it(map: AddressMap) -> None:
    """Also where that is later than when the map forgets it."""
    borrowed = Borrowed()
    for n in range(6 * MOST):
        made = borrowed.whole(map, 0x5000_0000 + 0x1000 * n, 8, 0, None)
        borrowed.provide(map, [array_at(made, made.start, made.end)], HERE)
        borrowed.keep(n % (2 * MOST), View(made, None, map.own_version))
    assert len(borrowed._starts) <= 3 * MOST


def test_what_cannot_be_provided(map: AddressMap) -> None:
    borrowed = Borrowed()
    map.update(1000, 0, 10, 8, ALLOC)
    for low, high in ((1000, 1080), (1016, 1024), (900, 1010)):
        with pytest.raises(NompError, match=r"mapped as well.*N630"):
            borrowed.provide(map, [theirs(map, low, high)], HERE)
    map.update(1000, 0, 10, 8, FREE)
    with pytest.raises(NompError, match="N634"):
        borrowed.provide(map, [array_at(DeviceMemory(map, 1000, 1080), 1000, 1080)], HERE)
    with pytest.raises(NompError, match="N634"):
        borrowed.provide(AddressMap(map.device), [theirs(map, 1000, 1080)], HERE)


def test_others_get_their_memory_back_when_the_device_is_done(map: AddressMap) -> None:
    log: list[str] = map.device.log  # type: ignore[attr-defined]
    device_memory.retired.append(lambda: log.append("given back"))
    collect(map)
    collect(map)
    assert log == ["sync", "given back"]
