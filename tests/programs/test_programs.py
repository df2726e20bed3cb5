"""Whole programs: each file of ``c``, compiled by the host compiler alone and by ``nomp cc``, must print the same.

Under NOMP_VERIFY=1, when every loop runs on the host, too, it must print that once more, and nothing else.  Some do so
by OpenCL, whose buffers have no addresses.

To add a test, add a program to the folder ``c``.  `QUICK` names those that ``make quick`` runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet
from commands import NOMP_CC, succeed

PROGRAMS = Path(__file__).with_name("c")
FLAGS = ["-O1", "-ffp-contract=off", "-std=gnu99", "-Wall", "-Wextra", "-Wno-sign-compare", "-Werror"]
WARNINGS = {"keywords": "[N404]", "overlap": "[N402]", "lastvalues": "[N404]", "structs": "[N404]"}
QUICK = {"loops"}
BY_OPENCL = {
    "bits", "floats", "functions", "nests", "offsets", "overlap", "partial", "pointers", "rows", "scripted", "steps",
    "structs", "updates", "values",
}  # fmt: skip


def _run(*words: str | Path, warning: str = "", **environment: str) -> str:
    done = succeed(*words, env=os.environ | environment)
    assert warning in done.stderr if warning else done.stderr == ""
    return done.stdout


def _programs() -> Iterator[ParameterSet]:
    for source in sorted(PROGRAMS.glob("*.c")):
        marks = [] if source.stem in QUICK else [pytest.mark.slow]
        yield pytest.param(source, id=source.stem, marks=marks)


@pytest.mark.parametrize("source", list(_programs()))
def test_program_prints_the_same(source: Path, tmp_path: Path) -> None:
    plain, ours = tmp_path / "plain", tmp_path / "ours"
    _run("gcc", *FLAGS, "-Wno-unknown-pragmas", "-Wno-unused-parameter", source, "-o", plain, "-lm")
    _run(*NOMP_CC, *FLAGS, source, "-o", ours, "-lm")
    warning = WARNINGS.get(source.stem, "")
    backend = "opencl" if source.stem in BY_OPENCL else "auto"
    verified = _run(ours, warning=warning, NOMP_VERIFY="1", NOMP_BACKEND=backend)
    assert _run(ours, warning=warning) == _run(plain) == verified
