"""``CC="nomp cc"`` in make, CMake and a configure script's questions: incremental builds, probes, depfiles."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest
from commands import NOMP, succeed

pytestmark = pytest.mark.slow

SOURCE = """\
#include <stdio.h>
#include "count.h"
int main(int argc, char **argv) {
  int a[COUNT] = {0};
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, COUNT])
#pragma nomp for
  for (int i = 0; i < COUNT; i++)
    a[i] = i + 1;
#pragma nomp update(from : a[0, COUNT])
#pragma nomp finalize
  printf("%d\\n", a[COUNT - 1]);
  return 0;
}
"""
MAKEFILE = """\
app: main.o
\t$(CC) $(CFLAGS) main.o -o app
%.o: %.c
\t$(CC) $(CFLAGS) -MMD -MP -c $< -o $@
-include main.d
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.18)
project(app C)
include(CheckCSourceCompiles)
check_c_source_compiles("int main(void) { return 0; }" WORKS)
check_c_source_compiles("int main(void) { return nothing; }" FAILS)
if(NOT WORKS OR FAILS)
  message(FATAL_ERROR "the compiler's probes are wrong")
endif()
add_library(part STATIC part.c)
add_executable(app main.c)
target_link_libraries(app part)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in a folder of its own, and ``nomp`` on PATH."""
    folder, programs = tmp_path / "project", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    nomp = programs / "nomp"
    nomp.write_text(f'#!/bin/sh\nexec {shlex.join(NOMP)} "$@"\n')
    nomp.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CC", "nomp cc")
    (folder / "main.c").write_text(SOURCE)
    (folder / "count.h").write_text("#define COUNT 10\n")
    (folder / "part.c").write_text("int part(void) { return 1; }\n")
    return folder


def run(folder: Path, *words: str) -> str:
    return succeed(*words, cwd=folder).stdout


def test_make_rebuilds_after_a_header_changed(project: Path) -> None:
    (project / "Makefile").write_text(MAKEFILE)
    run(project, "make")
    assert run(project, "./app") == "10\n"
    assert "is up to date" in run(project, "make")
    (project / "count.h").write_text("#define COUNT 25\n")
    os.utime(project / "main.o", (1, 1))
    os.utime(project / "app", (1, 1))
    os.utime(project / "main.c", (0, 0))
    run(project, "make")
    assert run(project, "./app") == "25\n"


def test_depfiles_are_the_compilers(project: Path) -> None:
    for flags in ("-MD -MF d", "-MMD -MF d", "-MMD -MP -MT x.o -MF d", "-MD"):
        made = []
        for compiler in ("gcc -Wno-unknown-pragmas", "nomp cc"):
            run(project, *compiler.split(), *flags.split(), "-c", "main.c")
            depfile = project / ("d" if "-MF" in flags else "main.d")
            made.append(depfile.read_text().replace("\\\n", " ").split())
            depfile.unlink()
        assert "count.h" in made[0]
        assert made[0] == made[1], flags


def test_cmake(project: Path) -> None:
    (project / "CMakeLists.txt").write_text(CMAKE)
    run(project, "cmake", "-S", ".", "-B", "build")
    run(project, "cmake", "--build", "build")
    assert run(project, "build/app") == "10\n"


def test_questions_of_configure_scripts(project: Path) -> None:
    (project / "conftest.c").write_text("int main(void) { return 0; }\n")
    assert run(project, "nomp", "cc", "-dumpversion").strip()
    assert "__GNUC__" in run(project, "nomp", "cc", "-dM", "-E", "conftest.c")
    assert run(project, "nomp", "cc", "-print-prog-name=ld").strip()
    run(project, "nomp", "cc", "-Werror", "conftest.c")
    run(project, "./a.out")
