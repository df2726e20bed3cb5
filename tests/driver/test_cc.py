"""``nomp cc`` as a compiler: what it writes and what it passes on.  The programs are not run here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from commands import NOMP_CC, run, succeed
from compiling import FOO, MAIN, dynamic, nomp_cc, symbols
from quick import first_of

from nomp.driver import cli

# ------------------------------------------------------------------------------------------------------------ outputs


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
        pytest.param("foo.c main.c -o app", {"app"}, marks=pytest.mark.slow),
        ("foo.c main.c", {"a.out"}),
        ("-E foo.c -o foo.i", {"foo.i"}),
        ("-M foo.c -MF foo.d", {"foo.d"}),
    ],
)
def test_outputs_are_the_compilers(line: str, files: set[str], project: Path) -> None:
    before = {p.name for p in project.iterdir()}
    assert nomp_cc(line) == 0
    assert {p.name for p in project.iterdir()} - before == files


@pytest.mark.parametrize(
    ("line", "file"),
    first_of([("-c foo.c -o x.o main.o", "x.o"), ("-c main.o foo.c libx.a -o x.o", "x.o"),
              ("-S foo.c -o x.s main.s", "x.s")]),
)  # fmt: skip
def test_inputs_that_are_not_compiled_let_no_pragma_go(line: str, file: str, project: Path) -> None:
    """The host compiler warns of them, and goes on."""
    succeed("gcc", "-c", "main.c")
    succeed("gcc", "-S", "main.c")
    (project / "libx.a").touch()
    assert nomp_cc(line) == 0
    assert b"nomp_pragma_run" in Path(file).read_bytes()


@pytest.mark.parametrize("line", ["-c foo.c main.c -o x.o", "-c foo.c main.s -o x.o", "-S foo.c inc.h -o x.s"])
def test_one_output_of_several_inputs(line: str, project: Path) -> None:
    succeed("gcc", "-S", "main.c")
    assert run("gcc", *line.split()).returncode != 0
    assert nomp_cc(line) != 0
    assert not Path(line.split()[-1]).exists()


def test_objects_call_libnomp(project: Path) -> None:
    assert nomp_cc("-c foo.c main.c") == 0
    assert "nomp_pragma_run" in symbols("foo.o")
    assert "nomp_pragma_run" not in symbols("main.o")


def test_link_only(project: Path) -> None:
    assert nomp_cc("-c foo.c main.c") == 0
    assert nomp_cc("foo.o main.o -o app") == 0
    assert "NEEDED" in (needs := dynamic("app"))
    assert "libnomp.so" in needs


def test_a_program_without_pragmas_does_not_depend_on_libnomp(project: Path) -> None:
    (project / "plain.c").write_text("int main(void) { return 3; }\n")
    assert nomp_cc("plain.c -o app") == 0
    assert "libnomp.so" not in dynamic("app")
    assert subprocess.run(["./app"], check=False).returncode == 3


def test_loops_may_call_libm_though_nothing_is_said_of_it(project: Path) -> None:
    """A kernel has its own functions, but the loop, which NOMP_VERIFY=1 runs on the host, needs the library's."""
    text = "#include <math.h>\n" + FOO.replace("2 * i", "sin(exp(n))")
    (project / "foo.c").write_text(text)
    assert nomp_cc("-O0 foo.c main.c -o app") == 0
    assert "sin" in {symbol.partition("@")[0] for symbol in symbols("app")}


def test_language_option_stays_with_the_other_inputs(project: Path) -> None:
    (project / "main.txt").write_text(MAIN)
    assert nomp_cc("-x c foo.c main.txt -x none -o app -lm") == 0
    assert Path("app").exists()


def test_same_name_in_two_folders(project: Path) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "foo.c").write_text(FOO.replace("int foo", "int bar").replace('"inc.h"', '"../inc.h"'))
    assert nomp_cc("foo.c sub/foo.c main.c -o app") == 0
    assert {"foo", "bar"} <= symbols("app")


def test_strange_characters_in_paths(project: Path) -> None:
    folder = project / 'a b"é$x'
    folder.mkdir()
    (folder / "foo.c").write_text(FOO.replace("inc.h", "../inc.h"))
    assert cli.main(["cc", "-c", str(folder / "foo.c"), "-o", "o.o"]) == 0


def test_two_builds_are_equal(project: Path) -> None:
    assert nomp_cc("-g -c foo.c -o a.o") == 0
    assert nomp_cc("-g -c foo.c -o b.o") == 0
    assert Path("a.o").read_bytes() == Path("b.o").read_bytes()


# ------------------------------------------------------------------------------------------------------- dependencies


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("-MD -c foo.c", "foo.d"),
        ("-MMD -c foo.c -o out.o", "out.d"),
        ("-MMD -MP -MF deps -MT target -c foo.c", "deps"),
        ("-Wp,-MMD,.foo.d -c foo.c", ".foo.d"),
        ("-MMD -shared -fPIC foo.c -o libfoo.so", "libfoo.d"),
        ("-MMD -shared -fPIC foo.c", "a-foo.d"),
        ("-MMD -shared -fPIC -xc foo.c -xnone main.o -o foo.so.1", "foo.so.d"),
        ("-MMD -shared -fPIC foo.c main.o -o d/foo", "d/foo.d"),
        ("-MMD -shared -fPIC foo.c main.o", "a-foo.d"),
        ("-MMD -shared -fPIC a.c", "a.d"),
    ],
)
def test_dependency_files_are_the_host_compilers(line: str, file: str, project: Path) -> None:
    (project / "a.c").write_text(FOO)
    (project / "d").mkdir()
    succeed("gcc", "-fPIC", "-c", "main.c")
    succeed("gcc", *line.split())
    wanted = Path(file).read_text()
    Path(file).unlink()
    assert nomp_cc(line) == 0
    assert Path(file).read_text() == wanted


@pytest.mark.parametrize(
    "line",
    first_of(["-c foo.c", "-c foo.c -o d/x.o", "foo.c -o d/x", "foo.c -o foo", "foo.c main.c", "foo.c main.o -o foo",
              "a.c", "a.c main.o", "foo.c -o foo.exe", "foo.c a.c -o d/x.y", "foo.c -dumpdir d/z -o x"]),
)  # fmt: skip
def test_what_a_compilation_leaves_besides_is_named_as_the_host_compiler_does(line: str, project: Path) -> None:
    (project / "a.c").write_text(FOO.replace("foo", "a"))
    line += " --coverage -gsplit-dwarf -fstack-usage -fPIC -shared -w"
    found = []
    for compiler in (("gcc",), NOMP_CC):
        (project / "d").mkdir()
        succeed("gcc", "-fPIC", "-c", "main.c")
        succeed(*compiler, *line.split())
        made = set(project.rglob("*")) - set(project.glob("*.[ch]"))
        found.append({str(file.relative_to(project)) for file in made})
        shutil.rmtree("d")
        for file in made:
            file.unlink(missing_ok=True)
    assert found[1] == found[0]


# -------------------------------------------------------------------------------------------------- the host compiler


def test_the_host_compilers_status_is_ours(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert nomp_cc("-c missing.c") == 1
    assert "missing.c: No such file" in capfd.readouterr().err
    host = project / "host"
    host.write_text('#!/bin/sh\ncase "$*" in *-E*) exec gcc "$@";; esac\nexit 42\n')
    host.chmod(0o755)
    assert nomp_cc(f"--cc {host} -c foo.c") == 42
    assert nomp_cc(f"--cc {host} -v") == 42


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


# ------------------------------------------------------------------------------------------------------------- stages


@pytest.mark.parametrize("stage", ["pragmas", "c", "region", "loopy", "source"])
def test_emit_writes_no_file(stage: str, project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    before = sorted(project.iterdir())
    assert nomp_cc(f"--emit {stage} foo.c") == 0
    out = capfd.readouterr().out
    assert {
        "pragmas": "nomp for",
        "c": "nomp_pragma_run",
        "region": '"region"',
        "loopy": "KERNEL: _nomp_kernel_l3",
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
