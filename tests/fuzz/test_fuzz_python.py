"""The first programs of the fuzzer for Python, and that it finds what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import run_python
from python_loops import generate
from quick import first_of

from nomp.runtime import python as launching

SEEDS = range(8)


def test_programs_depend_on_the_seed_alone() -> None:
    assert generate(3).text == generate(3).text != generate(4).text


@pytest.mark.parametrize("seed", first_of(SEEDS))
def test_programs_do_what_they_do_without_nomp(seed: int, tmp_path: Path) -> None:
    outcome, reason = run_python.attempt(generate(seed), tmp_path)
    assert outcome != "failed", reason


def test_wrong_results_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launching.AnnotatedLoop, "_launch", lambda *_: None)
    outcomes = {run_python.attempt(generate(seed), tmp_path)[0] for seed in SEEDS[:3]}
    assert "failed" in outcomes
    assert run_python.alike(np.float32(1), np.float64(1), True) is False
