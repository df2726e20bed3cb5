"""Runs `gpu_on_double` in a process that has HIP's test double."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from commands import succeed
from doubles import environment

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("which", ["units", "not units"])
def test_kernels_for_gpus(which: str, hip_double: Path) -> None:
    words = ["-n", "0", "-p", "no:cacheprovider", "-k", which, "tests/transforms/gpu_on_double.py"]
    done = succeed(sys.executable, "-m", "pytest", *words, cwd=ROOT, env=environment(hip_double))
    assert re.search(r"^\d+ passed", done.stdout, re.MULTILINE) and "skipped" not in done.stdout, done.stdout
