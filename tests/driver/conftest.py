"""The project that ``nomp cc`` compiles here."""

from __future__ import annotations

from pathlib import Path

import pytest
from compiling import FOO, MAIN


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a source that has a region, a source that has none, and a header; the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"foo.c": FOO, "main.c": MAIN, "inc.h": "#define N 3\n"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path
