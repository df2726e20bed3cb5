"""The program ``nomp``: picks the verb, runs it, and turns errors into messages and exit statuses.

In: the command line.  Out: an exit status: the verb's own, 1 for errors in the user's input, 3 for a defect of nomp.
A verb is a module of this package with ``main(arguments) -> int``; it is imported when it is called, because
``nomp --help`` must not wait for loopy.  Set ``NOMP_DEBUG=1`` to see tracebacks.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from nomp.diagnostics import NompError
from nomp.driver import report

VERBS = {
    "cc": "compile C with nomp's pragmas: a drop-in for the C compiler",
    "run": "run a Python program with the loops under its pragmas as kernels",
    "check": "what is refused in C files, and which loops have independent iterations",
    "explain": "what a diagnostic's code means, or what is done with a loop",
    "cache": "what the kernel cache holds: ls, show, clear, path",
    "tune": "run a program and find the fastest choices for its kernels",
    "devices": "every backend and device, with PASS or the reason it cannot be used",
    "profile": "run a program and say where its time goes",
    "roofline": "measure a device, and how near a program's kernels come to it",
    "config": "flags for build systems, and the table of settings",
    "completion": "what a shell needs to complete these verbs",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``nomp`` with *arguments* (``sys.argv`` without the program where None)."""
    verb, rest = _parse(sys.argv[1:] if arguments is None else list(arguments))
    try:
        status: int = import_module(f"nomp.driver.{verb}").main(rest)
        return status
    except NompError as problem:
        if _debugging():
            traceback.print_exc()
        report.show(problem.diagnostics)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has gone, as in `nomp explain N101 | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as defect:
        if _debugging():
            traceback.print_exc()
        what = f"{type(defect).__name__}: {defect}"
        print(f"nomp: internal error: {what} (please report it; NOMP_DEBUG=1 shows where)", file=sys.stderr)
        return 3


def _parse(words: list[str]) -> tuple[str, list[str]]:
    """The verb and its words.  Only what stands before the verb is for us: ``cc`` passes nearly everything on."""
    if words and words[0] in VERBS:
        return words[0], words[1:]
    parser = argparse.ArgumentParser(
        prog="nomp",
        description="Compiles annotated loops of C and Python for devices, by schedules that you write in Python.",
        epilog="nomp VERB --help says more about a verb.",
    )
    parser.add_argument("--version", action=_Version, help="print the version")
    verbs = parser.add_subparsers(title="verbs", dest="verb", metavar="VERB", required=True)
    for name, text in VERBS.items():
        verbs.add_parser(name, help=text, add_help=False)
    known, rest = parser.parse_known_args(words)
    return known.verb, rest


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"nomp {version('nomp')}")
        parser.exit()


def _debugging() -> bool:
    from nomp import config  # no command needs it before something has failed

    return config.debugging()
