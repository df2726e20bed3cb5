"""Properties: generated pragmas come back with exact places; no text raises anything but `NompError`."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nomp.diagnostics import NompError, Span
from nomp.pragma import parse

words = st.from_regex(r"[a-zé_数][a-z0-9é_数]{0,6}", fullmatch=True)
gaps = st.text("", max_size=0) | st.lists(
    st.sampled_from([" ", "\t", "\\\n", "\\\r\n", "\\ \n", "/* , ) */", "/* a\nb */"]), max_size=4
).map("".join)
blanks = gaps.map(lambda gap: gap + " ")
atoms = words | st.sampled_from(["1", "0x1f", "1.5e-3", "')'", '"],"'])
bounds = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/%&|^<>"), inner).map(" ".join),
        st.tuples(words, inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        st.tuples(words, inner).map(lambda t: f"{t[0]}[{t[1]}]"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} ? {t[1]} : {t[2]})"),
    ),
    max_leaves=5,
)


def slice_of(text: str, span: Span, column: int) -> str:
    """What stands at *span* in a file whose first line is *text* from *column* on."""
    line = (" " * (column - 1) + text).split("\n")[span.line - 1]
    return line[span.column - 1 : span.column - 1 + span.length]


@pytest.mark.slow
@given(st.data(), st.lists(words, min_size=1, max_size=4, unique=True), st.integers(1, 12))
def test_names_are_where_their_spans_say(data: st.DataObject, names: list[str], column: int) -> None:
    parts = ["nomp", data.draw(blanks), "for"]
    for name in names:
        quote = data.draw(st.sampled_from(["", '"']))
        gap = [data.draw(gaps) for _ in range(3)]
        parts += [data.draw(blanks), "jit", gap[0], "(", gap[1], quote + name + quote, gap[2], ")"]
    text = "".join(parts) + data.draw(st.sampled_from(["", " // end", " /* end */", "\t\\\n"]))
    clauses = parse(text, "f.c", 1, column).clauses
    assert clauses is not None
    assert [name.text for name in clauses.jit] == names
    assert [slice_of(text, name.span, column) for name in clauses.jit] == names


@given(st.data(), words, bounds, bounds, st.sampled_from(",:"))
def test_sections_come_back(data: st.DataObject, base: str, start: str, bound: str, separator: str) -> None:
    gap = [data.draw(gaps) for _ in range(6)]
    text = f"nomp update(to{gap[0]}:{gap[1]}{base}[{gap[2]}{start}{gap[3]}{separator}{gap[4]}{bound}{gap[5]}])"
    (section,) = parse(text, "f.c", 1, 9).sections
    assert (section.base, section.start) == (base, start)
    assert (section.end, section.length) == ((bound, None) if separator == "," else (None, bound))
    assert slice_of(text, section.span, 9).startswith(base)


pieces = st.sampled_from(
    ["nomp", "for", "update", "init", "sync", "transform", "reduce", "jit", "name", "to", "min", "(", ")", "[", "]",
     "{", "}", ",", ":", "?", "=", "+", "->", '"a"', '"', "'", "\\\n", "\\", "/*", "*/", "//",
     "1", "é", "\0", "\n", " "]
)  # fmt: skip


texts = (
    st.lists(pieces, max_size=25).map(" ".join) | st.text(max_size=40) | st.text(max_size=40).map("nomp for ".__add__)
)


@given(texts)
@example("nomp update(to : " + "(" * 5000 + "a" + ")" * 5000 + ")")
@example("nomp update(to : a" + ".b" * 5000 + ")")
@example('nomp for transform("a", "b", c=' + "9" * 5000 + ")")
def test_any_text_is_a_pragma_or_an_error_with_a_place(text: str) -> None:
    try:
        parse(text, "<text>", 1, 1)
    except NompError as error:
        assert error.code.startswith("N1")
        assert all(diagnostic.span and diagnostic.help for diagnostic in error.diagnostics)
