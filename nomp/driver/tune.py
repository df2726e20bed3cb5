"""``nomp tune``: runs a program so that it tunes its own kernels on its own data.

In: the command of the program, and, to tune these alone, the files whose loops count.  Out: what the program prints,
and on stderr a line for each kernel that has been tuned; the program's exit status.  What is measured is used whenever
the program, or another one with the same loops, runs on that device.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from nomp.diagnostics import Diagnostic, error
from nomp.driver import running

_DESCRIPTION = """Run a program that nomp has compiled, and try for each kernel the choices that its scripts leave
open (context.param), on the program's own data. A search that is interrupted goes on when it is started again."""


def main(arguments: Sequence[str]) -> int:
    """Run ``nomp tune``; the exit status."""
    words = list(arguments)
    place = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(
        prog="nomp tune", usage="%(prog)s [OPTION ...] [FILE.c ...] -- PROGRAM [ARGUMENT ...]", description=_DESCRIPTION
    )
    parser.add_argument("files", nargs="*", metavar="FILE.c", help="tune the loops of this file (default: all)")
    parser.add_argument("--sampler", choices=("auto", "exhaustive", "random", "tpe"), default="auto",
                        help="how to search; tpe needs Optuna (default: all choices, if they are few)")  # fmt: skip
    parser.add_argument("--trials", type=int, default=64, help="how many choices to try for a kernel (default: 64)")
    parser.add_argument("--dir", type=Path, help="where to keep what is measured (default: with nomp's cache)")
    options, command = parser.parse_args(words[:place]), words[place + 1 :]
    if not command:
        raise error("N705", "nomp tune needs a program", help="write nomp tune foo.c -- ./foo ARGUMENTS")
    return run(command, files=options.files, sampler=options.sampler, trials=options.trials, folder=options.dir)


def run(
    command: Sequence[str], *, files: Sequence[str] = (), sampler: str = "auto", trials: int = 64,
    folder: Path | None = None,
) -> int:  # fmt: skip
    """Run *command* as ``nomp tune`` does; its exit status.  N705 for files and programs that are not there.

    Warns on stderr: N706 if it has launched nothing that could be tuned.
    """
    paths = [os.path.abspath(file) for file in files]
    for path, file in zip(paths, files, strict=True):
        if not Path(path).is_file():
            raise error(
                "N705", f"no file '{file}'", help="name the C files whose loops are to be tuned, then -- PROGRAM"
            )
        if ":" in path:  # which stands between files in the setting
            raise error("N705", f"the path {path} has a ':' in it", help="name no files, or move the program")
    settings = {"NOMP_TUNE": sampler, "NOMP_TUNE_TRIALS": str(trials), "NOMP_TUNE_FILES": ":".join(paths)}
    if folder is not None:
        settings["NOMP_TUNING_DIR"] = str(folder)
    with tempfile.TemporaryDirectory(prefix="nomp-tune-") as seen:
        status = running.run(command, settings | {"NOMP_TUNE_SEEN": seen}, "N705")
        if not any(Path(seen).iterdir()):
            print(_nothing(command[0], status, files).render(), file=sys.stderr)
    return status


def _nothing(program: str, status: int, files: Sequence[str]) -> Diagnostic:
    where = f" of {', '.join(files)}" if files else ""
    message = f"'{program}' has launched no loop{where} that can be tuned (it ended with status {status})"
    step = "tune a program of 'nomp cc' whose scripts call context.param, and name the files of those loops, or none"
    return Diagnostic("N706", message, severity="warning", help=step)
