"""Launches, over a device of bytearrays, with sources written by hand."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bench import ARRAY_A, CELL_S, ONE, SCALAR_N, Bench, N, address, floats, region, source
from fake import INFO

from nomp.backend import BackendError, Bound
from nomp.device_source import Argument, Launch, Schedule, Scratch, Value, Variant
from nomp.diagnostics import NompError
from nomp.region import Assign, Binary, Clauses, Const, Declare, If, Load, Param, Reduction, Select, Stmt, Var
from nomp.runtime.cells import identity
from nomp.runtime.kernel import MAX_PLANS, Kernel
from nomp.runtime.memory import ALLOC, FREE, FROM, TO

# ------------------------------------------------------------------------------------------------------- values


DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def test_scalars_are_read_by_their_type() -> None:
    params = [Param(f"x{i}", dtype) for i, dtype in enumerate(DTYPES)]
    values = tuple(Value(p.name, p.dtype, Var(p.name, p.dtype)) for p in params)
    bench = Bench(source(*[Argument("value", v.name) for v in values], values=values))
    host = [np.array([1 if d == "bool" else 0.1 if "float" in d else np.iinfo(d).max], d) for d in DTYPES]
    Kernel(region(*params, upper=Const(5, "int32"))).run(bench.context, [address(x) for x in host])
    ((_, _, *got),) = bench.launched
    assert [(type(x), x) for x in got] == [(type(x[0].item()) if x.dtype != bool else int, x[0]) for x in host]


def test_values_and_grids_are_computed_from_scalars() -> None:
    twice = Binary("*", N, Const(2, "int32"), "int32")
    groups = Binary("//", Binary("+", Var("m", "int32"), Const(3, "int64"), "int64"), Const(4, "int64"), "int64")
    made = source(Argument("value", "m"), values=(Value("m", "int32", twice),), grid=groups)
    bench, kernel, n = Bench(made), Kernel(region(SCALAR_N)), ctypes.c_int(5)
    kernel.run(bench.context, [address(n)])
    n.value = 6
    kernel.run(bench.context, [address(n)])
    assert bench.launched == [((3,), (4,), 10), ((3,), (4,), 12)]
    assert len(bench.compiled) == 1


def test_an_empty_grid_is_not_launched() -> None:
    empty = Binary("-", N, Const(5, "int32"), "int32")
    full, zero = Launch("second", (), (ONE,), (ONE,)), Launch("k", (), (ONE, empty), (ONE, ONE))
    bench = Bench(source(launches=(zero, full)))
    kernel, n = Kernel(region(SCALAR_N)), ctypes.c_int(5)
    kernel.run(bench.context, [address(n)])
    assert [grid for grid, *_ in bench.launched] == [(1,)]
    n.value = 3
    kernel.run(bench.context, [address(n)])
    assert [grid for grid, *_ in bench.launched] == [(1,), (1,)]
    n.value = 7
    kernel.run(bench.context, [address(n)])
    assert [grid for grid, *_ in bench.launched[2:]] == [(1, 2), (1,)]


@pytest.mark.parametrize("trips", [0, -3])
def test_no_trips_need_no_map_and_no_compiler(trips: int) -> None:
    bench = Bench(source(Argument("buffer", "a")))
    Kernel(region(SCALAR_N, ARRAY_A)).run(bench.context, [address(ctypes.c_int(trips)), 0])
    assert bench.compiled == [] and bench.launched == []


def test_one_source_may_have_several_launches_in_order() -> None:
    launches = (Launch("second", (Argument("value", "n"),), (ONE,), (ONE,)), Launch("k", (), (ONE, ONE), (ONE, ONE)))
    bench = Bench(source(launches=launches))
    Kernel(region(SCALAR_N)).run(bench.context, [address(ctypes.c_int(5))])
    assert bench.launched == [((1,), (1,), 5), ((1, 1), (1, 1))]


# -------------------------------------------------------------------------------------------------------- arrays


OFFSET = Value("a_offset", "int64", offset_of="a")


@pytest.mark.parametrize(("start", "pointer", "offset"), [(0, 0, 0), (5, 0, -5), (0, 3, 3), (5, 8, 3)])
def test_arrays_come_with_the_offset_of_the_hosts_element_0(start: int, pointer: int, offset: int) -> None:
    a = np.arange(20.0)
    bench = Bench(source(Argument("buffer", "a"), Argument("value", "a_offset"), values=(OFFSET,)))
    bench.memory.update(address(a), start, 15, 8, TO)
    n = ctypes.c_int(1)
    Kernel(region(SCALAR_N, ARRAY_A)).run(bench.context, [address(n), address(a[pointer:])])
    ((_, _, buffer, got),) = bench.launched
    assert (floats(buffer), got) == (list(a[start:15]), offset)
    assert [variant.offsets for _, variant in bench.compiled] == [offset != 0]


def test_devices_with_pointer_arithmetic_get_the_address_of_element_0() -> None:
    a = np.arange(20.0)
    bench = Bench(source(Argument("buffer", "a")))
    bench.device.info = replace(INFO, pointer_arithmetic=True)
    bench.device.alloc = lambda nbytes: 4000  # type: ignore[assignment, method-assign, return-value]
    bench.device.zero = lambda buffer, offset, nbytes: None  # type: ignore[assignment, method-assign]
    bench.memory.update(address(a), 5, 15, 8, ALLOC)
    Kernel(region(SCALAR_N, ARRAY_A)).run(bench.context, [address(ctypes.c_int(1)), address(a)])
    assert bench.launched == [((1,), (4,), 4000 - 5 * 8)]
    assert bench.compiled == [({}, Variant(apart=True))]


def test_an_array_that_is_not_accessed_needs_no_map() -> None:
    unused = replace(ARRAY_A, reads=False, writes=False)
    bench = Bench(source(Argument("buffer", "a")))
    Kernel(region(SCALAR_N, unused)).run(bench.context, [address(ctypes.c_int(1)), 0])
    assert bench.launched == [((1,), (4,), None)]


def test_a_new_map_is_noticed() -> None:
    a = np.arange(10.0)
    bench, n = Bench(source(Argument("buffer", "a"))), ctypes.c_int(1)
    kernel = Kernel(region(SCALAR_N, ARRAY_A))
    for start, end, op in ((0, 4, TO), (0, 10, TO), (0, 10, FREE), (2, 4, TO)):
        bench.memory.update(address(a), start, end, 8, op)
        if op == TO:
            kernel.run(bench.context, [address(n), address(a)])
            assert floats(bench.launched[-1][2]) == list(a[start:end])
    bench.memory.update(address(a), 2, 4, 8, FREE)
    with pytest.raises(NompError, match="N607"):
        kernel.run(bench.context, [address(n), address(a)])


def test_a_map_at_the_same_place_makes_no_new_plan() -> None:
    a, factor, n = np.arange(8.0), ctypes.c_double(0.5), ctypes.c_int(1)
    made = source(Argument("buffer", "a"), Argument("value", "factor"),
                  values=(Value("factor", "float64", Var("factor", "float64")),))  # fmt: skip
    body = (Assign(Load("a", (Var("i", "int32"),), "float64"), Var("factor", "float64")),)
    bench, kernel = Bench(made), Kernel(region(SCALAR_N, ARRAY_A, Param("factor", "float64"), body=body))
    for value, (start, end), plans in ((0.5, (0, 4), 1), (1.5, (0, 4), 1), (1.5, (0, 8), 2), (2.5, (0, 4), 2)):
        a += 10
        factor.value = value
        bench.memory.update(address(a), start, end, 8, TO)
        kernel.run(bench.context, [address(n), address(a), address(factor)])
        *_, buffer, given = bench.launched[-1]
        assert (floats(buffer), given) == (list(a[start:end]), value)
        assert len(kernel._plans) == plans
        bench.memory.update(address(a), start, end, 8, FREE)


def test_another_pointer_is_noticed() -> None:
    a, b = np.arange(4.0), np.arange(4.0) + 10
    bench, n, kernel = Bench(source(Argument("buffer", "a"))), ctypes.c_int(1), Kernel(region(SCALAR_N, ARRAY_A))
    for x in (a, b):
        bench.memory.update(address(x), 0, 4, 8, TO)
    for x in (a, b, a):
        kernel.run(bench.context, [address(n), address(x)])
        assert floats(bench.launched[-1][2]) == list(x)


# ---------------------------------------------------------------------------------------------- cells and counters


def add(amount: float) -> Callable[[bytearray], None]:
    def function(cell: bytearray) -> None:
        cell[:] = (np.frombuffer(cell, "float64") + amount).tobytes()

    return function


def test_a_cell_goes_there_and_back() -> None:
    s = np.array([2.0])
    bench = Bench(source(Argument("buffer", "s")), add(5))
    kernel, n = Kernel(region(SCALAR_N, CELL_S)), ctypes.c_int(1)
    kernel.run(bench.context, [address(n), address(s)])
    assert s == [7]
    s[0] = 100
    kernel.run(bench.context, [address(n), address(s)])
    assert s == [105]


class Near:
    """The functions of a driver of which tests need the memory that kernels and the host share."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def stage(self, nbytes: int) -> tuple[int, Any]:
        self.given.append(ctypes.create_string_buffer(nbytes))
        return ctypes.addressof(self.given[-1]), self.given[-1]

    def bound(self, *_: object) -> Bound:
        raise BackendError("only Python launches here")


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("mapped", [False, True])
def test_a_cell_that_a_last_kernel_finishes_is_in_memory_that_the_host_shares(mapped: bool, overwrite: bool) -> None:
    def finish(*cell: int) -> None:
        for place in cell:
            ctypes.c_double.from_address(place).value += 2

    launches = (Launch("second", (), (ONE,), (ONE,)), Launch("k", (Argument("buffer", "s"),), (ONE,), (ONE,)))
    bench, near = Bench(source(values=(), launches=launches), finish), Near()
    bench.device.native = lambda: near  # type: ignore[assignment,method-assign,return-value]
    s, n = np.array([40.0]), ctypes.c_int(1)
    more = Clauses(reductions=(Reduction("s", "+"),))
    kernel = Kernel(region(SCALAR_N, CELL_S, clauses=more, overwrite=overwrite))
    if mapped:
        bench.memory.update(address(s), 0, 1, 8, TO)
        s[0] = 0  # what counts is on the device
    for run in (1, 2):
        kernel.run(bench.context, [address(n), address(s)])
        assert s[0] == (2 if overwrite else 40 + 2 * run)
        if mapped:
            s[0] = 0
            bench.memory.update(address(s), 0, 1, 8, FROM)
            assert s[0] == (2 if overwrite else 40 + 2 * run)
    assert len(near.given) == 1
    assert len(bench.device.live) == mapped
    kernel.release(bench.context)


def test_a_cell_may_be_an_element() -> None:
    s = np.arange(10.0)
    bench = Bench(source(Argument("buffer", "s")), add(0.5))
    kernel, n = Kernel(region(SCALAR_N, replace(CELL_S, index=N))), ctypes.c_int(3)
    kernel.run(bench.context, [address(n), address(s)])
    n.value = 4
    kernel.run(bench.context, [address(n), address(s)])
    assert list(s) == [0, 1, 2, 3.5, 4.5, 5, 6, 7, 8, 9]


def test_a_mapped_cell_is_right_on_both_sides() -> None:
    s = np.arange(10.0)
    bench = Bench(source(Argument("buffer", "s")), add(0.5))
    bench.memory.update(address(s), 2, 8, 8, TO)
    s[:] = -1
    kernel = Kernel(region(SCALAR_N, replace(CELL_S, index=N)))
    kernel.run(bench.context, [address(ctypes.c_int(3)), address(s)])
    assert list(s) == [-1, -1, -1, 3.5, -1, -1, -1, -1, -1, -1]
    bench.memory.update(address(s), 2, 8, 8, FROM)
    assert list(s) == [-1, -1, 2, 3.5, 4, 5, 6, 7, -1, -1]


@pytest.mark.parametrize("trips", [0, 1])
def test_an_overwriting_reduction_starts_from_the_identity(trips: int) -> None:
    s = np.array([100.0])
    bench = Bench(source(Argument("buffer", "s")), add(5))
    reduced = region(SCALAR_N, CELL_S, overwrite=True, clauses=Clauses(reductions=(Reduction("s", "+"),)))
    Kernel(reduced).run(bench.context, [address(ctypes.c_int(trips)), address(s)])
    assert s == [5 * trips]


@pytest.mark.parametrize(
    ("op", "dtype"),
    [(op, d) for op in ("+", "*", "min", "max", "&&", "||") for d in DTYPES]
    + [(op, d) for op in ("&", "|", "^") for d in DTYPES if "float" not in d],
)
def test_identities(op: str, dtype: str) -> None:
    x = [0, 1] if dtype == "bool" or op in ("&&", "||") else [0, 1, 5, 100]
    array, start = np.array(x, dtype), np.array([identity(op, dtype)]).astype(dtype)
    function: Callable[..., Any] = {
        "+": np.logical_or if dtype == "bool" else np.add, "*": np.multiply, "min": np.minimum, "max": np.maximum,
        "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor, "&&": np.logical_and, "||": np.logical_or,
    }[op]  # fmt: skip
    assert np.array_equal(function(start, array), array)


def test_counters_get_their_last_value() -> None:
    i, bench = ctypes.c_int(-7), Bench(source())
    kernel = Kernel(region(SCALAR_N, Param("i_out", "int32", "counter", "i"), final="i_out"))
    n = ctypes.c_int(9)
    for trips, expected in ((9, 9), (0, 0), (9, 9)):
        n.value, i.value = trips, -7
        kernel.run(bench.context, [address(n), address(i)])
        assert i.value == expected


# ------------------------------------------------------------------------------------------------- jit and variants


def test_each_jit_value_has_its_own_kernel() -> None:
    x = Param("x", "float64")
    bench, value = Bench(source(values=())), ctypes.c_double(0.0)
    kernel = Kernel(region(x, upper=ONE, clauses=Clauses(jit=("x",))))
    for number in (0.0, -0.0, 2.5, 0.0, 2.5):
        value.value = number
        kernel.run(bench.context, [address(value)])
    assert [str(jit["x"]) for jit, _ in bench.compiled] == ["0.0", "-0.0", "2.5"]
    assert len(bench.launched) == 5


# ----------------------------------------------------------------------------------------------------------- scratch


def test_scratch_is_kept_and_grows() -> None:
    made = source(Argument("scratch", "t"), scratch=(Scratch("t", "float32", N),))
    bench, kernel, n = Bench(made), Kernel(region(SCALAR_N)), ctypes.c_int(0)
    for size in (10, 5, 11, 20, 10, 100):
        n.value = size
        kernel.run(bench.context, [address(n)])
        assert any(bench.launched[-1][2] is buffer for buffer in bench.device.live)
    assert [len(buffer) for _, _, buffer in bench.launched] == [40, 40, 80, 80, 40, 400]
    assert len(bench.device.live) == 3
    kernel.release(bench.context)
    assert bench.device.live == []


def test_a_repeated_launch_only_launches() -> None:
    a = np.arange(4.0)
    bench, n, kernel = Bench(source(Argument("buffer", "a"))), ctypes.c_int(4), Kernel(region(SCALAR_N, ARRAY_A))
    bench.memory.update(address(a), 0, 4, 8, TO)
    kernel.run(bench.context, [address(n), address(a)])
    before = list(bench.device.log)
    kernel.run(bench.context, [address(n), address(a)])
    assert bench.device.log == before
    assert bench.launched[0] == bench.launched[1]


def test_swapping_arrays_makes_no_new_plans() -> None:
    a, b = np.arange(4.0), np.arange(4.0) + 10
    second = replace(ARRAY_A, name="b", host="b")
    made = source(Argument("buffer", "a"), Argument("buffer", "b"))
    bench, n, kernel = Bench(made), ctypes.c_int(4), Kernel(region(SCALAR_N, ARRAY_A, second))
    for x in (a, b):
        bench.memory.update(address(x), 0, 4, 8, TO)
    for _ in range(100):
        kernel.run(bench.context, [address(n), address(a), address(b)])
        a, b = b, a
    assert len(kernel._plans) == 2
    assert bench.launched[0][2:] == bench.launched[98][2:] == bench.launched[1][:1:-1] == bench.launched[99][:1:-1]


def test_a_scalar_that_only_values_depend_on_makes_no_new_plan() -> None:
    factor, a = Param("factor", "float64"), np.arange(8.0)
    body = (Assign(Load("a", (Var("i", "int32"),), "float64"), Var("factor", "float64")),)
    made = source(Argument("value", "factor"), Argument("value", "n"),
                  values=(Value("factor", "float64", Var("factor", "float64")), Value("n", "int32", N)))  # fmt: skip
    bench, kernel = Bench(made), Kernel(region(SCALAR_N, factor, ARRAY_A, body=body))
    bench.memory.update(address(a), 0, 8, 8, TO)
    for n, value in ((5, 0.5), (5, -0.0), (5, 0.5), (6, 0.5), (5, 0.0), (6, 1.5)):
        kernel.run(bench.context, [address(ctypes.c_int(n)), address(ctypes.c_double(value)), address(a)])
        assert repr(bench.launched[-1][2:]) == repr((value, n))
    assert len(kernel._plans) == 2


FACTOR = Param("factor", "int32")
SCALED = (Assign(Load("a", (Var("i", "int32"),), "float64"), Var("factor", "int32")),)
FACTOR_VALUE = (Value("factor", "int32", Var("factor", "int32")),)


@pytest.mark.parametrize("where", ["grid", "block", "scratch"])
def test_a_script_may_let_the_launch_depend_on_any_scalar(where: str) -> None:
    factor, a = Var("factor", "int32"), np.arange(8.0)
    launch = Launch("k", (Argument("value", "factor"),), (ONE,), (ONE,))
    scratch = (Scratch("more", "float64", factor),) if where == "scratch" else ()
    launch = launch if scratch else replace(launch, **{where: (factor,)})
    bench = Bench(source(launches=(launch,), values=FACTOR_VALUE, scratch=scratch))
    kernel = Kernel(region(SCALAR_N, FACTOR, ARRAY_A, body=SCALED))
    bench.memory.update(address(a), 0, 8, 8, TO)
    for value in (3, 50, 3):
        kernel.run(bench.context, [address(ctypes.c_int(4)), address(ctypes.c_int(value)), address(a)])
        grid, block, given = bench.launched[-1]
        assert (grid, block)[where == "block"] == ((value,) if not scratch else (1,)) and given == value
    assert not scratch or max(size for size, _ in kernel._programs.popitem()[1]._scratch["more"]) >= 400


def test_a_schedule_that_is_wrong_for_some_scalars_is_checked_for_all() -> None:
    a = np.arange(8.0)
    schedule = Schedule(assumes="[factor] -> { : factor <= 5 }")
    made = replace(source(Argument("value", "factor"), values=FACTOR_VALUE), schedule=schedule)
    bench, kernel = Bench(made), Kernel(region(SCALAR_N, FACTOR, ARRAY_A, body=SCALED))
    bench.memory.update(address(a), 0, 8, 8, TO)
    for value in (3, 6, 4):
        kernel.run(bench.context, [address(ctypes.c_int(4)), address(ctypes.c_int(value)), address(a)])
    assert [(d.code, "factor = 6" in d.message) for d in bench.illegal] == [("N309", True)]


FIRST = Load("a", (Const(0, "int32"),), "float64")


@pytest.mark.parametrize(
    "body",
    [
        (Assign(Load("a", (Var("k", "int32"),), "float64"), Const(1.0, "float64")),),
        (Assign(Load("a", (Var("i", "int32"),), "float64"), Load("a", (Var("k", "int32"),), "float64")),),
        (Declare("t", "int32", (), Var("k", "int32")),),
        (If(Var("k", "int32"), (Assign(FIRST, Const(1.0, "float64")),)),),
        (Assign(FIRST, Select(Var("k", "int32"), FIRST, Const(1.0, "float64"), "float64")),),
    ],
)  # fmt: skip
def test_a_scalar_that_decides_on_what_is_touched_makes_a_new_plan(body: tuple[Stmt, ...]) -> None:
    a = np.arange(8.0)
    bench, kernel = Bench(source()), Kernel(region(SCALAR_N, Param("k", "int32"), ARRAY_A, body=body))
    bench.memory.update(address(a), 0, 8, 8, TO)
    for k in (1, 2, 1):
        kernel.run(bench.context, [address(ctypes.c_int(3)), address(ctypes.c_int(k)), address(a)])
    assert len(kernel._plans) == 2


def test_plans_do_not_pile_up() -> None:
    bench, kernel, n = Bench(source()), Kernel(region(SCALAR_N)), ctypes.c_int(0)
    for n.value in range(1, 100):
        kernel.run(bench.context, [address(n)])
    assert len(kernel._plans) == MAX_PLANS and len(bench.launched) == 99
