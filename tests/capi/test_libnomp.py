"""The C API, seen from C."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from capi_support import PROGRAMS, Run, bare_environment
from quick import first_of

from nomp import region_json
from nomp.capi import INCLUDE, LIBRARY
from nomp.region import Assign, Binary, Const, For, Load, Param, Place, Region, Var

OF_OTHER_TESTS = {"errors.c", "host.c", "leave.c", "mapped.c", "pragma.c", "update.c"}
OTHERS = {program.name for program in PROGRAMS.glob("*.c")} - OF_OTHER_TESTS - {"axpy.c"}


@pytest.mark.parametrize("name", first_of(["axpy.c", *sorted(OTHERS)]))
def test_program(run: Run, name: str) -> None:
    done = run(name)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


@pytest.mark.parametrize("name", first_of(["axpy.c", "threads.c"]))
def test_kernels_without_a_loop_are_not_verified_and_that_is_said_once(run: Run, name: str) -> None:
    done = run(name, NOMP_VERIFY="1", NOMP_VERBOSE="2")
    assert (done.returncode, done.stdout) == (0, "done\n")
    warning = "nomp: warning: NOMP_VERIFY has no effect here: kernels given as text have no loop in the program [N619]"
    assert [line for line in done.stderr.splitlines() if "[N619]" in line] == [warning]


BEFORE_QUIET = {
    "errors.c": [
        "nomp_update was called before nomp_init.",
        "nomp_sync was called before nomp_init.",
        "nomp_jit was called before nomp_init.",
        "Kernel id -1 passed to nomp_run is not valid.",
        "Missing argument value after: --nomp-device. [N801]",
        "Device id 77 passed into libnomp is not valid. [N614]",
        "Invalid backend: abacus. [N613]",
    ],
    "update.c": ["Invalid backend: abacus. [N613]"],
}


@pytest.mark.parametrize("name", BEFORE_QUIET)
def test_program_with_errors_before_it_is_told_to_be_quiet(run: Run, name: str) -> None:
    done = run(name)
    assert (done.returncode, done.stdout) == (0, "done\n")
    errors = [line for line in done.stderr.splitlines() if not line.startswith("help: ")]
    assert [re.sub(r"^\[Error\] libnomp/src/nomp\.c:\d+ ", "", error) for error in errors] == BEFORE_QUIET[name]


@pytest.mark.parametrize(("backend", "words"), [("opencl", ()), ("cpu", ("readable",))])
def test_where_the_device_has_an_array(run: Run, backend: str, words: tuple[str, ...]) -> None:
    done = run("mapped.c", *words, NOMP_BACKEND=backend)  # OpenCL's memory has no addresses
    assert (done.returncode, done.stdout) == (0, "done\n")


@pytest.mark.slow
def test_a_program_may_leave_while_kernels_run(run: Run) -> None:
    done = run("leave.c")
    assert (done.returncode, done.stdout, done.stderr) == (3, "done\n", "")


@pytest.mark.slow
def test_where_stderr_is_closed_warnings_do_not_get_into_the_output(run: Run, tmp_path: Path) -> None:
    said = run("leave.c", "--nomp-nothing", "1")
    assert "Unknown command line argument" in said.stderr
    closed = ["sh", "-c", "exec ./leave --nomp-nothing 1 2>&-"]
    done = subprocess.run(closed, cwd=tmp_path, env=bare_environment(), stdout=subprocess.PIPE, text=True)
    assert (done.returncode, done.stdout) == (3, said.stdout) == (3, "done\n")


def test_host_is_not_disturbed(run: Run) -> None:
    done = run("host.c", str(LIBRARY / "libnomp.so"))
    assert (done.returncode, done.stdout) == (0, "done\n")


@pytest.mark.parametrize("compiler", [["gcc", "-std=c99", "-xc"], ["g++", "-std=c++98", "-xc++"]])
@pytest.mark.parametrize("header", sorted(INCLUDE.glob("*.h")), ids=lambda header: header.name)
def test_headers_are_strict_c_and_cpp(compiler: list[str], header: Path) -> None:
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wno-unused-function", "-Werror", "-fsyntax-only"]
    subprocess.run([*compiler, *strict, "-include", header, "/dev/null"], check=True)


# ------------------------------------------------------------------------------------------------- environments


def test_python_that_is_not_there(run: Run) -> None:
    done = run("errors.c", NOMP_PYTHON="/no/such/python")
    assert "number -384 instead of -128" in done.stderr
    text = 'Python was not found at "/no/such/python". Set NOMP_PYTHON to the python of the environment that nomp is'
    assert re.search(rf"\[Error\] libnomp/src/python\.c:\d+ {re.escape(text)} installed in\.\n", done.stderr)


def test_variables_that_libnomp_needs_do_no_harm(run: Run) -> None:
    done = run("update.c", PYTHONHOME="/no/such/folder", PYTHONPATH="/no/such/folder")
    assert (done.returncode, done.stdout) == (0, "done\n")


@pytest.mark.slow
@pytest.mark.parametrize("level", ["1", "2"])
def test_what_optimizes_python_does_no_harm(level: str, run: Run) -> None:
    done = run("axpy.c", PYTHONOPTIMIZE=level)
    assert (done.returncode, done.stderr) == (0, "")


def test_python_without_nomp(run: Run, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "empty"], check=True)
    python = tmp_path / "empty" / "bin" / "python3"
    done = run("errors.c", NOMP_PYTHON=str(python))
    text = f"\"{python}\" cannot load nomp: No module named '_cffi_backend'. Set NOMP_PYTHON to the python of"
    assert text in done.stderr


def test_a_library_of_another_version(run: Run, tmp_path: Path) -> None:
    copy = shutil.copytree(INCLUDE.parents[1], tmp_path / "nomp", ignore=shutil.ignore_patterns("__pycache__", "lib"))
    bridge = copy / "capi" / "libnomp" / "src" / "bridge.cdef"
    bridge.write_text(bridge.read_text() + "int nomp_new(void);\n")
    done = run("errors.c", PYTHONPATH=str(tmp_path))
    assert "libnomp.so was built with another version of nomp than it finds in Python: install it again." in done.stderr


def test_inside_a_running_python() -> None:
    script = f"""
import ctypes
nomp = ctypes.CDLL({str(LIBRARY / "libnomp.so")!r})
argv = (ctypes.c_char_p * 3)(b"program", b"--nomp-backend", b"opencl")
print([nomp.nomp_init(3, argv), nomp.nomp_init(3, argv), nomp.nomp_get_err_no(1), nomp.nomp_finalize()])
"""
    done = subprocess.run([sys.executable, "-c", script], env=bare_environment(), capture_output=True, text=True)
    assert done.stdout == "[0, 1, -256, 0]\n"


@pytest.mark.slow
def test_pkg_config_and_cmake_find_the_library(tmp_path: Path) -> None:
    environment = bare_environment() | {"PKG_CONFIG_PATH": str(LIBRARY / "pkgconfig")}
    flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "nomp"], env=environment, text=True)
    command = ["gcc", PROGRAMS / "update.c", "-o", tmp_path / "update", *flags.split()]
    subprocess.run(command, check=True)
    for program in (tmp_path / "update", _built_with_cmake(tmp_path)):
        done = subprocess.run([program], env=bare_environment(), capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (0, "done\n")


def _built_with_cmake(folder: Path) -> Path:
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(update C)\nfind_package(nomp 0.1 REQUIRED)\n"
        f"add_executable(update {PROGRAMS / 'update.c'})\ntarget_link_libraries(update nomp::nomp)\n"
    )
    configure = ["cmake", "-S", folder, "-B", folder / "build", f"-Dnomp_DIR={LIBRARY / 'cmake' / 'nomp'}"]
    subprocess.run(configure, check=True, capture_output=True)
    subprocess.run(["cmake", "--build", folder / "build"], check=True, capture_output=True)
    return folder / "build" / "update"


# ------------------------------------------------------------------------------------------------------ pragmas

SOURCE = """\
#include <stdio.h>
int main(int argc, const char **argv) {
  int n = 10; double x = 1.5, a[10] = {0};
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, n])
#pragma nomp for
  for (int i = 0; i < n; i++) a[i] += x * i; // 1
#pragma nomp update(from : a[0, n])
}
"""


def region() -> Region:
    i = Var("i", "int32")
    cell = Load("a", (i,), "float64", Place(7, 31, 4))
    product = Binary("*", Var("x", "float64"), i, "float64")
    loop = For(
        "i", "int32", Const(0, "int32"), "<", Var("n", "int32"), Const(1, "int32"),
        (Assign(cell, Binary("+", cell, product, "float64"), Place(7, 31, 4)),), place=Place(7, 3, 3),
    )  # fmt: skip
    params = (
        Param("a", "float64", "array", "a", (None,), writes=True, place=Place(7, 31, 1)),
        Param("x", "float64", host="x", place=Place(7, 39, 1)),
        Param("n", "int32", host="n", place=Place(7, 23, 1)),
    )
    return Region("axpy", "axpy.c", 6, params, (loop,), first_line=6, text=tuple(SOURCE.splitlines()[5:7]))


def pragma(run: Run, *arguments: str, text: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    embedded = json.dumps(region_json.dumps(region()) if text is None else text)
    return run("pragma.c", *arguments, flags=(f"-DJSON={embedded}",), **environment)


@pytest.fixture(autouse=True)
def source(tmp_path: Path) -> None:
    (tmp_path / "axpy.c").write_text(SOURCE)


@pytest.mark.slow
def test_pragmas_in_two_lives(run: Run) -> None:
    done = pragma(run)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "0 3 6 9 12 15 18 21 24 27 done\n"


def test_loop_before_init(run: Run) -> None:
    done = pragma(run, "early")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "axpy.c:7:3: error: nomp is not initialized [N602]\n"
        "    7 |   for (int i = 0; i < n; i++) a[i] += x * i; // 1\n"
        "      |   ^~~\n"
        "help: start nomp first: add '#pragma nomp init(argc, argv)' at the beginning of main\n"
    )


@pytest.mark.slow
def test_going_on_after_an_error(run: Run) -> None:
    done = pragma(run, "early", NOMP_ON_ERROR="continue")
    assert (done.returncode, done.stdout) == (0, "0 3 6 9 12 15 18 21 24 27 done\n")
    assert "[N602]" in done.stderr


def test_array_that_is_not_mapped(run: Run) -> None:
    done = pragma(run, "unmapped")
    assert done.returncode == 1
    assert re.sub("0x[0-9a-f]+", "0x7f00", done.stderr) == (
        "axpy.c:7:31: error: Map pointer 0x7f00 was not found on device. It is 'a' of kernel 'axpy' [N607]\n"
        "    7 |   for (int i = 0; i < n; i++) a[i] += x * i; // 1\n"
        "      |                               ^\n"
        "help: map it before the loop: #pragma nomp update(to : a[start, end])\n"
    )


def test_update_of_what_is_not_mapped(run: Run) -> None:
    done = pragma(run, "absent")
    assert done.returncode == 1
    place, source_line, caret, *_ = done.stderr.splitlines()
    assert place.startswith("axpy.c:8:28: error: ") and place.endswith("[N604]")
    assert source_line == "    8 | #pragma nomp update(from : a[0, n])"
    assert caret == "      |                            ^"


def test_source_that_has_changed_is_quoted_as_it_was(run: Run, tmp_path: Path) -> None:
    (tmp_path / "axpy.c").write_text("// another file\n" * 9)
    assert "    7 |   for (int i = 0; i < n; i++) a[i] += x * i; // 1\n" in pragma(run, "unmapped").stderr


def test_program_of_another_version(run: Run) -> None:
    done = pragma(run, text='{"version":0,"region":null}')
    assert done.returncode == 1
    assert done.stderr == (
        "axpy.c:6:1: error: the program was built by another version of nomp: region of version 0, this nomp reads "
        "version 2 [N655]\n"
        "    6 | #pragma nomp for\n"
        "      | ^~~~~~~~~~~~~~~~\n"
        "help: build it again with this version's `nomp cc`\n"
    )
