"""The default schedule: which regions get it, and that the shares are all iterations, each of them once."""

from __future__ import annotations

from pathlib import Path

import pytest
import reading
from hypothesis import given
from hypothesis import strategies as st

from nomp.arithmetic import evaluate
from nomp.dependence import verdicts
from nomp.region import Assign, Clauses, Const, Expr, For, If, Load, Param, Region, Var
from nomp.schedule import LIGHT, divided_loops, parts

N, COUNTER, ZERO = Var("n", "int64"), Var("i", "int64"), Const(0, "int64")
PARAMS = (Param("n", "int64"), Param("a", "float64", "array", shape=(None,), writes=True),
          Param("k", "int64", "array", shape=(None,)))  # fmt: skip


def region(index: Expr = COUNTER, upper: Expr = N, step: int = 1, *, nested: bool = False, word: str = "") -> Region:
    inner = Assign(Load("a", (index,), "float64"), Const(1.0, "float64"))
    body = (For("j", "int64", ZERO, "<", Const(1, "int64"), Const(1, "int64"), (inner,)),) if nested else (inner,)
    loop = For("i", "int64", ZERO, "<", upper, Const(step, "int64"), body)
    return Region("r", "r.c", 1, PARAMS, (loop,), Clauses(annotations=(("independent", word),)))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (region(), True),
        (region(ZERO), False),
        (region(ZERO, word="i"), False),
        (region(Load("k", (COUNTER,), "int64")), False),
        (region(Load("k", (COUNTER,), "int64"), word="i"), True),
        (region(Load("k", (COUNTER,), "int64"), word="j"), False),
        (region(upper=Load("k", (ZERO,), "int64")), False),
        (Region("r", "r.c", 1, PARAMS, (If(N, region().body),)), False),
    ],
)
def test_which_regions_are_divided(made: Region, expected: bool) -> None:
    assert bool(divided_loops(made)) is bool(parts(made, 64)) is expected


def test_an_outer_scalar_is_shared_unless_the_front_end_made_it_private(tmp_path: Path) -> None:
    for body, expected in (("t = b[i]; a[i] = t;", True), ("t = b[i]; if (t < 0) continue; a[i] = t;", False)):
        text = f"#pragma nomp for\nfor (int i = 0; i < n; i++) {{ {body} }}\n"
        found = reading.region(tmp_path, f"void f(int n, double *a, const double *b, double t) {{\n{text}}}\n")
        assert bool(divided_loops(found)) is expected
        assert [v.parallel for v in verdicts(found)] == ["yes"]


@given(st.integers(-3, 20_000), st.integers(1, 7), st.integers(1, 100), st.booleans())
def test_shares_are_all_iterations_once(n: int, step: int, most: int, nested: bool) -> None:
    (made,) = parts(region(step=step, nested=nested), most, cpu=True)
    values = {name: int(evaluate(expr, {"n": n})) for name, expr in made.derived.items()}
    items, share, trips = values["_items"], values["_share"], values["_trips"]
    assert trips == len(range(0, n, step))
    covered = [trip for item in range(items) for trip in range(item * share, min((item + 1) * share, trips))]
    assert covered == list(range(trips))
    assert items <= most and (nested or (items - 1) * LIGHT < max(1, trips))
