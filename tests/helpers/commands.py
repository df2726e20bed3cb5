"""Programs that tests run to their end: ``nomp`` as this interpreter has it, and what it compiles."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import pytest

NOMP = (sys.executable, "-m", "nomp.driver")
NOMP_CC = (*NOMP, "cc")


def run(
    *words: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def succeed(
    *words: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The same, for what must end with status 0."""
    done = run(*words, cwd=cwd, env=env)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done


def cannot_run(reason: str) -> NoReturn:
    """Skip the test that calls this, for *reason*; where all tests must run (.ci/run), that is a failure."""
    (pytest.fail if "MUST_RUN_ALL" in os.environ else pytest.skip)(reason)
