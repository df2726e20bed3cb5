"""What ``nomp cc`` says, and that errors and debug information point at the lines of the source."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import NOMP_CC
from compiling import FOO, nomp_cc

from nomp import capi

# ------------------------------------------------------------------------------------------------------------- places


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


def test_missing_script_is_a_warning(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "foo.c").write_text(FOO.replace("nomp for", 'nomp for transform("nowhere", "tile")'))
    assert nomp_cc("-c foo.c") == 0
    assert "foo.c:3:" in (text := capfd.readouterr().err)
    assert "warning: " in text


def test_remarks(project: Path, capfd: pytest.CaptureFixture[str], golden: Callable[[str, str], None]) -> None:
    (project / "three.c").write_text(
        "void three(double *a, int n) {\n  double s = 0;\n#pragma nomp for\n  for (int i = 0; i < n; i++)\n"
        "    for (int i = 0; i < 3; i++)\n      a[i] = n;\n"
        "#pragma nomp for\n  for (int l = 0; l < n; l++)\n    a[l] = l;\n"
        '#pragma nomp for reduce("s", "+")\n  for (int j = 0; j < n; j++)\n    s += a[j];\n'
        '#pragma nomp for transform("tile", "rows")\n  for (int k = 0; k < n; k++)\n    a[k] = s;\n}\n'
    )
    (project / "tile.py").write_text("def rows(knl, context):\n    return knl\n")
    assert nomp_cc("--remarks -c three.c") == 0
    golden("driver/remarks.txt", capfd.readouterr().err)


# ------------------------------------------------------------------------------------------------------- golden texts


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("N500", "--cc no-such-compiler -c foo.c"),
        ("N502-emit", "--emit assembly foo.c"),
        ("N502-no-value", "--cc"),
        ("N502-no-file", "--emit c"),
        ("N502-other-meaning", "-fsingle-precision-constant -fwrapv -c foo.c"),
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


def test_options_that_kernels_do_not_follow(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert nomp_cc("-fwrapv -fno-strict-aliasing -c foo.c") == 0
    assert capfd.readouterr().err.count("warning: kernels are compiled as without '-f") == 2
    (project / "plain.c").write_text("int f(void) { return 1; }\n")
    assert nomp_cc("-fwrapv -fsingle-precision-constant -c plain.c") == 0
    assert capfd.readouterr().err == ""


def test_text_of_n501(project: Path, capfd: pytest.CaptureFixture[str], golden: Callable[[str, str], None]) -> None:
    host = project / "host"
    host.write_text(f'#!/bin/sh\nexec {shlex.join(NOMP_CC)} "$@"\n')
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
    golden("driver/dry-run.txt", text.replace(folder, "FOLDER").replace(str(project), "PROJECT"))
    assert not Path("app").exists()
