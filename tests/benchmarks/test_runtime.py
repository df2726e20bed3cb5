"""benchmarks/runtime.py: it runs, and its programs compute what they should.  Times are only there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import runtime


@pytest.mark.slow
def test_all_figures_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert runtime.main(["--rounds", "1", "--json", str(tmp_path / "figures.json")]) == 0
    table = capsys.readouterr().out.splitlines()
    assert len(table) == 13 and {line.count("|") for line in table} == {6}
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert all(figures[f"start {state}"]["seconds"] > 0 for state in ("cold", "warm"))


def test_a_program_with_a_wrong_answer_is_an_error(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho 7\n")
    program.chmod(0o755)
    with pytest.raises(runtime.subprocess.CalledProcessError):
        runtime._started(program, {})
