"""What ``nomp cc`` reads: headers, macros, standard input, scripts and other languages, with and without pragmas."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import NOMP_CC, run, succeed
from compiling import FOO, MAIN, dynamic, nomp_cc, symbols
from quick import first_of

from nomp.driver import cli


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


def test_headers_that_the_compiler_itself_adds(project: Path) -> None:
    """A wrapper such as mpicc knows where its library's headers are; the front end reads them there as well."""
    (project / "there").mkdir()
    (project / "there" / "k.h").write_text("typedef unsigned char narrow;\n")
    (project / "user.c").write_text(
        "#include <k.h>\n#include <stddef.h>\nvoid f(narrow *a, size_t n) {\n#pragma nomp for\n"
        "  for (size_t i = 0; i < n; i++)\n    a[i] += 1;\n}\n"
    )
    (project / "wrapper").write_text(f'#!/bin/sh\nexec gcc -I{project}/there "$@"\n')
    (project / "wrapper").chmod(0o755)
    assert nomp_cc("--cc ./wrapper -Wall -Werror -c user.c") == 0
    assert "nomp_pragma_run" in symbols("user.o")


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


def test_quoted_includes_mean_what_they_meant(project: Path) -> None:
    """A header beside the source wins for the source alone; one of another folder finds its own first."""
    files = {
        "lib/z.h": '#include "config.h"\nstatic int z(void) { return CONFIG; }\n',
        "lib/k.h": '#include "b.h"\nstatic inline void k(int *a) {\n#pragma nomp for\n'
        "  for (int i = 0; i < 3; i++)\n    a[i] = B;\n}\nstatic int b(void) { return B; }\n",
        "cfg/config.h": "#define CONFIG 2\n",
        "cfg/b.h": "#define B 4\n",
        "src/config.h": "#undef CONFIG\n#define CONFIG 100\n",
        "src/b.h": "#define B 200\n",
        "src/named.h": "#define NAMED 7\n",
        "src/main.c": '#include <stdio.h>\n#include "../lib/z.h"\n#include "../lib/k.h"\n#include "config.h"\n'
        '#define HERE "named.h"\n#include HERE\nint main(void) {\n  int a[3];\n#pragma nomp sync\n'
        '  printf("%d %d %d %d\\n", z(), b(), CONFIG, NAMED);\n  return a != 0 ? 0 : (k(a), 0);\n}\n',
    }
    for name, text in files.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    words = ["-Ilib", "-Icfg", "src/main.c"]
    plain, ours = project / "plain", project / "ours"
    succeed("gcc", "-Wno-unknown-pragmas", *words, "-o", plain)
    succeed(*NOMP_CC, "-DNOMP", *words, "-o", ours)
    expected = succeed(plain).stdout
    started = run(ours, env=os.environ | {"NOMP_ON_ERROR": "continue"})
    assert (expected, started.stdout) == ("2 4 100 7\n", "2 4 100 7\n")


@pytest.mark.parametrize(
    ("header", "options", "message"),
    [
        ("#pragma nomp sync\n", "-include k.h", "nomp pragma in a header that no '#include' line leads to [N503]"),
        ("#include_next <k.h>\n", "-I.", "'#include_next' in a header with nomp pragmas [N503]"),
    ],
)
def test_headers_of_which_no_copy_can_be_compiled(
    header: str, options: str, message: str, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    own = "static inline void s(void) {\n#pragma nomp sync\n}\n"
    (project / "k.h").write_text(f"#pragma once\n{header if 'next' in header else ''}{own}")
    (project / "next").mkdir()
    (project / "next" / "k.h").write_text("int next;\n")
    (project / "user.c").write_text(("" if "-include" in options else '#include "k.h"\n') + "int x;\n")
    assert nomp_cc(f"{options} -Inext -c user.c") == 1
    assert message in capfd.readouterr().err
    assert not Path("user.o").exists()


@pytest.mark.parametrize(
    "options", ["foo.c -o foo.c", "-c foo.c -o ./foo.c", "-S foo.c -ofoo.c", "--output=foo.c foo.c"]
)
def test_a_source_is_not_overwritten(options: str, project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert nomp_cc(options) == 1
    assert "input file 'foo.c' is the same as the output file [N502]" in capfd.readouterr().err
    assert (project / "foo.c").read_text() == FOO


@pytest.mark.parametrize("options", ["--compile --output=a.o", "--compile --output a.o", "-c --language=c -o a.o"])
def test_long_options(options: str, project: Path) -> None:
    assert nomp_cc(f"{options} foo.c") == 0
    assert "nomp_pragma_run" in symbols("a.o")


def test_a_byte_order_mark(project: Path) -> None:
    (project / "foo.c").write_bytes(b"\xef\xbb\xbf" + FOO.encode())
    assert nomp_cc("-Werror -c foo.c") == 0


@pytest.mark.slow
def test_names_of_the_program_stay_its_own(project: Path) -> None:
    (project / "names.c").write_text(
        "#include <stdio.h>\nint main(void) {\n  int nomp_0_ = 40, nomp_1_ = 5, nomp_args_ = 1, nomp_region_ = 2;\n"
        "  int a[3] = {0};\n#pragma nomp init(0, 0)\n#pragma nomp update(to : a)\n#pragma nomp for\n"
        "  for (int i = 0; i < nomp_args_ + nomp_region_; i++)\n    a[i] = nomp_0_ + nomp_1_;\n"
        '#pragma nomp update(from : a)\n  printf("%d %d\\n", a[0], a[2]);\n  return 0;\n}\n'
    )
    assert nomp_cc("names.c -o names") == 0
    assert succeed(project / "names").stdout == "45 45\n"


def test_a_failed_preprocessor_is_a_failure(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "gone.c").write_text('#include "gone.h"\n#pragma nomp sync\n')
    for words in (["check", "gone.c"], ["check", "--bogus", "foo.c"], ["cc", "--emit=c", "gone.c"], ["check", "a.out"]):
        assert cli.main(words) == 1
        assert "rror: " in capfd.readouterr().err


def test_a_pipe_can_be_read_only_once(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.c")
    assert nomp_cc("-c pipe.c") == 1
    assert "'pipe.c' is a pipe, which can be read only once [N503]" in capfd.readouterr().err


def test_dependencies_that_cannot_be_written_leave_no_object(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert nomp_cc("-MMD -MF nowhere/foo.d -c foo.c") != 0
    assert "nowhere/foo.d" in capfd.readouterr().err
    assert not Path("foo.o").exists()


def test_dependencies_that_cannot_be_written_take_no_device_away(project: Path) -> None:
    """The superuser could remove /dev/null."""
    os.symlink(os.devnull, "null")
    assert nomp_cc("-MMD -MF nowhere/foo.d -c foo.c -o null") != 0
    assert Path("null").is_symlink()


def test_a_response_file_with_an_open_quotation_mark(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "words").write_text("-DX='1 foo.c")
    assert nomp_cc("@words") == 1
    assert "response file 'words' cannot be read: No closing quotation [N502]" in capfd.readouterr().err


@pytest.mark.slow
def test_a_kernel_with_a_very_long_name(project: Path) -> None:
    name = "k" * 300
    text = MAIN.replace("{ printf", "{ int a[9]; RUN printf").replace("foo(0, 0) * 0 + 7", "a[8]")
    run_it = f'\n#pragma nomp init(0, 0)\n#pragma nomp update(alloc : a)\n#pragma nomp for name("{name}")\n'
    run_it += "for (int i = 0; i < 9; i++) a[i] = i;\n#pragma nomp update(from : a)\n"
    (project / "long.c").write_text(text.replace("RUN", run_it))
    assert nomp_cc("long.c -o long") == 0
    assert succeed(project / "long").stdout == "8\n"


@pytest.mark.parametrize("spelled", ["user.c", "./user.c", "d/../user.c", "{folder}/user.c"])
def test_names_of_files(spelled: str, project: Path) -> None:
    """``__FILE__`` and ``__BASE_FILE__`` are what they are without nomp, in headers beside the source, too."""
    (project / "d").mkdir()
    (project / "d" / "a.h").write_text('static const char *a(void) { return __FILE__; }\n#include "b.h"\n')
    (project / "d" / "b.h").write_text("static const char *b(void) { return __FILE__; }\n")
    (project / "k.h").write_text(
        '#include "d/a.h"\nstatic const char *k(void) { return __FILE__; }\n'
        "static void f(int *p) {\n#pragma nomp for\n  for (int i = 0; i < 9; i++)\n    p[i] = 0;\n}\n"
    )
    (project / "user.c").write_text(
        '#include "k.h"\n#include <stdio.h>\nint main(int argc, char **argv) {\n  if (argc > 9)\n    f(0);\n'
        '  printf("%s %s %s %s %s\\n", __FILE__, __BASE_FILE__, a(), b(), k());\n  return 0;\n}\n'
    )
    source = spelled.format(folder=project)
    succeed("gcc", "-w", source, "-o", "plain")
    assert nomp_cc(f"-w -c {source} -o user.o") == 0
    names = subprocess.run(["./plain"], capture_output=True, check=True, text=True).stdout.split()
    assert nomp_cc("-w user.o -o ours") == 0
    assert subprocess.run(["./ours"], capture_output=True, check=True, text=True).stdout.split() == names


@pytest.mark.parametrize(
    ("before", "value", "message"),
    [
        ("#ifdef __clang__\n#define X 1\n#else\n#define X 2\n#endif\n", "X", "8:1: error: nomp's parser reads this"),
        ("", "__GNUC__", "3:1: error: nomp's parser reads this line"),
        ('#include "which.h"\n', "Y", "4:1: error: nomp's parser reads this line"),
        ('#if __has_include("which.h")\n#endif\n', "1", "1: error: a copy of this file is compiled in another folder"),
        ("#ifdef __clang__\nint other;\n#endif\n", "i", ""),
        ("static int k(void) {\n  return __GNUC__;\n}\n", "k()", "user.c:2:1: error: nomp's parser reads this line"),
        ('#include "k.h"\n', "h()", "k.h:1:1: error: nomp's parser reads this line"),
    ],
)
def test_loops_that_depend_on_the_compiler(
    before: str, value: str, message: str, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (project / "which.h").write_text("#if __GNUC__ > 4\n#define Y 1\n#else\n#define Y 2\n#endif\n")
    (project / "k.h").write_text("static int g(void) { return __GNUC__; }\nstatic int h(void) { return g() + 1; }\n")
    loop = f"#pragma nomp for\n  for (int i = 0; i < 9; i++) a[i] = {value};\n"
    (project / "user.c").write_text(f"{before}void f(int *a) {{\n{loop}}}\n")
    assert nomp_cc("-w -c user.c") == int(bool(message))
    assert message in capfd.readouterr().err


@pytest.mark.parametrize("header", first_of(["omp.h", "immintrin.h", "complex.h", "stdatomic.h", "pthread.h"]))
def test_headers_of_the_compiler(header: str, project: Path) -> None:
    kernel = "void f(int *a) {\n#pragma nomp for\n  for (int i = 0; i < 9; i++)\n    a[i] = 0;\n}\n"
    (project / "user.c").write_text(f"#include <{header}>\n{kernel}")
    assert nomp_cc("-fopenmp -c user.c") == 0


AROUND = """\
double a[4][50];
void f(int n) {
#pragma omp parallel for
  for (int t = 0; t < n; t++) {
#pragma nomp for
    for (int i = 0; i < 50; i++)
      a[t][i] += t;
  }
#pragma omp parallel
#pragma omp single
#pragma nomp for
  for (int i = 0; i < 50; i++)
    a[0][i] *= 2;
}
"""
INSIDE = """\
static int g(int x) {{
#pragma omp {called}
  x += 1;
  return x;
}}
void f(int *a, int n) {{
#pragma nomp for
  for (int i = 0; i < 4; i++) {{
#pragma omp {inner}
    for (int j = 0; j < 5; j++)
      a[j] += g(i);
#ifdef _OPENMP
    a[i] = 1;
#endif
  }}
}}
"""


@pytest.mark.parametrize("options", ["", "-fopenmp"])
def test_loops_in_a_program_with_openmp(options: str, project: Path) -> None:
    (project / "user.c").write_text(AROUND)
    assert nomp_cc(f"{options} -Wall -Werror -Wno-unknown-pragmas -c user.c") == 0


@pytest.mark.parametrize(
    ("options", "called", "inner", "line"),
    [("", "critical", "parallel for", 0), ("-fopenmp", "simd", "simd", 0), ("-fopenmp", "critical", "simd", 2),
     ("-fopenmp", "simd", "parallel for", 9), ("-fopenmp -fno-openmp", "critical", "for", 0)],
)  # fmt: skip
def test_openmp_in_a_loop(
    options: str, called: str, inner: str, line: int, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where it is on, its pragmas could make something else of the loop that the kernel does not."""
    (project / "user.c").write_text(INSIDE.format(called=called, inner=inner))
    assert nomp_cc(f"{options} --emit=region user.c") == int(bool(line))
    assert (f"user.c:{line}:" in (errors := capfd.readouterr().err)) == bool(line)
    assert ("an OpenMP pragma cannot be in a kernel [N207]" in errors) == bool(line)
