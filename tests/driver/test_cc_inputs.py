"""What ``nomp cc`` reads: headers, macros, standard input, scripts and other languages, with and without pragmas."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import NOMP_CC
from compiling import FOO, MAIN, dynamic, nomp_cc, symbols


def test_headers_with_regions(project: Path) -> None:
    (project / "lib").mkdir()
    (project / "lib" / "own.h").write_text("#define SCALE 5\n")
    (project / "lib" / "kernels.h").write_text(
        '#ifndef K\n#define K\n#include "own.h"\nstatic void scale(int *a, int n) {\n#pragma nomp for\n'
        "  for (int i = 0; i < n; i++)\n    a[i] *= SCALE;\n}\nstatic const char *where = __FILE__;\n#endif\n"
    )
    (project / "user.c").write_text(
        '#include "lib/kernels.h"\nvoid f(int *a) { scale(a, 3); }\nconst char *g(void) { return where; }\n'
    )
    assert nomp_cc("-Wall -Wextra -Werror -c user.c") == 0
    assert "nomp_pragma_run" in symbols("user.o")
    assert b"lib/kernels.h\0" in Path("user.o").read_bytes()


@pytest.mark.parametrize("once", ["#pragma once\n", "#ifndef K\n#define K\n"])
def test_header_with_regions_on_two_ways(once: str, project: Path) -> None:
    kernel = "static inline void f(int *a) {\n#pragma nomp for\n  for (int i = 0; i < 9; i++)\n    a[i] = 0;\n}\n"
    (project / "k.h").write_text(once + kernel + ("#endif\n" if "ifndef" in once else ""))
    (project / "outer.h").write_text('#pragma once\n#include "k.h"\nstatic inline void g(int *a) { f(a); }\n')
    (project / "user.c").write_text(
        '#include "outer.h"\n#include "k.h"\n#include "outer.h"\nvoid h(int *a) { g(a); f(a); }\n'
    )
    assert nomp_cc("-Wall -Wextra -Werror -c user.c") == 0


def test_pragma_from_a_macro_or_a_header_found_with_i(project: Path) -> None:
    (project / "d").mkdir()
    (project / "d" / "k.h").write_text('static inline void s(void) {\n_Pragma("nomp sync")\n}\n')
    (project / "user.c").write_text("#include <k.h>\nvoid f(void) { s(); }\n")
    assert nomp_cc("-I d -c user.c") == 0
    assert "nomp_pragma_sync" in symbols("user.o")


def test_pragma_in_a_system_header(
    project: Path, capfd: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    (project / "d").mkdir()
    (project / "d" / "k.h").write_text("static inline void s(void) {\n#pragma nomp sync\n}\n")
    (project / "user.c").write_text(FOO + "#include <k.h>\n")
    assert nomp_cc("-isystem d -c user.c") == 1
    golden("driver/N503-system.txt", capfd.readouterr().err)


def test_pragma_that_clang_skips(
    project: Path, capfd: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    hidden = FOO.replace("#pragma nomp for\n", "#ifndef __clang__\n#pragma nomp for\n#endif\n")
    (project / "hidden.c").write_text(FOO + hidden.replace("foo", "bar"))
    assert nomp_cc("-c hidden.c") == 1
    golden("driver/N507.txt", capfd.readouterr().err)
    (project / "foo.c").write_text('#line 7 "foo.y"\n' + FOO)
    assert nomp_cc("-c foo.c") == 0


def test_programs_of_the_c_api_find_its_header(project: Path) -> None:
    (project / "api.c").write_text("#include <nomp.h>\nint main(void) { return nomp_sync() == 0; }\n")
    assert nomp_cc("-Wall -Werror api.c -o api") == 0
    assert "libnomp.so" in dynamic("api")


def test_scripts_are_found_from_any_folder(project: Path) -> None:
    (project / "foo.c").write_text(FOO.replace("nomp for", 'nomp for transform("tile", "rows")'))
    (project / "tile.py").write_text("def rows(knl, context):\n    return knl\n")
    assert nomp_cc("-c foo.c") == 0
    assert str(project / "foo.c").encode() in Path("foo.o").read_bytes()


def test_standard_input(project: Path) -> None:
    words = [*NOMP_CC, "-x", "c", "-c", "-", "-o", "in.o"]
    assert subprocess.run(words, input=MAIN.encode(), check=False).returncode == 0
    assert "main" in symbols("in.o")
    done = subprocess.run(words, input=FOO.encode(), capture_output=True, check=False)
    assert done.returncode == 1
    assert b"N503" in done.stderr


def test_pragmas_in_cpp_and_its_headers(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "plain.cpp").write_text("int f(bool b) { return b; }\n")
    (project / "user.cpp").write_text('#include "k.h"\nint f() { s(); return 0; }\n')
    (project / "k.h").write_text("static inline void s() {\n#pragma nomp sync\n}\n")
    assert nomp_cc("-c plain.cpp") == 0
    assert nomp_cc("-c user.cpp") == 1
    assert "k.h:2:1: error: nomp pragma in C++" in capfd.readouterr().err
