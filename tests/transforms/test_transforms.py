"""Each transform on a loop that it is written for: right on both kinds of device, in sizes that do not divide."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from both import Loop
from quick import first_of

from nomp import gpu_rows
from nomp.config import Settings
from nomp.diagnostics import NompError

RANDOM = np.random.default_rng(11)

PRODUCT = """void f(int n, int m, int p, double a[n][p], double b[p][m], double c[n][m]) {
#pragma nomp for %s
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int k = 0; k < p; k++)
        sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
}
"""
ROWS = """void f(int n, int m, double a[n][m], double x[m], double y[n]) {
#pragma nomp for %s
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < m; j++)
      sum += a[i][j] * x[j];
    y[i] = sum;
  }
}
"""
SPARSE = """void f(int n, int m, double y[n], int start[n + 1], int column[m], double value[m], double x[n]) {
#pragma nomp for %s
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int e = start[i]; e < start[i + 1]; e++)
      sum += value[e] * x[column[e]];
    y[i] = sum;
  }
}
"""
HEAT = """void f(int nx, int ny, int nz, double u[nz][ny][nx], double v[nz][ny][nx], double c) {
#pragma nomp for %s
  for (int z = 1; z < nz - 1; z++)
    for (int y = 1; y < ny - 1; y++)
      for (int x = 1; x < nx - 1; x++)
        v[z][y][x] = u[z][y][x] + c * (u[z][y][x - 1] + u[z][y][x + 1] + u[z][y - 1][x] + u[z][y + 1][x]
                                       + u[z - 1][y][x] + u[z + 1][y][x] - 6 * u[z][y][x]);
}
"""
PLANE = """void f(int nx, int ny, double u[ny][nx], double v[ny][nx]) {
#pragma nomp for %s
  for (int y = 1; y < ny - 1; y++)
    for (int x = 1; x < nx - 1; x++)
      v[y][x] = u[y][x - 1] + u[y][x + 1] - u[y - 1][x] - u[y + 1][x];
}
"""
LINE = """void f(int n, double u[n], double v[n]) {
#pragma nomp for %s
  for (int x = 1; x < n - 1; x++)
    v[x] = u[x - 1] + u[x + 1];
}
"""


def loop(folder: Path, text: str, words: str, domain: str = "", *choices: tuple[str, Any], **sizes: int) -> Loop:
    """*text* with the annotations *words*, and random arrays."""
    n, m, p = (sizes.get(name, 0) for name in "nmp")
    nx, ny, nz = (sizes.get(name, 0) for name in ("nx", "ny", "nz"))
    arrays = {
        PRODUCT: {"a": (n, p), "b": (p, m), "c": (n, m)}, ROWS: {"a": (n, m), "x": (m,), "y": (n,)},
        HEAT: {"u": (nz, ny, nx), "v": (nz, ny, nx)}, PLANE: {"u": (ny, nx), "v": (ny, nx)},
        LINE: {"u": (n,), "v": (n,)},
        SPARSE: {"y": (n,), "start": (n + 1,), "column": (m,), "value": (m,), "x": (n,)},
    }[text]  # fmt: skip
    values = {**sizes, **{name: RANDOM.random(shape) for name, shape in arrays.items()}}
    if text == SPARSE:
        ends = np.sort(RANDOM.integers(0, m + 1, n - 1))
        values["start"] = np.concatenate([[0], ends, [m]]).astype(np.int32)
        values["column"] = RANDOM.integers(0, n, m).astype(np.int32)
    if text == HEAT:
        values["c"] = 0.1
    return Loop(folder, text % words, values, Settings(annotations_script=domain), choices)


GRID, COLUMN = 'transform("grid", "grid", loops="{}")', 'annotate("stencil", "{}")'
CASES: dict[str, tuple[Any, ...]] = {
    "grid-1": (LINE, GRID.format("x"), "", {"n": 300}),
    "grid-2": (PLANE, GRID.format("x y"), "", {"nx": 70, "ny": 11}),
    "grid-3": (HEAT, GRID.format("x y z"), "", {"nx": 70, "ny": 7, "nz": 5}),
    "stencil-1": (LINE, COLUMN.format("x"), "stencil", {"n": 300}),
    "stencil-2": (PLANE, COLUMN.format("x y"), "stencil", {"nx": 70, "ny": 15}),
    "stencil-3": (HEAT, COLUMN.format("x y z"), "stencil", {"nx": 70, "ny": 7, "nz": 11}),
    "product": (PRODUCT, 'annotate("product", "j i k")', "dense", {"n": 70, "m": 130, "p": 37}),
    "rows": (ROWS, 'annotate("sums", "i j")', "dense", {"n": 70, "m": 77}),
    "sparse": (SPARSE, 'annotate("loop", "row") annotate("entries", "27")', "sparse", {"n": 70, "m": 700}),
}
"""Text, words, domain and sizes."""


IN_MEMORY = PRODUCT.replace("sum +=", "c[i][j] +=")


@pytest.mark.parametrize("name", first_of(CASES))
def test_results(name: str, tmp_path: Path) -> None:
    """PoCL 3.0 takes minutes for many conditions and barriers, or crashes: `gpu_on_double` has what is not run here."""
    text, words, domain, sizes = CASES[name]
    kinds = ("cpu",) if name == "product" else ("cpu", "gpu")
    loop(tmp_path, text, words, domain, ("edges", "together"), **sizes).agree(kinds)


@pytest.mark.slow
@pytest.mark.parametrize("columns", first_of([5, 40]))
def test_rows_without_a_script(columns: int, tmp_path: Path) -> None:
    """A launch chooses one of two kernels."""
    loop(tmp_path, ROWS, "", n=9, m=columns).agree(("gpu",))


LONG_ROWS = {"n": 70, "m": 20000}
"""Of a sparse matrix with few rows, and many entries."""


@pytest.mark.slow
@pytest.mark.parametrize("lanes", first_of([4, 32]))
def test_rows_that_are_longer_than_what_a_group_takes_at_once(lanes: int, tmp_path: Path) -> None:
    text, words, domain, _ = CASES["sparse"]
    made = loop(tmp_path, text, words, domain, ("lanes", lanes), **LONG_ROWS)
    made.values["start"][1:-1] = np.sort(RANDOM.integers(0, 9000, LONG_ROWS["n"] - 1))
    made.agree(("gpu",))


@pytest.mark.parametrize("shares", first_of([2, 1]))
@pytest.mark.parametrize("name", first_of(name for name, (_, _, domain, _) in CASES.items() if domain))
def test_shares_of_a_cpu(name: str, shares: int, tmp_path: Path) -> None:
    text, words, domain, sizes = CASES[name]
    enough = dict.fromkeys(sizes, 64 if len(sizes) > 1 else 4096)
    assert loop(tmp_path, text, words, domain, ("shares", shares), **enough).shares() == shares


PLAIN = ("grid-1", "stencil-1", "grid-2")


@pytest.mark.parametrize("name", first_of(name for name in CASES if name not in (*PLAIN, "product")))
def test_kernels_for_gpus(name: str, tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    text, words, domain, sizes = CASES[name]
    golden(f"transforms/{name}.cu", loop(tmp_path, text, words, domain, ("points", 2), **sizes).cuda())


@pytest.mark.parametrize(("name", "items"), first_of([("rows", None), ("sparse", "4, 64, 1")]))
def test_opencl_for_gpus(name: str, items: str | None, tmp_path: Path) -> None:
    """Where items may have all registers, kernels do not say how large groups are; arrays of groups are aligned."""
    text, words, domain, sizes = CASES[name]
    code = loop(tmp_path, text, words, domain, **sizes).opencl()
    (kernel,) = re.findall(r"__kernel void (.*?)_nomp", code)
    assert kernel == (f"__attribute__ ((reqd_work_group_size({items}))) " if items else "")
    assert re.search(r"__local double _lanes\[.*\] __attribute__ \(\(aligned \(16\)\)\);", code)
    assert ("#pragma unroll 1\n" in code) == (name == "sparse")


@pytest.mark.slow
def test_large_groups_say_how_large_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A multiprocessor does not have registers for a group of 512 items with 255 of them each."""
    text, words, domain, sizes = CASES["rows"]
    monkeypatch.setattr(gpu_rows, "ITEMS", 512)
    assert "reqd_work_group_size(32, 16, 1)" in loop(tmp_path, text, words, domain, **sizes).opencl()


@pytest.mark.slow
def test_tiles_of_products(tmp_path: Path) -> None:
    """No golden file: the order in which loopy puts the conditions of the edges changes from run to run."""
    text, words, domain, sizes = CASES["product"]
    code = loop(tmp_path, text, words, domain, **sizes).cuda("sm_89")
    for piece in (
        "double a_here[64 * 16];",
        "double b_here[16 * 64];",
        "double sum[4 * 4];",
        "sum[15] = sum[15] + a_here",
    ):
        assert piece in code


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "choice"),
    [
        ("rows", ("lanes", 8)), ("rows", ("lanes", 1)), ("sparse", ("lanes", 32)),
        ("stencil-3", ("points", 1)), ("stencil-2", ("points", 8)), ("grid-3", ("items", "32 4 2")),
    ],
)  # fmt: skip
def test_choices(name: str, choice: tuple[str, Any], tmp_path: Path) -> None:
    text, words, domain, sizes = CASES[name]
    small = {size: max(number // 2, 5) for size, number in sizes.items()}
    loop(tmp_path, text, words, domain, choice, ("edges", "together"), **small).agree()


@pytest.mark.parametrize(
    ("text", "words", "domain", "wrong"),
    [
        (LINE, GRID.format("i"), "", "there is no loop 'i'; there is x"),
        (HEAT, GRID.format(""), "", "a grid has one to three loops, and not 0"),
        (LINE, COLUMN.format("y"), "stencil", "there is no loop 'y'"),
        (PRODUCT, 'annotate("product", "j i")', "dense", 'names 2 loops: it is annotate("product", "j i k")'),
        (PRODUCT, 'annotate("product", "k i j")', "dense", "the loop over 'j' writes 'c'"),
        (LINE, 'transform("tile", "tile", loops="x", over="x")', "", "a tile has two loops, and not 1"),
        (ROWS, 'annotate("sums", "j i")', "dense", "with neighbours along 'i'"),
        (IN_MEMORY, 'annotate("product", "j i k")', "dense", "the loop over 'k' writes 'c'"),
        (LINE, 'annotate("loop", "columns")', "sparse", "'columns' is no loop of sparse matrices: what the loop goes"),
        (LINE, 'annotate("entries", "9")', "sparse", 'annotate("entries", ...) is for annotate("loop", "row")'),
        (SPARSE, 'annotate("loop", "row") annotate("entries", "q")', "sparse", "is neither a number nor a variable"),
    ],
)
def test_what_does_not_fit(text: str, words: str, domain: str, wrong: str, tmp_path: Path) -> None:
    with pytest.raises(NompError) as caught:
        Loop(tmp_path, text % words, {}, Settings(annotations_script=domain)).cuda()
    assert caught.value.code == "N311" and wrong in caught.value.diagnostics[0].message
