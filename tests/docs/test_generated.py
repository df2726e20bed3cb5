"""docs/settings.md and docs/codes.md are what docs/generate.py makes of the code."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from nomp.driver import explain

DOCS = Path(__file__).parents[2] / "docs"
PAGES = runpy.run_path(str(DOCS / "generate.py"))["PAGES"]


@pytest.mark.parametrize("name", PAGES)
def test_page_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run: python docs/generate.py"


def test_each_code_has_its_line() -> None:
    page = (DOCS / "codes.md").read_text(encoding="utf-8")
    assert [code for code in explain.all_codes() if f"- `{code}` " not in page] == []
