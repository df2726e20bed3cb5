"""Accesses outside of what is mapped: found if they are certain, and only then."""

from __future__ import annotations

import pytest
from nodes import add, i32, op, var

from nomp.diagnostics import NompError, register_source
from nomp.region import Assign, Break, Const, Expr, For, If, Load, Param, Place, Region, Select, Stmt
from nomp.runtime.bounds import Elements, accessed, accesses, check

I, J, N = var("i"), var("j"), var("n")  # noqa: E741
LINE = "for (int i = 0; i < n; i++) a[i + 1] = 0;"


def plus(left: Expr, right: int) -> Expr:
    return add(left, i32(right))


def loop(*body: Stmt, name: str = "i", lower: Expr = i32(0), upper: Expr = N, step: int = 1) -> For:  # noqa: B008
    return For(name, "int32", lower, "<" if step > 0 else ">", upper, i32(step), body)


def write(*index: Expr, array: str = "a", value: Expr = Const(0.0, "float64")) -> Assign:  # noqa: B008
    return Assign(Load(array, index, "float64", Place(2, 29, 8)), value)


def problem(mapped: Elements, *body: Stmt, n: int = 10, shape: tuple[Expr | None, ...] = (None,)) -> str | None:
    """What is wrong where *mapped* of `a` is on the device; None if nothing is."""
    register_source("b.c", f"#pragma nomp for\n{LINE}\n")
    arrays = Param("a", "float64", "array", "a", shape, writes=True), Param("p", "int32", "array", "p", (None,))
    params = (Param("n", "int32"), *arrays)
    try:
        region = Region("k", "b.c", 1, params, body)
        checked(region, {"n": n}, {"a": mapped, "p": (0, 10)})
    except NompError as error:
        return str(error)
    return None


def checked(region: Region, scalars: dict[str, int], mapped: dict[str, Elements]) -> None:
    certain = accesses(region)
    check(region, certain, scalars, accessed(certain, scalars), mapped)


def test_the_message_has_the_iteration_and_the_place() -> None:
    assert problem((0, 10), loop(write(plus(I, 1)))) == (
        "b.c:2:29: error: kernel 'k' accesses element 10 of 'a' (i = 9), of which only [0, 10) is on the device "
        "[N616]\n"
        "    2 | for (int i = 0; i < n; i++) a[i + 1] = 0;\n"
        "      |                             ^~~~~~~~\n"
        "help: map all that the loop uses: #pragma nomp update(to : a[0, 11])"
    )


@pytest.mark.parametrize(
    ("mapped", "body", "wrong"),
    [
        ((0, 10), loop(write(I)), None),
        ((1, 10), loop(write(I)), "element 0 of 'a' (i = 0)"),
        ((0, 9), loop(write(I)), "element 9 of 'a' (i = 9)"),
        ((-3, 7), loop(write(plus(I, -3))), None),
        ((-2, 7), loop(write(plus(I, -3))), "element -3"),
        ((0, 19), loop(write(op("*", I, i32(2)))), None),
        ((0, 18), loop(write(op("*", I, i32(2)))), "element 18"),
        ((0, 10), loop(write(I), step=3), None),
        ((0, 9), loop(write(I), step=3), "element 9"),
        ((0, 11), loop(write(I), lower=N, upper=i32(0), step=-1), None),
        ((0, 10), loop(write(I), lower=N, upper=i32(0), step=-1), "element 10 of 'a' (i = 10)"),
        ((0, 45), loop(loop(write(add(I, op("*", J, i32(4)))), name="j")), "element 45 of 'a' (i = 9, j = 9)"),
        ((0, 46), loop(loop(write(add(I, op("*", J, i32(4)))), name="j")), None),
        ((0, 19), loop(loop(write(add(I, J)), name="j", lower=I)), None),
        ((1, 19), loop(loop(write(add(I, J)), name="j", lower=I)), "element 0"),
        ((5, 6), write(i32(5)), None),
        ((5, 6), write(i32(4)), "accesses element 4 of 'a', of"),
    ],
)  # fmt: skip
def test_affine_accesses(mapped: Elements, body: Stmt, wrong: str | None) -> None:
    text = problem(mapped, body)
    assert text is None if wrong is None else text is not None and wrong in text


def test_arrays_of_several_dimensions() -> None:
    """The message counts as the program and its updates do."""
    nest = loop(loop(write(I, J), name="j", upper=i32(4)))
    assert problem((0, 40), nest, shape=(None, i32(4))) is None
    text = str(problem((8, 39), nest, shape=(None, i32(4))))
    assert "accesses 'a[0][0]' (i = 0, j = 0), of which only [2, 9) is on the device" in text
    assert "update(to : a[0, 9])" in text
    text = str(problem((3, 93), nest, n=10, shape=(N, N)))
    assert "'a[0][0]' (i = 0, j = 0), of which only [1, 9) is" in text
    assert "'a[9][3]' (i = 9, j = 3), of which only [0, 9) is" in str(problem((0, 93), nest, shape=(N, N)))
    assert "update(to : a[0, 10])" in str(problem((0, 93), nest, shape=(N, N)))
    text = str(problem((3, 11), nest, shape=(N, N)))
    assert "'a[0][0]' (i = 0, j = 0), which is not on the device" in text and "update(to : a[0, 1])" in text


@pytest.mark.parametrize(("mapped", "shown"), [((-1, 14), "[0, 3)"), ((4, 16), "[1, 3)"), ((5, 22), "[1, 5)")])
def test_members_of_structs(mapped: Elements, shown: str) -> None:
    """``struct { double v[2], others[3]; } *p`` in a struct: the pragma is for structs, which are copied."""
    member = Param("p_v", "float64", "array", "&((s->p)[0].v)[0]", (None,), writes=True, record="s->p",
                   grid=((1, 40), (2, 8)))  # fmt: skip
    body = loop(write(add(op("*", I, i32(5)), i32(1)), array="p_v"), upper=i32(5))
    region = Region("k", "b.c", 1, (member,), (body,))
    with pytest.raises(NompError) as problem:
        checked(region, {}, {"p_v": mapped})
    number = 0 if mapped[0] > 1 else 4
    assert f"accesses 's->p[{number}].v[1]' (i = {number}), of which only {shown} is on the" in str(problem.value)
    first, last = map(int, shown[1:-1].split(","))
    assert f"update(to : s->p[{min(first, number)}, {max(last, number + 1)}])" in str(problem.value)


READ = Load("a", (plus(I, 1),), "float64")


@pytest.mark.parametrize(
    "body",
    [
        loop(If(op("<", I, i32(9)), (write(plus(I, 1)),))),
        loop(write(i32(0), value=Select(op("<", I, i32(9)), READ, Const(0.0, "float64"), "float64"))),
        loop(write(i32(0), value=op("&&", op("<", I, i32(9)), READ))),
        loop(loop(write(plus(I, 1)), name="j", upper=Load("p", (I,), "int32"))),
        loop(loop(If(N, (Break(),)), write(plus(I, 1)), name="j")),
        loop(write(Load("p", (I,), "int32"))),
        loop(write(var("local"))),
        loop(loop(write(plus(I, 1)), name="j", upper=i32(0))),
        loop(write(plus(I, 1)), upper=i32(0)),
    ],
)
def test_what_may_not_happen_is_no_error(body: Stmt) -> None:
    assert problem((0, 10), body) is None


def test_the_certain_part_of_a_conditional_access_counts() -> None:
    chosen = Select(READ, Const(0.0, "float64"), Const(0.0, "float64"), "float64")
    assert "element 10" in str(problem((0, 10), loop(write(i32(0), value=chosen))))
