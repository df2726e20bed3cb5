"""Outer scalars under a transform: which become private to an iteration, and how their last value gets out."""

from __future__ import annotations

from pathlib import Path

import dump
import pytest
from reading import messages, region

from nomp.region import Declare, For

HEAD = 'void f(int n, double *a, double *b, int *k) {\n  double t = 0; int j;\n#pragma nomp for transform("m", "f")\n'


def text(body: str, header: str = "int i = 0; i < n; i++") -> str:
    return f"{HEAD}  for ({header}) {{ {body} }}\n}}\n"


def test_the_last_iteration_stores_the_value(tmp_path: Path) -> None:
    found = region(tmp_path, text("t = a[i]; b[i] = t;"))
    assert "\n".join(dump.block(found.body)) == (
        "for i32 i = 0i32; < n; += 1i32\n  f64 t_\n  t_ = a[i]\n  b[i] = t_\n  if ((i +i32 1i32) >=i32 n)\n    t = t_"
    )
    assert found.param("t").kind == "cell"


def test_it_stores_none_if_no_iteration_has_one(tmp_path: Path) -> None:
    found = region(tmp_path, text("for (int l = 2; l < n; l++) { t = a[l]; b[i] += t; }"))
    assert list(dump.block(found.body))[-3:] == ["  if ((i +i32 1i32) >=i32 n)", "    if (2i32 <i32 n)", "      t = t_"]


@pytest.mark.parametrize(
    ("header", "last"),
    [
        ("int i = n; i > 0; i--", "((i +i32 -1i32) <=i32 0i32)"),
        ("int i = 0; i <= n; i += 3", "((i +i32 3i32) >i32 n)"),
        ("int i = 0; i != n; i++", "((i +i32 1i32) ==i32 n)"),
        ("unsigned i = n; i >= 2; i -= 2", "((i +u32 4294967294u32) <i32 2u32)"),
        ("signed char i = 0; i < n; i += n", "(i32(i8((i32(i) +i32 i32(i8(n))))) >=i32 n)"),
    ],
)
def test_the_last_iteration(header: str, last: str, tmp_path: Path) -> None:
    found = region(tmp_path, text("t = 1;", header))
    assert list(dump.block(found.body))[-2:] == [f"  if {last}", "    t = t_"]


@pytest.mark.parametrize(
    ("body", "private"),
    [
        ("if (a[i]) t = 1; else t = 2; b[i] = t;", "t_"),
        ("if (a[i]) { t = 1; b[i] = t; } else { t = 2; }", "t_"),
        ("do t = a[i]; while (t < 0);", "t_"),
        ("t = 0; for (int l = 0; l < 3; l++) t += a[l];", "t_"),
        ("t = 0; while (t < 9) t += a[i];", "t_"),
        ("t = 0; switch (k[i]) { case 1: t = 2; }", "t_"),
        ("t = 0; for (int l = 0; l < 3; l++) { if (a[l]) continue; t += a[l]; }", "t_"),
        ("for (j = k[i]; j < k[i + 1]; j++) b[j] = a[i];", "j_last_"),
        ("for (j = 0; j < n; j++) if (a[j]) break; b[i] = j;", "j_last_"),
        ("if (a[i]) t = 1;", None),
        ("b[i] = t; t = a[i];", None),
        ("t += a[i];", None),
        ("t = t < a[i] ? a[i] : t;", None),
        ("for (int l = 0; l < n; l++) t = a[l];", "t_"),
        ("for (int l = 0; l < n; l++) for (int m = n; m > 2; m--) { t = a[l]; b[m] += t; }", "t_"),
        ("if (i) b[i] = 0; for (int l = 0; l < n; l++) { t = 0; while (t < 9) t += a[l]; }", "t_"),
        ("for (int l = 0; l < i; l++) t = a[l];", None),
        ("for (int l = k[i]; l < n; l++) t = a[l];", None),
        ("for (int l = 0; l < n; l++) for (int m = l; m < n; m++) t = a[l];", None),
        ("for (int l = 0; l < n; l++) { if (a[l]) continue; t = a[l]; }", None),
        ("for (int l = 0; l < n; l++) { t = a[l]; if (t) break; }", "t_"),
        ("for (int l = 0; l < n; l++) t = a[l]; b[i] = t;", None),
        ("for (int l = 0; l < n; l++) t = a[l]; for (int m = 1; m < n; m++) t = b[m];", None),
        ("for (int l = 0; l < n; l++) t = a[l]; if (a[i]) t = 0;", None),
        ("if (a[i]) for (int l = 0; l < n; l++) t = a[l];", None),
        ("for (int l = 0; l < n; l++) { b[l] = t; t = a[l]; } t = 0;", None),
        ("while (a[i]) t = 1;", None),
        ("do { if (a[i]) continue; t = 1; } while (t < 0);", None),
        ("switch (k[i]) { case 1: t = 2; break; default: t = 3; }", None),
        ("if (a[i]) continue; t = 1;", None),
        ("t = 1; switch (k[i]) { case 1: continue; } b[i] = t;", None),
        ("if (a[i]) for (j = 0; j < n; j++) b[j] = 1;", None),
    ],
)
def test_which_are_private(body: str, private: str | None, tmp_path: Path) -> None:
    """*private* is the variable of each iteration's own; None where there can be none."""
    if private is None:
        name = "j" if "for (j" in body else "t"
        assert f"'{name}', declared outside the loop, is written in it [N212]" in messages(tmp_path, text(body))
        return
    (loop,) = region(tmp_path, text(body)).body
    assert isinstance(loop, For)
    assert [stmt.name for stmt in loop.body if isinstance(stmt, Declare)] == [private]


def test_bounds_that_only_the_kernel_knows(tmp_path: Path) -> None:
    assert "[N212]" in messages(tmp_path, text("t = a[i];", "int i = 0; i < k[0]; i++"))
