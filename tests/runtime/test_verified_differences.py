"""NOMP_VERIFY: which differences between a kernel and its loop are found, and how they are told."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import region
from verifying import AXPY, SUM, Bench, N, of, plus_one

from nomp.runtime.memory import TO


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
