"""Golden text of every stage for a few typical loops: pragma, region, loopy kernel, device source, rewritten C.

The sources are the ``.c`` files beside this file.  What a stage prints for them is in ``tests/golden/stages``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nomp.driver.cli import main

SOURCES = sorted(Path(__file__).parent.glob("*.c"))


@pytest.mark.parametrize("stage", ["pragmas", "region", "loopy", "source", "c"])
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_stage(
    source: Path, stage: str, golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(source.parent)
    assert main(["cc", "--emit", stage, source.name]) == 0
    text = capsys.readouterr().out
    golden(f"stages/{source.stem}.{stage}.txt", _portable(text))


def _portable(text: str) -> str:
    """*text* without the folder of this checkout, and without the breaks of long strings that depend on it."""
    return re.sub(re.escape(str(Path(__file__).resolve().parents[2])), "CHECKOUT", text.replace('" "', ""))
