"""The runtime on a real OpenCL device, with kernels written by hand: what it passes is what OpenCL expects."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest

from nomp import config
from nomp.device_source import Argument, DeviceSource, Launch, Scratch, Value
from nomp.diagnostics import NompError
from nomp.region import Binary, Const, Expr, For, Param, Region, Var
from nomp.runtime.memory import ALLOC, FROM, TO
from nomp.runtime.session import Session

pytestmark = pytest.mark.usefixtures("on_opencl")

N, TOTAL, ITEMS = Var("n", "int32"), Var("total", "int64"), Const(16, "int64")
SUM = """
__kernel void partial(__global const double *a, long a_offset, long total, __global double *part) {
  double sum = 0;
  for (long i = get_global_id(0); i < total; i += get_global_size(0)) sum += a[a_offset + i];
  part[get_global_id(0)] = sum;
}
__kernel void combine(__global const double *part, __global double *s) {
  for (int i = 0; i < 16; i++) s[0] += part[i];
}
__kernel void broken(__global double *s) { s[0] = 1; }
"""


def buffer(name: str) -> Argument:
    return Argument("buffer", name)


def value(name: str) -> Argument:
    return Argument("value", name)


PARTIAL = Launch(
    "partial", (buffer("a"), value("a_offset"), value("total"), Argument("scratch", "part")),
    (Const(4, "int64"),), (Const(4, "int64"),),
)  # fmt: skip
COMBINE = Launch("combine", (Argument("scratch", "part"), buffer("s")), (Const(1, "int64"),), (Const(1, "int64"),))
VALUES = (Value("total", "int64", N), Value("a_offset", "int64", offset_of="a"))


def session_for(text: str, *launches: Launch) -> Session:
    source = DeviceSource("sum", "opencl", text, VALUES, (Scratch("part", "float64", ITEMS),), launches)
    session = Session(lambda *_: (source, ()))
    session.init(config.load(["app", "--nomp-backend", "opencl"]))
    return session


def region(upper: Expr = N) -> Region:
    loop = For("i", "int32", Const(0, "int32"), "<", upper, Const(1, "int32"), ())
    params = (Param("n", "int32"), Param("a", "float64", "array", "a", (None,)), Param("s", "float64", "cell"))
    return Region("sum", "sum.c", 1, params, (loop,))


@pytest.fixture
def session() -> Iterator[Session]:
    started = session_for(SUM, PARTIAL, COMBINE)
    yield started
    started.finalize()


def run(session: Session, kernel: int, n: int, a: np.ndarray, s: np.ndarray) -> None:
    session.run(kernel, [ctypes.addressof(count := ctypes.c_int(n)), a.ctypes.data, s.ctypes.data])
    assert count.value == n


def test_a_sum_in_two_launches(session: Session) -> None:
    a, s, kernel = np.arange(1000.0), np.array([0.5]), session.declare(region())
    session.update(a.ctypes.data, 0, 1000, 8, TO)
    for n in (1000, 0, 1, 17, 1000):
        s[0] = 0.5
        run(session, kernel, n, a, s)
        assert s[0] == 0.5 + a[:n].sum()


def test_a_range_that_starts_later_and_an_interior_pointer(session: Session) -> None:
    a, s, kernel = np.arange(1000.0), np.zeros(1), session.declare(region())
    session.update(a.ctypes.data, 100, 1000, 8, TO)
    run(session, kernel, 50, a[120:], s)
    assert s[0] == a[120:170].sum()


def test_a_mapped_result_is_on_the_device_too(session: Session) -> None:
    a, s, kernel = np.ones(10), np.array([1.0, 2.0, 3.0]), session.declare(region())
    session.update(a.ctypes.data, 0, 10, 8, TO)
    session.update(s.ctypes.data, 0, 3, 8, TO)
    run(session, kernel, 10, a, s)
    run(session, kernel, 10, a, s)
    assert list(s) == [21, 2, 3]
    s[:] = 0
    session.update(s.ctypes.data, 0, 3, 8, FROM)
    assert list(s) == [21, 2, 3]


def test_a_map_that_grows_keeps_the_devices_values(session: Session) -> None:
    a, s, kernel = np.ones(20), np.zeros(1), session.declare(region())
    session.update(a.ctypes.data, 0, 10, 8, TO)
    a[:] = 5
    session.update(a.ctypes.data, 10, 20, 8, TO)
    run(session, kernel, 20, a, s)
    assert s[0] == 10 * 1 + 10 * 5


def test_the_log_of_a_kernel_that_does_not_compile() -> None:
    session = session_for(SUM.replace("s[0] = 1", "s[0] = nothing"), PARTIAL, COMBINE)
    with pytest.raises(NompError) as caught:
        session.declare(region(), eager=True)
    text = str(caught.value)
    assert caught.value.code == "N521"
    assert "'nothing'" in text and "   10 | __kernel void broken(__global double *s) { s[0] = nothing; }" in text
    session.finalize()


def test_groups_too_large_and_too_little_memory(session: Session) -> None:
    large = Launch("combine", COMBINE.arguments, (Const(1, "int64"),), (Const(1 << 20, "int64"),))
    other, a, s = session_for(SUM, PARTIAL, large), np.ones(10), np.zeros(1)
    other.update(a.ctypes.data, 0, 10, 8, TO)
    with pytest.raises(NompError, match=r"launching 'sum' failed: .*\(1048576,\).*N611"):
        run(other, other.declare(region(Binary("+", N, N, "int32"))), 10, a, s)
    with pytest.raises(NompError, match="N611"):
        other.update(a.ctypes.data, 0, 1 << 57, 8, ALLOC)
    other.finalize()


def test_many_sessions_one_after_the_other() -> None:
    a, s = np.ones(10), np.zeros(1)
    session = session_for(SUM, PARTIAL, COMBINE)
    kernel = session.declare(region())
    for _ in range(3):
        session.update(a.ctypes.data, 0, 10, 8, TO)
        run(session, kernel, 10, a, s)
        session.finalize()
        session.init(config.load())
    session.finalize()
    assert s[0] == 30
