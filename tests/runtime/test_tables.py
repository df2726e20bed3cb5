"""Constant tables: uploaded when a kernel first needs them, unless they are mapped, and freed at the end."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from bench import ARRAY_A, SCALAR_N, Bench, address, floats, region, source

from nomp.device_source import Argument
from nomp.diagnostics import NompError
from nomp.region import Const, Param
from nomp.runtime.kernel import Kernel
from nomp.runtime.memory import TO

TABLE = Param("t", "float64", "table", "t", (Const(2, "int64"), Const(2, "int64")))


def bench() -> tuple[Bench, Kernel]:
    return Bench(source(Argument("buffer", "t"))), Kernel(region(SCALAR_N, TABLE))


def test_a_table_needs_no_map() -> None:
    made, kernel = bench()
    n, table = address(ctypes.c_int32(3)), np.arange(4.0)
    for _ in range(3):
        kernel.run(made.context, [n, address(table)])
    assert [floats(launched[2]) for launched in made.launched] == [[0.0, 1.0, 2.0, 3.0]] * 3
    assert sum(line.startswith("to ") for line in made.device.log) == 1


def test_a_table_on_the_stack_may_be_another_one() -> None:
    made, kernel = bench()
    n, table = address(ctypes.c_int32(3)), np.arange(4.0)
    kernel.run(made.context, [n, address(table)])
    table[:] = 7.0
    kernel.run(made.context, [n, address(table)])
    assert floats(made.launched[-1][2]) == [7.0] * 4


def test_a_mapped_table_is_the_mapped_one() -> None:
    made, kernel = bench()
    n, table = address(ctypes.c_int32(3)), np.arange(4.0)
    made.memory.update(address(table), 0, 4, 8, TO)
    table[:] = 7.0
    kernel.run(made.context, [n, address(table)])
    assert floats(made.launched[-1][2]) == [0.0, 1.0, 2.0, 3.0]


def test_the_copy_is_freed() -> None:
    made, kernel = bench()
    n, table = address(ctypes.c_int32(3)), np.arange(4.0)
    kernel.run(made.context, [n, address(table)])
    kernel.release(made.context)
    assert made.device.live == []
    kernel.run(made.context, [n, address(table)])
    assert floats(made.launched[-1][2]) == [0.0, 1.0, 2.0, 3.0]


def test_arrays_beside_a_table_must_still_be_mapped() -> None:
    made, kernel = bench()
    kernel = Kernel(region(SCALAR_N, TABLE, ARRAY_A))
    n, table = address(ctypes.c_int32(3)), np.arange(4.0)
    with pytest.raises(NompError) as caught:
        kernel.run(made.context, [n, address(table), address(np.zeros(3))])
    assert caught.value.code == "N607"
