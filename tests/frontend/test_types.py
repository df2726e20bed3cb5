"""The type of every operation on every pair of arithmetic types is the one that the host compiler gives it."""

from __future__ import annotations

import subprocess
from itertools import product
from pathlib import Path

import pytest
from reading import region

from nomp.region import Assign, Binary, Cast, Expr, For

pytestmark = pytest.mark.slow

TYPES = {
    "b": "_Bool", "c": "char", "sc": "signed char", "uc": "unsigned char", "s": "short", "us": "unsigned short",
    "i": "int", "ui": "unsigned", "l": "long", "ul": "unsigned long", "ll": "long long", "ull": "unsigned long long",
    "f": "float", "d": "double", "e": "enum E", "se": "enum S",
}  # fmt: skip
REAL = ("f", "d")
ENUMS = "enum E { ONE = 1 };\nenum S { MINUS = -1, TWO = 2 };\n"
GENERIC = {
    "_Bool": "bool", "char": "int8", "signed char": "int8", "unsigned char": "uint8", "short": "int16",
    "unsigned short": "uint16", "int": "int32", "unsigned": "uint32", "long": "int64", "unsigned long": "uint64",
    "long long": "int64", "unsigned long long": "uint64", "float": "float32", "double": "float64",
}  # fmt: skip


def operations() -> list[tuple[str, str, str]]:
    """All (left, operator, right) that C allows."""
    pairs = list(product(TYPES, TYPES))
    whole = [(left, right) for left, right in pairs if left not in REAL and right not in REAL]
    found = [(left, op, right) for left, right in pairs for op in ("+", "-", "*", "/", "<", "==", "&&", "||")]
    return found + [(left, op, right) for left, right in whole for op in ("%", "<<", ">>", "&", "|", "^")]


def host_types(folder: Path, expressions: list[str]) -> list[str]:
    """The dtype of each of *expressions* over variables named as in `TYPES`, by the host compiler."""
    cases = ", ".join(f'{name}: "{dtype}"' for name, dtype in GENERIC.items())
    variables = " ".join(f"{name} {variable} = 1;" for variable, name in TYPES.items())
    prints = "".join(f"  puts(_Generic(({e}), {cases}));\n" for e in expressions)
    file = folder / "types.c"
    file.write_text(f"#include <stdio.h>\n{ENUMS}int main(void) {{\n  {variables}\n{prints}  return 0;\n}}\n")
    subprocess.run(["cc", "-w", "-O0", "-o", str(folder / "types"), str(file)], check=True)
    run = subprocess.run([str(folder / "types")], check=True, capture_output=True, text=True)
    return run.stdout.split()


def statements(folder: Path, text: str) -> list[Expr]:
    """The values that the statements *text* assign, in one loop where a variable of each type can be used."""
    variables = " ".join(f"{name} {variable} = k;" for variable, name in TYPES.items())
    loop_text = f"#pragma nomp for\nfor (int k = 0; k < 3; k++) {{\n{variables}\n{text}\n}}"
    (loop,) = region(folder, f"{ENUMS}void f(double *out) {{\n{loop_text}\n}}\n").body
    assert isinstance(loop, For)
    return [stmt.value for stmt in loop.body if isinstance(stmt, Assign)]


def computed(value: Expr, op: str) -> str:
    """The dtype of the operation in *value*, under the conversion that assigns it."""
    if isinstance(value, Cast):
        value = value.operand
    assert isinstance(value, Binary)
    assert value.op == op
    if op not in ("<", "==", "&&", "||"):
        assert value.left.dtype == value.right.dtype == value.dtype
    return value.dtype


def test_binary_operations(tmp_path: Path) -> None:
    cases = operations()
    texts = [f"{left} {op} {right}" for left, op, right in cases]
    values = statements(tmp_path, "\n".join(f"out[0] = {text};" for text in texts))
    found = [computed(value, op) for value, (_, op, _) in zip(values, cases, strict=True)]
    assert dict(zip(texts, found, strict=True)) == dict(zip(texts, host_types(tmp_path, texts), strict=True))


def test_comparisons_compare_in_the_common_type(tmp_path: Path) -> None:
    pairs = list(product(TYPES, TYPES))
    values = statements(tmp_path, "\n".join(f"out[0] = {left} < {right};" for left, right in pairs))
    sums = host_types(tmp_path, [f"{left} + {right}" for left, right in pairs])
    for value, common, pair in zip(values, sums, pairs, strict=True):
        assert isinstance(value, Cast)
        assert isinstance(value.operand, Binary)
        assert (value.operand.left.dtype, value.operand.right.dtype) == (common, common), pair


def test_compound_assignments(tmp_path: Path) -> None:
    cases = [case for case in operations() if case[1] not in ("<", "==", "&&", "||")]
    values = statements(tmp_path, "\n".join(f"{left} {op}= {right};" for left, op, right in cases))
    texts = [f"{left} {op} {right}" for left, op, right in cases]
    found = [computed(value, op) for value, (_, op, _) in zip(values, cases, strict=True)]
    assert dict(zip(texts, found, strict=True)) == dict(zip(texts, host_types(tmp_path, texts), strict=True))
    left = host_types(tmp_path, [case[0] for case in cases if case[0] not in ("e", "se")])
    assert [v.dtype for v, case in zip(values, cases, strict=True) if case[0] not in ("e", "se")] == left


def test_unary_operations_and_choice(tmp_path: Path) -> None:
    texts = [f"{op}{name}" for name in TYPES for op in ("-", "+", "!")] + [f"~{n}" for n in TYPES if n not in REAL]
    texts += [
        f"1 ? {left} : {right}"
        for left, right in product(TYPES, TYPES)
        if (left, right) not in (("e", "e"), ("se", "se"))
    ]
    values = statements(tmp_path, "\n".join(f"out[0] = {text};" for text in texts))
    expected = host_types(tmp_path, texts)
    for text, value, dtype in zip(texts, values, expected, strict=True):
        inner = value.operand if isinstance(value, Cast) and dtype != "float64" else value  # without the assignment's
        assert inner.dtype == dtype, text
