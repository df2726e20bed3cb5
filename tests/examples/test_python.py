"""Example 08: plain Python and `nomp run` print the same."""

from __future__ import annotations

import sys
from pathlib import Path

import commands
import pytest

PROGRAM = Path(__file__).parents[2] / "examples" / "08_python" / "heat.py"


@pytest.mark.slow
def test_it_prints_the_same() -> None:
    plain = commands.succeed(sys.executable, PROGRAM, "1000")
    ours = commands.succeed(sys.executable, "-m", "nomp.driver", "run", PROGRAM, "1000")
    assert ours.stdout == plain.stdout and ours.stderr == ""
