"""``nomp config``: what a build system must know to use libnomp, and the table of settings.

In: the options.  Out: flags on one line, in the order of `pkg-config` (several options may be combined), shell commands
for ``--env``, a task for an editor, or without an option the table of settings.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from nomp import capi
from nomp.config import markdown_table
from nomp.driver import library

_DESCRIPTION = "Print flags for compiling C programs that use nomp.h, or, without an option, the table of settings."

_TASKS = {
    "version": "2.0.0",
    "tasks": [
        {
            "label": "nomp check",
            "type": "shell",
            "command": "nomp",
            "args": ["check", "${file}"],
            "problemMatcher": {
                "owner": "nomp",
                "source": "nomp",
                "severity": "info",  # of remarks, which it does not know
                "fileLocation": ["autoDetect", "${workspaceFolder}"],
                "pattern": {
                    "regexp": r"^(.+?):(\d+):(\d+): (error|warning|remark|note): (.+?)(?: \[(N\d{3})\])?$",
                    "file": 1, "line": 2, "column": 3, "severity": 4, "message": 5, "code": 6,
                },
            },
        }
    ],
}  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Run ``nomp config``.  `NompError` N504 if flags are asked for and libnomp.so has not been built."""
    options = _parse(arguments)
    if not any(vars(options).values()):
        print(markdown_table(), end="")
        return 0
    if options.problem_matcher:
        print(json.dumps(_TASKS, indent=2))
        return 0
    library.require()
    flags = [f"-I{capi.INCLUDE}"], library.link_words(), [str(_cmake_folder())]
    asked = options.cflags, options.libs, options.cmakedir
    words = [word for wanted, some in zip(asked, flags, strict=True) if wanted for word in some]
    if words:
        print(shlex.join(words))
    if options.env:
        print(_environment(), end="")
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="nomp config", description=_DESCRIPTION)
    parser.add_argument("--cflags", action="store_true", help="flags for the C compiler")
    parser.add_argument("--libs", action="store_true", help="flags for the linker, the run path included")
    parser.add_argument("--cmakedir", action="store_true", help="the folder for CMake's nomp_DIR")
    parser.add_argument("--problem-matcher", action="store_true", help="a tasks.json for Visual Studio Code")
    parser.add_argument("--env", action="store_true", help="shell commands that let pkg-config and CMake find nomp")
    return parser.parse_args(arguments)


def _cmake_folder() -> Path:
    return capi.LIBRARY / "cmake" / "nomp"


def _environment() -> str:
    packages = shlex.quote(str(capi.LIBRARY / "pkgconfig"))
    return (
        f"export NOMP_PYTHON={shlex.quote(sys.executable)}\n"
        f"export PKG_CONFIG_PATH={packages}${{PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}}\n"
        f"export nomp_DIR={shlex.quote(str(_cmake_folder()))}\n"
    )
