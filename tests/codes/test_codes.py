"""Every code has a page, a page has an example, and `nomp explain` shows it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nomp.diagnostics import NompError
from nomp.driver import explain

ROOT = Path(__file__).parents[2]


def raised() -> dict[str, str]:
    """The codes in nomp's own text, each with a file that has it."""
    files = [file for part in ("nomp", "backends", "transforms") for file in sorted((ROOT / part).rglob("*.py"))]
    return {code: str(file.relative_to(ROOT)) for file in files
            for code in re.findall(r'"(N\d{3})"', file.read_text(encoding="utf-8"))}  # fmt: skip


def test_every_code_that_is_raised_has_a_page() -> None:
    assert {code: file for code, file in raised().items() if code not in explain.all_codes()} == {}


def test_every_page_belongs_to_a_code_that_is_raised() -> None:
    assert set(explain.all_codes()) - set(raised()) == set()


def test_every_code_is_expected_by_a_test() -> None:
    tests = ROOT / "tests"
    files = [f for pattern in ("*.py", "*.txt") for f in tests.rglob(pattern) if f != Path(__file__)]
    expected = {code for f in files for code in re.findall(r"\bN\d{3}\b", f.read_text(encoding="utf-8"))}
    assert set(raised()) - expected == set()


@pytest.mark.parametrize("code", explain.all_codes())
def test_the_form_of_a_page(code: str) -> None:
    page = explain.explain_code(code)
    assert re.match(rf"# {code}: \S", page)
    assert page.endswith("\n")
    assert page.count("```") >= 2 and page.count("```") % 2 == 0


def test_lower_case_is_accepted_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.main(["n101"]) == 0
    assert capsys.readouterr().out == explain.explain_code("N101")


def test_the_list_of_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(explain.all_codes())
    assert lines[0].startswith("N")


def test_text_of_an_unknown_code(golden: Callable[[str, str], None]) -> None:
    texts = []
    for code in ("N80S", "foo.c:3"):
        with pytest.raises(NompError) as caught:
            explain.explain_code(code)
        texts.append(str(caught.value))
    golden("codes/N805.txt", "\n".join(texts))
