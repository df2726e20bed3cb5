"""What is said about pragmas that are not in the language: one golden text for each, caret line included."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nomp.diagnostics import NompError, register_source
from nomp.pragma import parse

WRONG = {
    "N101-unknown": "nomp fro",
    "N101-missing": "nomp",
    "N102-unknown": 'nomp for jit(n) transfrom("tile", "rows")',
    "N102-far": "nomp for collapse(2)",
    "N103-not-nomp": "nmp for",
    "N103-parenthesis": 'nomp for transform("tile", "rows"',
    "N103-comma": 'nomp for transform("tile", "rows"), jit(n)',
    "N103-value": 'nomp for transform("tile", "rows", b)',
    "N103-one-argument": 'nomp for transform("tile")',
    "N103-init": "nomp init",
    "N103-after": "nomp sync()",
    "N103-colon": "nomp update(to a[0, n])",
    "N103-address": "nomp update(to : &x)",
    "N103-expression": "nomp for jit(n + 1)",
    "N103-non-ascii": "nomp sync é",
    "N104-transform": 'nomp for transform("a", "f") jit(n) transform("b", "g")',
    "N104-name": 'nomp for name("a") name("b")',
    "N104-jit": 'nomp for jit("n", m) jit(n)',
    "N104-reduce": 'nomp for reduce("s", "+") reduce(* : s)',
    "N104-key": 'nomp for transform("a", "f", b=1, b=2)',
    "N105-no-string": 'nomp for transform(tile, "rows")',
    "N105-value": 'nomp for transform("tile", "rows", b=n)',
    "N105-suffix": 'nomp for transform("tile", "rows", b=32u)',
    "N105-octal": 'nomp for transform("tile", "rows", b=010)',
    "N105-operator": 'nomp for reduce("s", "mni")',
    "N105-operator-far": 'nomp for reduce("s", "-")',
    "N105-operator-bare": "nomp for reduce(mxa : s)",
    "N105-variable": 'nomp for reduce("s + 1", "+")',
    "N105-jit": 'nomp for jit("n + 1")',
    "N105-quote": 'nomp for name("ax) jit(n)',
    "N105-empty": 'nomp for name(" ")',
    "N105-escape": r'nomp for annotate("a", "\q")',
    "N106-element": "nomp update(to : a[3])",
    "N106-no-start": "nomp update(to : a[:n])",
    "N106-three": "nomp update(to : a[0, n, 2])",
    "N106-two-dimensions": "nomp update(to : a[0, n][0, m])",
    "N106-bracket": "nomp update(to : a[0, n)",
    "N106-ternary": "nomp update(to : a[0, n ? 1])",
    "N106-separator": "nomp update(to : a[0, n]; b[0, n])",
    "N107-unknown": "nomp update(form : a[0, n])",
    "N107-missing": "nomp update()",
}


@pytest.mark.parametrize("name", WRONG)
def test_text_of_error(name: str, golden: Callable[[str, str], None]) -> None:
    register_source("f.c", f"\n\n#pragma {WRONG[name]}")
    with pytest.raises(NompError) as caught:
        parse(WRONG[name], "f.c", 3, 9)
    assert caught.value.code == name.split("-")[0]
    golden(f"pragma/{name}.txt", str(caught.value))


def test_a_form_feed_ends_no_line() -> None:
    register_source("feed.c", "int a;\f\u2028\r\n\f#pragma nomp fro\r\n")
    with pytest.raises(NompError) as caught:
        parse("nomp fro", "feed.c", 2, 10)
    assert "    2 | \f#pragma nomp fro\n" in str(caught.value)
