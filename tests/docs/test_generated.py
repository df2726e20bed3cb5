"""docs/settings.md, codes.md and api.md are what docs/generate.py makes of the code."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import nomp
from nomp.driver import explain

DOCS = Path(__file__).parents[2] / "docs"
PAGES = runpy.run_path(str(DOCS / "generate.py"))["PAGES"]


@pytest.mark.parametrize("name", PAGES)
def test_page_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name](), "run: python docs/generate.py"


def test_each_code_has_its_line() -> None:
    page = (DOCS / "codes.md").read_text(encoding="utf-8")
    assert [code for code in explain.all_codes() if f"- `{code}` " not in page] == []


def test_the_api_page_has_all_of_python_and_c() -> None:
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    for name in nomp.__all__:
        described = page.split(f"\n### nomp.{name}\n")[1].split("\n#")[0].strip().splitlines()
        assert len(described) > 2, name
    assert "- `reshape(*shape)`: The array with another shape." in page
    assert "`empty(shape, dtype=numpy.float64)`" in page and "int nomp_run(int id, ...);" in page
