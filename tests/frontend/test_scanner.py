"""The scanner finds the pragmas that clang sees, wherever comments, strings, splices and conditions put them."""

from __future__ import annotations

import random

import pytest
from clang import cindex

from nomp.frontend.clang_pragmas import scan

PIECES = [
    "#pragma nomp sync",
    "# pragma nomp sync",
    "%:pragma nomp sync",
    "#\\\npragma\\\n nomp sync",
    "/* a */ #pragma nomp sync",
    "/* a\nb */#pragma /* c */ nomp sync // d",
    '_Pragma("nomp sync")',
    'x = 1; _Pragma ( /* a */ "nomp sync" ) x = 2;',
    "// #pragma nomp sync",
    "/* #pragma nomp sync */",
    "// a \\\n#pragma nomp sync",
    "/*\n#pragma nomp sync\n*/",
    "x = 1;",
    's = "#pragma nomp sync";',
    's = "\\\n#pragma nomp sync";',
    's = "/*";',
    's = "\\"";',
    "x = '\"';",
    "x = '\\'';",
    "x = 1; /* a */ x = 2; // b",
    "#pragma GCC diagnostic push",
    "#pragma STDC FP_CONTRACT ON",
    "x = 4 /\\\n* a *\\\n/ 2;",
    "#define M(a) #a",
    's = "//"; s = "\\\\";',
    "#if 0\nit's \"not\n#endif",
    "\t\x0c\x0b",
]


def pragmas_by_clang(text: str) -> list[int]:
    """Where clang reports a pragma that it does not know."""
    found = cindex.Index.create().parse("t.c", args=["-Wunknown-pragmas"], unsaved_files=[("t.c", text)])
    return [d.location.offset for d in found.diagnostics if d.option == "-Wunknown-pragmas"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("seed", range(30))
def test_agrees_with_clang(seed: int, end: str) -> None:
    pick = random.Random(seed)
    pieces = pick.choices(PIECES, k=25)
    text = "\n".join(["int x; char *s; /* é */", "void f(void) {", *pieces, "}"]).replace("\n", end)
    found = scan(text.encode()).pragmas
    starts = [p.begin if text.encode()[p.begin : p.begin + 1] == b"_" else p.start for p in found]
    assert starts == pragmas_by_clang(text)
    assert all(p.text.startswith("nomp sync") for p in found)


def test_never_fails() -> None:
    """Pieces in any order, whole or cut off, with what belongs into none of them in between."""
    pick = random.Random(0)
    whole = [piece.encode() for piece in PIECES] + [b'_Pragma("nomp \\"sync\\"")', b"#pragma nomp for \\\r\n jit(n)"]
    stray = [b"#", b"\\", b'"', b"'", b"/", b"/*", b"_Pragma", b"(", b")", b"\xff", b"\0", b"\r", b"\\\r\n"]
    number = 0
    for _ in range(300):
        data = b""
        for piece in pick.choices(whole, k=9):
            data += piece if pick.random() < 0.8 else piece[: pick.randrange(len(piece))]
            data += b"".join(pick.choices(stray, k=pick.choice([0, 0, 1, 4])))
            data += pick.choice([b"\n", b"\n", b"\r\n", b" "])
        end = 0
        for found in scan(data).pragmas:
            assert end <= found.begin < found.start < found.end <= len(data)
            assert data[found.start :].startswith(b"nomp")
            assert found.text.startswith("nomp")
            end, number = found.end, number + 1
    assert number > 50


def test_text_of_an_operator_keeps_its_columns() -> None:
    (found,) = scan(rb'_Pragma("  nomp for transform(\"a\\b\", \"c\") reduce(\"s\", \"+\")")').pragmas
    assert found.text == r'nomp for transform( "a\ b" ,  "c" ) reduce( "s" ,  "+" )'
    assert found.start == 11
