"""Programs that tests run to their end: ``nomp`` as this interpreter has it, and what it compiles."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

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
