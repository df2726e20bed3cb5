"""NOMP_VERIFY: what the program notices of it, and what cannot be verified."""

from __future__ import annotations

import ctypes
import mmap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import region
from verifying import AXPY, SUM, Bench, N, nothing, of, plus_one

from nomp.runtime.memory import ALLOC, FROM, TO


def test_the_loop_starts_from_what_the_device_has_and_leaves_no_trace(tmp_path: Path) -> None:
    bench, a, seen = Bench(region(tmp_path, AXPY), plus_one), np.arange(10.0), list[float]()

    def loop() -> None:
        seen.append(a[9])
        a[:] += 1

    bench.update(a, TO)
    a[:] = -5  # stale from here on
    for _ in range(2):
        bench.run(loop, n=N, a=a)
    assert (seen, list(a)) == ([9, 10], [-5] * 10)
    bench.update(a, FROM)
    assert list(a) == list(np.arange(2.0, 12.0))


def test_results_stay_as_the_launch_left_them(tmp_path: Path) -> None:
    """The kernel's sum differs from the loop's in the last bits, which is fine; then the loop is wrong."""

    def kernel(total: bytearray, _: bytearray) -> None:
        of(total, "float64")[0] += 45 * (1 + 1e-15)

    bench = Bench(region(tmp_path, SUM), kernel)
    a, total, i = np.arange(10.0), ctypes.c_double(1), ctypes.c_int(77)

    def loop(last: int = 10) -> None:
        assert total.value == 1
        total.value += 45
        i.value = last

    bench.update(a, TO)
    bench.run(loop, n=N, a=a, sum=total, i=i)
    assert (total.value, i.value) == (1 + 45 * (1 + 1e-15), 10)
    total.value = 1
    assert bench.difference(lambda: loop(9), n=N, a=a, sum=total, i=i) == ["'i' is 10 on the device, 9 on the host"]
    assert (total.value, i.value) == (1 + 45 * (1 + 1e-15), 10)


def test_what_the_loop_does_not_reach_stays_the_hosts(tmp_path: Path) -> None:
    """A scalar that stands in what is mapped has the host's value in the kernel, and so in the loop."""
    text = """struct s { int n; double v[4]; };
void f(struct s *s) {
#pragma nomp for name("k")
  for (int i = 0; i < s->n; i++) s->v[i] = 3;
}
"""
    dtype = np.dtype([("n", "int32"), ("v", "float64", 4)], align=True)

    def kernel(buffer: bytearray) -> None:
        of(buffer, dtype)["v"] = 3

    bench, s, seen = Bench(region(tmp_path, text), kernel), np.zeros(1, dtype), list[int]()
    bench.update(s, ALLOC)
    s["n"] = 4

    def loop() -> None:
        seen.append(int(s["n"][0]))
        s["v"] = 3

    bench.run(loop, **{"s->n": ctypes.c_int(4), "s->v": s.ctypes.data + 8})
    assert seen == [4] and not s["v"].any()


def test_loops_in_functions_that_the_loop_calls(tmp_path: Path) -> None:
    """Their pragmas are for callers from elsewhere: nothing of them happens while the loop runs on the host."""
    bench, a = Bench(region(tmp_path, AXPY), plus_one), np.zeros(10)
    bench.update(a, TO)

    def loop() -> None:
        bench.update(a, FROM)
        bench.session.sync()
        bench.run(nothing, n=N, a=a)
        a[:] += 1

    bench.run(loop, n=N, a=a)
    bench.update(a, FROM)
    assert list(a) == [1] * 10


def test_others_wait_while_the_loop_runs(tmp_path: Path) -> None:
    bench, a, order = Bench(region(tmp_path, AXPY), plus_one), np.zeros(10), list[str]()
    bench.update(a, TO)

    def other() -> None:
        bench.update(a, FROM)
        order.append("update")

    thread = threading.Thread(target=other)

    def loop() -> None:
        thread.start()
        thread.join(0.2)
        order.append("loop")
        a[:] += 1

    bench.run(loop, n=N, a=a)
    thread.join()
    assert (order, list(a)) == (["loop", "update"], [1] * 10)


# ---------------------------------------------------------------------------------------------- what cannot be verified


def mapped_array(pages: int) -> tuple[Any, Callable[[int], None]]:
    """An array in pages of its own, and what sets their protection."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    size = pages * mmap.PAGESIZE
    address = libc.mmap(None, ctypes.c_size_t(size), 3, 0x22, -1, 0)  # read and write; private, anonymous
    array = np.frombuffer((ctypes.c_char * size).from_address(address), "float64")

    def protect(flags: int) -> None:
        assert libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), flags) == 0

    return array, protect


def test_memory_that_the_host_has_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    array, protect = mapped_array(2)
    bench = Bench(region(tmp_path, AXPY), plus_one)
    bench.update(array, TO)
    protect(0)
    for _ in range(2):
        bench.run(lambda: pytest.fail("the loop must not run"), n=N, a=array)
    protect(3)
    bench.update(array, FROM)
    assert list(array) == [2] * len(array)
    shown = capsys.readouterr().err
    assert shown.count("[N619]") == 1
    assert "warning: kernel 'k' is not verified: the host has no memory of its own where 'a' is mapped" in shown


def test_memory_that_the_loop_must_not_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    array, protect = mapped_array(1)
    bench = Bench(region(tmp_path, AXPY), plus_one)
    bench.update(array, TO)
    protect(1)
    bench.run(lambda: pytest.fail("the loop must not run"), n=N, a=array)
    assert "'a' is read-only on the host, and written by the loop" in capsys.readouterr().err


@pytest.mark.parametrize("stale", [False, True])
def test_memory_that_the_host_can_only_read(stale: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    array, protect = mapped_array(1)
    array[:] = 1

    def kernel(total: bytearray, a: bytearray) -> None:
        of(total, "float64")[0] += 10

    bench, total, i = Bench(region(tmp_path, SUM), kernel), ctypes.c_double(0), ctypes.c_int()
    bench.update(array, TO)
    array[3] = 2 if stale else 1
    protect(1)
    ran = []

    def loop() -> None:
        ran.append(1)
        total.value, i.value = float(array[:10].sum()), 10

    bench.run(loop, n=N, a=array, sum=total, i=i)
    shown = capsys.readouterr().err
    assert (len(ran), shown.count("[N619]")) == ((0, 1) if stale else (1, 0))
    assert not stale or "'a' is read-only on the host, and not the same on the device" in shown
    assert (total.value, i.value) == (10, 10)


def test_kernels_of_the_c_api(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench, a = Bench(region(tmp_path, AXPY), plus_one), np.zeros(10)
    bench.update(a, TO)
    for _ in range(2):
        assert not bench.session.run(bench.kernel, [ctypes.addressof(N), a.ctypes.data])
    shown = capsys.readouterr().err
    assert shown.count("[N619]") == 1
    assert shown.startswith("nomp: warning: NOMP_VERIFY has no effect here: kernels given as text have no loop")
