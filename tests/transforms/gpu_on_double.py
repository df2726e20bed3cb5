"""The kernels for GPUs as they are, whose many barriers and conditions PoCL takes minutes for: on HIP's test double.

`test_on_double` runs this in a process that has the double; nothing of it runs on a GPU.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import launch
import numpy as np
import pytest
from both import Loop
from nomp_backends.hip import HipBackend
from test_sem import operator
from test_transforms import CASES, LONG_ROWS, RANDOM, loop


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
