"""Which launches may be repeated without Python, and what of."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from bench import ARRAY_A, CELL_S, SCALAR_N, Bench, N, address, region, source

from nomp.backend import Bound
from nomp.device_source import Argument, Value
from nomp.region import Assign, Binary, Cast, Const, Expr, Load, Param, Region, Var
from nomp.runtime.kernel import Kernel
from nomp.runtime.memory import ALLOC, FREE, TO
from nomp.runtime.plan import WORTH
from nomp.runtime.replay import Action, Replay

FACTOR = Var("factor", "float64")
WHOLE = Var("count", "int32")
ELEMENT = Load("a", (Var("i", "int32"),), "float64")


class FakeNative:
    """Handles are the numbers of things seen."""

    queue = 1
    context = 0
    zero = 0
    functions: Mapping[str, int] = {}

    def handle(self, buffer: Any) -> int:
        return 7

    def bound(self, kernel: Any, arguments: Sequence[Any], group_bytes: int = 0) -> Bound:
        return Bound(9, arguments)

    def stage(self, nbytes: int) -> tuple[int, Any]:
        return 5, None


def replays(bench: Bench, made: Region, addresses: Sequence[int], runs: int = 3) -> list[Replay | None]:
    bench.device.native = FakeNative  # type: ignore[assignment,method-assign]
    kernel = Kernel(made)
    return [kernel.run(bench.context, addresses) for _ in range(runs)]


def test_the_second_launch_of_a_kind_is_kept() -> None:
    a, n, factor = np.arange(4.0), ctypes.c_int(4), ctypes.c_double(0.5)
    made = source(Argument("buffer", "a"), Argument("value", "n"), Argument("value", "factor"),
                  values=(Value("n", "int32", N), Value("factor", "float64", FACTOR)))  # fmt: skip
    bench = Bench(made)
    bench.memory.update(address(a), 0, 4, 8, TO)
    kernel = region(SCALAR_N, ARRAY_A, Param("factor", "float64"), body=(Assign(ELEMENT, FACTOR),))
    first, second, third = replays(bench, kernel, [address(n), address(a), address(factor)])
    assert first is third is None and second is not None
    assert second.scalars == {0: (4).to_bytes(4, "little")}
    assert second.pointers == {0: address(n), 1: address(a), 2: address(factor)}
    settings, launch = second.actions
    assert settings == Action("set", 9, position=2, size=8, index=2)
    assert launch == Action("launch", 9, grid=(1,), block=(4,))


def test_what_a_script_may_have_used_for_more_than_values_is_to_be_the_same() -> None:
    a, n, count = np.arange(4.0), ctypes.c_int(4), ctypes.c_int(2)
    made = source(Argument("buffer", "a"), Argument("value", "count"), grid=WHOLE,
                  values=(Value("n", "int32", N), Value("count", "int32", WHOLE)))  # fmt: skip
    bench = Bench(made)
    bench.memory.update(address(a), 0, 4, 8, TO)
    kernel = region(SCALAR_N, ARRAY_A, Param("count", "int32"), body=(Assign(ELEMENT, Cast(WHOLE, "float64")),))
    first, second, third = replays(bench, kernel, [address(n), address(a), address(count)])
    assert first is third is None and second is not None
    assert second.scalars == {0: (4).to_bytes(4, "little"), 2: (2).to_bytes(4, "little")}
    assert second.actions == (Action("launch", 9, grid=(2,), block=(4,)),)


def test_launches_are_kept_again_after_a_change_of_the_map() -> None:
    a, more, n = np.arange(4.0), np.arange(4.0), ctypes.c_int(4)
    bench = Bench(source(Argument("buffer", "a"), values=()))
    bench.memory.update(address(a), 0, 4, 8, TO)
    bench.device.native = FakeNative  # type: ignore[assignment,method-assign]
    kernel = Kernel(region(SCALAR_N, ARRAY_A))

    def kept(runs: int) -> list[bool]:
        return [kernel.run(bench.context, [address(n), address(a)]) is not None for _ in range(runs)]

    assert kept(3) == [False, True, False]
    for place in range(2):  # not for a few: what it takes has to be worth it
        bench.memory.update(address(more), 2 * place, 2 * place + 1, 8, ALLOC)
        assert kept(WORTH + 1) == [False] * (WORTH - 1) + [True, False]


def test_launches_that_c_has_repeated_often_are_kept_at_once_after_a_change_of_the_map() -> None:
    a, n = np.arange(4.0), ctypes.c_int(4)
    bench = Bench(source(Argument("buffer", "a"), values=()))
    bench.device.native = FakeNative  # type: ignore[assignment,method-assign]
    kernel = Kernel(region(SCALAR_N, ARRAY_A))
    made: Replay | None = None
    for repeats, expected in ((0, [False, True]), (WORTH, [True, False]), (3, [False] * 2)):
        if made:
            made.repeats.value = repeats
        bench.memory.update(address(a), 0, 4, 8, TO)
        found = [kernel.run(bench.context, [address(n), address(a)]) for _ in range(2)]
        assert [replay is not None for replay in found] == expected
        made = next(filter(None, found), None)
        bench.memory.update(address(a), 0, 4, 8, FREE)


def test_cells_are_filled_before_and_read_after() -> None:
    bench, s = Bench(source(Argument("buffer", "s"))), ctypes.c_double(1)
    _, second, _ = replays(bench, region(SCALAR_N, CELL_S), [address(ctypes.c_int(3)), address(s)])
    assert second is not None and [action.kind for action in second.actions] == ["write", "launch", "read"]
    assert second.actions[0] == Action("write", 7, position=1, size=8, stage=5)
    assert second.pointers[1] == address(s)


def test_last_values_of_counters_are_stored() -> None:
    bench, i = Bench(source()), ctypes.c_int(1)
    counter = Param("last", "int32", "counter", "i", writes=True)
    _, second, _ = replays(bench, region(SCALAR_N, counter, final="last"), [address(ctypes.c_int(3)), address(i)])
    assert second is not None
    assert second.actions[-1] == Action("store", position=1, size=4, data=(3).to_bytes(4, "little"))


def test_a_mapped_cell_is_left_to_python() -> None:
    bench, s = Bench(source(Argument("buffer", "s"))), np.ones(1)
    bench.memory.update(address(s), 0, 1, 8, TO)
    assert replays(bench, region(SCALAR_N, CELL_S), [address(ctypes.c_int(3)), address(s)]) == [None] * 3


def test_a_table_is_left_to_python() -> None:
    bench, table = Bench(source(Argument("buffer", "t"))), np.ones(2)
    param = Param("t", "float64", "table", "t", (Const(2, "int64"),), reads=True)
    body = (Assign(ELEMENT, Load("t", (Const(0, "int32"),), "float64")),)
    kernel = region(SCALAR_N, param, body=body)
    assert replays(bench, kernel, [address(ctypes.c_int(3)), address(table)]) == [None] * 3


def with_value(expr: Expr, scalar: str) -> Replay | None:
    """The replay of a kernel that gets *expr*, of a scalar of type *scalar*, and nothing else."""
    bench, a = Bench(source(Argument("value", "more"), values=(Value("more", expr.dtype, expr),))), np.arange(4.0)
    bench.memory.update(address(a), 0, 4, 8, TO)
    body = (Assign(ELEMENT, Cast(expr, "float64")),)
    kernel = region(SCALAR_N, ARRAY_A, Param("count", scalar), body=body)
    addresses = [address(ctypes.c_int(3)), address(a), address(ctypes.c_longlong(3))]
    first, second, third = replays(bench, kernel, addresses)
    assert first is third is None
    return second


@pytest.mark.parametrize(
    ("scalar", "argument", "size", "widened"),
    [("int32", "int32", 4, 0), ("int32", "int64", 8, -4), ("uint8", "int32", 4, 1), ("uint32", "uint64", 8, 4),
     ("int16", "int64", 8, -2), ("float32", "float32", 4, 0)],
)  # fmt: skip
def test_integers_are_widened(scalar: str, argument: str, size: int, widened: int) -> None:
    value = Var("count", scalar)
    made = with_value(value if scalar == argument else Cast(value, argument), scalar)
    assert made is not None
    assert made.actions[0] == Action("set", 9, position=2, size=size, source=widened)


@pytest.mark.parametrize(
    ("scalar", "expr"),
    [
        ("int32", Binary("+", WHOLE, Const(1, "int32"), "int32")),
        ("int32", Cast(WHOLE, "float64")),
        ("int32", Cast(WHOLE, "uint64")),
        ("int64", Cast(Var("count", "int64"), "int32")),
        ("float32", Cast(Var("count", "float32"), "float64")),
    ],
)
def test_computed_values_are_left_to_python(scalar: str, expr: Expr) -> None:
    assert with_value(expr, scalar) is None


def test_what_launches_nothing_is_left_to_python() -> None:
    assert replays(Bench(source()), region(SCALAR_N), [address(ctypes.c_int(0))]) == [None] * 3


def test_a_change_of_the_map_is_told_beforehand() -> None:
    a, told = np.arange(8.0), list[int]()
    bench = Bench(source())
    bench.memory._changing = lambda: told.append(len(list(bench.memory)))
    for section, expected in (((0, 4), True), ((0, 4), False), ((1, 3), False), ((2, 6), True)):
        before = len(told)
        bench.memory.update(address(a), *section, 8, TO)
        assert (len(told) > before) is expected
    before = len(told)
    bench.memory.update(address(a), 0, 6, 8, 8)
    assert told[before:] == [1]
