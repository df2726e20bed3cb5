"""Builds ``libnomp.so``, the files that let C build systems find it, and the threads of the CPU's backend.

In: ``libnomp/src`` (C), ``share`` (templates), ``threads.c`` of the backend.  Out: a folder ``lib`` with
``libnomp.so``, ``pkgconfig/nomp.pc`` and ``cmake/nomp``, and one of the backend's with ``libnomp_threads.so``.  Called
by hatchling as its build hook (an installation), or as ``python -m nomp.capi.build``, which builds beside the sources
with the interpreter that runs it.

cffi writes the glue between C and ``nomp/capi/api.py``; the host's C compiler does the rest.  The library embeds
Python, so that it needs ``Python.h`` and a shared libpython.  This file imports nothing of nomp: when hatchling runs
it, nomp is not installed yet.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BACKENDS = HERE.parent.parent / "backends" / "nomp_backends"
SOURCES = ("log.c", "python.c", "replay.c", "timing.c", "nomp.c", "pragma.c")
INIT_CODE = """
from _nomp_bridge import ffi, lib
from nomp.capi import api
api.register(ffi, lib)
"""


class BuildError(Exception):
    """libnomp.so cannot be built here; the text says what is missing and how to get it."""


def build(lib: Path, backends_lib: Path, version: str) -> None:
    """Build everything into the folder *lib*, but the threads into *backends_lib*; `BuildError` if something is
    missing."""
    compiler, python_library = _compiler(), _python_library()
    _require_python_header()
    (lib / "pkgconfig").mkdir(parents=True, exist_ok=True)
    (lib / "cmake" / "nomp").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(scratch) / "libnomp.so"
        _compile(compiler, python_library, _glue(Path(scratch)), built)
        _move_into_place(built, lib / "libnomp.so")
        _build_threads(compiler, Path(scratch) / "libnomp_threads.so", backends_lib)
    _fill_in("nomp.pc.in", lib / "pkgconfig" / "nomp.pc", version)
    _fill_in("nompConfigVersion.cmake.in", lib / "cmake" / "nomp" / "nompConfigVersion.cmake", version)
    shutil.copyfile(HERE / "share" / "nompConfig.cmake", lib / "cmake" / "nomp" / "nompConfig.cmake")


def _compiler() -> list[str]:
    command = shlex.split(os.environ.get("CC") or "cc")
    if shutil.which(command[0]):
        return command
    raise BuildError(f"libnomp.so needs a C compiler, but {command[0]!r} was not found: install Debian's gcc or set CC")


def _require_python_header() -> None:
    folder = Path(sysconfig.get_path("include"))
    if not (folder / "Python.h").is_file():
        raise BuildError(f"libnomp.so needs Python.h, which is not in {folder}: install Debian's python3-dev")


def _python_library() -> Path:
    """The shared libpython of this interpreter."""
    name, folder = sysconfig.get_config_var("LDLIBRARY") or "", sysconfig.get_config_var("LIBDIR") or ""
    library = Path(folder, name)
    if ".so" in name and library.is_file():
        return library
    raise BuildError(
        f"libnomp.so needs a shared libpython, which {sys.executable} does not have in {folder}: install Debian's "
        "python3-dev, or use a Python that was configured with --enable-shared"
    )


def _glue(scratch: Path) -> Path:
    """The C file that cffi makes of ``bridge.cdef``."""
    from cffi import FFI

    ffi = FFI()
    ffi.embedding_api("")  # the exported functions are written in C; Python's are called by them
    bridge = (HERE / "libnomp" / "src" / "bridge.cdef").read_text()
    ffi.cdef(bridge)
    ffi.embedding_init_code(INIT_CODE)
    ffi.set_source("_nomp_bridge", f'#include "bridge.h"\nconst char nomp_bridge[] = {_c_string(bridge)};')
    path = scratch / "bridge.c"
    with contextlib.redirect_stdout(None):  # cffi announces what it does
        ffi.emit_c_code(str(path))
    return path


def _build_threads(compiler: list[str], built: Path, lib: Path) -> None:
    lib.mkdir(exist_ok=True)
    command = [
        *compiler, "-std=gnu11", "-shared", "-fPIC", "-O2", "-g", "-fvisibility=hidden", "-pthread", "-Wall", "-Wextra",
        "-Wno-unused-parameter", "-D_GNU_SOURCE", "threads.c", "-o", str(built),
    ]  # fmt: skip
    _run(command, BACKENDS / "cpu_text")
    _move_into_place(built, lib / built.name)


def _compile(compiler: list[str], python_library: Path, glue: Path, output: Path) -> None:
    """Compile in this folder, so that ``__FILE__`` in the log is the short ``libnomp/src/nomp.c``."""
    folders = ("include", "libnomp/src", sysconfig.get_path("include"), sysconfig.get_path("platinclude"))
    command = [
        *compiler, "-shared", "-fPIC", "-O2", "-g", "-fvisibility=hidden", "-pthread", "-Wall", "-Wextra",
        "-Wno-unused-parameter", "-Wno-missing-field-initializers", "-Wno-sign-compare", "-Wno-cast-function-type",
        "-D_GNU_SOURCE", f"-DNOMP_BUILD_PYTHON={_c_string(sys.executable)}",
        *(f"-I{folder}" for folder in dict.fromkeys(folders)),
        *(f"libnomp/src/{source}" for source in SOURCES), str(glue),
        "-o", str(output), "-Wl,-soname,libnomp.so", "-Wl,--version-script=libnomp/src/exports.map",
        *_link_flags(python_library), "-ldl",
    ]  # fmt: skip
    _run(command, HERE)


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"the C compiler could not do its part:\n{shlex.join(command)}\n{done.stderr}")


def _c_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _link_flags(python_library: Path) -> list[str]:
    """Link to *python_library*, with a run path where the loader would not find it."""
    name = python_library.name.removeprefix("lib").partition(".so")[0]
    flags = [f"-L{python_library.parent}", f"-l{name}"]
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    system = {Path(root, leaf) for root in ("/lib", "/usr/lib") for leaf in ("", multiarch)} | {Path("/usr/lib64")}
    return flags if python_library.parent in system else [*flags, f"-Wl,-rpath,{python_library.parent}"]


def _move_into_place(built: Path, target: Path) -> None:
    """Replace *target* in one step: a program that has the old library loaded keeps it."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy2(built, temporary)
    os.replace(temporary, target)


def _fill_in(template: str, target: Path, version: str) -> None:
    target.write_text((HERE / "share" / template).read_text().replace("@VERSION@", version))


def get_build_hook() -> type:
    """The hook, for hatchling (which is not installed where this file runs as a script)."""
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class LibnompHook(BuildHookInterface):  # type: ignore[misc]
        """Builds into the wheel, or, for an editable installation, beside this file."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            if self.target_name != "wheel":
                return
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            lib, backends_lib = HERE / "lib", BACKENDS / "lib"
            if version != "editable":
                self.scratch = tempfile.TemporaryDirectory()
                lib, backends_lib = Path(self.scratch.name, "nomp"), Path(self.scratch.name, "backends")
                build_data["force_include"] |= {str(lib): "nomp/capi/lib", str(backends_lib): "nomp_backends/lib"}
            try:
                build(lib, backends_lib, self.metadata.version)
            except BuildError as problem:
                raise SystemExit(f"nomp: {problem}") from None

        def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
            if hasattr(self, "scratch"):
                self.scratch.cleanup()

    return LibnompHook


def main() -> int:
    """Build beside this file."""
    project = tomllib.loads((HERE.parent.parent / "pyproject.toml").read_text())["project"]
    try:
        build(HERE / "lib", BACKENDS / "lib", project["version"])
    except BuildError as problem:
        print(f"nomp: {problem}", file=sys.stderr)
        return 1
    print(HERE / "lib" / "libnomp.so")
    return 0


if __name__ == "__main__":
    sys.exit(main())
