"""``while``, ``do``, ``switch`` and the program's functions on the device do what the interpreter does."""

from __future__ import annotations

from collections.abc import Callable

import loopy as lp
import numpy as np
import pytest
from interpreter import Interpreter
from launch import device, run
from nodes import i32, op, var

from nomp import codegen, pipeline
from nomp.config import Settings
from nomp.device_source import Variant
from nomp.lower import lower
from nomp.region import (
    Assign,
    Binary,
    Break,
    Call,
    Case,
    Cast,
    Const,
    Continue,
    Declare,
    For,
    Function,
    If,
    Load,
    Param,
    Region,
    Return,
    Stmt,
    Switch,
    Unary,
    While,
)

N = 24


COUNTER, T = var("i"), var("t")
OUT = Load("out", (COUNTER,), "int32")


def loop(*body: Stmt) -> For:
    return For("i", "int32", i32(0), "<", var("n"), i32(1), body)


def region(*body: Stmt, functions: tuple[Function, ...] = (), extra: tuple[Param, ...] = ()) -> Region:
    out = Param("out", "int32", "array", shape=(None,), writes=True)
    grid = Param("grid", "int32", "array", shape=(None, var("m")), writes=True)
    cell = Param("last", "int32", "cell", writes=True)
    params = (Param("n", "int32"), Param("m", "int32"), out, grid, cell, *extra)
    return Region("opaque", "x.c", 1, params, (loop(*body),), functions=functions)


def arrays() -> dict[str, np.ndarray]:
    out = np.random.default_rng(3).integers(-9, 40, N).astype("int32")
    return {"out": out, "grid": np.zeros((N, 3), "int32"), "last": np.array([7], "int32")}


def check(tested: Region, variant: Variant | None = None) -> None:
    expected, actual = arrays(), arrays()
    Interpreter(tested, {"n": N, "m": 3}, expected).run()
    run(tested, {"n": N, "m": 3}, actual, variant or Variant())
    for name in expected:
        np.testing.assert_array_equal(actual[name], expected[name], err_msg=name)


COLLATZ = While(
    op("&&", op(">", T, i32(1)), op("<", var("steps"), i32(60))),
    (
        If(
            op("==", op("%", T, i32(2)), i32(0)),
            (Assign(T, op("/", T, i32(2))),),
            (Assign(T, op("+", op("*", T, i32(3)), i32(1))),),
        ),
        Assign(var("steps"), op("+", var("steps"), i32(1))),
    ),
)


def test_while_over_locals() -> None:
    start = (Declare("t", "int32", (), OUT), Declare("steps", "int32", (), i32(0)))
    check(region(*start, COLLATZ, Assign(OUT, var("steps"))))


@pytest.mark.parametrize("first", [True, False])
def test_loops_with_arrays_cells_jumps_and_loops_inside(first: bool) -> None:
    skip = If(op("==", T, i32(3)), (Assign(T, op("+", T, i32(1))), Continue()))
    leave = If(op(">", T, COUNTER), (Break(),))
    cell = Load("grid", (COUNTER, op("%", T, var("m"))), "int32")
    inner = For("k", "int32", i32(2), ">=", i32(0), i32(-1), (Assign(cell, op("+", cell, var("k"))),))
    body = (skip, leave, inner, Assign(var("last"), op("+", var("last"), T)), Assign(T, op("+", T, i32(1))))
    check(region(Declare("t", "int32", (), i32(0)), While(op("<", T, i32(20)), body, first)))


def test_an_array_of_the_loop_itself() -> None:
    body = (
        Declare("window", "int32", (i32(4), i32(2))),
        Assign(Load("window", (op("&", T, i32(3)), i32(1)), "int32"), op("*", T, COUNTER)),
        Assign(OUT, op("+", OUT, Load("window", (op("&", T, i32(3)), i32(1)), "int32"))),
        Assign(T, op("+", T, i32(1))),
    )
    check(region(Declare("t", "int32", (), i32(0)), While(op("<", T, i32(5)), body)))


@pytest.mark.slow
@pytest.mark.parametrize("value", [-1.5, 2.5, float("inf"), float("-inf")])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_constants_as_the_c_api_bakes_them_in(value: float, dtype: str) -> None:
    """No front end folds these: ``t < 3 && -value < x``, with the value as it is."""
    negated = Unary("-", Const(value, dtype), dtype)
    smaller = op("<", negated, Const(2.0, dtype))
    body = (Assign(T, op("+", T, i32(1))), Assign(OUT, op("+", OUT, smaller)))
    check(region(Declare("t", "int32", (), i32(0)), While(op("<", T, i32(3)), body)))


def test_under_a_guard_and_with_offsets() -> None:
    body = (Assign(OUT, op("-", OUT, i32(3))),)
    tested = region(If(op(">", OUT, i32(10)), (While(op(">", OUT, i32(10)), body),), (Assign(OUT, i32(-1)),)))
    check(tested)


def test_a_counter_that_counts_down() -> None:
    down = For(
        "j",
        "int32",
        var("n"),
        ">",
        i32(0),
        i32(-3),
        (
            While(
                op(">", Load("out", (op("-", var("j"), i32(1)),), "int32"), i32(5)),
                (Assign(Load("out", (op("-", var("j"), i32(1)),), "int32"), var("j")), Break()),
            ),
        ),
    )
    check(region(down))


@pytest.mark.slow
@pytest.mark.parametrize("where", ["last", "middle", "none"])
def test_switch(where: str) -> None:
    cases = [
        Case((0, 1), False, (Assign(OUT, i32(10)), Break())),
        Case((2,), False, (Assign(OUT, op("+", OUT, i32(20))),)),  # falls through
        Case(
            (3, -4),
            False,
            (
                Assign(OUT, op("+", OUT, i32(300))),
                If(op(">", COUNTER, i32(12)), (Break(),)),
                Assign(var("last"), COUNTER),
            ),
        ),
        Case((7,), False, (Continue(),)),
    ]
    if where != "none":
        default = Case((), True, (Assign(OUT, i32(-5)),))
        cases.insert(2 if where == "middle" else len(cases), default)
    value = op("%", Load("out", (COUNTER,), "int32"), i32(9))
    check(region(Switch(value, tuple(cases)), Assign(var("last"), op("+", var("last"), i32(1)))))


def test_switch_in_a_switch_and_in_a_while() -> None:
    inner = Switch(
        op("&", COUNTER, i32(1)),
        (Case((0,), False, (Assign(OUT, i32(1)), Break())), Case((), True, (Assign(OUT, i32(2)),))),
    )
    outer = Switch(
        op("%", COUNTER, i32(3)),
        (Case((0,), False, (inner, Assign(var("last"), OUT), Break())), Case((1,), False, (inner,))),
    )
    counted = While(op("<", T, i32(3)), (outer, Assign(T, op("+", T, i32(1)))))
    check(region(outer, Declare("t", "int32", (), i32(0)), counted))


def functions() -> tuple[Function, ...]:
    x, y = var("x"), var("y")
    clamp = Function(
        "clamp",
        "int32",
        (("x", "int32"), ("half", "int32")),
        (
            If(op(">", x, var("half")), (Return(var("half")),)),
            Return(x),
        ),
    )
    power = Function(
        "power",
        "int64",
        (("x", "int32"), ("y", "int32")),
        (
            Declare("r", "int64", (), Const(1, "int64")),
            While(
                op(">", y, i32(0)),
                (
                    Assign(
                        var("r", "int64"),
                        Binary("*", var("r", "int64"), Cast(Call("clamp", (x, i32(9)), "int32"), "int64"), "int64"),
                    ),
                    Assign(y, op("-", y, i32(1))),
                ),
            ),
            Return(var("r", "int64")),
        ),
    )
    table = Function(
        "table",
        "int32",
        (("x", "int32"),),
        (
            Declare("t", "int32", (i32(4),)),
            For(
                "k",
                "int32",
                i32(0),
                "<",
                i32(4),
                i32(1),
                (Assign(Load("t", (var("k"),), "int32"), op("*", var("k"), x)),),
            ),
            Return(Load("t", (op("&", x, i32(3)),), "int32")),
        ),
    )
    return clamp, power, table


def test_functions() -> None:
    cube = Cast(Call("power", (op("&", OUT, i32(15)), i32(3)), "int64"), "int32")
    body = (
        Assign(
            Load("out", (Call("clamp", (COUNTER, i32(20)), "int32"),), "int32"),
            op("+", cube, Call("table", (COUNTER,), "int32")),
        ),
        If(op(">", Call("clamp", (OUT, i32(50)), "int32"), i32(49)), (Assign(var("last"), COUNTER),)),
    )
    check(region(*body, functions=functions()))


def test_functions_inside_a_while() -> None:
    body = (Assign(OUT, Call("clamp", (op("+", OUT, i32(7)), i32(30)), "int32")), Assign(T, op("+", T, i32(1))))
    check(region(Declare("t", "int32", (), i32(0)), While(op("<", T, i32(4)), body), functions=functions()))


def test_a_script_may_split_the_loops_around_it() -> None:
    start = (Declare("t", "int32", (), OUT), Declare("steps", "int32", (), i32(0)))
    tested = region(*start, COLLATZ, Assign(OUT, var("steps")))
    lowered = lower(tested, Variant(), "opencl")
    kernel = lp.split_iname(lowered.kernel, "i", 8, outer_tag="g.0", inner_tag="l.0")
    source = codegen.generate(kernel, lowered.values, {}, "opencl")
    assert "get_global" not in source.text and "while ((t > 1) &&" in source.text
    assert [launch.entry for launch in source.launches] == ["opaque"]


def test_the_text(golden: Callable[[str, str], None]) -> None:
    start = (Declare("t", "int32", (), OUT), Declare("steps", "int32", (), i32(0)))
    tested = region(*start, COLLATZ, Assign(OUT, Call("clamp", (var("steps"), i32(3)), "int32")), functions=functions())
    source, _ = pipeline.compile(tested, device().info, {}, Variant(), Settings())
    golden("lower/opaque.cl", source.text)
