"""The examples on the pages of the codes: the wrong one gives that code, the right one is accepted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from reading import source

from nomp.diagnostics import NompError

CODES = Path(__file__).parents[2] / "nomp" / "codes"
VARIABLES = "int n, int m, double *a, double *b, double *p, int *start, double s"
ELSEWHERE = {"N201", "N219"}  # about flags, and about the C API


def program(example: str) -> str:
    """*example* as a file: its functions and macros outside, its statements in a function with the usual variables."""
    if example.startswith("void f("):
        return example
    outside = re.findall(r"^#define.*\n|^int \w+\(.*\{\n(?: .*\n)*\}\n|^int \w+\(.*\}\n", example, re.MULTILINE)
    inside = example
    for part in outside:
        inside = inside.replace(part, "")
    return f"#include <math.h>\n{''.join(outside)}void f({VARIABLES}) {{\n{inside}}}\n"


@pytest.mark.parametrize("code", sorted({file.stem for file in CODES.glob("N2[012]?.md")} - ELSEWHERE))
def test_examples(code: str, tmp_path: Path) -> None:
    wrong, right = re.findall(r"```c\n(.*?)```", (CODES / f"{code}.md").read_text(), re.DOTALL)
    with pytest.raises(NompError) as caught:
        source(tmp_path, program(wrong))
    assert {found.code for found in caught.value.diagnostics} == {code}
    assert source(tmp_path, program(right)).directives
