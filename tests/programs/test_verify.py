"""NOMP_VERIFY=1 in whole programs: schedules that break the order of a recurrence are found, wherever the loop stands.

`tests/programs/test_programs.py` has programs that are right and stay silent.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from commands import NOMP_CC, succeed

# Iterations 4, 8, ... first, then 1, 5, ...: the results are wrong, and always in the same way.
STRIDED = """\
import loopy as lp
def strided(knl, context, over="i", outer=""):
    knl = lp.split_iname(knl, over, 4)
    return lp.prioritize_loops(knl, f"{outer}{over}_inner,{over}_outer")
"""
HEADER = """\
static inline void in_header(int n, long *a) {
#pragma nomp for transform("strided", "strided") name("in_header")
  for (int i = 1; i < n; i++)
    a[i] += a[i - 1];
}
"""
PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#include "header.h"
typedef struct { char tag; double x; float v[2]; } part_t;
#define STEP(a, i) ((a)[(i) - 1] + 1)
static void rows(int n, int m, double a[n][m]) {
#pragma nomp for transform("strided", "strided", over="j", outer="i,") name("rows")
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      a[i][j] = a[i][j - 1] + 1;
}

int main(int argc, char **argv) {
  int n = 10, last = 0, i;
  long line[10] = {1}, sum[10];
  double (*a)[10] = calloc(3, sizeof *a), sum_of_x = 1;
  part_t p[10];
  for (i = 0; i < n; i++)
    p[i] = (part_t){i, i, {i, i}}, sum[i] = 1;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, 3], p, line, sum)
#pragma nomp update(alloc : a[0, 3])
  rows(3, n, a);
  in_header(n, sum);
_Pragma("nomp for transform(\\"strided\\", \\"strided\\", over=\\"k\\") name(\\"with_macros\\")")
  for (int k = 1; k < n; k++) line[k] = STEP(line, k);
#pragma nomp for transform("strided", "strided") name("structs")
  for (int i = 1; i < n; i++)
    p[i].v[1] = p[i - 1].v[1] + 2;
#pragma nomp for reduce("sum_of_x", "+") name("right")
  for (i = 0; i < n; i++)
    sum_of_x += p[i].x;
#pragma nomp for transform("strided", "strided") name("scalar")
  for (int i = 0; i < n; i++)
    last = 3 * i;
#pragma nomp update(from : a[0, 3], p, line, sum)
  printf("%g %ld %ld %g %g %d %d\\n", a[2][9], sum[9], line[9], p[9].v[1], sum_of_x, i, last);
  free(a);
  return 0;
}
"""
ROWS = "kernel 'rows' and its loop come to different results: 'a[0][4]' is 1.0 on the device, 4.0 on the host [N618]"


@pytest.fixture
def program(tmp_path: Path) -> Path:
    for name, text in {"strided.py": STRIDED, "header.h": HEADER, "program.c": PROGRAM}.items():
        (tmp_path / name).write_text(text)
    words = ["-std=gnu99", "-O2", "-Wall", "-Wextra", "-Werror", "program.c", "-o", "program"]
    succeed(*NOMP_CC, *words, cwd=tmp_path)
    return tmp_path / "program"


def run(program: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program], cwd=program.parent, env=os.environ | environment, capture_output=True, text=True)


@pytest.mark.slow
def test_wrong_schedules_are_found(program: Path) -> None:
    unchecked = run(program, NOMP_LEGALITY="off")
    checked = run(program, NOMP_LEGALITY="off", NOMP_VERIFY="1", NOMP_ON_ERROR="continue")
    assert (checked.returncode, checked.stdout) == (0, unchecked.stdout)  # results are the launches', right or wrong
    found = re.findall(r"(\S+\.[ch]:\d+):\d+: error: kernel '(\w+)' .* results: (.*) \[N618\]", checked.stderr)
    for place, name, _ in found:
        file, line = Path(place).name.split(":")
        above = (HEADER if file == "header.h" else PROGRAM).splitlines()[int(line) - 2]
        assert re.search(rf'name\(\\?"{name}\\?"\)', above)
    assert {name: said for _, name, said in found} == {
        "rows": "'a[0][4]' is 1.0 on the device, 4.0 on the host",
        "in_header": "'a[4]' is 2 on the device, 5 on the host",
        "with_macros": "'line[4]' is 1 on the device, 5 on the host",
        "structs": "'p[4].v[1]' is 5.0 on the device, 8.0 on the host",
    }


@pytest.mark.slow
def test_the_program_ends_at_the_first(program: Path) -> None:
    done = run(program, NOMP_LEGALITY="off", NOMP_VERIFY="1")
    assert (done.returncode, done.stdout) == (1, "")
    first, *rest = done.stderr.splitlines()
    assert first.endswith(f": error: {ROWS}")
    assert rest[2:] == [
        "note: 18 of 30 elements differ",
        "help: look at the kernel's script first; 'nomp explain N618' says what else it can be",
    ]


@pytest.mark.slow
def test_without_it_nothing_is_said(program: Path) -> None:
    assert run(program, NOMP_LEGALITY="off").stderr == ""
