"""The two-stage default of reductions: any operator, type, trip count and body, the initial value included."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from interpreter import Interpreter
from launch import device, run
from quick import first_of

from nomp import pipeline, reduction
from nomp.arithmetic import cast, promoted
from nomp.config import Settings
from nomp.device_source import Variant
from nomp.region import (
    Assign,
    Binary,
    Clauses,
    Const,
    Expr,
    For,
    If,
    Load,
    Param,
    Reduction,
    Region,
    Select,
    Stmt,
    Var,
)


def step(op: str, cell: Var, term: Expr) -> Assign:
    """``cell = cell OP term`` with C's conversions."""
    if op in ("min", "max"):
        return Assign(cell, Select(Binary("<" if op == "min" else ">", term, cell, "int32"), term, cell, cell.dtype))
    wide = promoted(cell.dtype)
    result = "int32" if op in ("&&", "||") else wide
    return Assign(cell, cast(Binary(op, cast(cell, wide), cast(term, wide), result), cell.dtype))


def region(loop: For, *cells: tuple[str, str, str], data: str = "int32") -> Region:
    params = (
        Param("n", "int32"),
        Param("a", data, "array", shape=(None,)),
        *(Param(name, dtype, "cell", writes=True) for name, dtype, _ in cells),
    )
    clauses = Clauses(reductions=tuple(Reduction(name, op) for name, _, op in cells))
    return Region("reduced", "x.c", 1, params, (loop,), clauses)


def counted(body: tuple[Stmt, ...], counter: str = "int32", by: int = 1) -> For:
    return For("i", counter, Const(0, counter), "<", cast(Var("n", "int32"), counter), Const(by, counter), body)


def check(
    tested: Region, n: int, values: np.ndarray, start: dict[str, np.ndarray], exact: bool = True
) -> dict[str, np.ndarray]:
    """*tested* on the device, made for a CPU or a GPU, gives what it gives interpreted, which is returned."""
    assert reduction.is_divided(tested)
    expected = {"a": values, **{name: value.copy() for name, value in start.items()}}
    Interpreter(tested, {"n": n}, expected).run()
    for kind in ("cpu", "gpu"):
        actual = {"a": values, **{name: value.copy() for name, value in start.items()}}
        run(tested, {"n": n}, actual, kind=kind)
        for name in start:
            if exact:
                np.testing.assert_array_equal(actual[name].view("uint8"), expected[name].view("uint8"))
            else:
                np.testing.assert_allclose(actual[name], expected[name], rtol=1e-4)
    return expected


INTEGERS = ["int32", "uint8", "int64", "uint64"]
CASES = [(op, dtype) for op in ("+", "*", "min", "max", "&&", "||") for dtype in [*INTEGERS, "float32", "float64"]]


QUICK = {("max", "uint8")}
"""What ``make quick`` takes."""
LAST = {"min": 0, "max": 9, "&": 14, "|": 8, "&&": 0, "||": 3}
"""What decides the result alone, among the other `terms` and a start of 5."""


def terms(op: str, n: int) -> np.ndarray:
    """Random values of which every share counts; where a single value may decide the result, the last one does."""
    random = np.random.default_rng(n)
    if op == "*":
        return random.choice([3, 5], n)  # no factor that makes a 0 of an integer
    values = {"&": random.integers(0, 10, n) | 5, "|": random.choice([0, 1, 4, 5], n), "||": np.zeros(n, int)}
    found = values.get(op, random.integers(1, 9, n))
    if n > 1 and op in LAST:
        found[-1] = LAST[op]
    return found


@pytest.mark.parametrize(("op", "dtype"), [
    pytest.param(op, dtype, marks=() if (op, dtype) in QUICK else pytest.mark.slow)
    for op, dtype in CASES + [(op, dtype) for op in "&|^" for dtype in INTEGERS]
])  # fmt: skip
def test_operators(op: str, dtype: str) -> None:
    loop = counted((step(op, Var("s", dtype), Load("a", (Var("i", "int32"),), dtype)),))
    tested = region(loop, ("s", dtype, op), data=dtype)
    exact = not dtype.startswith("float") or op != "*"
    results = []
    for n in (0, 1, 37) if op == "*" else (0, 1, 37, 300):  # 300 factors are more than float32 holds
        for start in (0, 5) if op in ("&&", "||") else (5,):
            found = check(tested, n, terms(op, max(n, 1)).astype(dtype), {"s": np.array([start], dtype)}, exact)
            results.append((start, found["s"][0]))
    assert any(result != start for start, result in results)


@pytest.mark.parametrize(
    ("op", "start"), first_of([("+", -0.0), ("+", 0.0), ("*", -0.0), ("min", -0.0), ("max", 0.0)])
)
@pytest.mark.parametrize("term", first_of([-0.0, 0.0, 1.0]))
def test_signs_of_zeros(op: str, start: float, term: float) -> None:
    """Where all terms are the same, no order of them changes the sign."""
    loop = counted((step(op, Var("s", "float64"), Load("a", (Var("i", "int32"),), "float64")),))
    tested = region(loop, ("s", "float64", op), data="float64")
    for n in (0, 40):
        check(tested, n, np.full(40, term), {"s": np.array([start])})


@pytest.mark.parametrize("op", first_of(["&&", "||", "min", "+"]))
@pytest.mark.parametrize("start", [0, 1, 5])
def test_a_body_that_never_runs_leaves_the_variable_alone(op: str, start: int) -> None:
    term = Load("a", (Var("i", "int32"),), "int32")
    rarely = If(Binary(">", term, Var("n", "int32"), "int32"), (step(op, Var("s", "int32"), term),))
    for n in (500, 250):
        tested = region(counted((rarely,)), ("s", "int32", op))
        check(tested, n, np.arange(500, dtype="int32"), {"s": np.array([start], "int32")})


@pytest.mark.slow
def test_several_reductions_with_conditions_and_an_inner_loop() -> None:
    i, j = Var("i", "int32"), Var("j", "int32")
    term = Load("a", (i,), "int32")
    inner = For(
        "j", "int32", Const(0, "int32"), "<", i, Const(7, "int32"), (step("+", Var("t", "int64"), cast(j, "int64")),)
    )
    loop = counted((If(Binary(">", term, Const(2, "int32"), "int32"), (step("+", Var("s", "int32"), term),)), inner))
    values = np.arange(200, dtype="int32") % 5
    tested = region(loop, ("s", "int32", "+"), ("t", "int64", "+"))
    check(tested, 200, values, {"s": np.array([3], "int32"), "t": np.array([-9], "int64")})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counter", "by", "n"), [("uint8", 1, 250), ("uint8", 3, 200), ("uint32", 1, 77), ("int64", 2, 150)]
)
def test_counters(counter: str, by: int, n: int) -> None:
    loop = counted((step("+", Var("s", "int32"), Load("a", (Var("i", counter),), "int32")),), counter, by)
    check(region(loop, ("s", "int32", "+")), n, np.arange(300, dtype="int32"), {"s": np.array([1], "int32")})


@pytest.mark.slow
@pytest.mark.parametrize("trips", [0, 1, 300, 20_000])
def test_trips_that_are_known(trips: int) -> None:
    loop = replace(counted((step("+", Var("s", "int64"), Const(1, "int64")),)), upper=Const(trips, "int32"))
    check(region(loop, ("s", "int64", "+")), 0, np.zeros(1, "int32"), {"s": np.array([1], "int64")})


@pytest.mark.slow
def test_downwards() -> None:
    body = (step("+", Var("s", "int32"), Load("a", (Var("i", "int32"),), "int32")),)
    loop = For("i", "int32", Var("n", "int32"), ">=", Const(0, "int32"), Const(-2, "int32"), body)
    check(region(loop, ("s", "int32", "+")), 101, np.arange(300, dtype="int32"), {"s": np.array([1], "int32")})


def test_the_same_bits_on_every_run() -> None:
    loop = counted((step("+", Var("s", "float32"), Load("a", (Var("i", "int32"),), "float32")),))
    values = np.random.default_rng(2).random(5000).astype("float32")
    results = set()
    for _ in range(3):
        cell = np.array([0.25], "float32")
        run(region(loop, ("s", "float32", "+"), data="float32"), {"n": 5000}, {"a": values, "s": cell})
        results.add(cell.tobytes())
    assert len(results) == 1


@pytest.mark.parametrize(("index", "launches"), first_of([(Var("i", "int32"), 2), (Const(0, "int32"), 1)]))
def test_stores_beside_a_reduction(index: Expr, launches: int) -> None:
    """Its iterations are divided if they meet nowhere else."""
    store = Assign(Load("a", (index,), "int32"), Var("i", "int32"))
    tested = region(counted((step("+", Var("s", "int32"), Const(1, "int32")), store)), ("s", "int32", "+"))
    assert reduction.is_divided(tested) == (launches == 2)
    source, _ = pipeline.compile(tested, device().info, {}, Variant(), Settings())
    assert len(source.launches) == launches
    for kind in ("cpu", "gpu"):
        values, cell = np.full(9, 8, "int32"), np.array([2], "int32")
        run(tested, {"n": 9}, {"a": values, "s": cell}, kind=kind)
        assert cell[0] == 11 and list(values) == (list(range(9)) if launches == 2 else [8] * 9)


@pytest.mark.parametrize("wraps", [False, True])
def test_where_subscripts_may_wrap_only_what_stores_nothing_is_divided(wraps: bool) -> None:
    store = Assign(Load("a", (Var("i", "int32"),), "int32"), Const(0, "int32"))
    for body, launches in (((), 2), ((store,), 1 if wraps else 2)):
        loop = counted((step("+", Var("s", "int32"), Const(1, "int32")), *body))
        tested = region(loop, ("s", "int32", "+"))
        source, _ = pipeline.compile(tested, device().info, {}, Variant(wraps=wraps), Settings())
        assert len(source.launches) == launches


def test_names_that_are_taken() -> None:
    body = (step("+", Var("_trips", "int32"), Load("_share", (Var("_item", "int32"),), "int32")),)
    loop = replace(counted(body), iname="_item")
    tested = region(loop, ("_trips", "int32", "+"))
    tested = replace(tested, params=tuple(replace(p, name="_share") if p.name == "a" else p for p in tested.params))
    cell = np.array([0], "int32")
    run(tested, {"n": 10}, {"_share": np.arange(10, dtype="int32"), "_trips": cell})
    assert cell[0] == 45


def test_a_cpu_keeps_the_lanes_of_a_sum_in_registers() -> None:
    """Its compiler is told that the loop over them, which adds to each its own terms, is one vector."""
    term = Load("a", (Var("i", "int32"),), "float64")
    tested = region(counted((step("+", Var("s", "float64"), term),)), ("s", "float64", "+"), data="float64")
    first, second = reduction.parts(tested, 64, cpu=True)
    assert reduction.LANES in first.widths.values() and not second.widths
    source, _ = pipeline.compile(tested, device().info, {}, Variant(), Settings())
    assert f"#pragma clang loop vectorize_width({reduction.LANES})\n" in source.text
