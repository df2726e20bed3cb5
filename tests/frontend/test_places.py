"""Where directives begin and end, to the byte, whatever surrounds them; which pragmas count and which do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from reading import messages, source, sources

from nomp.frontend.clang import SourceFile


def texts(found: SourceFile) -> list[str]:
    return [found.text[d.begin : d.end].decode() for d in found.directives]


MIXED = (
    "#include <stdio.h>\n"
    "/* é #pragma nomp for */\n"
    'const char *s = "\\\n#pragma nomp sync\\\n";\n'
    "// #pragma nomp \\\n#pragma nomp sync\n"
    "int main(void) {\n"
    "\tdouble a[10]; /* € */ int n = 10;\n"
    "\t#pragma nomp init(0, NULL)\n"
    '\t/* éé */ # \\\n pragma\tnomp for \\\n\tname("été") // comment \\\n still comment\n'
    "\tfor (int i = 0; i < n; i++) /* é */ a[i] = 'é'\n"
    " ; int q = 0;\n"
    '\t/* ü */ _Pragma("nomp for name(\\"kk\\")") for (int i = 0; i < n; i++) a[i] = q;\n'
    "#if 0\n#pragma nomp bad\n#endif\n"
    "#ifdef WITH_SYNC\n#pragma nomp sync\n#else\n#pragma nomp finalize\n#endif\n"
    "}\n"
)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_of_directives(tmp_path: Path, end: str) -> None:
    found = source(tmp_path, MIXED.replace("'é'", "1").replace("\n", end).encode())
    assert texts(found) == [
        "#pragma nomp init(0, NULL)",
        '# \\\n pragma\tnomp for \\\n\tname("été") // comment \\\n still comment\n'
        "\tfor (int i = 0; i < n; i++) /* é */ a[i] = 1\n ;".replace("\n", end),
        '_Pragma("nomp for name(\\"kk\\")") for (int i = 0; i < n; i++) a[i] = q;',
        "#pragma nomp finalize",
    ]
    assert [(d.span.line, d.span.column, d.span.length, d.end_line) for d in found.directives] == [
        (10, 10, 18, 10), (12, 9, 9, 16), (17, 19, 21, 17), (24, 9, 13, 24),
    ]  # fmt: skip
    names = [d.region.name for d in found.directives if d.region]
    assert names == ["été", "kk"]


def test_conditions_follow_the_flags(tmp_path: Path) -> None:
    assert texts(source(tmp_path, MIXED.replace("'é'", "1"), "-DWITH_SYNC"))[-1] == "#pragma nomp sync"


def test_places_in_a_line_with_tabs_and_other_alphabets(tmp_path: Path) -> None:
    text = 'void f(double *a, int n) {\n\t/* € 🙂 */ _Pragma("nomp for") for (int i = 0; i < n; i++) a[i] = g(i);\n}\n'
    assert messages(tmp_path, "double g(int);\n" + text) == (
        "t.c:3:67: error: 'g' is not defined in this file: a kernel cannot call it [N208]\n"
        '    3 |  /* € 🙂 */ _Pragma("nomp for") for (int i = 0; i < n; i++) a[i] = g(i);\n'
        "      |                                                                    ^~~~\n"
        "help: define it in a header that this file includes"
    )


def test_ends_of_loops(tmp_path: Path) -> None:
    loops = [
        "for (int i = 0; i < n; i++) a[i] = 0 /* ; */ ;",
        "for (int i = 0; i < n; i++) { a[i] = 0; }",
        "for (int i = 0; i < n; i++) if (i) { a[i] = 0; } else a[i] = 1;",
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[j] = 0;",
        "for (int i = 0; i < n; i++);",
        "FOR(i) a[i] = 0;",
        "for (int i = 0; i < n; i++) ZERO(a[i]);",
        "for (int i = 0; i < n; i++) ZERO(a[i])\n;",
        "for (int i = 0; i < n; i++) DONE",
        "WHOLE(i)",
    ]
    macros = (
        "#define FOR(i) for (int i = 0; i < n; i++)\n#define ZERO(x) x = 0\n#define DONE { a[i] = 1; }\n"
        "#define WHOLE(i) for (int i = 0; i < n; i++) a[i] = 1;\n"
    )
    body = "".join(f"#pragma nomp for\n{loop} n++;\n" for loop in loops)
    found = source(tmp_path, f"{macros}void f(double *a, int n) {{\n{body}}}\n")
    assert texts(found) == [f"#pragma nomp for\n{loop}" for loop in loops]


def test_regions_of_headers(tmp_path: Path) -> None:
    folder = tmp_path / "include"
    folder.mkdir()
    (folder / "kernel.h").write_text(
        "static inline void zero(double *v, int n) {\n#pragma nomp for\n  for (int i = 0; i < n; i++) v[i] = 0;\n}\n"
    )
    (folder / "outer.h").write_text('#pragma once\n#include "kernel.h"\n#include "other.h"\n')
    (folder / "other.h").write_text("int other;\n")
    text = '#include "other.h"\n  #  include "outer.h" // é\nvoid f(double *a, int n) { zero(a, n); }\n'
    main, outer, kernel = sources(tmp_path, text, "-I", str(folder))
    assert [main.path, outer.path, kernel.path] == [
        str(tmp_path / "t.c"), str(folder / "outer.h"), str(folder / "kernel.h"),
    ]  # fmt: skip
    assert texts(main) == texts(outer) == []
    assert texts(kernel) == ["#pragma nomp for\n  for (int i = 0; i < n; i++) v[i] = 0;"]
    assert [(main.text[i.begin : i.end].decode(), i.path) for i in main.includes] == [
        ('#  include "outer.h" // é', str(folder / "outer.h"))
    ]
    assert [i.path for i in outer.includes] == [str(folder / "kernel.h"), f"{folder}/./other.h"]


def test_system_headers_do_not_count(tmp_path: Path) -> None:
    folder = tmp_path / "system"
    folder.mkdir()
    (folder / "k.h").write_text("static inline void f(void) {\n#pragma nomp bad\n}\n")
    assert len(sources(tmp_path, "#include <k.h>\n", "-isystem", str(folder))) == 1


def test_unrelated_pragmas_and_macros_do_not_count(tmp_path: Path) -> None:
    text = (
        '#define UNROLL _Pragma("GCC unroll 4")\n#define nomp other\n#pragma nompc for\n#pragma omp parallel\n'
        "void f(double *a) {\n  UNROLL\n  for (int i = 0; i < 4; i++) a[i] = 0;\n}\n"
    )
    assert source(tmp_path, text).directives == ()


def test_arguments_of_init_and_sections(tmp_path: Path) -> None:
    text = (
        "struct S { double *a; double in[4]; } *s;\n"
        "void f(int argc, char **argv, int n, double (*g)[n]) {\n  double l[3][4], v[n + 1], x;\n"
        "#pragma nomp init(argc, argv)\n"
        "#pragma nomp update(to : s->a[0, n], g[1 : n - 1], l, v, s->in, x, (*s).in[0, 2])\n}\n"
    )
    init, update = source(tmp_path, text).directives
    assert init.init_args == ("argc", "argv")
    assert update.update is not None
    assert update.update.op == "to"
    assert [(s.base, s.start, s.end) for s in update.update.sections] == [
        ("s->a", "0", "n"),
        ("g", "1", "(__PTRDIFF_TYPE__)(1) + (n - 1)"),
        ("l", "0", "sizeof(l) / sizeof((l)[0])"),
        ("v", "0", "sizeof(v) / sizeof((v)[0])"),
        ("s->in", "0", "sizeof(s->in) / sizeof((s->in)[0])"),
        ("(&(x))", "0", "1"),
        ("(*s).in", "0", "2"),
    ]
