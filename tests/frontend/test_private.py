"""Outer scalars under a transform: which become private to an iteration, and how their last value gets out."""

from __future__ import annotations

from pathlib import Path

import dump
import pytest
from reading import messages, region

HEAD = 'void f(int n, double *a, double *b, int *k) {\n  double t = 0; int j;\n#pragma nomp for transform("m", "f")\n'


def text(body: str, header: str = "int i = 0; i < n; i++") -> str:
    return f"{HEAD}  for ({header}) {{ {body} }}\n}}\n"


def test_the_last_iteration_stores_the_value(tmp_path: Path) -> None:
    found = region(tmp_path, text("t = a[i]; b[i] = t;"))
    assert "\n".join(dump.block(found.body)) == (
        "for i32 i = 0i32; < n; += 1i32\n  f64 t_\n  t_ = a[i]\n  b[i] = t_\n  if ((i +i32 1i32) >=i32 n)\n    t = t_"
    )
    assert found.param("t").kind == "cell"


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
        ("if (a[i]) t = 1; else t = 2; b[i] = t;", True),
        ("if (a[i]) { t = 1; b[i] = t; } else { t = 2; }", True),
        ("do t = a[i]; while (t < 0);", True),
        ("t = 0; for (int l = 0; l < 3; l++) t += a[l];", True),
        ("t = 0; while (t < 9) t += a[i];", True),
        ("t = 0; switch (k[i]) { case 1: t = 2; }", True),
        ("t = 0; for (int l = 0; l < 3; l++) { if (a[l]) continue; t += a[l]; }", True),
        ("for (j = k[i]; j < k[i + 1]; j++) b[j] = a[i];", True),
        ("for (j = 0; j < n; j++) if (a[j]) break; b[i] = j;", True),
        ("if (a[i]) t = 1;", False),
        ("b[i] = t; t = a[i];", False),
        ("t += a[i];", False),
        ("t = t < a[i] ? a[i] : t;", False),
        ("for (int l = 0; l < n; l++) t = a[l];", False),
        ("for (int l = 0; l < n; l++) { b[l] = t; t = a[l]; } t = 0;", False),
        ("while (a[i]) t = 1;", False),
        ("do { if (a[i]) continue; t = 1; } while (t < 0);", False),
        ("switch (k[i]) { case 1: t = 2; break; default: t = 3; }", False),
        ("if (a[i]) continue; t = 1;", False),
        ("t = 1; switch (k[i]) { case 1: continue; } b[i] = t;", False),
        ("if (a[i]) for (j = 0; j < n; j++) b[j] = 1;", False),
    ],
)
def test_which_are_private(body: str, private: bool, tmp_path: Path) -> None:
    if private:
        assert region(tmp_path, text(body))
    else:
        assert "declared outside the loop, is written in it [N212]" in messages(tmp_path, text(body))


def test_bounds_that_only_the_kernel_knows(tmp_path: Path) -> None:
    assert "[N212]" in messages(tmp_path, text("t = a[i];", "int i = 0; i < k[0]; i++"))
