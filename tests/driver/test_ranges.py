"""``NOMP_RANGES``: what the libraries of vendors' profilers are told, over doubles of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commands import NOMP, NOMP_CC, run, succeed

PROGRAM = r"""#include <stdio.h>
static double a[100], b[100];
int main(int argc, char **argv) {
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, b)
  for (int r = 0; r < 4; r++) {
#pragma nomp for name("add")
    for (int i = 0; i < 100; i++)
      a[i] += b[i] + r;
  }
#pragma nomp update(from : a)
  printf("%g\n", a[7]);
#pragma nomp finalize
  return 0;
}
"""
PYTHON = """import numpy as np
import nomp

@nomp.jit
def add(n, a):
    #pragma nomp for name("more")
    for i in range(n):
        a[i] += 1

a = np.zeros(10)
nomp.update(to=a)
for _ in range(3):
    add(10, a)
nomp.update(from_=a)
print(a[3])
"""
FUNCTIONS = {"nvtx": ("libnvtx3interop.so.1", "nvtxRangePushA", "nvtxRangePop"),
             "roctx": ("libroctx64.so.4", "roctxRangePushA", "roctxRangePop")}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, and doubles of both libraries."""
    made = tmp_path_factory.mktemp("ranges")
    (made / "p.c").write_text(PROGRAM)
    (made / "p.py").write_text(PYTHON)
    succeed(*NOMP_CC, "-O1", "p.c", "-o", "p", cwd=made)
    for name, push, pop in FUNCTIONS.values():
        source = Path(__file__).parents[1] / "doubles" / "ranges.c"
        succeed("gcc", f"-DPUSH={push}", f"-DPOP={pop}", "-fPIC", "-shared", source, "-o", made / name)
    return made


def ranges(text: str) -> list[str]:
    """The ranges in *text*, each of which has ended before the next."""
    lines = text.splitlines()
    assert lines[1::2] == ["<"] * (len(lines) // 2), text
    return [line.removeprefix("> ") for line in lines[::2]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", FUNCTIONS)
def test_each_launch_and_update_is_a_range(folder: Path, kind: str) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder), "NOMP_RANGES": kind}
    done = run(folder / "p", cwd=folder, env=environment)
    assert (done.returncode, done.stdout) == (0, "6\n"), done.stderr
    add = ["add p.c:8"] * 4  # the last two are C's
    assert ranges(done.stderr) == ["update a p.c:5", "update b p.c:5", *add, "update a p.c:11"]


@pytest.mark.slow
def test_ranges_of_a_python_program(folder: Path) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder), "NOMP_RANGES": "nvtx"}
    done = run(*NOMP, "run", "p.py", cwd=folder, env=environment)
    assert (done.returncode, done.stdout) == (0, "3.0\n"), done.stderr
    found = ranges(done.stderr)
    assert found == ["update a", *[f"more {folder}/p.py:7"] * 3, "update a"]


@pytest.mark.slow
def test_they_go_with_a_profile(folder: Path) -> None:
    environment = {**os.environ, "LD_LIBRARY_PATH": str(folder), "NOMP_RANGES": "nvtx", "NOMP_PROFILE": "1"}
    done = run(folder / "p", cwd=folder, env=environment)
    marks, _, table = done.stderr.partition("\nprofile on")
    assert ranges(marks)[2:6] == ["add p.c:8"] * 4 and "\nadd " in table


@pytest.mark.slow
def test_without_the_library_the_program_runs_on(folder: Path) -> None:
    done = run(folder / "p", cwd=folder, env={**os.environ, "NOMP_RANGES": "roctx"})
    assert (done.returncode, done.stdout) == (0, "6\n")
    assert done.stderr == (
        "nomp: warning: ranges of roctx need a library that is not there: librocprofiler-sdk-roctx.so.1, "
        "librocprofiler-sdk-roctx.so.0, libroctx64.so.4, libroctx64.so [N624]\n"
        "help: install ROCm's roctracer or rocprofiler-sdk\n"
    )
