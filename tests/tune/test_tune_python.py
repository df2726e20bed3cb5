"""`nomp.tune`: Python functions tune what they launch; other processes compile; what is interrupted goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import NOMP, NOMP_CC, run, succeed

APP = """import sys
from dataclasses import asdict

import numpy as np

import nomp
from nomp.tuning import ahead

ahead.WORTH = float(sys.argv[1])


@nomp.jit
def add(x, y):
    #pragma nomp for name("add") transform("blocks", "split")
    for i in range(len(x)):
        y[i] += 2 * x[i]


@nomp.jit
def plain(x):
    #pragma nomp for
    for i in range(len(x)):
        x[i] *= 2


x, y = np.arange(3000.0), np.ones(3000)
for function, arguments in ((add, (x, y)), (plain, (x.copy(),)))[: int(sys.argv[2])]:
    try:
        for found in nomp.tune(function, arguments, sampler=sys.argv[3], folder="db"):
            print(found.kernel, found.sizes, dict(found.choices), found.tried, found.left_out)
    except KeyboardInterrupt:
        print("interrupted", y[10])
print("used")
sys.stdout.flush()
add(x, y)
print(y[10])
"""
SCRIPT = """import os
import sys
from pathlib import Path

import loopy as lp


def split(knl, context):
    size = context.param("size", [16, 100, 1000, 2000])
    with Path("log").open("a") as log:
        print(os.getpid(), size, file=log)
    if size == 1000 and Path("stop").exists():
        Path("stop").unlink()
        STOP
    return lp.split_iname(knl, "i", size, outer_tag="g.0")
"""
INTERRUPT = "raise KeyboardInterrupt"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "blocks.py").write_text(SCRIPT.replace("STOP", INTERRUPT))
    return tmp_path


def tune(folder: Path, worth: float, functions: int = 1, sampler: str = "auto") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"NOMP_CACHE_DIR": str(folder / "cache")}  # so that scripts run
    return run(sys.executable, "app.py", f"{worth}", f"{functions}", sampler, cwd=folder, env=environment)


def kept(folder: Path) -> list[dict[str, Any]]:
    (file,) = (folder / "db").glob("*.json")
    (result,) = json.loads(file.read_text())["results"]
    return list(result["trials"])


def log(folder: Path) -> list[tuple[str, ...]]:
    found = [tuple(line.split()) for line in (folder / "log").read_text().splitlines()]
    (folder / "log").unlink()
    return found


@pytest.mark.slow
def test_a_function_is_tuned(folder: Path) -> None:
    done = tune(folder, 1e9, functions=2)
    best = min(kept(folder), key=lambda trial: float(trial["microseconds"]))["choices"]
    assert done.stdout.splitlines() == [f"add i:2048 {best} 4 0", "used", "41.0"]
    assert "nomp tune: 'add' (i:2048): 4 tried; best" in done.stderr
    assert "'plain' has launched no loop that can be tuned [N706]" in done.stderr
    assert len({pid for pid, _ in log(folder)}) == 1


@pytest.mark.slow
def test_other_processes_compile(folder: Path) -> None:
    """The choices of the scripts are compiled before it is known how long that takes; the others elsewhere."""
    done = tune(folder, 0)
    assert done.stdout.endswith("used\n41.0\n") and len(kept(folder)) == 4
    found = log(folder)
    own = found[0][0]
    assert [size for pid, size in found if pid == own] == ["16", "16"]
    assert sorted(size for pid, size in found if pid != own) == ["100", "1000", "2000"]


@pytest.mark.slow
def test_a_search_that_is_interrupted_goes_on(folder: Path) -> None:
    (folder / "stop").touch()
    done = tune(folder, 1e9)
    assert done.stdout.splitlines() == ["interrupted 1.0", "used", "21.0"]
    first = kept(folder)
    assert [trial["choices"]["size"] for trial in first] == [16, 100]
    log(folder)
    assert "4 0\nused\n41.0" in tune(folder, 1e9).stdout
    assert kept(folder)[:2] == first and [trial["choices"]["size"] for trial in kept(folder)] == [16, 100, 1000, 2000]


@pytest.mark.slow
def test_a_sampler_that_there_is_not(folder: Path) -> None:
    assert "'best' is no sampler [N802]" in tune(folder, 0, sampler="best").stderr


PROGRAM = """#include <stdio.h>
static double x[3000];
int main(int argc, char **argv) {
#pragma nomp init(argc, argv)
#pragma nomp update(to : x)
#pragma nomp for name("set") transform("blocks", "split")
  for (int i = 0; i < 3000; i++)
    x[i] = i;
#pragma nomp update(from : x)
  printf("%g\\n", x[7]);
#pragma nomp finalize
  return 0;
}
"""


@pytest.mark.slow
def test_a_program_that_is_killed_meanwhile(folder: Path) -> None:
    (folder / "a.c").write_text(PROGRAM)
    (folder / "blocks.py").write_text(SCRIPT.replace("STOP", f"os.kill(os.getpid(), {signal.SIGKILL})"))
    (folder / "stop").touch()
    succeed(*NOMP_CC, "-O1", "a.c", "-o", "a", cwd=folder)
    command = (*NOMP, "tune", "--dir", "db", "--", "./a")
    done = run(*command, cwd=folder)
    assert done.returncode == 128 + signal.SIGKILL and done.stdout == ""
    first = kept(folder)
    assert [trial["choices"]["size"] for trial in first] == [16, 100]
    assert run(*command, cwd=folder).stdout == "7\n"
    assert kept(folder)[:2] == first and len(kept(folder)) == 4
