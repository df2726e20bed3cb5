"""Rows that the items of a GPU's group share: which loops are, and that all of their sums are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reading
from interpreter import Interpreter
from quick import first_of

from nomp import gpu_entries, gpu_rows, gpu_schedule, schedule
from nomp.arithmetic import evaluate
from nomp.region import Region
from nomp.schedule import Part

ARRAYS = "double a[n][m], double x[m], double y[n], double z[n], int start[n + 1], int column[n * m], int count[n]"


def region(body: str, folder: Path) -> Region:
    return reading.region(folder, f"void f(int n, int m, {ARRAYS}) {{\n#pragma nomp for\n{body}\n}}\n")


def parts(body: str, folder: Path, lanes: int | None = None) -> tuple[Part, ...]:
    return schedule.parts(region(body, folder), 64, lanes=lanes)


SHARED = {
    "a local": "for (int i = 0; i < n; i++) { double s = 2; for (int j = 0; j < m; j++) s += a[i][j]; y[i] = s * 2; }",
    "an element": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += a[i][j] * x[j];",
    "two sums": """for (int i = 0; i < n; i++) {
      double s = 1, p = 3;
      for (int j = 0; j < m; j++) { double t = a[i][j]; s += t; p *= 1 + (int)t % 2; }
      y[i] = s; z[i] = p - s; }""",
    "a minimum and its own start": """for (int i = 0; i < n; i++) {
      double least = y[i]; int all = -1;
      for (int j = m - 1; j >= 1; j -= 2) { if (a[i][j] < least) least = a[i][j]; all &= (int)a[i][j]; }
      if (least > 3) y[i] = least; else z[i] = all; }""",
    "only some terms": """for (int i = n - 1; i >= 0; i--) {
      int found = 0;
      for (int j = 0; j < m; j++) if (a[i][j] > 4) found += 1;
      count[i] = found; }""",
    "sparse": """for (int i = 0; i < n; i++) {
      double s = 0;
      for (int e = start[i]; e < start[i + 1]; e++) s += column[e] * x[column[e]];
      y[i] = s; }""",
    "a start that a condition sets": """for (int i = 0; i < n; i++) {
      double s; if (count[i] > 2) s = 1; else s = x[0];
      for (int j = 0; j < m; j++) s += a[i][j];
      y[i] = s; }""",
}
NOT_SHARED = {
    "columns": "for (int j = 0; j < m; j++) { double s = 0; for (int i = 0; i < n; i++) s += a[i][j]; x[j] = s; }",
    "few terms": "for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < 4; j++) s += a[i][j]; y[i] = s; }",
    "a recurrence": """for (int i = 0; i < n; i++) {
      double s = 0; for (int j = 0; j < m; j++) s = a[i][j] - s; y[i] = s; }""",
    "prefix sums": """for (int i = 0; i < n; i++) {
      double s = 0; for (int j = 0; j < m; j++) { s += a[i][j]; a[i][j] = s; } }""",
    "a sum that is looked at": """for (int i = 0; i < n; i++) {
      double s = 0; for (int j = 0; j < m; j++) if (s < 9) s += a[i][j]; y[i] = s; }""",
    "a loop that is left": """for (int i = 0; i < n; i++) {
      double s = 0; for (int j = 0; j < m; j++) { if (a[i][j] < 1) break; s += a[i][j]; } y[i] = s; }""",
    "a loop behind it": """for (int i = 0; i < n; i++) {
      double s = 0; for (int j = 0; j < m; j++) s += a[i][j]; for (int j = 0; j < m; j++) a[i][j] /= s; }""",
    "elements of two rows": """for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) y[i] += a[i][j] * y[i];""",
    "a row of sums": """for (int i = 0; i < n; i++)
      for (int j = 0; j < m; j++) for (int k = 0; k < n; k++) a[i][k] += x[j] * start[j];""",
    "what is set before": """for (int i = 0; i < n; i++) {
      double s = 0; z[i] = z[i] + 1; for (int j = 0; j < m; j++) s += a[i][j]; y[i] = s; }""",
}


@pytest.mark.parametrize("lanes", [None, 4])
@pytest.mark.parametrize("name", first_of(SHARED))
def test_shared(name: str, lanes: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole numbers, whose sums are the same in any order."""
    monkeypatch.setattr(gpu_rows, "ITEMS", 8)
    monkeypatch.setattr(gpu_rows, "LANES", 4)
    monkeypatch.setattr(gpu_rows, "LONG", 4)
    monkeypatch.setattr(gpu_schedule, "MOST_GROUPS", 2)
    whole, made = region(SHARED[name], tmp_path), parts(SHARED[name], tmp_path, lanes)
    assert any(part.shared for part in made)
    for n, m in ((0, 0), (1, 0), (3, 3), (1, 4), (5, 9), (9, 17)):
        data = np.random.default_rng(n + m)
        arrays = {name: data.integers(0, 9, shape).astype(float)
                  for name, shape in (("a", (n, m)), ("x", max(m, 9)), ("y", n), ("z", n))}  # fmt: skip
        arrays |= {"start": np.sort(data.integers(0, n * m + 1, n + 1)).astype(np.int32)}
        arrays |= {name: data.integers(0, 9, size).astype(np.int32) for name, size in (("column", n * m), ("count", n))}
        arrays = {param.name: arrays[param.name] for param in whole.params if param.name in arrays}
        expected = {name: array.copy() for name, array in arrays.items()}
        Interpreter(whole, {"n": n, "m": m}, expected).run()
        for part in made:
            derived = {name: int(evaluate(expr, {"n": n, "m": m})) for name, expr in part.derived.items()}
            Interpreter(part.region, {"n": n, "m": m} | derived, arrays).run()
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, expected[name], err_msg=name)


ENTRIES = "for (int i = 0; i < n; i++) { double before = z[i], s = before; for (%s) s += %s; y[i] = s; }"
ONE_BEHIND_THE_OTHER = {
    "a sparse product": ("int e = start[i]; e < start[i + 1]; e++", "x[column[e]] * column[e]"),
    "in a wider type": ("long e = start[i]; e < start[i + 1]; e++", "column[e]"),
    "known starts": ("int e = start[3 * i]; e < start[3 * (i + 1)]; e++", "column[e]"),
}
APART = {
    "gaps": ("int e = start[i]; e < count[i]; e++", "column[e]"),
    "gaps between starts": ("int e = start[i]; e < start[i + 1] - 1; e++", "column[e]"),
    "rows of rows": ("int e = start[i]; e < start[i + 2]; e++", "column[e]"),
    "some entries": ("int e = start[i]; e < start[i + 1]; e += 2", "column[e]"),
    "the last one, too": ("int e = start[i]; e <= start[i + 1]; e++", "column[e]"),
    "terms of rows": ("int e = start[i]; e < start[i + 1]; e++", "column[e] * x[i]"),
    "terms of what is set before": ("int e = start[i]; e < start[i + 1]; e++", "column[e] * before"),
    "unsigned starts": ("unsigned long e = start[i]; e < start[i + 1]; e++", "column[e]"),
}


@pytest.mark.parametrize(("term", "fits"), [("column[e]", True), ("column[e] * x[i]", False)])
def test_sums_in_elements(term: str, fits: bool, tmp_path: Path) -> None:
    body = f"for (int i = 0; i < n; i++) for (int e = start[i]; e < start[i + 1]; e++) y[i] += {term};"
    (part,) = parts(body, tmp_path, lanes=4)
    assert len(part.shared) == (5 if fits else 1)


def test_rows_whose_entries_lie_one_behind_the_other(tmp_path: Path) -> None:
    for fits, cases in ((True, ONE_BEHIND_THE_OTHER), (False, APART)):
        for name, words in cases.items():
            (part,) = parts(ENTRIES % words, tmp_path)
            assert (len(part.shared) == 5) == fits, name


@pytest.mark.parametrize(
    ("term", "once"),
    [
        ("x[column[e]] * column[e]", {"column"}),
        ("x[e] * column[e]", {"x", "column"}),
        ("x[column[e]] * x[e]", {"column"}),
    ],
)
def test_what_is_read_once(term: str, once: set[str], tmp_path: Path) -> None:
    (part,) = parts(ENTRIES % ("int e = start[i]; e < start[i + 1]; e++", term), tmp_path)
    assert part.once == once


class Watched:
    """An array that notes which elements are read."""

    def __init__(self, array: np.ndarray) -> None:
        self.array, self.read = array, set[tuple[int, ...]]()

    def __getitem__(self, index: tuple[int, ...]) -> Any:
        self.read.add(index)
        return self.array[index]


OPERATORS = {"+": "s += x[column[e]]", "*": "s *= 1 + x[column[e]] / 8", "a condition": "if (x[column[e]] > 4) s += 1"}


@pytest.mark.parametrize("lanes", [2, 4])
@pytest.mark.parametrize("name", first_of(OPERATORS))
def test_entries_in_any_order(name: str, lanes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where starts do not rise: rows are empty then, or have entries that others have, too; nothing else is read.
    """
    monkeypatch.setattr(gpu_entries, "ITEMS", 8)
    monkeypatch.setattr(gpu_entries, "EACH", 2)
    body = f"""for (int i = 1; i < n; i++) {{
      double s; if (count[i] > 2) s = 1; else s = z[i];
      for (int e = start[i]; e < start[i + 1]; e++) {OPERATORS[name]};
      y[i] = s; }}"""
    whole, (part,) = region(body, tmp_path), parts(body, tmp_path, lanes)
    assert len(part.shared) == 5
    data = np.random.default_rng(lanes)
    for n, rising in ((1, True), (2, True), (9, True), (14, True), (9, False), (14, False), (27, False)):
        m = 7
        start = data.integers(0, n * m + 1, n + 1)
        start[n // 2 :] += data.integers(0, 2)  # what is no multiple of anything
        start = np.clip(np.sort(start) if rising else start, 0, n * m).astype(np.int32)
        arrays = {"x": data.integers(0, 9, 9).astype(float), "y": np.zeros(n), "z": np.ones(n), "start": start,
                  "count": data.integers(0, 9, n).astype(np.int32)}  # fmt: skip
        column = data.integers(0, 9, n * m).astype(np.int32)
        found = []
        for one, more in ((whole, {}), (part.region, part.derived)):
            scalars = {"n": n, "m": m} | {name: int(evaluate(expr, {"n": n, "m": m})) for name, expr in more.items()}
            mine = {name: array.copy() for name, array in arrays.items()} | {"column": Watched(column)}
            Interpreter(one, scalars, mine).run()
            found.append((mine["y"], mine["column"].read))
        np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-13)
        assert found[0][1] == found[1][1]


@pytest.mark.parametrize("name", NOT_SHARED)
def test_not_shared(name: str, tmp_path: Path) -> None:
    assert not any(part.shared for part in parts(NOT_SHARED[name], tmp_path))


def test_a_launch_runs_one_of_two(tmp_path: Path) -> None:
    """Short rows are an item's, long ones are shared: the other kernel has no groups then."""
    made = parts(SHARED["a local"], tmp_path)
    assert [bool(part.shared) for part in made] == [True, False]
    for m, groups in ((3, [0, 1]), (15, [0, 1]), (16, [2, 0]), (900, [2, 0])):
        found = [evaluate(part.derived[name], {"n": 8, "m": m}) for part in made
                 for name in part.derived if name.startswith("_groups")]  # fmt: skip
        assert found == groups


@pytest.mark.parametrize(("trips", "lanes"), [(15, 0), (16, 8), (40, 16), (64, 32), (5000, 32)])
def test_lanes_for_known_lengths(trips: int, lanes: int, tmp_path: Path) -> None:
    body = f"for (int i = 0; i < n; i++) {{ double s = 0; for (int j = 0; j < {trips}; j++) s += a[i][j]; y[i] = s; }}"
    (part,) = parts(body, tmp_path)
    assert bool(part.shared) is bool(lanes)
    assert not lanes or f"Const(value={lanes}, dtype='int64')" in str(part.region.body)
