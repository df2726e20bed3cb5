"""``nomp.profile`` in a Python program, on PoCL."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from reading import region

import nomp
from nomp import config
from nomp.diagnostics import NompError
from nomp.runtime import session
from nomp.runtime.memory import FROM, TO

PROGRAM = """void f(int n, double *a, double *b) {
#pragma nomp for name("add")
  for (int i = 0; i < n; i++)
    a[i] += b[i];
}
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[object]:
    """A function that adds on the device."""
    session.init(config.Settings(backend="opencl"))
    a, b, n = np.zeros(1000), np.ones(1000), ctypes.c_int(1000)
    for array, name in ((a, "a"), (b, "b")):
        session.update(array.ctypes.data, 0, 1000, 8, TO, name)
    found = region(tmp_path, PROGRAM)
    where = {"n": ctypes.addressof(n), "a": a.ctypes.data, "b": b.ctypes.data}
    kernel = session.declare(found)

    def add(times: int) -> np.ndarray:
        for _ in range(times):
            session.run(kernel, [where[param.name] for param in found.params])
        session.update(a.ctypes.data, 0, 1000, 8, FROM, "a")
        return a

    yield add
    if session.started():
        session.finalize()


def test_a_block_is_measured(run: object) -> None:
    assert callable(run)
    run(2)
    with nomp.profile() as measured:
        assert np.all(run(5) == 7)
    run(3)
    (row,) = measured.kernels
    assert (row.name, row.line, row.times.calls) == ("add", 3, 5)
    assert row.work is not None and (row.work.double, row.work.footprint) == (5000, 5 * 24000)
    assert [(copy.array, copy.direction, copy.nbytes) for copy in measured.copies] == [("a", "from", 8000)]
    assert measured.stages == ()  # it had been compiled before
    assert re.search(r"^add .* 5 ", str(measured), re.MULTILINE)
    assert measured.to_json()["kernels"]


@nomp.jit
def _add_twice(n: int, a: np.ndarray, b: np.ndarray) -> None:
    #pragma nomp for
    for i in range(n):
        a[i] += b[i] + b[i]


@pytest.mark.slow
def test_one_loop_with_arrays_of_two_types_is_two_kernels(run: object) -> None:
    with nomp.profile() as measured:
        for dtype in (np.float32, np.float64):
            a, b = np.zeros(1000, dtype), np.ones(1000, dtype)
            _add_twice(1000, a, b)
            assert np.all(a == 2)
    work = [row.work for row in measured.kernels if row.name != "add"]
    assert {(found.single, found.double, found.footprint, found.exact) for found in work if found} == {
        (2000, 0, 12000, True), (0, 2000, 24000, True)}  # fmt: skip


def test_launches_from_python_are_counted_each_time_with_their_sizes(run: object) -> None:
    a, b = np.zeros(1000), np.ones(1000)
    nomp.update(to=[a, b])
    for n in (1000, 10):
        _add_twice(n, a, b)
    with nomp.profile() as measured:
        for n in (1000, 1000, 1000, 10, 10):
            _add_twice(n, a, b)
        nomp.sync()
    _add_twice(1000, a, b)
    nomp.update(from_=a)
    assert (a[0], a[999]) == (16, 10)
    (row,) = measured.kernels
    assert row.times.calls == 5 and row.work is not None
    assert (row.work.double, row.work.footprint) == (2 * 3020, 24 * 3020)


def test_copies_have_the_names_of_the_callers_variables(run: object) -> None:
    there, also, held = np.zeros(10), np.ones(10), [np.ones(10)]
    with nomp.profile() as measured, nomp.update(to=[there, also, held[0]], from_=there):
        pass
    address = hex(held[0].ctypes.data)
    found = {(copy.array, copy.direction, copy.nbytes) for copy in measured.copies}
    assert found == {("there", "to", 80), ("also", "to", 80), (address, "to", 80), ("there", "from", 80)}


def test_an_exception_ends_the_measurement(run: object) -> None:
    assert callable(run)
    with pytest.raises(ZeroDivisionError), nomp.profile() as measured:
        run(1)
        raise ZeroDivisionError
    run(1)
    assert measured.kernels[0].times.calls == 1


def test_finalize_ends_it_too(run: object) -> None:
    assert callable(run)
    with nomp.profile() as measured:
        run(1)
        session.finalize()
    assert measured.kernels[0].times.calls == 1


def test_before_init() -> None:
    with pytest.raises(NompError, match="N602"), nomp.profile():
        pass
