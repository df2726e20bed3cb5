"""Every integer and floating operation on the device gives what `arithmetic.evaluate`, our model of C, gives."""

from __future__ import annotations

import random

import numpy as np
import pytest
from launch import run

from nomp.arithmetic import SIZES, evaluate, is_float, limits
from nomp.region import Assign, Binary, Call, Cast, Const, Expr, For, Load, Param, Region, Select, Unary, Var

INTEGERS = [name for name in SIZES if "int" in name]
WIDE = ["int32", "int64", "uint32", "uint64", "float32", "float64"]
ROWS = 6


class Maker:
    """Makes random typed expressions over one variable of each type, without undefined behaviour for *rows*."""

    def __init__(self, seed: int, rows: list[dict[str, int | float]]) -> None:
        self.random, self.rows = random.Random(seed), rows

    def expr(self, dtype: str, depth: int) -> Expr:
        for _ in range(50):
            candidate = self._candidate(dtype, depth)
            if all(self.defined(candidate, row) for row in self.rows):
                return candidate
        return Var(f"v_{dtype}", dtype)

    def _candidate(self, dtype: str, depth: int) -> Expr:
        if depth == 0 or dtype not in WIDE:
            return self.random.choice([Var(f"v_{dtype}", dtype), Const(self.constant(dtype), dtype)])
        kind = self.random.choice(["binary", "binary", "binary", "cast", "compare", "unary", "select"])
        if kind == "cast":
            return Cast(self.expr(self.random.choice([*SIZES]), depth - 1), dtype)
        if kind == "compare":
            common = self.random.choice(WIDE)
            op = self.random.choice(["<", "<=", ">", ">=", "==", "!=", "&&", "||"])
            return Cast(Binary(op, self.expr(common, depth - 1), self.expr(common, depth - 1), "int32"), dtype)
        if kind == "unary":
            ops = ["-"] if is_float(dtype) else ["-", "~"]
            return Unary(self.random.choice(ops), self.expr(dtype, depth - 1), dtype)
        if kind == "select":
            return Select(
                self.expr("int32", depth - 1), self.expr(dtype, depth - 1), self.expr(dtype, depth - 1), dtype
            )
        ops = ["+", "-", "*", "/"] if is_float(dtype) else ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"]
        op = self.random.choice(ops)
        right = "int32" if op in ("<<", ">>") else dtype
        return Binary(op, self.expr(dtype, depth - 1), self.expr(right, depth - 1), dtype)

    def constant(self, dtype: str) -> int | float:
        if is_float(dtype):
            return np.dtype(dtype).type(self.random.choice([0.1, -2.5, 1e10, 3.0])).item()
        low, high = limits(dtype)
        return self.random.choice([low, high, 0, 1, 2, 3, 7, 31 if high > 31 else 1])

    def defined(self, expr: Expr, row: dict[str, int | float]) -> bool:
        """Whether C defines *expr* here: no signed overflow, no bad shift, no float out of an integer's range."""
        try:
            value = evaluate(expr, row)
        except ZeroDivisionError:
            return False
        match expr:
            case Binary(op="<<" | ">>" as op, left=left, right=right, dtype=dtype):
                amount, shifted = evaluate(right, row), evaluate(left, row)
                if not 0 <= amount < SIZES[dtype] * 8 or (op == "<<" and shifted < 0):
                    return False
                return dtype.startswith("u") or op == ">>" or shifted << amount <= limits(dtype)[1]
            case Binary(op="+" | "-" | "*" | "/" as op, left=left, right=right, dtype="int32" | "int64" as dtype):
                a, b = int(evaluate(left, row)), int(evaluate(right, row))
                exact = {"+": a + b, "-": a - b, "*": a * b, "/": a // b if b else 0}[op]
                return limits(dtype)[0] <= exact <= limits(dtype)[1]
            case Binary(op="%", left=left, dtype="int32" | "int64" as dtype):
                return evaluate(left, row) != limits(dtype)[0]
            case Unary(op="-", operand=operand, dtype="int32" | "int64" as dtype):
                return evaluate(operand, row) != limits(dtype)[0]
            case Cast(operand=operand, dtype=dtype) if is_float(operand.dtype) and not is_float(dtype):
                number = evaluate(operand, row)
                return dtype == "bool" or (np.isfinite(number) and limits(dtype)[0] <= number <= limits(dtype)[1])
        return not isinstance(value, float) or bool(np.isfinite(value))


def rows(seed: int) -> list[dict[str, int | float]]:
    rng = random.Random(seed)
    table: list[dict[str, int | float]] = []
    for _ in range(ROWS):
        row: dict[str, int | float] = {}
        for dtype in SIZES:
            if is_float(dtype):
                row[f"v_{dtype}"] = np.dtype(dtype).type(rng.choice([rng.uniform(-9, 9), 0.3, 1e6])).item()
            else:
                low, high = limits(dtype)
                row[f"v_{dtype}"] = rng.choice(
                    [low, high, 0, 1, rng.randint(low, high), rng.randint(0, min(high, 100))]
                )
        table.append(row)
    return table


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_expressions(seed: int) -> None:
    table = rows(seed)
    maker = Maker(seed, table)
    cases = [(dtype, maker.expr(dtype, 3)) for dtype in WIDE for _ in range(10)]
    row = Var("row", "int64")
    body = []
    params = []
    arrays: dict[str, np.ndarray] = {}
    for dtype in SIZES:
        params.append(Param(f"in_{dtype}", dtype, "array", shape=(None,)))
        arrays[f"in_{dtype}"] = np.array([r[f"v_{dtype}"] for r in table], dtype=dtype)
    for number, (dtype, expr) in enumerate(cases):
        params.append(Param(f"out{number}", dtype, "array", shape=(None,), writes=True))
        arrays[f"out{number}"] = np.zeros(ROWS, dtype=dtype)
        body.append(Assign(Load(f"out{number}", (row,), dtype), loads(expr, row)))
    loop = For("row", "int64", Const(0, "int64"), "<", Const(ROWS, "int64"), Const(1, "int64"), tuple(body))
    run(Region("expressions", "x.c", 1, tuple(params), (loop,)), {}, arrays)
    for number, (dtype, expr) in enumerate(cases):
        expected = np.array([evaluate(expr, r) for r in table], dtype=dtype)
        assert_same(arrays[f"out{number}"], expected, f"{dtype}: {expr}")


def loads(expr: Expr, row: Var) -> Expr:
    """*expr* with its variables read from the arrays of inputs."""
    match expr:
        case Var(name=name, dtype=dtype):
            return Load(name.replace("v_", "in_"), (row,), dtype)
        case Unary(op=op, operand=operand, dtype=dtype):
            return Unary(op, loads(operand, row), dtype)
        case Cast(operand=operand, dtype=dtype):
            return Cast(loads(operand, row), dtype)
        case Binary(op=op, left=left, right=right, dtype=dtype):
            return Binary(op, loads(left, row), loads(right, row), dtype)
        case Select(cond=cond, then=then, other=other, dtype=dtype):
            return Select(loads(cond, row), loads(then, row), loads(other, row), dtype)
    return expr


def assert_same(actual: np.ndarray, expected: np.ndarray, what: str) -> None:
    if expected.dtype.kind == "f":  # contraction to fused multiply-add is allowed
        np.testing.assert_allclose(actual, expected, rtol=1e-6 if expected.dtype == np.float32 else 1e-13, err_msg=what)
    else:
        np.testing.assert_array_equal(actual, expected, err_msg=what)


def test_floating_point_is_not_regrouped() -> None:
    x, y, z = (Load("a", (Const(k, "int64"),), "float64") for k in range(3))
    grouped = Binary("+", x, Binary("+", y, z, "float64"), "float64")
    scaled = Binary("*", x, Binary("*", y, z, "float64"), "float64")
    less = Binary("-", x, Binary("-", y, z, "float64"), "float64")
    ratio = Binary("/", x, Binary("/", y, z, "float64"), "float64")
    body = tuple(
        Assign(Load("out", (Const(k, "int64"),), "float64"), e) for k, e in enumerate((grouped, scaled, less, ratio))
    )
    once = For("i", "int32", Const(0, "int32"), "<", Const(1, "int32"), Const(1, "int32"), body)
    region = Region(
        "grouping", "x.c", 1, tuple(Param(n, "float64", "array", shape=(None,)) for n in ("a", "out")), (once,)
    )
    a, out = np.array([1.0, 1e-16, 1e-16]), np.zeros(4)
    run(region, {}, {"a": a, "out": out})
    np.testing.assert_array_equal(
        out, [a[0] + (a[1] + a[2]), a[0] * (a[1] * a[2]), a[0] - (a[1] - a[2]), a[0] / (a[1] / a[2])]
    )
    a, out = np.array([1e200, 1e200, 1e-200]), np.zeros(4)
    run(region, {}, {"a": a, "out": out})
    assert out[1] == 1e200 * (1e200 * 1e-200)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_math_functions(dtype: str) -> None:
    names = [
        "sqrt",
        "exp",
        "log",
        "sin",
        "cos",
        "tan",
        "fabs",
        "floor",
        "ceil",
        "trunc",
        "cbrt",
        "erf",
        "tanh",
        "log1p",
    ]
    two = ["pow", "fmin", "fmax", "fmod", "hypot", "atan2", "copysign"]
    x, y = (Load("a", (Const(k, "int64"),), dtype) for k in range(2))
    calls = [Call(name, (x,), dtype) for name in names] + [Call(name, (x, y), dtype) for name in two]
    body = tuple(Assign(Load("out", (Const(k, "int64"),), dtype), call) for k, call in enumerate(calls))
    once = For("i", "int32", Const(0, "int32"), "<", Const(1, "int32"), Const(1, "int32"), body)
    region = Region("maths", "x.c", 1, tuple(Param(n, dtype, "array", shape=(None,)) for n in ("a", "out")), (once,))
    a, out = np.array([0.75, 2.5], dtype=dtype), np.zeros(len(calls), dtype=dtype)
    run(region, {}, {"a": a, "out": out})
    import math

    expected = [getattr(math, name)(0.75) for name in names]
    expected += [0.75**2.5, 0.75, 2.5, math.fmod(0.75, 2.5), math.hypot(0.75, 2.5), math.atan2(0.75, 2.5), 0.75]
    np.testing.assert_allclose(out, expected, rtol=1e-5 if dtype == "float32" else 1e-12)
