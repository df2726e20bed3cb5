"""NOMP_VERIFY on a device whose kernels are Python functions, and can be wrong.

The regions are what the front end reads; the program's loop, which would run between `run` and `confirm`, is done here.
"""

from __future__ import annotations

import ctypes
import mmap
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake import FakeBackend
from reading import region

from nomp.config import Settings
from nomp.device_source import Argument, DeviceSource, Launch
from nomp.diagnostics import NompError
from nomp.region import Const, Region
from nomp.runtime.memory import ALLOC, FROM, TO
from nomp.runtime.session import Session

ONE = Const(1, "int64")
AXPY = "void f(int n, double *a) {\n#pragma nomp for name(\"k\")\n  for (int i = 0; i < n; i++) a[i] += 1;\n}\n"
SUM = """double f(int n, double *a) {
  double sum = 1;
  int i;
#pragma nomp for name("k") reduce("sum", "+")
  for (i = 0; i < n; i++) sum += a[i];
  return sum;
}
"""
N = ctypes.c_int(10)
Loop = Callable[[], None]


class Bench:
    """A session in which the kernel of *made* is the function *kernel* of the buffers of its arrays and cells."""

    def __init__(self, made: Region, kernel: Callable[..., None]) -> None:
        names = [param.name for param in made.params if param.kind in ("array", "cell")]
        launch = Launch("k", tuple(Argument("buffer", name) for name in names), (ONE,), (ONE,))
        source = DeviceSource("k", "opencl", "text", (), (), (launch,))
        backend = FakeBackend("opencl", [["cpu"]])
        self.session = Session(lambda *_: (source, ()), lambda: {"opencl": lambda: backend})
        self.session.init(Settings(verify=True))
        backend.opened[-1].kernels = {"k": lambda grid, block, *buffers: kernel(*buffers)}
        self.made = made
        self.kernel = self.session.declare(made)

    def update(self, array: Any, op: int, first: int = 0, last: int | None = None) -> None:
        self.session.update(array.ctypes.data, first, len(array) if last is None else last, array.strides[0], op)

    def run(self, loop: Loop, **values: Any) -> None:
        """Launch with *values* for the variables, and do what the program would: the loop, if that is asked for."""
        addresses = [_address(values[param.variable]) for param in self.made.params]
        if self.session.run(self.kernel, addresses, has_loop=True):
            loop()
            self.session.confirm()

    def difference(self, loop: Loop, **values: Any) -> list[str]:
        """What N618 says, and its notes."""
        with pytest.raises(NompError) as caught:
            self.run(loop, **values)
        (found,) = caught.value.diagnostics
        head = "kernel 'k' and its loop come to different results: "
        assert found.code == "N618" and found.message.startswith(head) and found.span
        return [found.message.removeprefix(head), *(note.message for note in found.notes)]


def _address(value: Any) -> int:
    if isinstance(value, int):
        return value
    return int(value.ctypes.data) if isinstance(value, np.ndarray) else ctypes.addressof(value)


def of(buffer: bytearray, dtype: Any) -> Any:
    return np.frombuffer(buffer, dtype)


def plus_one(buffer: bytearray) -> None:
    of(buffer, "float64")[:] += 1


def nothing() -> None:
    """A loop that does nothing."""


# -------------------------------------------------------------------------------------------------- the program's view


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


# ------------------------------------------------------------------------------------------------------- differences


def test_elements_of_a_part(tmp_path: Path) -> None:
    """a[5, 15] is mapped; the indices are the host's."""
    bench, a = Bench(region(tmp_path, AXPY.replace("i = 0", "i = 5")), plus_one), np.arange(20.0)
    bench.update(a, TO, 5, 15)

    def loop() -> None:
        a[5:15] += 1
        a[7] = a[12] = -1

    found = bench.difference(loop, n=ctypes.c_int(15), a=a)
    assert found == ["'a[7]' is 8.0 on the device, -1.0 on the host", "2 of 10 elements differ"]
    assert list(a) == list(np.arange(20.0))


@pytest.mark.parametrize(
    ("parameters", "element"),
    [("int n, int m, int a[n][m]", "a[2][3]"), ("int n, int m, int a[][2][3]", "a[2][1][1]"),
     ("int n, int m, int *a", "a[13]")],
)  # fmt: skip
def test_indices_are_the_programs(parameters: str, element: str, tmp_path: Path) -> None:
    body = {"a[2][3]": "a[i][j]", "a[2][1][1]": "a[i][1][j]", "a[13]": "a[5 * i + j]"}[element]
    text = f'void f({parameters}) {{\n#pragma nomp for name("k")\n  for (int i = 0; i < n; i++)\n'
    text += f"    for (int j = 0; j < m; j++) {body} = 7;\n}}\n"
    bench, a, m = Bench(region(tmp_path, text), nothing_of), np.zeros(40, "int32"), 5 if element != "a[2][1][1]" else 3
    bench.update(a, TO)
    place = {"a[2][3]": 13, "a[2][1][1]": 16, "a[13]": 13}[element]

    def loop() -> None:
        a[place] = 7

    found = bench.difference(loop, n=ctypes.c_int(3), m=ctypes.c_int(m), a=a)
    assert found[0] == f"'{element}' is 0 on the device, 7 on the host"


def nothing_of(*_: bytearray) -> None:
    """A kernel that does nothing."""


@pytest.mark.parametrize("member", ["id", "x", "v", "w"])
def test_members_of_structs(member: str, tmp_path: Path) -> None:
    """Each is compared as what it is: bits of integers that look like small numbers count."""
    text = """struct s { int id; double x; int k[2]; float v[3]; signed char w; };
void f(int n, struct s *p, const int *list) {
#pragma nomp for name("k")
  for (int i = 0; i < n; i++) { p[i].id = 1; p[i].x = 2; p[list[i]].v[1] = 3; p[i].w = 4; }
}
"""
    kinds = [("id", "int32"), ("x", "float64"), ("k", "int32", 2), ("v", "float32", 3), ("w", "int8")]
    dtype = np.dtype(kinds, align=True)

    def fill(p: Any) -> None:
        p["id"], p["x"], p["w"] = 1, 2, 4
        p["v"][:, 1] = 3

    bench = Bench(region(tmp_path, text), lambda *buffers: fill(of(max(buffers, key=len), dtype)))
    p, numbers = np.zeros(10, dtype), np.arange(10, dtype="int32")
    bench.update(p, TO)
    bench.update(numbers, TO)
    members = {f"p[].{name}": p.ctypes.data + offset for name, (_, offset, *_) in dtype.fields.items()}
    values = {"n": N, "list": numbers, **members}
    bench.run(lambda: fill(p), **values)

    def loop() -> None:
        fill(p)
        p["k"] = 9  # not the region's: what is there on the host is the program's affair
        if member == "v":
            p["v"][6, 1] = 0
        else:
            p[member][6] = 0

    expected = {"id": "'p[6].id' is 1", "x": "'p[6].x' is 2.0", "v": "'p[6].v[1]' is 3.0", "w": "'p[6].w' is 4"}
    zero = "0.0" if member in "xv" else "0"
    assert bench.difference(loop, **values) == [
        f"{expected[member]} on the device, {zero} on the host", "1 of 10 elements differ"
    ]  # fmt: skip


def test_subscripts_that_wrap_around_reach_more(tmp_path: Path) -> None:
    """3 * 0x55555556 is 2 modulo 2**32, which is no multiple of 3."""
    text = AXPY.replace("int i = 0", "unsigned i = 0").replace("a[i] += 1", "a[3 * (i + 0x55555556u)] = 1")
    bench, a = Bench(region(tmp_path, text), nothing_of), np.zeros(10)
    bench.update(a, TO)

    def loop() -> None:
        a[2] = 1

    assert bench.difference(loop, n=ctypes.c_int(1), a=a)[0] == "'a[2]' is 0.0 on the device, 1.0 on the host"


def test_a_kernel_that_writes_elsewhere(tmp_path: Path) -> None:
    """A store beyond what the loop reaches is found even if the loop's results are right."""
    text = AXPY.replace("a[i] += 1", "a[2 * i] += 1")
    bench, a = Bench(region(tmp_path, text), plus_one), np.zeros(10)
    bench.update(a, TO)

    def loop() -> None:
        a[::2] += 1

    (found,) = bench.difference(loop, n=ctypes.c_int(5), a=a)
    assert found.startswith("byte 14 of what is mapped with 'a', which the loop does not reach, is ")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("device", "steps", "same"),
    [(1, 0.9, True), (1, 1.1, False), (1, -1.1, False), (0, 0.9, True), (0, 1.1, False), (np.nan, 0, True),
     (np.inf, 0, True), (0.0, -0.0, True)],
)  # fmt: skip
def test_how_much_floats_may_differ(dtype: str, device: float, steps: float, same: bool, tmp_path: Path) -> None:
    """The host's value is so many *steps* away, where a step is what is allowed if the array's largest number is 1."""
    host = device + steps * np.sqrt(np.finfo(dtype).eps)
    check_floats(dtype, device, host, same, tmp_path)


@pytest.mark.parametrize(("device", "host"), [(np.nan, 1), (1, np.nan), (np.inf, -np.inf), (1, np.inf)])
def test_what_is_no_number_is_never_near_one(device: float, host: float, tmp_path: Path) -> None:
    check_floats("float64", device, host, False, tmp_path)


def check_floats(dtype: str, device: float, host: float, same: bool, folder: Path) -> None:
    text = AXPY.replace("double", "float" if dtype == "float32" else "double").replace("+= 1", "= a[i] * a[i]")

    def kernel(buffer: bytearray) -> None:
        of(buffer, dtype)[:] = [1, device]

    def loop() -> None:
        a[:] = [1, host]

    a = np.array([1, 1], dtype)
    bench = Bench(region(folder, text), kernel)
    bench.update(a, TO)
    if same:
        bench.run(loop, n=ctypes.c_int(2), a=a)
    else:
        assert bench.difference(loop, n=ctypes.c_int(2), a=a)[0].startswith("'a[1]' is ")


@pytest.mark.parametrize(("offset", "same"), [(1e-8, True), (1e-2, False)])
def test_sums_that_cancel_are_measured_against_their_terms(offset: float, same: bool, tmp_path: Path) -> None:
    def kernel(total: bytearray, _: bytearray) -> None:
        of(total, "float64")[0] = offset

    bench, a = Bench(region(tmp_path, SUM), kernel), np.array([1e3, -1e3])
    total, i = ctypes.c_double(0), ctypes.c_int()
    bench.update(a, TO)

    def loop() -> None:
        total.value, i.value = 0, 2

    values = {"n": ctypes.c_int(2), "a": a, "sum": total, "i": i}
    if same:
        bench.run(loop, **values)
    else:
        assert bench.difference(loop, **values) == ["'sum' is 0.01 on the device, 0.0 on the host"]


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
    assert shown.startswith("nomp: warning: NOMP_VERIFY has no effect here: kernels of nomp_jit have no loop")
