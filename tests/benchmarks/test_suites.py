"""benchmarks/suites.py on a file like those of a suite: what it sees of loops in a run, and what `nomp check` says."""

from __future__ import annotations

from pathlib import Path

import pytest
import suites

N = 40
LOOPS = [  # the loops, and for each what is to be seen in the run and the verdict
    ("for (int i = 0; i < N; i++) a[i] = b[i + 1];", "independent yes"),
    ("for (i = 0; i < N; i++) { t = b[i]; a[i] = t * t; }", "independent yes"),
    ("for (int i = 0; i < N; i++) { double u = b[i], w[2]; w[i % 2] = u; a[i] = w[i % 2]; }", "independent yes"),
    ("for (int i = 1; i < N; i++) a[i] = a[i - 1];", "conflict no"),
    ("for (int i = N; i > 0; i--) a[i] += b[i];", "independent yes"),
    ("for (int i = 0; i < N; i++) a[3] = b[i];", "conflict no"),
    ("for (int i = 0; i < N; i++) t += b[i];", "accumulates reduction"),
    ("for (int i = 0; i < N; i++) if (b[i] < t) t = b[i];", "accumulates reduction"),
    ("for (int i = 0; i < N; i++) { t += b[i]; a[i] = t; }", "conflict no"),
    ("for (int i = 0; i < N; i++) { a[k] = b[i]; k++; }", "independent no"),
    ("for (int i = 0; i < N; i++) a[list[i]] = b[i];", "independent unknown"),
    ("for (int i = 0; i < N; i++) a[list[i] / 2] = b[i];", "conflict unknown"),
    ("for (int i = 0; i < N; i++) { if (b[i] < 0) goto out; a[i] = 1; } out:", "independent refused"),
    ("for (int i = 0; i < N; i++)\n for (int j = 1; j < N; j++) { c[i][j] = c[i][j - 1]; }",
     "independent yes, conflict no"),
    ("for (int i = 0; i < N; i++)\n for (int j = 0; j < i; j++)\n { a[i] += c[j][i]; }\n",
     "independent yes, accumulates reduction"),
    ("for (int i = 0; i < N; i++) { double w[N];\n for (int j = 0; j < N; j++) w[j] = j;\n a[i] = w[N - 1]; }",
     "independent yes, independent yes"),
    ("for (int i = 1; i < N; i++) a[i] = last(b, i);", "independent yes"),
    ("for (int i = 5; i < 6; i++) a[i] = a[i - 1];", "None yes"),
]  # fmt: skip
FILE = """#include <omp.h>
#define N %d
static double a[2 * N], b[N + 1], c[N][N], t;
static int list[N], k;
static double last(const double *p, int n) { double s = 0; for (int l = 0; l < n; l++) { s = p[l]; } return s; }
int main(void) {
  int i;
  for (i = 0; i < N; i++)
    list[i] = i * 3 %% N, b[i] = i;
  t = 0;
%s}
"""
PRAGMA = "#pragma omp parallel for /* a comment, // and another */ \\\n  schedule(static)\n"


def written(folder: Path, *loops: str) -> Path:
    source = folder / "DRB900-test-orig-yes.c"
    source.write_text(FILE % (N, "".join(f"{PRAGMA}  {loop};\n" for loop in loops)))
    return source


@pytest.mark.slow
def test_what_is_seen_and_what_is_proven(tmp_path: Path) -> None:
    judged = suites.judge(written(tmp_path, *(loop for loop, _ in LOOPS)))
    found: list[list[str]] = []
    for loop in judged:
        if loop.annotated:
            found.append([])
        found[-1].append(f"{loop.seen} {loop.verdict}")
    assert [", ".join(words) for words in found] == [expected for _, expected in LOOPS]


@pytest.mark.slow
def test_an_unsound_verdict_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = written(tmp_path, LOOPS[3][0])
    assert suites.main([str(tmp_path)]) == 0
    assert "| conflict | 0 | 0 | 1 | 0 | 0 |" in capsys.readouterr().out
    monkeypatch.setitem(suites.SOUND, "no", {"independent"})
    assert suites.main([str(tmp_path)]) == 1
    assert f"{source.name}:13: unsound: seen: conflict, verdict: no" in capsys.readouterr().out
