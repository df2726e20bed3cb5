"""``nomp profile``: runs a program and says where its time goes.

In: a command; C and Python programs, and ``mpirun`` with them.  Out: a table on stderr, and the files asked for.  The
program writes what it measures as it goes (`report.events`), so what there is of a program that crashes is shown too.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from nomp import config, launchers
from nomp.diagnostics import Diagnostic, error
from nomp.driver import reports, running
from nomp.report import peaks
from nomp.report.events import Run, read_folder
from nomp.report.peaks import Peaks
from nomp.report.tables import table

_DESCRIPTION = """Run a program and print what its kernels, copies and the compiler took, on stderr. The exit status is
the program's. Several processes (mpirun -n 4 ./program) make one table."""


def main(arguments: Sequence[str]) -> int:
    """Run ``nomp profile``; the program's exit status, or 1 if it did well and a report cannot be made."""
    usage = "%(prog)s [OPTION ...] [--] PROGRAM [ARGUMENT ...]"
    parser = argparse.ArgumentParser(prog="nomp profile", usage=usage, description=_DESCRIPTION)
    add_options(parser)
    options = parsed(parser, arguments)
    if not options.command:
        parser.error("name a program")
    return profiled(options)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Those of all verbs that profile."""
    parser.add_argument("--json", metavar="FILE", help="write the table's numbers (seconds, bytes) as JSON")
    parser.add_argument("--trace", metavar="FILE", help="write a trace for ui.perfetto.dev or chrome://tracing")
    parser.add_argument("--html", metavar="FILE", help="write a page with tables, code and the roofline")
    parser.add_argument("--dir", metavar="FOLDER", help="keep what each process has measured in this folder")


def parsed(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """*arguments*, with the program's in ``command``."""
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="PROGRAM", help="the program and its arguments")
    options = parser.parse_args(arguments)
    options.command = options.command[options.command[:1] == ["--"] :]
    return options


def profiled(
    options: argparse.Namespace, limits: Peaks | None = None, more: Mapping[str | None, reports.Maker] | None = None
) -> int:
    """Run the program of *options* and write its reports, *more* of them besides; the exit status.

    *limits* are the device's, where they are not to be looked for among those that are kept.
    """
    asked = {options.json: reports.as_json, options.trace: reports.as_trace, options.html: reports.as_page}
    files = {name: make for name, make in {**asked, **(more or {})}.items() if name}
    _warn_of_ranks([*files, *filter(None, [options.dir])], options.command)
    folder = _folder(options.dir)
    is_needed = True
    try:
        settings = {"NOMP_PROFILE": "1", "NOMP_PROFILE_DIR": str(folder)}
        status = running.run(options.command, settings, "N621")
        runs = _measured(options.command[0], folder, status)
        measured = reports.Measured(runs, limits or _known(runs))
        print(f"\n{table(measured.profile, measured.peaks)}", end="", file=sys.stderr)
        failed = reports.write(files, measured, f"what was measured is kept in {folder}")
        is_needed = bool(failed or options.dir)
    finally:
        if not (is_needed and any(folder.iterdir())):
            shutil.rmtree(folder)
    return status or failed


def _warn_of_ranks(names: Sequence[str], command: Sequence[str]) -> None:
    """Warn N622 if each of MPI's processes is about to write files of these *names*."""
    count = launchers.ranks(os.environ)
    if names and count > 1:
        message = f"each of {count} processes writes {names[0]}: if it is one file, it will be the last one's"
        step = f"'nomp profile ... mpirun -n {count} {command[0]}' makes one report of all processes"
        print(Diagnostic("N622", message, severity="warning", help=step).render(), file=sys.stderr)


def _folder(asked: str | None) -> Path:
    """Where processes write: the folder *asked* for, or a new one.  N622 if it cannot be made."""
    if asked is None:
        return Path(tempfile.mkdtemp(prefix="nomp-profile-"))
    path = Path(asked).absolute()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise error("N622", f"{path} cannot be made: {reason.strerror}", help="name another folder") from reason
    if any(path.glob("*.jsonl")):
        raise error("N622", f"{path} holds measurements already", help="name a new folder, or remove its files")
    return path


def _measured(program: str, folder: Path, status: int) -> list[Run]:
    try:
        runs, cut = read_folder(folder)
    except ValueError as reason:
        step = f"compile the program with the nomp that profiles it; what was measured is kept in {folder}"
        raise error("N621", f"what '{program}' has measured cannot be read: {reason}", help=step) from reason
    if cut:
        print(f"nomp: {cut} of {cut + len(runs)} processes could write nothing of what they measured", file=sys.stderr)
    if not runs:
        message = f"'{program}' has measured nothing (it ended with status {status})"
        raise error("N621", message, help="it must start nomp: '#pragma nomp init(argc, argv)', or nomp_init")
    if status > 128:
        print(f"nomp: '{program}' was ended by signal {status - 128}; this was measured before:", file=sys.stderr)
    return runs


def _known(runs: Sequence[Run]) -> Peaks | None:
    """The peaks of the device that all *runs* used, if they have been measured."""
    devices = {(run.header.device, run.header.driver) for run in runs}
    return peaks.known(config.load(), *devices.pop()) if len(devices) == 1 else None
