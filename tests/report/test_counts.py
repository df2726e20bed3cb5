"""What kernels compute and move, counted by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import region

from nomp.counts import Counter
from nomp.work import Work

N, M = 101, 37
D, F, I = 8, 4, 4  # noqa: E741  bytes of double, float and int
TRIANGLE = N * (N + 1) // 2

KERNELS = {
    "copy": (
        "for (int i = 0; i < n; i++) a[i] = b[i];",
        Work(0, 0, 2 * D * N, 2 * D * N),
    ),
    "triad": (
        "for (int i = 0; i < n; i++) a[i] = b[i] + s * c[i];",
        Work(0, 2 * N, 3 * D * N, 3 * D * N),
    ),
    "update": (
        "for (int i = 0; i < n; i++) a[i] += b[i] / s;",
        Work(0, 2 * N, 3 * D * N, 3 * D * N),
    ),
    "single": (
        "for (int i = 0; i < n; i++) f[i] = f[i] * 2.0f - g[i];",
        Work(2 * N, 0, 3 * F * N, 3 * F * N),
    ),
    "integers": (
        "for (int i = 0; i < n; i++) k[i] = k[i] * 3 + 1;",
        Work(0, 0, 2 * I * N, 2 * I * N),
    ),
    "dot": (
        "for (int i = 0; i < n; i++) sum += a[i] * b[i];",
        Work(0, 2 * N, 2 * D * N, 2 * D * N),
    ),
    "every other one": (
        "for (int i = 1; i < n; i += 2) a[i] = b[i - 1];",
        Work(0, 0, 2 * D * (N // 2), 2 * D * (N // 2)),
    ),
    "stencil": (
        "for (int i = 1; i < n - 1; i++) a[i] = b[i - 1] + b[i] + b[i + 1];",
        Work(0, 2 * (N - 2), 4 * D * (N - 2), D * (N + N - 2)),
    ),
    "rows": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i] += b[j];",
        Work(0, N * M, 3 * D * N * M, 2 * D * N + D * M),
    ),
    "product": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { double t = 0;"
        "  for (int k = 0; k < n; k++) t += A[i][k] * B[k][j];"
        "  C[i][j] = t; }",
        Work(0, 2 * N**3, 2 * D * N**3 + D * N**2, 3 * D * N**2),
    ),
    "triangle": (
        "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) C[i][j] = 2 * C[i][j] + A[i][j];",
        Work(0, 2 * TRIANGLE, 3 * D * TRIANGLE, 3 * D * TRIANGLE),
    ),
    "function": (
        "for (int i = 0; i < n; i++) a[i] = sqrt(b[i]);",
        Work(0, N, 2 * D * N, 2 * D * N),
    ),
    "gather": (  # the elements of b may be all different, or one
        "for (int i = 0; i < n; i++) a[i] = b[k[i]];",
        Work(0, 0, 2 * D * N + I * N, 2 * D * N + I * N, exact=False),
    ),
}

PROGRAM = """#include <math.h>
void f(int n, int m, double *a, double *b, double *c, double s, float *f, float *g, int *k, double sum,
       double A[n][n], double B[n][n], double C[n][n]) {{
#pragma nomp for {}
  {}
}}
"""


def counts(folder: Path, loop: str, clauses: str = "") -> Work | None:
    found = region(folder, PROGRAM.format(clauses, loop))
    sizes = {"n": N, "m": M}
    return Counter(found).at({name: sizes[name] for name in sizes if name in found.scalars})


@pytest.mark.parametrize("name", KERNELS)
def test_hand_counts(tmp_path: Path, name: str) -> None:
    loop, expected = KERNELS[name]
    clauses = 'reduce("sum", "+")' if name == "dot" else ""
    assert counts(tmp_path, loop, clauses) == expected


def test_what_data_decide_is_not_counted(tmp_path: Path) -> None:
    assert counts(tmp_path, "for (int i = 0; i < n; i++) for (int j = k[i]; j < k[i + 1]; j++) a[i] += b[j];") is None
    assert counts(tmp_path, "for (int i = 0; i < n; i++) while (a[i] > 1) a[i] /= 2;") is None


def test_an_empty_loop(tmp_path: Path) -> None:
    found = region(tmp_path, PROGRAM.format("", "for (int i = 0; i < n; i++) a[i] = b[i];"))
    assert Counter(found).at({"n": 0}) == Work(0, 0, 0, 0)


def test_rows_of_triangles_are_counted_one_by_one_only_where_that_is_quick(tmp_path: Path) -> None:
    loop, _ = KERNELS["triangle"]
    assert Counter(region(tmp_path, PROGRAM.format("", loop))).at({"n": 10_000_000}) is None


def test_launches_are_added_up() -> None:
    bounds = Work(1, 20, 300, 4000, exact=False)
    assert Work(5, 6, 7, 8) + bounds.times(2) == Work(7, 46, 607, 8008, exact=False)
    assert Work() + Work(1, 2, 3, 4).times(3) == Work(3, 6, 9, 12)
