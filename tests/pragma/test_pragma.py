"""What pragmas mean: each part of the language, with the places of its names."""

from __future__ import annotations

import pytest

from nomp.diagnostics import NompError, Span
from nomp.pragma import ForClauses, Name, Pragma, Reduce, Section, parse
from nomp.region import Place


def read(text: str) -> Pragma:
    return parse(text, "f.c", 3, 9)


def clauses(text: str) -> ForClauses:
    found = read(f"nomp for {text}").clauses
    assert found is not None
    return found


def section(text: str) -> tuple[str, str | None, str | None, str | None]:
    (found,) = read(f"nomp update(to : {text})").sections
    return found.base, found.start, found.end, found.length


def test_init() -> None:
    pragma = read("nomp init(argc, (const char **)argv)")
    assert pragma.directive == "init"
    assert pragma.init_args == ("argc", "(const char **)argv")


@pytest.mark.parametrize("directive", ["sync", "finalize", "for"])
def test_directives_without_arguments(directive: str) -> None:
    pragma = read(f"nomp {directive}")
    assert pragma.directive == directive
    assert pragma.span == Span("f.c", 3, 9, 5 + len(directive))


@pytest.mark.parametrize("direction", ["to", "from", "alloc", "free"])
def test_directions(direction: str) -> None:
    pragma = read(f"nomp update({direction}: a[0, n])")
    assert pragma.direction == direction
    assert pragma.direction_span == Span("f.c", 3, 21, len(direction))
    assert pragma.sections == (Section("a", Span("f.c", 3, 23 + len(direction), 7), "0", "n"),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", ("a", None, None, None)),
        ("a[0, n]", ("a", "0", "n", None)),
        ("a[0:n]", ("a", "0", None, "n")),
        ("a[-1, 6 * n]", ("a", "-1", "6 * n", None)),
        ("s->a[0, s->n]", ("s->a", "0", "s->n", None)),
        ("s . b -> a[0, 1]", ("s . b -> a", "0", "1", None)),
        ("s[3].a[2][0, 1]", ("s[3].a[2]", "0", "1", None)),
        ("(*p)[0, 1]", ("(*p)", "0", "1", None)),
        ("a[0, f(x, y)[2]]", ("a", "0", "f(x, y)[2]", None)),
        ("a[0, g[h[n]]]", ("a", "0", "g[h[n]]", None)),
        ("a[n ? 1 : 2, n ? m ? 3 : 4 : 5]", ("a", "n ? 1 : 2", "n ? m ? 3 : 4 : 5", None)),
        ("a[n ? 1 : 2 : n ?: 3]", ("a", "n ? 1 : 2", None, "n ?: 3")),
        ("a[n ? x, 1 : 2 : 4]", ("a", "n ? x, 1 : 2", None, "4")),
        ("a[(size_t)n, sizeof(int[2])]", ("a", "(size_t)n", "sizeof(int[2])", None)),
        ("a[']', ',' + \"],\"[0]]", ("a", "']'", "',' + \"],\"[0]", None)),
        ("a[(n, 1), m]", ("a", "(n, 1)", "m", None)),
        ("a[((struct s){1, 2}).n, 0x1p3 + 1.e-3f]", ("a", "((struct s){1, 2}).n", "0x1p3 + 1.e-3f", None)),
        ("a[x && y || !z, ~w ^ 3 | 4 & 5 << 2 >> 1 % 2]",
         ("a", "x && y || !z", "~w ^ 3 | 4 & 5 << 2 >> 1 % 2", None)),
        ("to[init, for_]", ("to", "init", "for_", None)),
        ("name[min, max - jit]", ("name", "min", "max - jit", None)),
        ("größe[0, 数 + 1]", ("größe", "0", "数 + 1", None)),
        ("a[/* from */ 0, n /* to */ + 1]", ("a", "0", "n + 1", None)),
    ],
)  # fmt: skip
def test_sections(text: str, expected: tuple[str, str | None, str | None, str | None]) -> None:
    assert section(text) == expected


def test_several_sections() -> None:
    pragma = read("nomp update(free : a[0, n], b, s.c[1:2])")
    assert [(s.base, s.span.column) for s in pragma.sections] == [("a", 28), ("b", 37), ("s.c", 40)]


def test_transform() -> None:
    (script,) = clauses(r'transform("tile", "rows", b=32, x=-1.5, s="a\"b", h=0x20, for=+2, e=1e-3)').transforms
    assert (script.module, script.function) == ("tile", "rows")
    assert script.arguments == (("b", 32), ("x", -1.5), ("s", 'a"b'), ("h", 32), ("for", 2), ("e", 1e-3))
    assert [type(value) for _, value in script.arguments] == [int, float, str, int, int, float]
    assert script.place == Place(3, 18, 73)


def test_annotations_keep_their_order() -> None:
    assert clauses('annotate("b", "1") annotate("a", "") annotate("b", "2")').annotations == (
        ("b", "1"),
        ("a", ""),
        ("b", "2"),
    )


@pytest.mark.parametrize("op", ["+", "*", "min", "max", "&", "|", "^", "&&", "||"])
def test_reductions(op: str) -> None:
    assert clauses(f'reduce("s", "{op}")').reductions == (Reduce("s", op, Span("f.c", 3, 26, 1)),)
    found = clauses(f"reduce({op} : s[k][0])").reductions
    assert found == (Reduce("s[k][0]", op, Span("f.c", 3, 28 + len(op), 7)),)


def test_several_reductions_may_name_one_array() -> None:
    found = clauses('reduce("s[0]", "+") reduce(max : s[1])').reductions
    assert [(r.variable, r.op) for r in found] == [("s[0]", "+"), ("s[1]", "max")]


def test_jit_and_name() -> None:
    found = clauses('jit("n") name("ax") jit(m, "k")')
    assert found.jit == (Name("n", Span("f.c", 3, 23, 1)), Name("m", Span("f.c", 3, 42, 1)),
                         Name("k", Span("f.c", 3, 46, 1)))  # fmt: skip
    assert found.name == Name("ax", Span("f.c", 3, 33, 2))


def test_clause_order_does_not_matter() -> None:
    one = clauses('transform("a", "b") jit(n) reduce("s", "+")')
    other = clauses('reduce("s", "+") transform("a", "b") jit(n)')
    assert [s.module for s in one.transforms] == [s.module for s in other.transforms]
    assert [r.variable for r in one.reductions] == [r.variable for r in other.reductions]


def test_positions_across_continued_lines() -> None:
    text = 'nomp for \\\r\n\tjit(n, \\\n  /* two\n lines */ größe) \\  \n  name("k") // done \\\n still'
    found = read(text).clauses
    assert found is not None and found.name is not None
    assert [name.span for name in found.jit] == [Span("f.c", 4, 6, 1), Span("f.c", 6, 11, 5)]
    assert found.name.span == Span("f.c", 7, 9, 1)


def test_a_word_may_be_split_over_lines() -> None:
    assert read("nomp sy\\\nnc").directive == "sync"


def test_an_error_on_a_continued_line_has_its_place() -> None:
    with pytest.raises(NompError) as caught:
        read('nomp for transform("a", "b") \\\n   nmae("k")')
    assert caught.value.diagnostics[0].span == Span("f.c", 4, 4, 4)
