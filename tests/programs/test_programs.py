"""Whole programs: each file of ``c``, compiled by the host compiler alone and by ``nomp cc``, must print the same.

To add a test, add a program to the folder ``c``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).with_name("c")
FLAGS = ["-O1", "-ffp-contract=off", "-std=gnu99", "-Wall", "-Wextra", "-Wno-sign-compare", "-Werror"]
NOMP = [sys.executable, "-m", "nomp.driver", "cc"]


def _run(*words: str | Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("source", sorted(PROGRAMS.glob("*.c")), ids=lambda source: source.stem)
def test_program_prints_the_same(source: Path, tmp_path: Path) -> None:
    plain, ours = tmp_path / "plain", tmp_path / "ours"
    _run("gcc", *FLAGS, "-Wno-unknown-pragmas", "-Wno-unused-parameter", source, "-o", plain, "-lm")
    _run(*NOMP, *FLAGS, source, "-o", ours, "-lm")
    assert _run(ours) == _run(plain)
