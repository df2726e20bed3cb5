"""Loop nests on the device do what the interpreter does: every header form, nests, guards, jumps, locals."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from interpreter import Interpreter
from launch import device, run
from nodes import add, i32, var
from quick import first_of

from nomp import pipeline
from nomp.config import Settings
from nomp.device_source import Variant
from nomp.diagnostics import NompError
from nomp.region import Assign, Binary, Break, Cast, Const, Continue, Declare, Expr, For, If, Load, Param, Region, Stmt
from nomp.runtime.ranges import final_counters, needs_ranges, nothing_wraps

SIZE = 64


def loop(name: str, lower: Expr, relation: str, upper: Expr, step: int, *body: Stmt, dtype: str = "int32") -> For:
    return For(name, dtype, lower, relation, upper, Const(step, dtype), body)  # type: ignore[arg-type]


def count(*index: Expr) -> Assign:
    """``out[index]++``, in a 1-D array of SIZE."""
    cell = Load("out", index, "int32")
    return Assign(cell, add(cell, i32(1)))


def visit(*names: str) -> Assign:
    """Append the counters to the order: ``out[last++] = 7 * i + j``."""
    code: Expr = i32(0)
    for name in names:
        code = add(Binary("*", code, i32(7), "int32"), var(name))
    return Assign(Load("out", (Load("last", (i32(0),), "int32"),), "int32"), code)


BUMP = Assign(Load("last", (i32(0),), "int32"), add(Load("last", (i32(0),), "int32"), i32(1)))
ARRAYS = tuple(Param(name, "int32", "array", shape=(None,), writes=True) for name in ("out", "last", "data"))


def check(body: tuple[Stmt, ...], scalars: dict[str, int], dtypes: dict[str, str] | None = None, **wrap: bool) -> None:
    """*body* on the device equals *body* interpreted, with and without what the ranges allow."""
    dtypes = dtypes or {}
    params = tuple(Param(name, dtypes.get(name, "int32")) for name in scalars)
    region = Region("nest", "x.c", 1, (*params, *ARRAYS), body)
    expected = arrays()
    Interpreter(region, scalars, expected).run()
    chosen = Variant(no_wrap=needs_ranges(region) and nothing_wraps(region, scalars))
    for variant in {Variant(), chosen}:
        actual = arrays()
        run(region, scalars, actual, variant)
        for name in actual:
            np.testing.assert_array_equal(actual[name], expected[name], err_msg=f"{name} {variant}")
    if wrap:
        assert chosen.no_wrap == wrap["no_wrap"]


def arrays() -> dict[str, np.ndarray]:
    data = np.random.default_rng(0).integers(0, 6, SIZE).astype("int32")
    return {"out": np.zeros(4 * SIZE, "int32"), "last": np.zeros(1, "int32"), "data": data}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lower", "relation", "upper", "step"),
    [
        (0, "<", 9, 1), (2, "<=", 9, 1), (9, ">", 2, -1), (9, ">=", 0, -1), (1, "<", 20, 3), (1, "<=", 19, 3),
        (20, ">", 1, -4), (20, ">=", 0, -5), (0, "!=", 7, 1), (7, "!=", 0, -1), (0, "!=", 12, 3), (5, "<", 5, 1),
        (9, "<", 2, 1), (-3, "<", 4, 2),
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["constant", "parameter"])
def test_headers(lower: int, relation: str, upper: int, step: int, where: str) -> None:
    bounds = (i32(lower), i32(upper)) if where == "constant" else (var("lb"), var("ub"))
    nest = loop("i", bounds[0], relation, bounds[1], step, visit("i"), BUMP, count(add(var("i"), i32(4))))
    check((nest,), {"lb": lower, "ub": upper})


@pytest.mark.slow
@pytest.mark.parametrize("n", [0, 1, 5, -3])
def test_signed_counter_against_unsigned_bound(n: int) -> None:
    upper = var("n", "uint32")
    if n >= 0:
        check((loop("i", i32(0), "<", upper, 1, count(var("i"))),), {"n": n}, {"n": "uint32"})
    check((loop("i", var("n"), "<", Const(4, "uint32"), 1, count(var("i"))),), {"n": n})


@pytest.mark.parametrize("n", [0, 1, 5])
def test_unsigned_counter_against_signed_bound(n: int) -> None:
    upper = Cast(var("n"), "uint32")
    nest = loop("i", Const(0, "uint32"), "<", upper, 1, count(var("i", "uint32")), dtype="uint32")
    check((nest,), {"n": n}, no_wrap=True)


def test_unsigned_arithmetic_that_wraps_in_a_subscript() -> None:
    """``a[i + k]`` with ``k == (unsigned)-2`` means ``a[i - 2]``."""
    index = add(Cast(var("i"), "uint32"), var("k", "uint32"))
    check((loop("i", i32(2), "<", i32(9), 1, count(index)),), {"k": 2**32 - 2}, {"k": "uint32"}, no_wrap=False)
    check((loop("i", i32(2), "<", i32(9), 1, count(index)),), {"k": 3}, {"k": "uint32"}, no_wrap=True)


def test_unsigned_arithmetic_that_wraps_in_a_condition() -> None:
    """``if (i - 1 < 3)`` is false for an unsigned i of 0, whatever the subscripts allow."""
    i = var("i", "uint32")
    below = Binary("<", Binary("-", i, Const(1, "uint32"), "uint32"), Const(3, "uint32"), "int32")
    body = If(below, (count(add(i, Const(1, "uint32"))),))
    nest = loop("i", Const(0, "uint32"), "<", Cast(var("n"), "uint32"), 1, body, dtype="uint32")
    check((nest,), {"n": 9}, no_wrap=True)


@pytest.mark.parametrize("n", [7, 2**64 - 20])
def test_unsigned_64_bit_values_in_conditions(n: int) -> None:
    below = Binary("<", var("n", "uint64"), Const(2**64 - 21, "uint64"), "int32")
    above = Binary(">", var("n", "uint64"), Cast(var("i"), "uint64"), "int32")
    nest = loop(
        "i", i32(0), "<", i32(20), 1, If(below, (count(var("i")),)), If(above, (count(add(var("i"), i32(30))),))
    )
    check((nest,), {"n": n}, {"n": "uint64"})


def test_unsigned_64_bit_bounds() -> None:
    upper = var("n", "uint64")
    nest = loop("i", Const(0, "uint64"), "<", upper, 1, count(var("i", "uint64")), dtype="uint64")
    check((nest,), {"n": 9}, {"n": "uint64"}, no_wrap=True)


@pytest.mark.parametrize("n", [0, 2, 9])
def test_jit_values_with_which_a_loop_never_runs(n: int) -> None:
    inner = loop("j", i32(4), "<", var("n"), 1, count(var("j")))
    region = Region("jit", "x.c", 1, (Param("n", "int32"), *ARRAYS), (loop("i", i32(0), "<", var("n"), 1, inner),))
    expected, actual = arrays(), arrays()
    Interpreter(region, {"n": n}, expected).run()
    run(region, {"n": n}, actual, jit={"n": n})
    np.testing.assert_array_equal(actual["out"], expected["out"])


def test_siblings_keep_their_order() -> None:
    first = loop("j", i32(0), "<", i32(5), 1, visit("i", "j"), BUMP)
    second = loop("j_", i32(0), "<", i32(5), 1, visit("j_", "i"), BUMP)
    check((loop("i", i32(0), "<", i32(4), 1, first, second),), {})


@pytest.mark.parametrize("relation", ["<", "<="])
def test_triangular(relation: str) -> None:
    inner = loop("j", i32(0), relation, var("i"), 1, visit("i", "j"), BUMP)
    check((loop("i", i32(0), "<", var("n"), 1, inner),), {"n": 6})


def test_bounds_from_data() -> None:
    begin = Load("data", (var("i"),), "int32")
    end = Load("data", (add(var("i"), i32(1)),), "int32")
    inner = loop("j", begin, "<", end, 1, visit("i", "j"), BUMP)
    check((loop("i", i32(0), "<", i32(20), 1, inner),), {})


def test_guarded_bounds_are_not_read_where_the_guard_is_false() -> None:
    """``data[i]`` is far out of bounds for every i that the guard excludes."""
    far = Load("data", (Binary("*", var("i"), i32(1 << 24), "int32"),), "int32")
    inner = loop("j", i32(0), "<", far, 1, count(var("j")))
    check((loop("i", i32(0), "<", i32(90), 1, If(Binary("<", var("i"), i32(1), "int32"), (inner,))),), {})


def test_a_condition_that_its_body_changes() -> None:
    cell = Load("data", (var("i"),), "int32")
    positive = Binary(">", cell, i32(2), "int32")
    body = If(positive, (Assign(cell, i32(-1)), count(var("i"))), (Assign(cell, i32(9)),))
    check((loop("i", i32(0), "<", i32(SIZE), 1, body),), {})


@pytest.mark.parametrize("n", first_of([0, 3, 9]))
def test_division_under_a_guard(n: int) -> None:
    """``if (n != 0) out[i] = 10 / n`` must not divide by zero."""
    quotient = Assign(Load("out", (var("i"),), "int32"), Binary("/", i32(10), var("n"), "int32"))
    nested = If(Binary("==", Binary("%", i32(9), var("n"), "int32"), i32(0), "int32"), (quotient,))
    check((loop("i", i32(0), "<", i32(4), 1, If(Binary("!=", var("n"), i32(0), "int32"), (nested,))),), {"n": n})


@pytest.mark.parametrize("jump", [Break(), Continue()])
def test_jumps(jump: Stmt) -> None:
    leave = If(Binary("==", Load("data", (var("j"),), "int32"), i32(3), "int32"), (count(var("j")), jump))
    inner = loop("j", i32(0), "<", i32(20), 1, leave, visit("i", "j"), BUMP)
    check((loop("i", i32(0), "<", i32(3), 1, inner, count(add(var("i"), i32(30)))),), {})


def test_break_and_continue_together() -> None:
    skip = If(Binary("==", Load("data", (var("j"),), "int32"), i32(1), "int32"), (Continue(),))
    leave = If(Binary("==", var("j"), add(var("i"), i32(9)), "int32"), (Break(),))
    inner = loop("j", i32(0), "<", i32(20), 1, skip, leave, visit("i", "j"), BUMP)
    check((loop("i", i32(0), "<", i32(3), 1, inner),), {})


def test_local_arrays_and_scalars() -> None:
    fill = loop(
        "j", i32(0), "<", i32(8), 1, Assign(Load("t", (var("j"),), "int32"), Binary("*", var("i"), var("j"), "int32"))
    )
    total = Assign(var("s"), add(var("s"), Load("t", (Binary("-", i32(7), var("j_"), "int32"),), "int32")))
    drain = loop(
        "j_",
        i32(0),
        "<",
        i32(8),
        1,
        total,
        Assign(Load("out", (add(var("j_"), Binary("*", i32(8), var("i"), "int32")),), "int32"), var("s")),
    )
    body = (Declare("t", "int32", (i32(8),)), Declare("s", "int32", (), i32(0)), fill, drain)
    check((loop("i", i32(0), "<", i32(4), 1, *body),), {})


def test_step_known_at_launch_only() -> None:
    nest = For("i", "int32", i32(1), "<", i32(40), var("step"), (visit("i"), BUMP))
    check((nest,), {"step": 7})
    down = For("i", "int32", i32(40), ">", i32(1), var("step"), (visit("i"), BUMP))
    check((down,), {"step": -6})


class Nests:
    """Makes random nests of all of the above."""

    def __init__(self, seed: int) -> None:
        self.random, self.made = random.Random(seed), 0

    def body(self, counters: list[str], depth: int, in_inner: bool) -> tuple[Stmt, ...]:
        kinds: list[Callable[[], Stmt]] = [
            lambda: count(self.index(counters)),
            lambda: Assign(Load("data", (self.index(counters),), "int32"), self.scalar(counters)),
            lambda: If(
                self.condition(counters), self.body(counters, depth - 1, in_inner), self.body(counters, 0, in_inner)
            ),
        ]
        if depth > 0:
            kinds += [lambda: self.loop(counters, depth), lambda: self.loop(counters, depth)]
        stmts = [self.random.choice(kinds)() for _ in range(self.random.randint(1, 3))] if depth >= 0 else []
        if in_inner and self.random.random() < 0.25:
            jump: Stmt = self.random.choice([Break(), Continue()])
            stmts.insert(self.random.randrange(len(stmts) + 1), If(self.condition(counters), (jump,)))
        return tuple(stmts)

    def loop(self, counters: list[str], depth: int) -> For:
        name, self.made = f"i{self.made}", self.made + 1
        down, step = self.random.random() < 0.4, self.random.choice([1, 1, 1, 2, 3])
        small, large = self.bound(counters), Binary("+", self.bound(counters), i32(self.random.randint(0, 4)), "int32")
        relation = self.random.choice([">", ">="] if down else ["<", "<="])
        first, last = (large, small) if down else (small, large)
        return loop(
            name, first, relation, last, -step if down else step, *self.body([*counters, name], depth - 1, True)
        )

    def bound(self, counters: list[str]) -> Expr:
        choices: list[Expr] = [i32(self.random.randint(0, 4)), var("n")]
        choices += [var(c) for c in counters]
        choices += [Binary("%", Load("data", (var(c),), "int32"), i32(5), "int32") for c in counters]
        return self.random.choice(choices)

    def index(self, counters: list[str]) -> Expr:
        chosen: Expr = i32(self.random.randint(0, 9))
        for c in self.random.sample(counters, min(2, len(counters))):
            chosen = add(chosen, var(c))
        return Binary("&", chosen, i32(SIZE - 1), "int32") if self.random.random() < 0.5 else chosen

    def scalar(self, counters: list[str]) -> Expr:
        return add(
            Binary("&", Load("data", (self.index(counters),), "int32"), i32(7), "int32"), i32(self.random.randint(0, 3))
        )

    def condition(self, counters: list[str]) -> Expr:
        left = self.random.choice(
            [var("n"), *[var(c) for c in counters], Load("data", (self.index(counters),), "int32")]
        )
        return Binary(self.random.choice(["<", ">", "==", "!="]), left, i32(self.random.randint(0, 5)), "int32")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_random_nests(seed: int) -> None:
    check((Nests(seed).loop([], 3),), {"n": seed % 5})


def test_counters_after_the_region() -> None:
    inner = For("j", "int32", i32(0), "<", add(var("i"), i32(3)), i32(2), (), "j_after")
    outer = For("i", "int32", i32(9), ">", var("n"), i32(-2), (inner,), "i_after")
    region = Region("finals", "x.c", 1, (Param("n", "int32"),), (outer,))
    assert final_counters(region, {"n": 0}) == {"i_after": -1, "j_after": 4}
    assert final_counters(region, {"n": 9}) == {"i_after": 9}


def test_a_loop_that_counts_away_from_its_bound_is_refused() -> None:
    away = For("i", "uint32", var("n", "uint32"), "<", var("n", "uint32"), Const(-1, "int32"), ())
    with pytest.raises(NompError) as caught:
        pipeline.compile(Region("away", "none.c", 4, (), (away,)), device().info, {}, Variant(), Settings())
    assert str(caught.value) == (
        "none.c:4:1: error: loop 'i' counts away from its bound: a step of -1 never ends a '<' loop [N250]\n"
        "help: write the bound on the side to which the counter moves, or use a signed counter"
    )
