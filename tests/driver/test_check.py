"""``nomp check``: its lines, its JSON, its exit status, and what it takes from a command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nomp.driver.cli import main

GOOD = """\
#include "sizes.h"
void f(double *a, const double *b, const int *col, const struct box *s) {
#pragma nomp for name("sums")
  for (int i = 1; i < N; i++)
    for (int j = 0; j < s->n; j++)
      a[i] += a[i - 1] * b[j];
#pragma nomp for
  for (int i = 0; i < s->n; i++)
    a[i] = b[col[i]];
#pragma nomp for transform("nowhere", "rows")
  for (int i = 0; i < s->n; i++)
    a[col[i]] = b[i];
}
"""
LINES = """\
good.c:4: loop 'i': no: 'a' is written in iteration i = 1, j = 0 and read in iteration i = 2, j = 0 (where s->n = 1)
good.c:5: loop 'j': reduction: the iterations only meet where they accumulate into 'a'
good.c:8: loop 'i': yes: no iteration touches what another one writes
good.c:11: loop 'i': unknown: which elements of 'a' the iterations touch depends on data
"""
BAD = """\
void f(double *a, int n) {
#pragma nomp for
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++)
      goto out;
#pragma nomp fro
#pragma nomp for
  for (int i = 0; i < n; i++)
    a[i] = 1;
out:;
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "sizes.h").write_text("struct box { int n; };\n")
    (tmp_path / "good.c").write_text(GOOD)
    (tmp_path / "bad.c").write_text(BAD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    """The files of the JSON that ``nomp check`` prints."""
    main(["check", "--format", "json", "-Iinc", "-DN=9", *words])
    files: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["files"]
    return files


def test_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "-I", "inc", "-DN=9", "good.c"]) == 0
    shown = capsys.readouterr()
    assert shown.out == LINES
    assert shown.err.startswith("good.c:10:18: warning: ") and "[N301]" in shown.err


def test_refused_regions_are_listed_beside_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "bad.c"]) == 1
    shown = capsys.readouterr()
    assert shown.out == (
        "bad.c:3: loop 'i': refused\n"
        "bad.c:4: loop 'k': refused\n"
        "bad.c:8: loop 'i': yes: no iteration touches what another one writes\n"
    )
    assert [line for line in shown.err.splitlines() if "error" in line] == [
        "bad.c:5:7: error: 'goto' cannot be in a kernel [N207]",
        "bad.c:6:14: error: unknown directive 'fro' [N101]",
    ]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = checked(capsys, "good.c", "bad.c")
    assert (good["file"], bad["file"]) == ("good.c", "bad.c")
    sums, gather, scatter = good["regions"]
    assert (sums["line"], sums["kernel"], sums["verdict"], sums["diagnostics"]) == (3, "sums", "ok", [])
    outer, inner = sums["loops"]
    assert outer == {
        "iname": "i", "line": 4, "parallel": "no",
        "reason": "'a' is written in iteration i = 1, j = 0 and read in iteration i = 2, j = 0 (where s->n = 1)",
        "witness": {"source": {"i": 1, "j": 0}, "sink": {"i": 2, "j": 0}, "parameters": {"s->n": 1}},
    }  # fmt: skip
    assert (inner["parallel"], inner["witness"]) == ("reduction", None)
    assert [loop["parallel"] for region in (gather, scatter) for loop in region["loops"]] == ["yes", "unknown"]
    assert (scatter["verdict"], [d["code"] for d in scatter["diagnostics"]]) == ("ok", ["N301"])
    assert [(r["line"], r["kernel"], r["verdict"]) for r in bad["regions"]] == [
        (2, "_nomp_kernel_l2", "refused"), (6, "_nomp_kernel_l6", "error"), (7, "_nomp_kernel_l7", "ok")
    ]  # fmt: skip
    assert [(loop["iname"], loop["line"], loop["parallel"]) for loop in bad["regions"][0]["loops"]] == [
        ("i", 3, "unknown"), ("k", 4, "unknown")
    ]  # fmt: skip
    assert bad["regions"][0]["diagnostics"][0]["column"] == 7


def test_files_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.c").write_text("int x = ;\n#pragma nomp sync\n")
    Path("plain.c").write_text("int x;\n")
    plain, broken, missing = checked(capsys, "plain.c", "broken.c", "missing.c")
    assert plain["regions"] == []
    assert [d["code"] for d in broken["regions"][0]["diagnostics"]] == ["N201"]
    assert missing["regions"][0]["verdict"] == "refused"
    assert main(["check", "missing.c"]) == 1


def test_a_file_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["check", "--format", "json"])
    assert "error: name a C file" in capsys.readouterr().err
