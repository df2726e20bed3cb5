"""The default schedules on a device: what is cut, turned and laid over a grid computes what the interpreter does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import reading
from interpreter import Interpreter
from launch import run

from nomp.device_source import Variant
from nomp.region import Region

USUAL = Variant(no_wrap=True, apart=True)

BODIES = {
    "a product": """for (int i = 0; i < n; i++)
  for (int j = 0; j < m; j++) {
    double sum = 0, terms[2];
    for (int k = 0; k < n; k++) {
      terms[k % 2] = A[i][k] * B[k][j];
      sum += terms[k % 2];
    }
    C[i][j] = sum;
  }""",
    "rows, then columns": """for (int i = 0; i < n; i++) {
  x[i] = 0;
  for (int j = 0; j < m; j++) x[i] += B[i][j] * y[j];
  for (int j = 0; j < m; j++) z[j] += clip(B[i][j]) * x[i];
}""",
    "a recurrence, then rows": """for (int i = 1; i < n; i++) {
  x[i] = x[i - 1] * 0.5 + y[i];
  for (int j = 0; j < m; j++) C[i][j] = clip(x[i]);
}""",
    "terms of two loops, in order": """for (int j = 0; j < m; j++) {
  double sum = 1;
  for (int k = 0; k < n; k++)
    for (int l = 0; l < 3; l++) sum = sum * 0.5 + B[k][j] * x[k] + l;
  z[j] = sum;
}""",
    "as many terms as data say, in order": """for (int j = 0; j < m; j++) {
  double sum = 1;
  long terms = (long)(3 * y[j]);
  for (int k = 0; k < n; k++)
    for (long l = 0; l < terms; l++) sum = sum * 0.5 + B[k][j] * (l + 1);
  z[j] = sum;
}""",
    "terms of a loop inside one that data bound": """for (int j = 0; j < m; j++) {
  double sum = 1;
  long rows = (long)(3 * y[j]);
  for (int k = 0; k < n; k++) z[j] += B[k][j];
  for (long k = 0; k < rows; k++)
    for (int l = 0; l < n; l++) sum = sum * 0.5 + B[l][j];
  z[j] += sum;
}""",
    "rows of eight, and sums whose order shows": """for (int i = 0; i < n; i++) {
  double r[8], sum = 0;
  for (int p = 0; p < 8; p++) r[p] = y[i];
  for (int k = 0; k < n; k++)
    for (int p = 0; p < 8; p++) r[p] += A[i][k] * 0.5;
  for (int p = 0; p < 8; p++) r[p] = p % 3 == 1 && p < 7 ? 1e16 : p % 3 == 2 ? -1e16 : r[p];
  for (int p = 0; p < 8; p++) sum += r[p];
  x[i] = sum;
}""",
    "backwards": "for (long i = n - 1; i >= 0; i -= 3)\n  for (unsigned j = 0; j < m; j += 2)\n    C[i][j] = i + j;",
}


def region(text: str, folder: Path) -> Region:
    params = "int n, int m, double A[n][n], double B[n][m], double C[n][m], double *x, double *y, double *z"
    clip = "static double clip(double v) { return v > 0.5 ? 0.5 : v; }"
    return reading.region(folder, f"{clip}\nvoid f({params}) {{\n#pragma nomp for\n{text}\n}}\n")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
@pytest.mark.parametrize("name", BODIES)
def test_schedules(name: str, kind: str, tmp_path: Path) -> None:
    tested = region(BODIES[name], tmp_path)
    for n, m in ((1, 1), (9, 5), (12, 300)):
        data = np.random.default_rng(n)
        shapes = {"A": (n, n), "B": (n, m), "C": (n, m), "x": n, "y": max(n, m), "z": m}
        used = {param.name for param in tested.params}
        arrays = {name: data.random(shape) for name, shape in shapes.items() if name in used}
        expected = {name: array.copy() for name, array in arrays.items()}
        Interpreter(tested, {"n": n, "m": m}, expected).run()
        run(tested, {"n": n, "m": m}, arrays, USUAL, kind=kind)
        for name in arrays:
            np.testing.assert_allclose(arrays[name], expected[name], rtol=1e-14)
