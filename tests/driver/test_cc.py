"""``nomp cc`` as a compiler: what it passes on, what it writes, where errors point.  The programs are not run here."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nomp import capi
from nomp.driver import cli

FOO = """\
#include "inc.h"
int foo(int *a, int n) {
#pragma nomp for
  for (int i = 0; i < n; i++)
    a[i] = 2 * i;
  return N;
}
"""
MAIN = """\
#include <stdio.h>
int foo(int *a, int n);
int main(void) { printf("%d\\n", foo(0, 0) * 0 + 7); return 0; }
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a source that has a region, a source that has none, and a header; the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NOMP_CC", raising=False)
    for name, text in {"foo.c": FOO, "main.c": MAIN, "inc.h": "#define N 3\n"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def nomp_cc(line: str) -> int:
    return cli.main(["cc", *line.split()])


def symbols(file: str) -> set[str]:
    lines = subprocess.run(["nm", file], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1] for line in lines}


# ------------------------------------------------------------------------------------------------------- outputs


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("-c foo.c", {"foo.o"}),
        ("-c foo.c -o x.obj", {"x.obj"}),
        ("-c -ox.o foo.c", {"x.o"}),
        ("-c foo.c main.c", {"foo.o", "main.o"}),
        ("-S foo.c", {"foo.s"}),
        ("-fsyntax-only foo.c", set()),
        ("-c -xc foo.c", {"foo.o"}),
        ("-c foo.c --save-temps", {"foo.o", "foo.nomp.c"}),
        ("-shared -fPIC foo.c -o libfoo.so", {"libfoo.so"}),
        ("foo.c main.c -o app", {"app"}),
        ("foo.c main.c", {"a.out"}),
        ("-E foo.c -o foo.i", {"foo.i"}),
        ("-M foo.c -MF foo.d", {"foo.d"}),
    ],
)
def test_outputs_are_the_compilers(line: str, files: set[str], project: Path) -> None:
    before = {p.name for p in project.iterdir()}
    assert nomp_cc(line) == 0
    assert {p.name for p in project.iterdir()} - before == files


def test_objects_call_libnomp(project: Path) -> None:
    assert nomp_cc("-c foo.c main.c") == 0
    assert "nomp_pragma_run" in symbols("foo.o")
    assert "nomp_pragma_run" not in symbols("main.o")


def test_link_only(project: Path) -> None:
    assert nomp_cc("-c foo.c main.c") == 0
    assert nomp_cc("foo.o main.o -o app") == 0
    assert "NEEDED" in (dynamic := _dynamic("app"))
    assert "libnomp.so" in dynamic


def test_a_program_without_pragmas_does_not_depend_on_libnomp(project: Path) -> None:
    (project / "plain.c").write_text("int main(void) { return 3; }\n")
    assert nomp_cc("plain.c -o app") == 0
    assert "libnomp.so" not in _dynamic("app")
    assert subprocess.run(["./app"], check=False).returncode == 3


def test_language_option_stays_with_the_other_inputs(project: Path) -> None:
    (project / "main.txt").write_text(MAIN)
    assert nomp_cc("-x c foo.c main.txt -x none -o app -lm") == 0
    assert Path("app").exists()


def test_same_name_in_two_folders(project: Path) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "foo.c").write_text(FOO.replace("int foo", "int bar").replace('"inc.h"', '"../inc.h"'))
    assert nomp_cc("foo.c sub/foo.c main.c -o app") == 0
    assert {"foo", "bar"} <= symbols("app")


def _dynamic(file: str) -> str:
    return subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout


# -------------------------------------------------------------------------------------------------- dependencies


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("-MD -c foo.c", "foo.d"),
        ("-MMD -c foo.c -o out.o", "out.d"),
        ("-MMD -MP -MF deps -MT target -c foo.c", "deps"),
        ("-Wp,-MMD,.foo.d -c foo.c", ".foo.d"),
        ("-MMD -shared -fPIC foo.c -o libfoo.so", "libfoo.d"),
        ("-MMD -shared -fPIC foo.c", "a-foo.d"),
    ],
)
def test_dependency_files_are_the_host_compilers(line: str, file: str, project: Path) -> None:
    subprocess.run(["gcc", *line.split()], check=True, capture_output=True)
    wanted = Path(file).read_text()
    Path(file).unlink()
    assert nomp_cc(line) == 0
    assert Path(file).read_text() == wanted


# -------------------------------------------------------------------------------------------------- errors, lines


def test_host_errors_name_the_original_line(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "foo.c").write_text(FOO.replace("return N;", "int unused;\n  return N;"))
    assert nomp_cc("-c -Wall -Werror foo.c") == 1
    assert "foo.c:6:7: error: unused variable" in capfd.readouterr().err


def test_lines_in_the_loop_too(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "foo.c").write_text(FOO.replace("2 * i", "2 + (i = i)"))
    assert nomp_cc("-c -Wall -Wextra foo.c --no-check") == 1
    assert "foo.c:5:" in capfd.readouterr().err


def test_line_and_file_macros_and_debug_info(project: Path) -> None:
    assert nomp_cc("-g -c foo.c") == 0
    lines = subprocess.run(
        ["readelf", "--debug-dump=line,info", "foo.o"], capture_output=True, text=True, check=True
    ).stdout
    assert "foo.c" in lines
    assert "nomp-pragma" not in lines.split("Line Number Statements")[-1]
    assert "/nomp-" not in lines.replace(str(capi.INCLUDE), "")


def test_two_builds_are_equal(project: Path) -> None:
    assert nomp_cc("-g -c foo.c -o a.o") == 0
    assert nomp_cc("-g -c foo.c -o b.o") == 0
    assert Path("a.o").read_bytes() == Path("b.o").read_bytes()


def test_an_error_leaves_no_output(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "bad.c").write_text("void f(int n) {\n#pragma nomp fro\n  for (int i = 0; i < n; i++) ;\n}\n")
    assert nomp_cc("-c bad.c foo.c -MD --save-temps") == 1
    assert "bad.c:2:14: error: " in capfd.readouterr().err
    assert sorted(p.name for p in project.iterdir()) == [
        "bad.c",
        "foo.c",
        "foo.d",
        "foo.nomp.c",
        "foo.o",
        "inc.h",
        "main.c",
    ]
    assert nomp_cc("bad.c main.c -o app") == 1
    assert not Path("app").exists()


def test_all_regions_are_checked_before_anything_is_compiled(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loop = "#pragma nomp for\n  for (unsigned i = n; i < 2 * n; i--)\n    a[i] = 0;\n"
    (project / "two.c").write_text(f"void f(int *a, unsigned n) {{\n{loop}{loop}}}\n")
    assert nomp_cc("-c two.c") == 1
    text = capfd.readouterr().err
    assert (text.count("[N250]"), "two.c:3:" in text, "two.c:6:" in text) == (2, True, True)
    assert not Path("two.o").exists()
    assert nomp_cc("--no-check -c two.c") == 0


def test_diagnostics_as_json(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "bad.c").write_text("void f(void) {\n#pragma nomp fro\n}\n")
    assert nomp_cc("--diagnostics=json -c bad.c") == 1
    found = json.loads(capfd.readouterr().err)
    assert (found["file"], found["line"], found["code"]) == ("bad.c", 2, "N101")


def test_the_host_compilers_status_is_ours(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert nomp_cc("-c missing.c") == 1
    assert "missing.c: No such file" in capfd.readouterr().err
    host = project / "host"
    host.write_text('#!/bin/sh\ncase "$*" in *-E*) exec gcc "$@";; esac\nexit 42\n')
    host.chmod(0o755)
    assert nomp_cc(f"--cc {host} -c foo.c") == 42
    assert nomp_cc(f"--cc {host} -v") == 42


def test_missing_script_is_a_warning(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "foo.c").write_text(FOO.replace("nomp for", 'nomp for transform("nowhere", "tile")'))
    assert nomp_cc("-c foo.c") == 0
    assert "foo.c:3:" in (text := capfd.readouterr().err)
    assert "warning: " in text


def test_remarks(project: Path, capfd: pytest.CaptureFixture[str], golden: Callable[[str, str], None]) -> None:
    (project / "three.c").write_text(
        "void three(double *a, int n) {\n  double s = 0;\n#pragma nomp for\n  for (int i = 0; i < n; i++)\n"
        "    for (int i = 0; i < 3; i++)\n      a[3] = i;\n"
        '#pragma nomp for reduce("s", "+")\n  for (int j = 0; j < n; j++)\n    s += a[j];\n'
        '#pragma nomp for transform("tile", "rows")\n  for (int k = 0; k < n; k++)\n    a[k] = s;\n}\n'
    )
    (project / "tile.py").write_text("def rows(knl, context):\n    return knl\n")
    assert nomp_cc("--remarks -c three.c") == 0
    golden("driver/remarks.txt", capfd.readouterr().err)


# ----------------------------------------------------------------------------------------------------- golden texts


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("N500", "--cc no-such-compiler -c foo.c"),
        ("N502-emit", "--emit assembly foo.c"),
        ("N502-no-value", "--cc"),
        ("N502-no-file", "--emit c"),
        ("N503", "-c foo.i"),
        ("N505", "-static foo.c -o app"),
    ],
)
def test_text_of_errors(
    name: str, line: str, project: Path, capfd: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    (project / "foo.i").write_text('# 1 "foo.c"\nvoid f(void) {\n  #pragma nomp sync\n}\n')
    assert nomp_cc(line) == 1
    golden(f"driver/{name}.txt", capfd.readouterr().err)


def test_text_of_n501(project: Path, capfd: pytest.CaptureFixture[str], golden: Callable[[str, str], None]) -> None:
    host = project / "host"
    host.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m nomp.driver cc "$@"\n')
    host.chmod(0o755)
    assert nomp_cc(f"--cc {host} -v") == 1
    golden("driver/N501.txt", capfd.readouterr().err)


def test_text_of_n504(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    golden: Callable[[str, str], None],
) -> None:
    monkeypatch.setattr(capi, "LIBRARY", Path("/opt/nomp/lib"))
    assert nomp_cc("foo.c main.c -o app") == 1
    golden("driver/N504.txt", capfd.readouterr().err)


def test_dry_run(project: Path, capfd: pytest.CaptureFixture[str], golden: Callable[[str, str], None]) -> None:
    assert nomp_cc("-### --cc gcc foo.c main.c -O2 -DX='a' -MMD -o app -lm") == 0
    text = capfd.readouterr().err.replace(str(capi.INCLUDE), "INCLUDE").replace(str(capi.LIBRARY), "LIBRARY")
    folder = next(word for word in text.split() if word.endswith("/0/foo.c")).removesuffix("/0/foo.c")
    golden("driver/dry-run.txt", text.replace(folder, "FOLDER"))
    assert not Path("app").exists()


# ---------------------------------------------------------------------------------------------------------- inputs


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
    assert "libnomp.so" in _dynamic("api")


def test_scripts_are_found_from_any_folder(project: Path) -> None:
    (project / "foo.c").write_text(FOO.replace("nomp for", 'nomp for transform("tile", "rows")'))
    (project / "tile.py").write_text("def rows(knl, context):\n    return knl\n")
    assert nomp_cc("-c foo.c") == 0
    assert str(project / "foo.c").encode() in Path("foo.o").read_bytes()


def test_standard_input(project: Path) -> None:
    words = [sys.executable, "-m", "nomp.driver", "cc", "-x", "c", "-c", "-", "-o", "in.o"]
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


def test_host_compilers_own_questions(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    wanted = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout
    assert nomp_cc("--cc gcc --version") == 0
    assert capfd.readouterr().out == wanted


def test_host_compiler_with_arguments(project: Path) -> None:
    assert nomp_cc("-c foo.c --cc=gcc") == 0
    assert cli.main(["cc", "--cc", "gcc -DEXTRA", "-c", "foo.c"]) == 0


def test_host_compiler_from_the_environment(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "host").write_text("#!/bin/sh\nexit 9\n")
    (project / "host").chmod(0o755)
    monkeypatch.setenv("NOMP_CC", f"{project}/host -DX")
    monkeypatch.setenv("CC", "nomp cc")
    assert nomp_cc("-v") == 9
    assert nomp_cc("--cc gcc -c main.c") == 0


def test_strange_characters_in_paths(project: Path) -> None:
    folder = project / 'a b"é$x'
    folder.mkdir()
    (folder / "foo.c").write_text(FOO.replace("inc.h", "../inc.h"))
    assert cli.main(["cc", "-c", str(folder / "foo.c"), "-o", "o.o"]) == 0


# ---------------------------------------------------------------------------------------------------------- stages


@pytest.mark.parametrize("stage", ["pragmas", "c", "region", "loopy", "source"])
def test_emit_writes_no_file(stage: str, project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = sorted(project.iterdir())
    assert nomp_cc(f"--emit {stage} foo.c") == 0
    out = capfd.readouterr().out
    assert {
        "pragmas": "nomp for",
        "c": "nomp_pragma_run",
        "region": '"region"',
        "loopy": "i",
        "source": "_nomp_kernel_l3",
    }[stage] in out
    assert sorted(project.iterdir()) == before


def test_emit_pragmas(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = FOO.replace("#pragma nomp for", "  #pragma  nomp for \\\n     jit(n)  // é").replace(
        "return N;", "\n#pragma nomp sync\nreturn N;"
    )
    (project / "foo.c").write_text(text)
    assert nomp_cc("--emit pragmas foo.c") == 0
    assert capfd.readouterr().out == "foo.c:3:12: #pragma nomp for jit(n) // é\nfoo.c:8:9: #pragma nomp sync\n"


def test_rewritten_file_compiles(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert nomp_cc("--emit c foo.c") == 0
    (project / "new.c").write_text(capfd.readouterr().out)
    assert subprocess.run(["gcc", "-c", "new.c"], check=False).returncode == 0
