"""``nomp explain FILE:LINE``: the stages that it shows, how places are found, and places without a loop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nomp.driver.cli import main

PROGRAM = """\
#include "inc.h"
double f(int n, double *a, const double *b, const int *list) {
  static const double half[2] = {0.5, 0.25};
  double sum = 0;
  int flag = 0, i;
#pragma nomp for name("smooth")
  for (i = 1; i < n; i++) {
    a[i] = (a[i - 1] + b[i]) * half[i % 2] + WEIGHT;
    flag = i;
  }
#pragma nomp for reduce("sum", "+") \\
    jit("n")
  for (int k = 0; k < n; k++)
    sum += b[k];

#pragma nomp for transform("tiles", "spread", size = 4)
  for (int k = 0; k < n; k++)
    a[k] = b[list[k]];
#pragma nomp for
  for (int k = 0; k < n; k++)
    goto out;
out:
#pragma nomp for transform("nowhere", "spread")
  for (int k = 0; k < n; k++)
    a[k] = 1;
  return sum + flag + i;
}
"""
SCRIPT = """\
import loopy as lp
def spread(knl, context, size):
    return lp.split_iname(knl, "k", size, outer_tag="g.0")
"""
HEADER = """\
#define WEIGHT 2
static inline void g(int *v) {
#pragma nomp for
  for (int i = 0; i < 8; i++)
    v[i] = i;
}
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inc").mkdir()
    files = {"explained.c": PROGRAM, "tiles.py": SCRIPT, "inc/inc.h": HEADER, "nothing.c": "int x;\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)


def explained(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> tuple[dict[str, list[str]], str]:
    """What is on stdout, part by part, and stderr."""
    assert main(["explain", *words]) == status
    shown = capsys.readouterr()
    parts = [part.splitlines() for part in shown.out.rstrip("\n").split("\n\n")] if shown.out else []
    named: dict[str, list[str]] = {}
    for head, *lines in parts:
        if head.startswith(" "):  # an empty line in the source
            named[next(reversed(named))] += [head, *lines]
        else:
            named[head] = [line.strip() for line in lines]
    return named, shown.err


LOOPS = "loops, and whether the iterations of each may run at the same time:"


def test_data_and_a_loop_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    parts, errors = explained(capsys, "explained.c:8", "-I", "inc")
    assert errors == ""
    head = "explained.c:6: kernel 'smooth' is made of lines 6 to 10"
    assert list(parts)[:4] == [head, "takes from the program:", LOOPS, "schedule:"]
    assert sorted(parts["takes from the program:"]) == [
        "a: float64, read and written; must be mapped",
        "b: float64, read; must be mapped",
        "flag: int32, read and written; copied to the device and back",
        "half: float64, a constant table; needs no map",
        "i: int32, its last value is set after the launch ('i_last' in scripts)",
        "n: int32, by value",
    ]
    why = "'a' is written in iteration i = 1 and read in iteration i = 2 (where n = 3)"
    assert parts[LOOPS] == [f"explained.c:7: loop 'i': no: {why}"]
    assert parts["schedule:"][0] == "run in order by one work item"
    source = next(lines for head, lines in parts.items() if head.startswith("source for "))
    assert any("smooth(" in line for line in source)


@pytest.mark.parametrize("line", [11, 12, 13, 14])
def test_a_reduction_from_each_of_its_lines(line: int, capsys: pytest.CaptureFixture[str]) -> None:
    parts, _ = explained(capsys, f"explained.c:{line}", "-Iinc")
    assert next(iter(parts)) == "explained.c:11: kernel '_nomp_kernel_l11' is made of lines 11 to 14"
    assert "sum: float64, reduced with '+'" in parts["takes from the program:"]
    assert "n: int32, compiled into the kernel" in parts["takes from the program:"]
    assert parts["schedule:"] == ["a parallel reduction to 'sum'"]


def test_a_script(capsys: pytest.CaptureFixture[str]) -> None:
    """What it makes of the kernel is in the source; its warnings are said."""
    parts, errors = explained(capsys, "explained.c:18:5", "-Iinc")
    assert parts["schedule:"] == [
        "scheduled by tiles.spread",
        f"tiles.spread(size=4) is in {Path('tiles.py').absolute()}",
        "each launch is checked: iterations that depend on each other must keep their order (N403)",
        "arrays are taken to be apart; where two overlap at a launch, it runs in order, in one work item (N402)",
    ]
    source = next(lines for head, lines in parts.items() if head.startswith("source for "))
    assert any("gid(0)" in line and "a[" in line for line in source)
    assert errors == ""


def test_a_script_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    parts, errors = explained(capsys, "explained.c:24", "-Iinc", status=1)
    assert "nowhere.spread() is in no place that is looked at" in parts["schedule:"]
    assert "explained.c:23:18: warning: " in errors and "explained.c:23:18: error: " in errors
    assert errors.count("[N301]") == 2


@pytest.mark.parametrize("line", [19, 20, 21])
def test_a_loop_that_is_refused(line: int, capsys: pytest.CaptureFixture[str]) -> None:
    parts, errors = explained(capsys, f"explained.c:{line}", "-Iinc", status=1)
    assert list(parts) == ["explained.c:19: kernel '_nomp_kernel_l19' is made of lines 19 to 21", LOOPS]
    assert parts[LOOPS] == ["explained.c:20: loop 'k': refused"]
    assert "'goto' cannot be in a kernel [N207]" in errors


def test_a_loop_in_a_header(capsys: pytest.CaptureFixture[str]) -> None:
    parts, _ = explained(capsys, "inc/inc.h:4")
    assert next(iter(parts)) == "inc/inc.h:3: kernel '_nomp_kernel_l3' is made of lines 3 to 5"
    assert parts["schedule:"] == ["the iterations of 'i' divided among work items"]


def test_places_without_a_loop(capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]) -> None:
    found = [explained(capsys, f"explained.c:{line}", "-Iinc", status=1) for line in (4, 15, 999)]
    found.append(explained(capsys, "nothing.c:1", status=1))
    assert all(parts == {} for parts, _ in found)
    golden("codes/N806.txt", "".join(errors for _, errors in found))


def test_what_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert "[N201]" in explained(capsys, "missing.c:3", status=1)[1]
    assert "[N503]" in explained(capsys, "tiles.py:3", status=1)[1]


def test_a_device_that_is_not_there(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOMP_BACKEND", "none")
    parts, errors = explained(capsys, "explained.c:7", "-Iinc", status=1)
    assert list(parts)[-1] == "schedule:" and "[N613]" in errors
