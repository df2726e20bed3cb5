"""What a backend is: these tests, written against the protocol, pass on every registered backend with a device."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from conformance import DIALECTS, Dialect, first_device
from quick import first_of

from nomp.backend import Backend, BackendError, Device, NoSuchDevice, Timing

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
N = 1000


@pytest.fixture
def dialect(device: Device) -> Dialect:
    return DIALECTS[device.info.dialect]


@pytest.fixture
def buffer(device: Device) -> Iterator[Any]:
    """Device memory for N float64."""
    allocated = device.alloc(8 * N)
    yield allocated
    device.free(allocated)


def upload(device: Device, buffer: Any, array: np.ndarray) -> None:
    device.copy_to(buffer, 0, array.ctypes.data, array.nbytes)


def download(device: Device, buffer: Any, dtype: str, count: int, offset: int = 0) -> np.ndarray:
    array = np.zeros(count, dtype)
    device.copy_from(buffer, offset, array.ctypes.data, array.nbytes)
    return array


def test_info(backend: Backend, device: Device) -> None:
    info = device.info
    assert info.backend == backend.name
    assert info.dialect in DIALECTS
    assert info.type in ("cpu", "gpu", "accelerator")
    assert info.name and info.vendor and info.driver and info.arch
    assert min(info.max_threads_per_block, info.local_mem_bytes, info.global_mem_bytes, info.compute_units) > 0
    assert info.warp_size >= 1
    assert any(info == listed for platform in backend.devices() for listed in platform)


def test_copies_round_trip(device: Device, buffer: Any) -> None:
    array = np.random.default_rng(1).random(N)
    upload(device, buffer, array)
    assert np.array_equal(download(device, buffer, "float64", N), array)


def test_host_memory_may_be_reused_after_copy_to(device: Device, buffer: Any) -> None:
    array = np.ones(N)
    upload(device, buffer, array)
    array[:] = 2
    assert np.all(download(device, buffer, "float64", N) == 1)


def test_copies_at_byte_offsets_leave_the_rest_alone(device: Device, buffer: Any) -> None:
    upload(device, buffer, np.zeros(N))
    part = np.arange(7, dtype=np.uint8) + 1
    device.copy_to(buffer, 13, part.ctypes.data, part.nbytes)
    expected = np.zeros(8 * N, np.uint8)
    expected[13:20] = part
    assert np.array_equal(download(device, buffer, "uint8", 8 * N), expected)
    assert np.array_equal(download(device, buffer, "uint8", 3, offset=15), part[2:5])


@pytest.mark.parametrize("nbytes", first_of([1 << 20, (1 << 20) - 1, (21 << 20) + 5]))
def test_large_copies_go_to_a_place_and_back_and_leave_the_rest_alone(device: Device, nbytes: int) -> None:
    """A backend may copy much another way than little."""
    array = np.random.default_rng(nbytes).integers(1, 255, nbytes, np.uint8)
    expected = np.concatenate([[0] * 3, array, [0] * 3]).astype(np.uint8)
    large = device.alloc(nbytes + 6)
    device.zero(large, 0, nbytes + 6)
    device.copy_to(large, 3, array.ctypes.data, nbytes)
    array[:] = 0  # it has been read
    assert np.array_equal(download(device, large, "uint8", nbytes + 6), expected)
    assert np.array_equal(download(device, large, "uint8", nbytes, offset=3), expected[3:-3])
    device.free(large)


def test_zero_fills_the_bytes_asked_for(device: Device, buffer: Any) -> None:
    array = np.arange(1, N + 1, dtype="float64")
    upload(device, buffer, array)
    device.zero(buffer, 3, 8 * 10)
    expected = array.tobytes()[:3] + bytes(80) + array.tobytes()[83:]
    assert download(device, buffer, "uint8", 8 * N).tobytes() == expected


def test_copies_between_buffers(device: Device, buffer: Any) -> None:
    upload(device, buffer, np.arange(float(N)))
    other = device.alloc(80)
    device.copy(other, 8, buffer, 80, 24)
    assert np.array_equal(download(device, other, "float64", 3, offset=8), [10, 11, 12])
    device.free(other)


@pytest.mark.parametrize("dtype", first_of(DTYPES))
def test_scalar_arguments_arrive_whole(device: Device, dialect: Dialect, buffer: Any, dtype: str) -> None:
    numbers = np.finfo(dtype) if dtype.startswith("float") else np.iinfo(dtype)
    ctype = dialect.types[dtype]
    text = dialect.entry("fill", f"global {ctype} *a, {ctype} x, {ctype} y", "a[0] = x; a[1] = y;")
    kernel = device.compile(text, {"fill": [None, dtype, dtype]})["fill"]
    values = np.array([numbers.min, numbers.max], dtype)
    kernel.launch((1,), (1,), [buffer, values[0], values[1]])
    assert np.array_equal(download(device, buffer, dtype, 2), values)


@pytest.mark.parametrize(
    ("grid", "block"),
    first_of([((2, 3, 4), (3, 2, 1)), ((10,), (1,)), ((1,), (16,)), ((3,), (5,)), ((2, 3), (4, 2)), ((1, 1), (1, 1)),
              ((1, 1, 5), (1, 1, 1))]),
)  # fmt: skip
def test_launch_shapes(
    device: Device, dialect: Dialect, buffer: Any, grid: tuple[int, ...], block: tuple[int, ...]
) -> None:
    extent = [g * b for g, b in zip(grid, block, strict=True)]
    index = "0"
    for axis in reversed(range(len(grid))):
        index = f"({index}) * {extent[axis]} + {dialect.index(axis)}"
    groups = " + ".join(f"{100**axis} * {dialect.groups[axis]}" for axis in range(len(grid)))
    long = dialect.types["int64"]
    kernel = device.compile(
        dialect.entry("count", f"global {long} *a, {long} one", f"a[{index}] += one + 10 * ({groups});"),
        {"count": [None, "int64"]},
    )["count"]
    upload(device, buffer, np.zeros(N, np.int64))
    kernel.launch(grid, block, [buffer, np.int64(1)])
    got = download(device, buffer, "int64", N)
    items = np.stack(np.unravel_index(np.arange(np.prod(extent)), extent[::-1])[::-1])
    expected = 1 + 10 * sum(100**axis * (items[axis] // block[axis]) for axis in range(len(grid)))
    assert np.array_equal(got[: expected.size], expected)
    assert not got[expected.size :].any()


def test_groups_share_memory(device: Device, dialect: Dialect, buffer: Any) -> None:
    """As much as a group may have: on NVIDIA's GPUs more than the 48 KB that declarations may."""
    long, most = dialect.types["int64"], min(device.info.local_mem_bytes, 200 << 10) // 8
    declared = f"{dialect.asked_for or dialect.shared} {long} shared[{'' if dialect.asked_for else most}]"
    item, place = dialect.items[0], f"shared[{most} - 1 - k - {dialect.items[0]}]"
    body = (f"{declared}; for (int k = 0; k < {most} - 31; k += 32) {place} = k + {item} + add; {dialect.wait};"
            f"a[{dialect.index(0)}] = shared[{item}] + shared[{most} - 1 - {item}];")  # fmt: skip
    text = dialect.entry("meet", f"global {long} *a, {long} add", body)
    kernel = device.compile(text, {"meet": [None, "int64"]})["meet"]
    for add in (1, 2):
        kernel.launch((3,), (32,), [buffer, np.int64(add)], 8 * most if dialect.asked_for else 0)
        assert np.array_equal(download(device, buffer, "int64", 96), [most - 1 + 2 * add] * 96)


def test_many_arguments(device: Device, dialect: Dialect, buffer: Any) -> None:
    names = [f"x{i}" for i in range(60)]
    arguments = ", ".join(f"{dialect.types['float64' if i % 2 else 'int32']} {name}" for i, name in enumerate(names))
    body = "".join(f"a[{i}] = {name};" for i, name in enumerate(names))
    types = ["float64" if i % 2 else "int32" for i in range(60)]
    text = dialect.entry("many", f"global double *a, {arguments}", body)
    kernel = device.compile(text, {"many": [None, *types]})["many"]
    kernel.launch((1,), (1,), [buffer, *[np.dtype(t).type(i + 1) for i, t in enumerate(types)]])
    assert np.array_equal(download(device, buffer, "float64", 60), np.arange(60) + 1)


def test_an_untouched_buffer_may_be_none(device: Device, dialect: Dialect, buffer: Any) -> None:
    text = dialect.entry("one", "global double *a, global double *unused", "a[0] = 5;")
    device.compile(text, {"one": [None, None]})["one"].launch((1,), (1,), [buffer, None])
    assert download(device, buffer, "float64", 1) == [5]


def test_kernels_take_addresses_inside_a_buffer_where_pointers_are_numbers(
    device: Device, dialect: Dialect, buffer: Any
) -> None:
    if not device.info.pointer_arithmetic:
        pytest.skip("DeviceInfo.pointer_arithmetic: buffers of this backend are handles, which cannot be added to")
    kernel = device.compile(dialect.entry("one", "global double *a", "a[0] = 5; a[-1] = 4;"), {"one": [None]})["one"]
    kernel.launch((1,), (1,), [buffer + 16])
    assert list(download(device, buffer, "float64", 2, offset=8)) == [4, 5]


def test_two_entry_points_and_two_programs(device: Device, dialect: Dialect, buffer: Any) -> None:
    def program(factor: int) -> str:
        double = dialect.entry("scale", "global double *a", f"a[0] *= {factor};")
        return double + dialect.entry("shift", "global double *a", f"a[0] += {factor};")

    first = device.compile(program(2), {"scale": [None], "shift": [None]})
    second = device.compile(program(5), {"shift": [None], "scale": [None]})
    upload(device, buffer, np.ones(1))
    for kernel in (first["shift"], second["scale"], first["scale"], second["shift"]):
        kernel.launch((1,), (1,), [buffer])
    assert download(device, buffer, "float64", 1) == [(1 + 2) * 5 * 2 + 5]


def test_operations_happen_in_order(device: Device, dialect: Dialect, buffer: Any) -> None:
    i = dialect.index(0)
    text = dialect.entry("advance", "global double *a, double x", f"a[{i}] = 2 * a[{i}] + x;")
    advance = device.compile(text, {"advance": [None, "float64"]})["advance"]
    upload(device, buffer, np.zeros(N))
    expected = 0.0
    for x in range(40):
        advance.launch((N,), (1,), [buffer, np.float64(x)])
        expected = 2 * expected + x
        if x == 20:
            upload(device, buffer, np.ones(N))
            expected = 1.0
    assert np.all(download(device, buffer, "float64", N) == expected)


@pytest.mark.parametrize("count", [N, 1 << 18])
def test_a_copy_after_a_point_waits_for_what_is_before_it(device: Device, dialect: Dialect, count: int) -> None:
    text = dialect.entry("spin", f"global double *a, {dialect.types['int64']} n", SPIN)
    text += dialect.entry("twice", "global double *a", f"a[{dialect.index(0)}] *= 2;")
    kernels = device.compile(text, {"spin": [None, "int64"], "twice": [None]})
    one, other, slow = (device.alloc(8 * count) for _ in range(3))
    given = np.arange(float(count))
    for buffer in (one, other, slow):
        upload(device, buffer, given)
    grid, block = (count // 8,), (8,)
    for times in range(1, 4):
        kernels["twice"].launch(grid, block, [one])
        point = device.point()
        kernels["spin"].launch((1,), (1,), [slow, np.int64(3_000_000)])
        found, new = np.zeros(count), given * times
        device.copy_from(one, 0, found.ctypes.data, found.nbytes, point)
        device.copy_to(other, 0, new.ctypes.data, new.nbytes, point)
        new[:] = 0  # the host's memory may be used again
        kernels["twice"].launch(grid, block, [other])
        assert np.array_equal(found, given * 2**times)
        assert np.array_equal(download(device, other, "float64", count), given * 2 * times)
    for buffer in (one, other, slow):
        device.free(buffer)


@pytest.mark.parametrize("before", ["copy_to", "copy", "zero"])
def test_a_copy_after_a_point_overtakes_nothing_but_launches(device: Device, dialect: Dialect, before: str) -> None:
    spin = device.compile(dialect.entry("spin", f"global double *a, {dialect.types['int64']} n", SPIN),
                          {"spin": [None, "int64"]})["spin"]  # fmt: skip
    count = 1 << 20
    here, other, slow = (device.alloc(8 * count) for _ in range(3))
    old, new = np.ones(count), np.arange(float(count))
    for buffer, values in ((here, old), (other, new), (slow, old)):
        upload(device, buffer, values)
    device.sync()
    point = device.point()
    spin.launch((1,), (1,), [slow, np.int64(20_000_000)])
    match before:
        case "copy_to":
            upload(device, here, new)
        case "copy":
            device.copy(here, 0, other, 0, 8 * count)
        case "zero":
            device.zero(here, 0, 8 * count)
    found = np.full(count, 7.0)
    device.copy_from(here, 0, found.ctypes.data, found.nbytes, point)
    assert np.array_equal(found, new * (before != "zero"))
    for buffer in (here, other, slow):
        device.free(buffer)


@pytest.mark.usefixtures("timing")
def test_a_copy_after_a_point_is_timed_where_it_happens(device: Device, dialect: Dialect, buffer: Any) -> None:
    text = dialect.entry("spin", f"global double *a, {dialect.types['int64']} n", SPIN)
    spin = device.compile(text, {"spin": [None, "int64"]})["spin"]
    upload(device, buffer, np.zeros(N))
    spin.launch((1,), (1,), [buffer, np.int64(1)])
    point, found = device.point(), np.zeros(1)
    slow = device.timed(lambda: spin.launch((1,), (1,), [buffer, np.int64(20_000_000)]))
    copy = device.timed(lambda: device.copy_from(buffer, 8, found.ctypes.data, 8, point), point)
    begin, lasted = copy.interval()
    end = sum(slow.interval())
    assert begin + lasted < end if point is not None else begin >= end - 1e-4


def test_a_launch_keeps_the_arguments_it_was_given(device: Device, dialect: Dialect, buffer: Any) -> None:
    text = dialect.entry("put", "global double *a, int i, double x", "a[i] = x;")
    put = device.compile(text, {"put": [None, "int32", "float64"]})["put"]
    for i in range(100):
        put.launch((1,), (1,), [buffer, np.int32(i), np.float64(i * i)])
    device.sync()
    assert np.array_equal(download(device, buffer, "float64", 100), np.arange(100) ** 2)


def test_a_buffer_may_be_freed_while_a_kernel_uses_it(device: Device, dialect: Dialect, buffer: Any) -> None:
    i = dialect.index(0)
    text = dialect.entry("copy", "global double *a, global double *b", f"a[{i}] = b[{i}];")
    copy = device.compile(text, {"copy": [None, None]})["copy"]
    source = device.alloc(8 * N)
    upload(device, source, np.arange(float(N)))
    copy.launch((N // 10,), (10,), [buffer, source])
    device.free(source)
    device.sync()
    assert np.array_equal(download(device, buffer, "float64", N), np.arange(N))


def test_sync_with_nothing_to_wait_for(device: Device) -> None:
    device.sync()
    device.sync()


@pytest.fixture
def timing(device: Device) -> Iterator[None]:
    device.start_timing()
    yield
    device.stop_timing()


SPIN = "double x = a[0]; for (long k = 0; k < n; k++) x = x * 0.5 + 1; a[0] = x;"


@pytest.mark.usefixtures("timing")
def test_timings_of_kernels_follow_each_other_and_grow_with_the_work(
    device: Device, dialect: Dialect, buffer: Any
) -> None:
    text = dialect.entry("spin", f"global double *a, {dialect.types['int64']} n", SPIN)
    spin = device.compile(text, {"spin": [None, "int64"]})["spin"]
    upload(device, buffer, np.zeros(1))
    spin.launch((1,), (1,), [buffer, np.int64(1)])  # some drivers compile at the first launch
    device.sync()

    def timed(n: int) -> Timing:
        return device.timed(lambda: spin.launch((1,), (1,), [buffer, np.int64(n)]))

    started = time.perf_counter()
    timings = [timed(n) for n in (1, 5_000_000, 1)]
    intervals = [timing.interval() for timing in timings]
    passed = time.perf_counter() - started
    ends = [begin + seconds for begin, seconds in intervals]
    assert all(seconds > 0 for _, seconds in intervals)
    assert intervals[1][1] > 1e-3  # no processor does five of these steps in a nanosecond
    assert sum(seconds for _, seconds in intervals) < passed
    assert intervals[0][0] > 0 and all(ends[i] <= intervals[i + 1][0] + 1e-4 for i in range(2))
    assert timings[1].interval() == intervals[1]  # as often as it is asked for


@pytest.mark.usefixtures("timing")
def test_copies_are_timed_together_and_done(device: Device, buffer: Any) -> None:
    there, back = np.arange(float(N)), np.zeros(N)

    def work() -> None:
        device.copy_to(buffer, 0, there.ctypes.data, there.nbytes)
        device.zero(buffer, 0, 8)
        device.copy_from(buffer, 0, back.ctypes.data, back.nbytes)

    begin, seconds = device.timed(work).interval()
    assert begin > 0 and seconds > 0
    assert list(back) == [0, *range(1, N)]


def test_c_gets_the_clocks_functions_while_operations_are_timed(device: Device) -> None:
    native = device.native()
    if native is None:  # Python launches, and times that itself
        assert device.info.backend not in ("cuda", "hip", "opencl")
        return
    plain, queue = dict(native.functions), native.queue
    device.start_timing()
    now = device.native()
    assert now is native and now.zero and (now.queue or device.info.backend in ("cpu", "hip"))  # HIP's: null stream
    events = {"await", "moment", "release"} if plain else set()  # the host needs none
    events |= {"make", "mark"} if "enter" in plain else set()
    assert set(now.functions) == set(plain) | events and all(now.functions.values())
    device.stop_timing()
    assert (dict(native.functions), native.queue, native.zero) == (plain, queue, 0)


def test_what_was_enqueued_before_is_done_when_timing_starts_and_stops(
    device: Device, dialect: Dialect, buffer: Any
) -> None:
    text = dialect.entry("spin", f"global double *a, {dialect.types['int64']} n", SPIN)
    spin = device.compile(text, {"spin": [None, "int64"]})["spin"]
    for _ in range(2):
        upload(device, buffer, np.zeros(1))
        spin.launch((1,), (1,), [buffer, np.int64(100_000)])
        device.start_timing()
        spin.launch((1,), (1,), [buffer, np.int64(100_000)])
        device.stop_timing()
        spin.launch((1,), (1,), [buffer, np.int64(1)])
        assert download(device, buffer, "float64", 1) == [2]
def test_what_the_compiler_made_serves_again(device: Device, dialect: Dialect, buffer: Any) -> None:
    text, signatures = dialect.entry("seven", "global double *a", "a[0] = 7;"), {"seven": [None]}
    kept: dict[str, bytes] = {}

    def stored(compiler: Mapping[str, str], build: Callable[[], bytes]) -> bytes:
        assert compiler["compiler"] and all(isinstance(word, str) for word in compiler.values())
        key = repr(sorted(compiler.items()))
        if key not in kept:
            kept[key] = build()
        else:
            hits.append(key)
        return kept[key]

    hits: list[str] = []
    for number in range(2):
        kernel = device.compile(text, signatures, stored, {"seven": (1,)})["seven"]
        upload(device, buffer, np.zeros(1))
        kernel.launch((1,), (1,), [buffer])
        assert download(device, buffer, "float64", 1) == [7]
        assert len(hits) == number
    assert all(kept.values())


def test_nonsense_instead_of_what_the_compiler_made_is_an_error(device: Device, dialect: Dialect) -> None:
    text = dialect.entry("seven", "global double *a", "a[0] = 7;")
    with pytest.raises(BackendError):
        device.compile(text, {"seven": [None]}, lambda compiler, build: b"nonsense")


def test_bad_source_gives_the_log(device: Device, dialect: Dialect) -> None:
    with pytest.raises(BackendError) as caught:
        device.compile(dialect.entry("bad", "global double *a", "a[0] = no_such_name;"), {"bad": [None]})
    assert "no_such_name" in caught.value.log


def test_a_missing_entry_point_is_an_error(device: Device, dialect: Dialect) -> None:
    with pytest.raises(BackendError):
        device.compile(dialect.entry("there", "global double *a", "a[0] = 1;"), {"missing": [None]})


def test_a_block_too_large_is_an_error(device: Device, dialect: Dialect, buffer: Any) -> None:
    kernel = device.compile(dialect.entry("one", "global double *a", "a[0] = 1;"), {"one": [None]})["one"]
    with pytest.raises(BackendError):
        kernel.launch((1,), (2 * device.info.max_threads_per_block,), [buffer])
    kernel.launch((1,), (1,), [buffer])  # the device is still in working order
    assert download(device, buffer, "float64", 1) == [1]


def test_too_much_memory_is_an_error(device: Device) -> None:
    with pytest.raises(BackendError):
        device.alloc(1 << 60)


def test_memory_and_queues_of_others(device: Device, buffer: Any) -> None:
    found = device.foreign(buffer)
    assert (found.buffer, found.offset, found.writeable) == (buffer, 0, True)
    queue = device.handles().queue
    device.wait_for(queue)
    device.hold_up(queue)
    device.sync()


def test_numbers_out_of_range(backend: Backend, device: Device) -> None:
    platforms = len(backend.devices())
    for platform in (-1, platforms, 99):
        with pytest.raises(NoSuchDevice, match=rf"^Platform id {platform} provided to libnomp is not valid\.$"):
            backend.open(platform, 0)
    with pytest.raises(NoSuchDevice, match=r"^Device id 99 passed into libnomp is not valid\.$"):
        backend.open(0, 99)


def test_close_twice_and_open_again(backend: Backend, device: Device) -> None:
    again = first_device(backend)
    again.close()
    again.close()
    third = first_device(backend)
    third.free(third.alloc(8))
    third.close()
