"""The kernels for GPUs as they are, whose many barriers and conditions PoCL takes minutes for: on HIP's test double.

`test_on_double` runs this in a process that has the double; nothing of it runs on a GPU.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import launch
import nomp_transforms.units
import numpy as np
import pytest
from both import Loop
from nomp_backends.hip import HipBackend
from test_attention import SIZES, attention
from test_sem import operator
from test_transforms import CASES, LONG_ROWS, PRODUCT, RANDOM, loop
from test_units import TURNED, product

from nomp.lower import dialects, matrix_units

EMULATED = """
static void nomp_add_products(double &c0, double &c1, double &c2, double &c3, double a0, double a1, double b)
{
  static double given[128][3];
  const int warp = 32 * threadIdx.z, t = threadIdx.x, u = threadIdx.y;
  double *mine = given[warp + t + 4 * u];
  mine[0] = a0, mine[1] = a1, mine[2] = b;
  __syncthreads();
  for (int k = 0; k < 4; ++k)
  {
    const double *row = given[warp + k + 4 * u];
    const double *left = given[warp + k + 4 * (2 * t)], *right = given[warp + k + 4 * (2 * t + 1)];
    c0 = fma(row[0], left[2], c0), c1 = fma(row[0], right[2], c1);
    c2 = fma(row[1], left[2], c2), c3 = fma(row[1], right[2], c3);
  }
  __syncthreads();
}
"""
"""What PTX says of mma.m16n8k4: item t + 4*u of a warp gives rows u and u + 8 of column t of the one operand and column
u of row t of the other, and has two neighbouring columns of these rows.  Each warp must have rows: all wait."""


@pytest.fixture(autouse=True, scope="module")
def double() -> Any:
    device = HipBackend().open(0, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(launch, "device", lambda: device)
        launch.compiled.cache_clear()
        yield


def agrees(case: Loop) -> None:
    found = case.by_nomp("gpu")
    for name, array in case.by_gcc().items():
        np.testing.assert_allclose(found[name], array, rtol=1e-13, atol=1e-13, err_msg=name)
    assert case.said("gpu") == []


@pytest.mark.parametrize("name", CASES)
def test_as_they_are(name: str, tmp_path: Path) -> None:
    text, words, domain, sizes = CASES[name]
    agrees(loop(tmp_path, text, words, domain, **sizes))


def test_long_rows(tmp_path: Path) -> None:
    text, words, domain, _ = CASES["sparse"]
    agrees(loop(tmp_path, text, words, domain, **LONG_ROWS))


BATCHES = """void f(int p, int n, int start[p][n + 1], double value[], double y[p][n]) {
#pragma nomp for
  for (int k = 0; k < p; k++)
    for (int i = 0; i < n; i++)
      for (int e = start[k][i]; e < start[k][i + 1]; e++)
        y[k][i] += value[e];
}
"""


def test_batches_of_sparse_rows(tmp_path: Path) -> None:
    """Also with bounds that do not rise, and with items for which there is no row.  PoCL 3.0 crashes."""
    start = RANDOM.integers(0, 5000, (3, 71)).astype(np.int32)
    start[0].sort()
    values = {"p": 3, "n": 70, "start": start, "value": RANDOM.random(5000), "y": RANDOM.random((3, 70))}
    agrees(Loop(tmp_path, BATCHES, values))


@pytest.mark.parametrize("tile", ["4 4 16", "8 4 16", "4 8 16"])
def test_tiles(tile: str, tmp_path: Path) -> None:
    text, words, domain, sizes = CASES["product"]
    agrees(loop(tmp_path, text, words, domain, ("tile", tile), **sizes))


@pytest.mark.parametrize(("m", "n"), [(3, 8), (5, 4), (9, 3)])
def test_spectral_elements(m: int, n: int, tmp_path: Path) -> None:
    agrees(operator(tmp_path, m, n))


@pytest.mark.parametrize(("sizes", "rows"), [(SIZES[0], 8), *((sizes, 16) for sizes in SIZES)])
def test_attention(sizes: tuple[int, int, int], rows: int, tmp_path: Path) -> None:
    agrees(attention(tmp_path, *sizes, ("rows", rows)))


@pytest.fixture
def units(monkeypatch: pytest.MonkeyPatch) -> None:
    """The double has matrix units."""
    monkeypatch.setattr(nomp_transforms.units, "has_matrix_units", lambda context: True)
    monkeypatch.setattr(dialects.Hip, "has_matrix_units", True)
    monkeypatch.setattr(matrix_units, "_UNITS", EMULATED)
    launch.compiled.cache_clear()


def made_by_units(case: Loop) -> None:
    source, _, _ = launch.compiled(case.region, case.variant, tuple(case.jit().items()), "gpu", case.settings)
    assert "nomp_add_products(sum[" in source.text
    agrees(case)


@pytest.mark.parametrize("sizes", ["8 2 32", "8 2 16", "8 4 16", "16 2 16"])
@pytest.mark.usefixtures("units")
def test_units(sizes: str, tmp_path: Path) -> None:
    made_by_units(product(tmp_path, PRODUCT, 121, 75, 70, ("units", sizes)))


@pytest.mark.parametrize(("text", "p"), [(TURNED, 64), (TURNED, 7), (PRODUCT, 32)])
@pytest.mark.usefixtures("units")
def test_units_for_operands_that_are_turned(text: str, p: int, tmp_path: Path) -> None:
    made_by_units(product(tmp_path, text, 64, 64, p))


@pytest.mark.parametrize(("m", "p", "known"), [(10, 64, "p"), (10, 33, "p"), (64, 64, "n, m, p"), (75, 40, "n, m, p")])
@pytest.mark.usefixtures("units")
def test_units_for_known_sizes(m: int, p: int, known: str, tmp_path: Path) -> None:
    made_by_units(product(tmp_path, PRODUCT, 64, m, p, jit=f"jit({known})"))


@pytest.mark.parametrize(("n", "m", "p"), [(8, 8, 8), (3, 5, 7), (64, 64, 64), (17, 1, 33), (100, 80, 70)])
def test_tiles_of_known_sizes(n: int, m: int, p: int, tmp_path: Path) -> None:
    agrees(product(tmp_path, PRODUCT, n, m, p, jit="jit(n, m, p)"))
