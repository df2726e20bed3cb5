"""The default schedule computes what the program does, to the last bit, however it cuts, turns and interleaves loops.

Regions are run by the interpreter: as they are, and as the parts that the schedule makes of them.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
import reading
from interpreter import Interpreter
from nests import OutOfBounds, nest, touches
from quick import first_of

from nomp import cpu_schedule, gpu_rows, gpu_schedule, interleave, schedule
from nomp.arithmetic import evaluate
from nomp.region import Declare, For, Region
from nomp.walks import walk

KERNELS = {
    "rows and columns": """for (int i = 0; i < n; i++)
  for (int j = 0; j < m; j++) {
    C[i][j] *= 0.5;
    for (int k = 0; k < n; k++)
      C[i][j] += A[i][k] * B[k][j];
  }""",
    "row by row": """for (int i = 0; i < n; i++) {
  for (int j = 0; j < m; j++) C[i][j] *= 0.5;
  for (int k = 0; k < n; k++)
    for (int j = 0; j < m; j++)
      C[i][j] += A[i][k] * B[k][j];
}""",
    "terms outermost": """for (int k = 0; k < n; k++)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      C[i][j] += A[i][k] * B[k][j];""",
    "sums of columns": "for (int i = 0; i < m; i++)\n  for (int j = 0; j < n; j++)\n    x[i] += B[j][i] * y[j];",
    "sums of columns in a scalar": """for (int i = 1; i <= m - 1; i++) {
  double s = y[i], t = 2;
  for (int j = 1; j < n; j++) { double u = s * 0.5; s = u + B[j][i]; }
  x[i] = s * t;
}""",
    "sums of rows": "for (int i = 0; i < n; i++)\n  for (int j = 0; j < m; j++)\n    x[i] += B[i][j] * y[j];",
    "two sums of rows": """for (int i = 0; i < n; i++) {
  double a = 0, b = 1;
  for (int j = 0; j < m; j++) { a += B[i][j] * y[j]; b -= C[i][j]; }
  x[i] = a * b;
}""",
    "a triangle": """for (int i = 0; i < n; i++)
  for (int j = 0; j <= i; j++) {
    D[i][j] *= 2;
    for (int k = 0; k < n; k++)
      D[i][j] += A[i][k] * A[j][k];
  }""",
    "an upper triangle and its mirror": """for (int i = 0; i < n; i++)
  for (int j = i; j < n; j++) {
    D[i][j] = 0;
    for (int k = 0; k < n; k++)
      D[i][j] += A[k][i] * A[k][j];
    D[j][i] = D[i][j];
  }""",
    "local rows": """for (int q = 0; q < n; q++) {
  double row[8];
  for (int p = 0; p < 8; p++) {
    row[p] = 0;
    for (int s = 0; s < 8; s++)
      row[p] += E[q][s] * W[s][p];
  }
  for (int p = 0; p < 8; p++) E[q][p] = row[p];
}""",
    "a small operand": """for (int q = 0; q < n; q++)
  for (int p = 0; p < 8; p++) {
    double s = y[q], t = 0;
    for (short r = 0; r <= 7; r++) { s += W[p][r] * E[q][r]; t -= W[r][p]; }
    F[q][p] = s * t;
  }""",
    "a small part of an operand, twice": """for (int q = 0; q < n; q++)
  for (int p = 2; p < 5; p++)
    for (int o = 0; o < 4; o++) {
      F[q][p] += o;
      for (unsigned char r = 1; r < 8; r++) F[q][p] += W[p][r] * E[q][r] + W[r][2 * p - 2];
    }""",
    "each its own history": """for (int i = 0; i < m; i++) {
  double last[3] = {y[i], 1, 2};
  for (int t = 0; t < n; t++) {
    double next = last[0] + 0.5 * last[2];
    last[2] = last[1]; last[1] = last[0]; last[0] = next - B[t][i];
  }
  x[i] = last[0];
}""",
    "under a condition of the launch": """for (int i = 0; i < m; i++) {
  x[i] = 1;
  if (n > 3)
    for (int j = 0; j < n; j++) { if (B[j][i] > 0.5) x[i] += B[j][i]; else x[i] *= 0.5; }
  else
    x[i] += y[i];
}""",
    "rows, then columns": """for (int i = 0; i < n; i++) {
  x[i] = 0;
  for (int j = 0; j < m; j++) x[i] += B[i][j] * y[j];
  for (int j = 0; j < m; j++) z[j] += B[i][j] * x[i];
}""",
    "a recurrence between": """for (int i = 1; i < n; i++) {
  x[i] = y[i] * 2;
  z[i] = z[i - 1] + x[i];
  y[i] = z[i] - x[i];
}""",
    "a recurrence, then rows": """for (int i = 1; i < n; i++) {
  x[i] = z[i - 1] * 2;
  z[i] = x[i] + 1;
  for (int j = 0; j < m; j++) C[i][j] = z[i];
}""",
    "used one iteration later": """for (int i = 1; i < n; i++) {
  for (int j = 0; j < m; j++) C[i][j] = B[i][j] + x[i - 1];
  x[i] = C[i][0];
}""",
    "as many iterations as the row before says": """for (int i = 0; i < n; i++)
  for (int j = 0; j < count[i]; j++)
    x[i] += B[i][j];""",
    "bounds that the loop changes": """for (int i = 0; i < n; i++)
  for (int j = 0; j < count[i]; j++)
    { x[i] += B[i][j]; if (j == 1) count[i] = 3; }""",
}


def kernel(text: str, folder: Path, clauses: str = "") -> Region:
    arrays = "double A[n][n], double B[n][m], double C[n][m], double D[n][n], double E[n][8], double F[n][8]"
    vectors = "double *x, double *y, double *z, int *count"
    params = f"int n, int m, {arrays}, double W[8][8], double T[n][8][n][8], {vectors}, int k[n][m]"
    return reading.region(folder, f"void f({params}) {{\n#pragma nomp for {clauses}\n{text}\n}}\n")


def compared(region: Region, scalars: dict[str, int], arrays: dict[str, np.ndarray], cpu: bool = True) -> bool:
    """Whether the schedule divides *region*; fails if it then computes something else."""
    parts = schedule.parts(region, 3, cpu)
    expected = {name: array.copy() for name, array in arrays.items()}
    Interpreter(region, scalars, expected).run()
    for part in parts:
        derived = {name: int(evaluate(expr, scalars)) for name, expr in part.derived.items()}
        Interpreter(part.region, scalars | derived, arrays).run()
    if parts:
        for name, array in arrays.items():
            if any(part.shared for part in parts):  # which add up in another order
                np.testing.assert_allclose(array, expected[name], rtol=1e-14, err_msg=name)
            else:
                np.testing.assert_array_equal(array, expected[name], err_msg=name)
    return bool(parts)


@pytest.mark.parametrize("cpu", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", first_of(KERNELS))
def test_kernels(name: str, cpu: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_schedule, "WIDTH", 5)
    monkeypatch.setattr(gpu_schedule, "ITEMS", 4)
    monkeypatch.setattr(gpu_schedule, "MOST_GROUPS", 2)
    monkeypatch.setattr(gpu_rows, "LONG", 5)
    region, random = kernel(KERNELS[name], tmp_path), Random(name)
    divided = name != "used one iteration later"
    for n, m in ((0, 0), (1, 1), (1, 7), (3, 2), (4, 4), (7, 5), (8, 8), (9, 13), (13, 6)):
        data = np.random.default_rng(random.randrange(1 << 30))
        shapes = {"A": (n, n), "B": (n, m), "C": (n, m), "D": (n, n), "E": (n, 8), "F": (n, 8), "W": (8, 8)}
        arrays = {x: data.random(shape) for x, shape in shapes.items()} | {x: data.random(20) for x in "xyz"}
        counts = data.integers(0, max(1, min(n, m)), 20).astype(np.int32)
        used = {param.name for param in region.params}
        arrays = {x: array for x, array in (arrays | {"count": counts}).items() if x in used}
        assert compared(region, {"n": n, "m": m}, arrays, cpu) is divided


def _form(region: Region) -> list[tuple[str, list[int]]]:
    """The loops whose iterations are divided, each with the steps of the loops that its part has in the end."""
    found = zip(schedule.divided_loops(region), schedule.parts(region, 64, cpu=True), strict=False)
    loops = [(name, [loop for loop in walk(part.region.body) if isinstance(loop, For)]) for name, part in found]
    return [(name, [int(evaluate(loop.step, {})) for loop in inside]) for name, inside in loops]


@pytest.mark.slow
def test_what_becomes_of_kernels(tmp_path: Path) -> None:
    """What is arranged how: strips of columns, several rows, several terms; and what is not worth it."""
    forms = {name: _form(kernel(text, tmp_path)) for name, text in KERNELS.items()}
    rows, sums, columns = cpu_schedule.COPIES, cpu_schedule.SUMS, cpu_schedule.WIDTH
    assert forms["sums of rows"] == [("i", [1, sums, 1, 1, 1])]
    assert forms["sums of columns"] == [("i", [1, columns, rows, 1, 1, 1])]
    assert forms["terms outermost"][0][0] == "i"
    assert rows in forms["row by row"][0][1]
    assert rows not in forms["local rows"][0][1]  # so short that compilers unroll them
    assert [divided for divided, _ in forms["rows, then columns"]] == ["i", "j_"]
    assert forms["as many iterations as the row before says"] == [("i", [1, 1, 1])]
    assert not forms["used one iteration later"]


@pytest.mark.parametrize(
    ("body", "copies"),
    [
        ("for (int p = 0; p < 8; p++) for (int r = 0; r < 8; r++) F[q][p] += W[p][r] * E[q][r];", 1),
        ("for (int p = 0; p < 8; p++) for (int r = 0; r < 8; r++) F[q][p] += W[p][r] * W[r][p] + W[p][7 - r];", 2),
        ("for (int p = 0; p < 8; p++) for (int r = 0; r < 8; r++) F[q][p] += W[p][r] + W[p][r];", 1),
        ("for (int p = 0; p < 8; p++) { if (n > 4) for (int r = 0; r < 8; r++) F[q][p] += W[p][r]; }", 0),
        ("if (n > 4) for (int p = 0; p < 8; p++) for (int r = 0; r < 8; r++) F[q][p] += W[p][r];", 0),
        ("for (int p = 0; p < 8; p++) for (int r = 0; r < 8; r++) F[q][p] += n > 4 ? W[p][r] : 1;", 0),
        ("for (int p = 0; p < 8; p++) for (int r = 0; r < 8; r++) F[q][p] += n > 4 && W[p][r] > 0;", 0),
        ("for (int p = 0; p < 8; p++) for (int r = 0; r < 8; r++) { if (r == n) break; F[q][p] += W[p][r]; }", 0),
        ("for (int p = 0; p < 8; p++) { if (p == m) continue; for (int r = 0; r < 8; r++) F[q][p] += W[p][r]; }", 0),
        ("if (q == m) continue; for (int p = 0; p < 8; p++) for (int r = 0; r < 8; r++) F[q][p] += W[p][r];", 0),
        ("for (int p = 0; p < 8; p++) for (int r = 0; r < m; r++) F[q][p] += A[p][r];", 0),
        ("for (int p = 0; p < n; p++) for (int r = 0; r < 8; r++) C[q][p] += B[p][r];", 0),
        ("for (int p = 0; p < 17; p++) for (int r = 0; r < 8; r++) C[q][p] += B[p][r];", 0),
        ("for (int p = 0; p < 8; p++) for (int r = 0; r < 8; r++) F[q][p] += A[p][r] + T[q][r][p][0];", 0),
        ("for (int p = 0; p < 8; p++) for (int r = 0; r < 8; r++) F[q][p] += F[q][r] * W[p][r];", 0),
    ],
)
def test_which_operands_are_copied(body: str, copies: int, tmp_path: Path) -> None:
    """Small ones that all iterations read in full, where that makes a loop contiguous; and never ones that may change.
    """
    region = kernel(f"for (int q = 0; q < n; q++) {{ {body} }}", tmp_path)
    for apart in (True, False):
        made = [stmt for part in schedule.parts(region, 64, cpu=True, apart=apart) for stmt in walk(part.region.body)]
        assert made
        found = [stmt for stmt in made if isinstance(stmt, Declare) and len(stmt.shape) == 2 and stmt.name[0] in "WA"]
        assert len(found) == copies * apart


@pytest.mark.parametrize(
    ("body", "widths"),
    [
        ("for (int p = 0; p < 8; p++) F[q][p] += 2 * E[q][p] + x[q];", {8}),
        ("for (int p = 0; p < 12; p++) C[q][p] = B[q][p + 1];", {4}),
        ("for (int p = 0; p < 16; p++) { C[q][p] *= 2; y[p + 16 * q] = C[q][p]; }", {16}),
        ("for (int p = 0; p < 8; p++) { double t = E[q][p] - x[p]; F[q][p] += t * t; }", {8}),
        ("double r[8]; for (int p = 0; p < 8; p++) r[p] = x[p]; for (int p = 0; p < 4; p++) F[q][p] = r[p];", {8, 4}),
        ("for (int p = 0; p < 8; p++) { F[q][p] = 0; for (int o = 0; o < n; o++) F[q][p] += E[o][p]; }", {8}),
        ("for (int p = 0; p < 8; p++) x[q] += E[q][p];", set()),  # a sum, whose order vectors would change
        ("double s = 0; for (int p = 0; p < 8; p++) { s += E[q][p]; F[q][p] = s; } y[q] = s;", set()),
        ("for (int p = 0; p < 8; p++) F[q][0] += E[q][p];", set()),
        ("for (int p = 0; p < 8; p++) { double t = E[q][p]; t += 1; F[q][p] = t; }", set()),
        ("for (int p = 0; p < 8; p++) F[q][p] = T[q][p][0][0];", set()),
        ("for (int p = 0; p < 8; p++) F[q][p] = x[count[p]];", set()),
        ("for (int p = 0; p < 8; p++) F[q][p] = sin(E[q][p]);", set()),
        ("for (int p = 0; p < 8; p++) if (E[q][p] > 0) F[q][p] = 1;", set()),
        ("for (int p = 0; p < 6; p++) F[q][p] = E[q][p];", set()),
        ("for (int p = 0; p < 20; p++) C[q][p] = B[q][p];", set()),
        ("for (int p = 0; p < m; p++) C[q][p] = B[q][p];", set()),
    ],
)
def test_of_which_rows_compilers_are_told(body: str, widths: set[int], tmp_path: Path) -> None:
    """Short ones of contiguous elements, each of which is found by itself."""
    region = kernel(f"for (int q = 0; q < n; q++) {{ {body} }}", tmp_path)
    (part,) = schedule.parts(region, 64, cpu=True)
    loops = {stmt.iname for stmt in walk(part.region.body) if isinstance(stmt, For)}
    assert {*part.widths.values()} == widths and part.widths.keys() <= loops


@pytest.mark.parametrize("seeds", [range(50), pytest.param(range(50, 300), marks=pytest.mark.slow)])
def test_random_nests(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_schedule, "WIDTH", 3)
    monkeypatch.setattr(cpu_schedule, "COPIES", 2)
    divided = 0
    for seed in seeds:
        region, random = nest(seed), Random(seed)
        scalars = {"n": random.randint(0, 6), "m": random.randint(1, 6)}
        try:
            touches(region, scalars)
        except OutOfBounds:
            continue
        data = np.random.default_rng(seed)
        arrays = {name: data.random(997) for name in "abr"} | {"q": data.random((997, scalars["m"]))}
        divided += compared(region, scalars, arrays, cpu=seed % 4 > 0)
    assert divided > 10


def test_what_cannot_be_interleaved(tmp_path: Path) -> None:
    """Jumps out of an iteration, other steps, variables from outside: such loops are left as they are."""
    for text in (
        "for (int i = 0; i < n; i++) { if (x[i] > 0) continue; for (int j = 0; j < m; j++) x[i] += B[i][j]; }",
        "for (int i = 0; i < n; i += 2) for (int j = 0; j < m; j++) x[i] += B[i][j];",
        "for (int i = n - 1; i >= 0; i--) for (int j = 0; j < m; j++) x[i] += B[i][j];",
        "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) x[i] += B[i][j];",
    ):
        (loop,) = kernel(text, tmp_path).body
        assert isinstance(loop, For) and interleave.copies(loop, 4, str) is interleave.strips(loop, 4, str) is None


@pytest.mark.parametrize(
    ("name", "axes"),
    [
        ("rows and columns", {"i": 1, "j": 0}),
        ("sums of columns", {"i": 0}),
        ("terms outermost", {"i": 0}),
    ],
)
def test_where_loops_go_on_a_gpu(name: str, axes: dict[str, int], tmp_path: Path) -> None:
    (part,) = schedule.parts(kernel(KERNELS[name], tmp_path), 0)
    assert sorted(part.axes.values()) == sorted([f"g.{axis}" for axis in axes.values()] + ["l.0"])
    loops = [loop for loop in walk(part.region.body) if isinstance(loop, For)]
    counters = [stmt.name for loop in loops for stmt in loop.body if isinstance(stmt, Declare) and stmt.name in axes]
    assert counters == sorted(axes, key=lambda loop: -axes[loop])


def test_all_axes_of_a_gpu(tmp_path: Path) -> None:
    text = """for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    for (int k = 0; k < 8; k++)
      for (int l = 0; l < 8; l++)
        T[i][l][j][k] = i + j * k;"""
    (part,) = schedule.parts(kernel(text, tmp_path), 0)
    grid = {axis: int(evaluate(part.derived[name], {"n": 70_000}))
            for name, axis in (("_groups", "g.0"), ("_groups_", "g.1"), ("_groups__", "g.2"))}  # fmt: skip
    assert grid == {"g.2": 65535, "g.1": 65535, "g.0": 1} and set(part.axes.values()) == {*grid, "l.0"}


def test_what_the_program_says_of_an_inner_loop_holds_while_the_outer_one_stands_still(tmp_path: Path) -> None:
    text = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[k[i][j]] = y[j];"
    assert schedule.divided_loops(kernel(text, tmp_path, 'annotate("independent", "j")')) == ()
    assert schedule.divided_loops(kernel(text, tmp_path, 'annotate("independent", "i")')) == ("i",)
