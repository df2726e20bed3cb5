"""Every refusal of the C front end, as the user sees it: the golden files hold the messages, carets included."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from reading import messages, source
from refused import ERRORS, HEAD, PREFIX
from refused_calls import CALLEES, CALLS

ROOT = Path(__file__).parents[2]


def test_calls_of_functions(golden: Callable[[str, str], None], tmp_path: Path) -> None:
    golden("frontend/errors/callees.txt", messages(tmp_path, f"{PREFIX}{CALLEES}{HEAD}{CALLS}\n}}\n"))


@pytest.mark.parametrize("name", ERRORS)
def test_message(name: str, golden: Callable[[str, str], None], tmp_path: Path) -> None:
    golden(f"frontend/errors/{name}.txt", messages(tmp_path, f"{PREFIX}{HEAD}{ERRORS[name]}\n}}\n"))


def test_pragma_outside_a_function(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    golden("frontend/errors/outside.txt", messages(tmp_path, "int n;\n#pragma nomp sync\nint m;\n"))


def test_deep_nesting(tmp_path: Path) -> None:
    def text(terms: int) -> str:
        total = "".join(f" + {'x' if k % 2 else 'a'}[i]" for k in range(terms))
        return f"void f(double *a, float *x) {{\n#pragma nomp for\n  for (int i = 0; i < 3; i++) a[i] = 0{total};\n}}\n"

    assert source(tmp_path, text(100)).directives[0].region
    assert messages(tmp_path, text(400)).startswith("t.c:3:38: error: this expression is nested too deeply [N220]\n")


def test_text_that_is_included_twice(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    (tmp_path / "k.h").write_text("void NAME(T *a) {\n#pragma nomp for\n  for (int i = 0; i < 3; i++) a[i] = 0;\n}\n")
    text = '#define T int\n#define NAME f\n#include "k.h"\n#undef NAME\n#define NAME g\n#include "k.h"\n'
    golden("frontend/errors/twice.txt", messages(tmp_path, text))


def test_text_that_a_function_includes(tmp_path: Path) -> None:
    (tmp_path / "loop.inc").write_text("\n#pragma nomp for\nfor (int i = 0; i < 3; i++) a[i] = 0;\n")
    text = messages(tmp_path, 'void f(int *a) {\n#include "loop.inc"\n}\n')
    assert text.startswith("loop.inc:2:9: error: 'for' stands outside of any function [N204]\n")


def test_error_in_a_header(tmp_path: Path) -> None:
    (tmp_path / "bad.h").write_text("int x = ;\n")
    text = messages(tmp_path, '#include "bad.h"\n')
    assert text.startswith("bad.h:1:9: error: expected expression [N201]\n    1 | int x = ;\n      |         ^\nhelp: ")


def test_missing_files(tmp_path: Path) -> None:
    assert messages(tmp_path, '#include "nowhere.h"\n').startswith(
        "t.c:1:10: error: 'nowhere.h' file not found [N201]\n    1 | #include \"nowhere.h\"\n      |          ^\nhelp: "
    )


def test_every_code_has_a_page_and_a_message() -> None:
    sources = "".join(file.read_text() for file in (ROOT / "nomp" / "frontend").glob("*.py"))
    codes = set(re.findall(r'"(N2\d\d)"', sources))
    files = list((ROOT / "tests" / "golden" / "frontend" / "errors").glob("*.txt"))
    of_python = (ROOT / "tests" / "golden" / "python" / "refused").glob("*.txt")
    shown = "".join(file.read_text() for file in (*files, *of_python))
    others = {file.stem for file in files} - {*ERRORS, "callees", "outside", "twice"}
    assert all(name.startswith("function-") for name in others)  # those of test_functions
    assert codes == {code for code in codes if f"[{code}]" in shown}
    for code in codes:
        assert (ROOT / "nomp" / "codes" / f"{code}.md").read_text().startswith(f"# {code}: ")
