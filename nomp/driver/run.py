"""``nomp run``: runs a Python program whose annotated loops are launched as kernels.

In: the program's file and its arguments.  Out: what the program does; its exit status.  Modules that it imports count
too.  To the program all is as under ``python``: ``sys.argv``, ``sys.path``, ``__main__``, tracebacks.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, TracebackType

from nomp import config
from nomp.diagnostics import NompError, error
from nomp.driver import report

_DESCRIPTION = "Run a Python program with the loops under '#pragma nomp for' as kernels."
_SETTINGS = {"backend": "which backend", "platform": "which platform of it", "device": "which device of the platform"}


def main(arguments: Sequence[str]) -> int:
    """Run ``nomp run``; the program's status: 1 for an exception that nothing catches."""
    parser = argparse.ArgumentParser(prog="nomp run", description=_DESCRIPTION)
    for name, text in _SETTINGS.items():
        parser.add_argument(f"--{name}", metavar=name[0].upper(), help=f"{text} to use (NOMP_{name.upper()})")
    parser.add_argument("--verify", action="store_true", help="run each loop in Python too, and compare (NOMP_VERIFY)")
    parser.add_argument("program", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program gets as sys.argv[1:]")
    options = parser.parse_args(arguments)
    for name in _SETTINGS:
        if getattr(options, name) is not None:
            os.environ[f"NOMP_{name.upper()}"] = getattr(options, name)
    if options.verify:
        os.environ["NOMP_VERIFY"] = "1"
    return _run(options.program, options.arguments)


def _run(file: str, arguments: Sequence[str]) -> int:
    from nomp.runtime import loader

    try:
        data = Path(file).read_bytes()
    except OSError as reason:
        step = "give a file with a Python program"
        raise error("N807", f"cannot read '{file}': {reason.strerror}", help=step) from None
    module = ModuleType("__main__")
    path = os.path.abspath(file)  # as Python has it
    vars(module).update(__file__=path, __builtins__=__builtins__, __spec__=None)
    sys.modules["__main__"] = module
    sys.argv = [file, *arguments]
    sys.path.insert(0, str(Path(file).resolve().parent))
    loader.enable()
    try:
        loader.execute(path, data, vars(module))
    except NompError as problem:
        if config.debugging():
            traceback.print_exc()
        report.show(problem.diagnostics)
        return 1
    except Exception as problem:
        traceback.print_exception(problem.with_traceback(_own_frames(problem)))
        return 1
    return 0


def _own_frames(problem: BaseException) -> TracebackType | None:
    """The traceback of *problem* from the program's first frame on."""
    frames = problem.__traceback__
    while frames and frames.tb_frame.f_globals.get("__name__", "").startswith("nomp."):
        frames = frames.tb_next
    return frames
