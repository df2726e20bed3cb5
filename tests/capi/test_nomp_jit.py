"""The arguments of nomp_jit, without libnomp.so: cffi makes the arrays that C would pass."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from cffi import FFI

from nomp.capi import jit
from nomp.capi.jit import FLOAT, INT, JIT, PTR, UINT, Argument
from nomp.diagnostics import NompError, register_source
from nomp.pragma import ForClauses
from nomp.region import Assign, Const, For, Load, Param, Place, Region, Script, Var

FILE = "<nomp_jit 1>"
ffi = FFI()
ffi.cdef("struct nomp_argument { const char *name; size_t size; int type; const void *value; };")

SOURCE = "void f(double *a, long n, int m) {\n  for (long i = 0; i < n; i++) a[i] = m;\n}\n"
A = Param("a", "float64", "array", "a", (None,), writes=True, place=Place(1, 16, 1))
N = Param("n", "int64", place=Place(1, 24, 1))
M = Param("m", "int32", place=Place(1, 31, 1))
LOOP = For(
    "i", "int64", Const(0, "int64"), "<", Var("n", "int64"), Const(1, "int64"),
    (Assign(Load("a", (Var("i", "int64"),), "float64"), Var("m", "int32")),),
)  # fmt: skip
REGION = Region("f", FILE, 1, (A, N, M), (LOOP,))


@pytest.fixture(autouse=True)
def source() -> None:
    register_source(FILE, SOURCE)


def strings(*texts: str | None) -> tuple[Any, list[Any]]:
    kept = [ffi.NULL if text is None else ffi.new("char[]", text.encode()) for text in texts]
    return ffi.new("char *[]", kept), kept


def clauses(*texts: str | None, arguments: tuple[Argument, ...] = ()) -> ForClauses:
    array, _kept = strings(*texts, None)
    return jit.clauses_of(jit.read_clauses(ffi, array), arguments)


def text_of(*texts: str | None) -> str:
    with pytest.raises(NompError) as caught:
        clauses(*texts)
    return str(caught.value)


def test_no_clause() -> None:
    assert clauses() == ForClauses()


def test_clauses_in_order() -> None:
    got = clauses("transform", "m", "f", "annotate", "k", "v", "transform", "m", "g", "reduce", "s", "+")
    assert got.transforms == (Script("m", "f"), Script("m", "g"))
    assert got.annotations == (("k", "v"),)
    assert [(r.variable, r.op) for r in got.reductions] == [("s[0]", "+")]


def test_jit_arguments_are_clauses() -> None:
    got = clauses(arguments=(Argument("a", 8, PTR), Argument("m", 4, INT, b"\0\0\0\0")))
    assert [name.text for name in got.jit] == ["m"]


def test_unknown_clause() -> None:
    assert text_of("tile", "m", "f") == (
        'nomp: error: Clause "tile" passed into nomp_jit is not a valid clause. [N651]\n'
        'help: the clauses are "transform", "annotate" and "reduce", each with two more strings'
    )


@pytest.mark.parametrize("texts", [("transform", None, "f"), ("transform", "m", None), ("transform",)])
def test_missing_module_or_function(texts: tuple[str | None, ...]) -> None:
    assert "Module name and/or function name not provided. [N651]" in text_of(*texts)


def test_missing_value() -> None:
    assert 'A string of clause "annotate" not provided. [N651]' in text_of("annotate", "k")


def test_unknown_operator() -> None:
    assert 'Operator "-" of clause "reduce" is not a valid operator. [N651]' in text_of("reduce", "s", "-")


def read(*given: tuple[str | None, int, int, Any]) -> list[Argument]:
    kept = [ffi.NULL if name is None else ffi.new("char[]", name.encode()) for name, *_ in given]
    rows = [[name, size, kind, value] for name, (_, size, kind, value) in zip(kept, given, strict=True)]
    return jit.read_arguments(ffi, len(given), ffi.new("struct nomp_argument[]", rows))


def test_read_arguments() -> None:
    value = ffi.new("int *", -5)
    got = read(("a", 8, PTR, ffi.NULL), ("m", 4, INT | JIT, value))
    assert got == [Argument("a", 8, PTR), Argument("m", 4, INT, struct.pack("i", -5))]


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ((None, 4, INT, ffi.NULL), "argument 1 passed into nomp_jit has no name [N652]"),
        (("m", 4, 77, ffi.NULL), "argument 1 passed into nomp_jit has the unknown type 77 [N652]"),
        (("m", 4, INT | JIT, ffi.NULL), 'JIT argument "m" passed into nomp_jit is NULL [N653]'),
        (("m", 16, FLOAT | JIT, ffi.NULL), 'JIT argument "m" passed into nomp_jit cannot be NOMP_FLOAT of size 16'),
        (("m", 8, PTR | JIT, ffi.NULL), 'JIT argument "m" passed into nomp_jit cannot be NOMP_PTR of size 8'),
    ],
)
def test_wrong_argument(row: tuple[str | None, int, int, Any], text: str) -> None:
    with pytest.raises(NompError) as caught:
        read(row)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("raw", "kind", "value"),
    [
        (struct.pack("i", -1), INT, -1),
        (struct.pack("I", 2**32 - 1), UINT, 2**32 - 1),
        (struct.pack("q", -(2**40)), INT, -(2**40)),
        (struct.pack("Q", 2**63), UINT, 2**63),
        (struct.pack("f", 0.5), FLOAT, 0.5),
        (struct.pack("d", 0.1), FLOAT, 0.1),
    ],
)
def test_decode(raw: bytes, kind: int, value: float) -> None:
    assert jit.decode(raw, kind) == value


ARGUMENTS = (Argument("a", 8, PTR), Argument("n", 8, INT), Argument("m", 4, INT))


def test_arguments_that_fit() -> None:
    assert jit.jit_values(REGION, ARGUMENTS) == {}


def test_other_names_and_signedness_fit() -> None:
    assert jit.jit_values(REGION, (Argument("x", 8, PTR), Argument("y", 8, UINT), Argument("z", 4, INT))) == {}


def test_jit_argument_by_name() -> None:
    fixed = Argument("n", 8, INT, struct.pack("q", 7))
    assert jit.jit_values(REGION, (fixed, ARGUMENTS[0], ARGUMENTS[2])) == {"n": 7}


def refusal(*arguments: Argument) -> str:
    with pytest.raises(NompError) as caught:
        jit.jit_values(REGION, arguments)
    return str(caught.value)


def test_too_few_arguments() -> None:
    assert refusal(*ARGUMENTS[:2]) == (
        "<nomp_jit 1>:1:1: error: nomp_jit got 2 arguments for 3 parameters (a, n, m) [N652]\n"
        "    1 | void f(double *a, long n, int m) {\n"
        "      | ^\n"
        "help: declare every parameter of the function, in its order"
    )


def test_wrong_size() -> None:
    assert refusal(ARGUMENTS[0], Argument("n", 4, INT), ARGUMENTS[2]) == (
        '<nomp_jit 1>:1:24: error: argument "n" (NOMP_INT, size 4) passed into nomp_jit does not have the size of '
        "parameter 'n' (int64) [N652]\n"
        "    1 | void f(double *a, long n, int m) {\n"
        "      |                        ^\n"
        'help: each argument is a name, its sizeof and a type: "a", sizeof(double), NOMP_PTR'
    )


def test_pointer_for_scalar_and_scalar_for_pointer() -> None:
    text = refusal(ARGUMENTS[0], Argument("n", 8, PTR), ARGUMENTS[2])
    assert "is a pointer, but parameter 'n' is not (int64) [N652]" in text
    assert "is a scalar, but parameter 'a' is a pointer" in refusal(Argument("a", 8, FLOAT), *ARGUMENTS[1:])


def test_unknown_jit_name() -> None:
    text = refusal(*ARGUMENTS, Argument("k", 4, INT, b"\0\0\0\0"))
    assert 'JIT argument "k" passed into nomp_jit is no parameter of the function [N652]' in text


def test_jit_value_that_does_not_fit() -> None:
    text = refusal(*ARGUMENTS[:2], Argument("m", 8, INT, struct.pack("q", 2**40)))
    assert text == (
        '<nomp_jit 1>:1:31: error: JIT argument "m" passed into nomp_jit: 1099511627776 is no int32 [N653]\n'
        "    1 | void f(double *a, long n, int m) {\n"
        "      |                               ^\n"
        "help: give it the type and the size of the parameter"
    )
    assert "0.5 is no int32" in refusal(*ARGUMENTS[:2], Argument("m", 4, FLOAT, struct.pack("f", 0.5)))
