"""`nomp tune` on whole programs: they print what they always do, and what is measured is used afterwards."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commands import NOMP, NOMP_CC, run, succeed

PROGRAM = """#include <stdio.h>
static double x[3000], y[3000], z[3000];
int main(int argc, char **argv) {
  int n = argc > 1 ? 100 : 3000, last = 0;
  for (int i = 0; i < 3000; i++) x[i] = i, y[i] = 1;
#pragma nomp init(argc, argv)
#pragma nomp update(to : x, y, z)
  for (int k = 0; k < 3; k++) {
#pragma nomp for name("axpy") transform("blocks", "split")
    for (int i = 0; i < n; i++)
      y[i] += 0.5 * x[i] + k;
  }
#pragma nomp for name("other") transform("blocks", "split")
  for (last = 0; last < n; last++)
    z[last] = 2 * x[last];
#pragma nomp update(from : y, z)
  double sum = last;
  for (int i = 0; i < n; i++) sum += y[i] + z[i];
  printf("%.1f\\n", sum);
#pragma nomp finalize
  return 3;
}
"""
SCRIPT = """import sys

import loopy as lp


def split(knl, context):
    size = context.param("size", [16, 1000])
    how = context.param("how", ["right", "fails", "wrong", "loses"])
    print(f"{context['region::name']} {size} {how}", file=sys.stderr)
    if how == "fails":
        raise ValueError("no")
    entry = knl.default_entrypoint
    if how == "wrong":
        twice = [insn.copy(expression=insn.expression * 2) for insn in entry.instructions]
        knl = knl.with_kernel(entry.copy(instructions=twice))
    if how == "loses":
        knl = lp.fix_parameters(knl, n=99)
    return lp.split_iname(knl, "i" if "i" in entry.all_inames() else "last", size, outer_tag="g.0")
"""


AFTERWARDS = {"NOMP_TUNING_DIR": "db", "NOMP_CACHE": "off"}
"""For runs that are to use what has been measured, and whose scripts are to run and tell what they choose."""

NOTHING = (
    "nomp: warning: '{program}' has launched no loop{where} that can be tuned (it ended with status {status})"
    " [N706]\n"
    "help: tune a program of 'nomp cc' whose scripts call context.param, and name the files of those loops, or none\n"
)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "a.c").write_text(PROGRAM)
    (tmp_path / "blocks.py").write_text(SCRIPT)
    succeed(*NOMP_CC, "-O1", "a.c", "-o", "a", cwd=tmp_path)
    return tmp_path / "a"


def tune(program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    done = run(*NOMP, "tune", "--dir", "db", *words, "--", program, cwd=program.parent)
    assert (done.returncode, done.stdout) == (3, plain(program)), done.stderr
    return done


def plain(program: Path) -> str:
    folder = program.parent
    succeed("cc", "-w", folder / "a.c", "-o", folder / "plain")
    return run(folder / "plain").stdout


def kept(program: Path) -> dict[str, dict[str, Any]]:
    """The result of each kernel, which has one."""
    found = {}
    for file in (program.parent / "db").glob("*.json"):
        data = json.loads(file.read_text())
        (found[data["kernel"]],) = data["results"]
    return found


@pytest.mark.slow
def test_a_program_is_tuned(program: Path) -> None:
    done = tune(program)
    results = kept(program)
    assert results.keys() == {"axpy", "other"}
    for name, result in results.items():
        reasons = {(t["choices"]["size"], t["choices"]["how"]): t.get("skipped", "")[:5] for t in result["trials"]}
        assert reasons == {
            (size, how): reason
            for size in (16, 1000)
            for how, reason in {"right": "", "fails": "N304:", "wrong": "N404:", "loses": "N309:"}.items()
        }
        assert result["best"]["how"] == "right"
        assert (
            f"'{name}' ({result['sizes']}): 8 tried, 6 of them left out (2 N304, 2 N404, 2 N309); best" in done.stderr
        )
    assert results["axpy"]["sizes"] == "i:2048"


@pytest.mark.slow
def test_the_second_time_costs_nothing_and_the_choices_are_used(program: Path) -> None:
    tune(program)
    before = kept(program)
    again = tune(program).stderr
    assert "nomp tune" not in again and "N706" not in again and kept(program) == before
    used = run(program, cwd=program.parent, env=os.environ | AFTERWARDS).stderr.split("\n")[:-1]
    assert used == [f"{name} {before[name]['best']['size']} right" for name in ("axpy", "other")]
    untuned = os.environ | {"NOMP_CACHE": "off"}
    assert run(program, cwd=program.parent, env=untuned).stderr.split("\n")[0] == "axpy 16 right"


@pytest.mark.slow
def test_what_a_program_starts_with_to_use_what_has_been_measured(program: Path) -> None:
    """Nothing of the search, nor NumPy, which takes longer than all else."""
    tune(program, "--trials", "1")
    done = run(program, cwd=program.parent, env=os.environ | {"NOMP_TUNING_DIR": "db", "PYTHONPROFILEIMPORTTIME": "1"})
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "nomp.runtime.tuning" in imported
    assert not imported & {"numpy", "nomp.runtime.tuner", "nomp.tuning.search", "nomp.tuning.ahead"}


@pytest.mark.slow
def test_other_sizes_have_the_scripts_own_choices(program: Path) -> None:
    tune(program)
    done = run(program, "small", cwd=program.parent, env=os.environ | AFTERWARDS | {"NOMP_VERBOSE": "3"})
    assert "axpy 16 right" in done.stderr
    assert "kernel 'axpy' has not been tuned for i:64 on cpu: " in done.stderr


@pytest.mark.slow
def test_a_search_goes_on(program: Path) -> None:
    tune(program, "--trials", "2")
    assert [len(result["trials"]) for result in kept(program).values()] == [2, 2]
    first = kept(program)["axpy"]["trials"]
    tune(program, "--trials", "5", "--sampler", "random")
    assert [len(result["trials"]) for result in kept(program).values()] == [5, 5]
    assert kept(program)["axpy"]["trials"][:2] == first


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(500, 2000), (1000, 500), (1000,)])
def test_values_that_a_script_no_longer_offers(program: Path, sizes: tuple[int, ...]) -> None:
    script = program.parent / "blocks.py"
    script.write_text(SCRIPT.replace('["right", "fails", "wrong", "loses"]', '["right"]'))
    tune(program)
    script.write_text(script.read_text().replace("[16, 1000]", str(list(sizes))))
    tune(program)
    for result in kept(program).values():
        assert sorted(trial["choices"]["size"] for trial in result["trials"]) == sorted(sizes)
        assert result["best"]["size"] in sizes


@pytest.mark.slow
def test_the_loops_of_one_file(program: Path) -> None:
    (program.parent / "b.c").write_text("")
    done = tune(program, "b.c")  # the scripts run, unless the kernel cache knows what they make
    assert done.stderr.endswith(NOTHING.format(program=program, where=" of b.c", status=3))
    assert "nomp tune:" not in done.stderr
    assert "nomp tune: 'axpy'" in tune(program, "a.c", "--trials", "1").stderr


@pytest.mark.parametrize(("program", "status"), [("true", 0), ("false", 1)])
def test_a_program_without_nomp(program: str, status: int) -> None:
    done = run(*NOMP, "tune", "--", program)
    assert (done.returncode, done.stderr) == (status, NOTHING.format(program=program, where="", status=status))


@pytest.mark.slow
def test_scripts_that_leave_nothing_open(program: Path) -> None:
    script = SCRIPT.replace("context.param(", "dict(size=16, how='right').get(")
    (program.parent / "blocks.py").write_text(script)
    assert NOTHING.format(program=program, where="", status=3) in tune(program).stderr


def test_a_file_whose_path_cannot_be_told(tmp_path: Path) -> None:
    (tmp_path / "a:b.c").write_text("")
    done = run(*NOMP, "tune", "a:b.c", "--", "true", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        1, f"nomp: error: the path {tmp_path}/a:b.c has a ':' in it [N705]\n"
           "help: name no files, or move the program\n")  # fmt: skip


@pytest.mark.slow
def test_what_cannot_be_proven_is_not_tuned(tmp_path: Path) -> None:
    text = PROGRAM.replace("z[last] = 2", "z[(last * last) % 3000] = 2")
    (tmp_path / "a.c").write_text(text)
    (tmp_path / "blocks.py").write_text(SCRIPT)
    succeed(*NOMP_CC, "-O1", "a.c", "-o", "a", cwd=tmp_path)
    done = run(*NOMP, "tune", "--dir", "db", "--trials", "1", "--", "./a", cwd=tmp_path)
    assert "nomp tune: 'other' is not tuned: cannot prove that" in done.stderr
    assert kept(tmp_path / "a").keys() == {"axpy"}


@pytest.mark.parametrize("words", [(), ("x.c", "--", "./a"), ("--", "./b")])
def test_what_is_missing(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*NOMP, "tune", *words, cwd=tmp_path)
    assert done.returncode == 1 and "[N705]" in done.stderr


@pytest.mark.slow
def test_a_folder_that_cannot_be_written(program: Path) -> None:
    (program.parent / "db").write_text("a file")
    done = run(*NOMP, "tune", "--dir", "db", "--", program, cwd=program.parent)
    assert done.returncode == 1 and "what is measured cannot be kept in db: " in done.stderr
    assert "[N704]" in done.stderr
