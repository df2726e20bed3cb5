"""When arrays under two names are taken to overlap."""

from __future__ import annotations

from dataclasses import replace

import pytest
from nodes import add, i32, op, var

from nomp.region import Assign, Binary, Call, Cast, Const, Declare, Expr, For, If, Load, Param, Region, Select, Unary
from nomp.runtime.aliasing import arrays, matters, overlap, reaches
from nomp.runtime.ranges import counters, nothing_wraps

BASE = 0x1000
I = var("i")  # noqa: E741


def scaled(factor: int, shift: int = 0) -> Expr:
    return add(op("*", i32(factor), I), i32(shift))


def region(target: Expr, source: Expr, dtypes: tuple[str, str] = ("float64", "float64")) -> Region:
    """``for (i < n) a[target] = b[source]``."""
    params = (
        Param("n", "int32"),
        Param("a", dtypes[0], "array", shape=(None,), reads=False, writes=True),
        Param("b", dtypes[1], "array", shape=(None,)),
    )
    body = Assign(Load("a", (target,), dtypes[0]), Cast(Load("b", (source,), dtypes[1]), dtypes[0]))
    return Region("r", "x.c", 1, params, (For("i", "int32", i32(0), "<", var("n"), i32(1), (body,)),))


def overlaps(tested: Region, a: int, b: int, n: int = 10) -> bool:
    """Whether arrays that start *a* and *b* bytes into one mapped block overlap."""
    mapped = (BASE, BASE + 4096)
    known = counters(tested, {"n": n}) if nothing_wraps(tested, {"n": n}) else {}
    pointers, maps = {"a": BASE + a, "b": BASE + b}, {"a": mapped, "b": mapped}
    return overlap(tested, arrays(tested, reaches(tested, known), pointers, maps))


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(0, 80, False), (80, 0, False), (0, 72, True), (72, 0, True), (0, 8, True), (0, 0, False)]
)
def test_the_same_subscripts(a: int, b: int, expected: bool) -> None:
    """Ten elements each: halves of a block are apart, a shift is not, one array under two names is harmless."""
    assert overlaps(region(I, I), a, b) is expected


def element(array: str) -> Expr:
    return Load(array, (I,), "int32")


ROOTS = [Call(name, (I,), "int32") for name in ("abs", "own")]
OTHERS = [
    (I, scaled(1, 1)),
    (scaled(2), I),
    (element("p"), element("q")),
    (Cast(Cast(I, "int8"), "int32"), Cast(Cast(I, "int16"), "int32")),
    (ROOTS[0], ROOTS[1]),
    (Unary("-", I, "int32"), Unary("~", I, "int32")),
    (Select(I, I, i32(1), "int32"), Select(I, I, i32(2), "int32")),
]


@pytest.mark.parametrize(("target", "source"), OTHERS)
def test_one_array_under_two_names_with_other_subscripts(target: Expr, source: Expr) -> None:
    assert overlaps(region(target, source), 0, 0)
    assert not overlaps(region(target, target), 0, 0)
    assert not overlaps(region(source, source), 0, 0)


def test_one_array_under_two_names_in_several_statements() -> None:
    """``if (b[i]) a[i] = b[i]`` has one order, ``a[i] = b[i]; a[i] = b[i]`` only for those who know that a is b."""
    plain = region(I, I)
    (loop,) = plain.body
    assert isinstance(loop, For)
    guarded = replace(loop, body=(If(Load("b", (I,), "float64"), loop.body),))
    assert not overlaps(replace(plain, body=(guarded,)), 0, 0)
    assert overlaps(replace(plain, body=(replace(loop, body=loop.body * 2),)), 0, 0)
    assert overlaps(replace(plain, body=(replace(guarded, body=guarded.body * 2),)), 0, 0)


def test_one_array_under_two_names_with_a_subscript_that_changes() -> None:
    """``k = i; t = b[k]; k = i + 1; a[k] = t``: one text, two elements."""
    k = var("k")
    plain = region(k, k)
    loop = plain.body[0]
    assert isinstance(loop, For)
    fixed = replace(loop, body=(Declare("k", "int32", (), I), *loop.body))
    assert not overlaps(replace(plain, body=(fixed,)), 0, 0)
    moving = replace(loop, body=(Declare("k", "int32", (), I), *loop.body, Assign(k, scaled(1, 1)), *loop.body))
    assert overlaps(replace(plain, body=(moving,)), 0, 0)
    cell = region(element("a"), element("a"))
    assert overlaps(cell, 0, 0)  # what the subscript reads is written


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(0, 8, False), (8, 24, False), (0, 0, True), (0, 32, True), (0, 4, True)]
)
def test_members_of_an_array_of_structs(a: int, b: int, expected: bool) -> None:
    """Structs of four doubles: different members never meet."""
    assert overlaps(region(scaled(4), scaled(4, 4)), a, b) is expected


def test_member_arrays() -> None:
    """Structs of four doubles, of which b takes the second and the third."""
    both = Binary("+", Load("b", (scaled(4, 1),), "float64"), Load("b", (scaled(4, 2),), "float64"), "float64")
    tested = region(scaled(4), I)
    body = Assign(Load("a", (scaled(4),), "float64"), both)
    loop = tested.body[0]
    assert isinstance(loop, For)
    tested = Region("r", "x.c", 1, tested.params, (For("i", "int32", loop.lower, "<", loop.upper, loop.step, (body,)),))
    assert not overlaps(tested, 0, 0)
    assert not overlaps(tested, 24, 0)
    assert overlaps(tested, 8, 0)


def test_members_of_different_types() -> None:
    tested = region(scaled(4), scaled(8), ("float64", "int32"))
    assert not overlaps(tested, 0, 24)
    assert not overlaps(tested, 0, 28)
    assert overlaps(tested, 0, 4)


def test_even_and_odd_elements() -> None:
    assert not overlaps(region(scaled(2), scaled(2, 1)), 0, 0)
    assert overlaps(region(scaled(2), scaled(3, 1)), 0, 0)


def test_data_dependent_subscripts_reach_everything_that_is_mapped() -> None:
    indirect = Load("b", (I,), "int32")
    assert overlaps(region(indirect, I, ("float64", "int32")), 0, 2048)


def test_unsigned_subscripts_that_wrap_reach_everything_that_is_mapped() -> None:
    low = Binary("+", Cast(I, "uint32"), Const(2**32 - 1, "uint32"), "uint32")
    assert overlaps(region(low, I), 0, 2048)


def test_single_elements() -> None:
    assert not overlaps(region(i32(3), i32(4)), 0, 0)
    assert overlaps(region(i32(3), i32(4)), 8, 0)


def test_separate_maps_are_apart() -> None:
    indirect = region(Load("b", (I,), "int32"), I, ("float64", "int32"))
    maps = {"a": (BASE, BASE + 64), "b": (BASE + 64, BASE + 128)}
    assert not overlap(indirect, arrays(indirect, reaches(indirect, {"n": (5, 5)}), {"a": BASE, "b": BASE + 64}, maps))


def test_matters() -> None:
    assert matters(region(I, I))
    single = region(I, I)
    assert not matters(Region("r", "x.c", 1, single.params[:2], single.body))
