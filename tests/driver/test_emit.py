"""The rewritten C: it compiles without a warning whatever the options, and every line stays on its line.

The source files are made by hand here; ``test_cc_inputs`` has what the front end reads.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace as Fake
from typing import Any

import pytest

from nomp.capi import INCLUDE
from nomp.diagnostics import Span
from nomp.driver import emit
from nomp.region import Const, For, Param, Place, Region, Var

HEADER = INCLUDE / "nomp-pragma.h"

PARAMS = (
    Param("n", "int32", "scalar", "n"),
    Param("w", "int64", "scalar", "w"),
    Param("b", "bool", "scalar", "b"),
    Param("x", "float64", "array", "x", (None,)),
    Param("sum", "float64", "cell", "&(sum)"),
    Param("i", "int32", "counter", "&(i)"),
)


def _source(text: str, params: tuple[Param, ...] = PARAMS, padding: str = "") -> Any:
    """A `SourceFile` of *text*, in which @ marks the start of a pragma, $ its loop, and % the end of the statement."""
    directives = []
    while "@" in text:
        begin = text.index("@")
        text = text.replace("@", "", 1)
        loop = text.index("$")
        text = text.replace("$", "", 1)
        end = text.index("%")
        text = text.replace("%", "", 1)
        line = text.count("\n", 0, loop) + 1
        place = Place(line, loop - text.rfind("\n", 0, loop), 3)
        zero = Const(0, "int32")
        body = For("i", "int32", zero, "<", Var("n", "int32"), zero, (), place=place)
        region = Region("kernel", "foo.c", line - 1, params, (body,), text=(padding,))
        fields = {"region": region, "update": None, "init_args": None}
        directives.append(Fake(begin=begin, end=end, span=Span("foo.c", line - 1), **fields))
    return Fake(path="foo.c", text=text.encode(), directives=tuple(directives), includes=())


def _directive(text: str, kind: str, **more: Any) -> Any:
    begin = text.index("#pragma nomp " + kind)
    span = Span("foo.c", text.count("\n", 0, begin) + 1)
    fields = {"region": None, "update": None, "init_args": None} | more
    return Fake(kind=kind, begin=begin, end=text.index("\n", begin), span=span, **fields)


PROGRAM = """
double f(const double *x, int n, long w, int b);
INLINE double f(const double *x, int n, long w, int b) {
  int i;
  double sum = 0;
  if (n > 1)
@#pragma nomp for
  $for (i = 0; i < n; i++)
    sum += x[i] + w + b;%
  else
    sum = 1;
  return sum;
}
"""
STRICT = "-pedantic -Wall -Wextra -Wcast-qual -Wshadow -Wconversion -Wdeclaration-after-statement -Wno-float-conversion"


@pytest.mark.parametrize("standard", ["c89", "gnu89", "c99", "gnu99", "c11", "gnu17"])
@pytest.mark.parametrize("inline", ["static", "static __inline__", "__inline__", ""])
@pytest.mark.parametrize("padding", ["", 'a long line, as JSON is, with \\ and " and ??/ and é ' * 400])
def test_no_warning(standard: str, inline: str, padding: str, tmp_path: Path) -> None:
    program = PROGRAM if "static" not in inline else PROGRAM.replace("double f(", f"{inline} double f(", 1)
    after = "int main(void) { double x[1] = {0}; return (int)f(x, 1, 2, 3); }\n"
    text = program.replace("INLINE", inline).replace("sum += x[i] + w + b", "sum += x[i] + (double)w + b") + after
    (tmp_path / "foo.c").write_bytes(emit.rewrite(_source(text, padding=padding), "foo.c", HEADER, {}))
    words = ["gcc", f"-std={standard}", *STRICT.split(), "-Werror", "-c", "foo.c", "-o", "foo.o"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_lines_stay(tmp_path: Path) -> None:
    text = "int f(void) {\n@#pragma nomp for \\\n  jit(n)\n  // why\n\n  $for (i = 0;\n  i < n; i++) {\n    sum += 1;\n"
    source = _source(text + "  }% return __LINE__; }\nint last;\n")
    original = source.text.decode().splitlines()
    top, line, *lines = emit.rewrite(source, source.path, HEADER, {}).decode().splitlines()
    assert (top, line) == (f'#include "{HEADER}"', '#line 1 "foo.c"')
    assert len(lines) == len(original)
    assert lines[2:5] == ["", "", ""]
    assert [lines[i] for i in (0, 5, 6, 7, 9)] == [original[i] for i in (0, 5, 6, 7, 9)]
    assert lines[8] == "  } nomp_pragma_confirm(); } } return __LINE__; }"


def test_golden(golden: Callable[[str, str], None]) -> None:
    pragmas = ("init(argc, argv)", "update(to : x[1, n])", "sync", "finalize")
    text = "int main(int argc, char **argv) {\n" + "".join(f"#pragma nomp {pragma}\n" for pragma in pragmas) + "}\n"
    update = Fake(op="to", sections=(Fake(base="x", start="1", end="n"), Fake(base="s->y", start="0", end="3 * m")))
    directives = (
        _directive(text, "init", init_args=("argc", "argv")),
        _directive(text, "update", update=update),
        _directive(text, "sync"),
        _directive(text, "finalize"),
    )
    source: Any = Fake(path='a "b".c', text=text.encode(), directives=directives, includes=())
    golden("driver/directives.c", emit.rewrite(source, source.path, Path("nomp-pragma.h"), {}).decode())
    region = emit.rewrite(_source(PROGRAM), "foo.c", Path("nomp-pragma.h"), {}).decode()
    golden("driver/region.c", region)


def test_includes_are_replaced_by_copies() -> None:
    text = b'#include "a.h"\n#include \\\n  "b.h"\nint x;\n'
    includes = (Fake(begin=0, end=14, path="d/a.h"), Fake(begin=15, end=33, path="d/b.h"))
    source: Any = Fake(path="foo.c", text=text, directives=(), includes=includes)
    new = emit.rewrite(source, source.path, HEADER, {"d/a.h": Path("/t/0/a.h"), "d/b.h": Path("/t/1/b.h")}).decode()
    assert new.split('"foo.c"\n')[1] == '#include "/t/0/a.h"\n#include "/t/1/b.h"\n\nint x;\n'


def test_offset_of_a_loop_after_non_ascii_text() -> None:
    text = "int é;\r\n/* ü */ for (;;);\r\n".encode()
    zero = Const(0, "int32")
    region = Region("k", "f.c", 1, (), (For("i", "int32", zero, "<", zero, zero, (), place=Place(2, 9, 3)),))
    assert text[emit.loop_offset(text, region) :].startswith(b"for")
