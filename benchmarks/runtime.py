"""Time what nomp adds to a program: its launches beside OpenCL's own, its start beside that of a program without nomp.

    python benchmarks/runtime.py [--rounds 11] [--json FILE]

All figures are of one run; programs that are compared take turns.  Prints a table in Markdown with the goals of each
figure.  Exit status 1 if a program fails or its result is wrong; times never fail.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any

from nomp_backends import opencl_driver

HERE = Path(__file__).parent / "runtime"
NOMP_CC = (sys.executable, "-m", "nomp.driver", "cc")


@dataclass(frozen=True)
class Run:
    """A process: seconds from start to answer, those of processors to its end, and its memory at most, in MB."""

    seconds: float
    processor: float
    memory: float


def main(words: list[str] | None = None) -> int:
    """Build, run, print; the exit status."""
    parser = argparse.ArgumentParser(description="Time nomp's launches and the start of its programs.")
    parser.add_argument("--rounds", type=int, default=11, help="how often programs are started (default: 11)")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as name:
        try:
            figures = measured(Path(name), options.rounds)
        except subprocess.CalledProcessError as problem:
            print(f"{problem}\n{problem.stderr or ''}", file=sys.stderr)
            return 1
    print("\n".join(report(figures)))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))
    return 0


def measured(folder: Path, rounds: int) -> dict[str, Any]:
    """All figures, by name."""
    loader = _loader()
    environment = os.environ | {
        "NOMP_BENCH_OPENCL": loader, "LD_LIBRARY_PATH": str(Path(loader).parent), "NOMP_BACKEND": "opencl",
        "NOMP_CACHE_DIR": str(folder / "cache"), "POCL_CACHE_DIR": str(folder / "pocl"), "POCL_SIGFPE_HANDLER": "0",
    }  # fmt: skip
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installation has its modules compiled
    for source, *more in (("launch.c", "-ldl"), ("start.c",), ("start_raw.c", "-ldl")):
        compiler = NOMP_CC if source != "start_raw.c" else ("gcc",)
        words = (*compiler, "-O2", HERE / source, "-o", folder / Path(source).stem, *more)
        subprocess.run(words, check=True, capture_output=True, text=True)
    figures = json.loads(_said(environment, folder / "launch"))
    figures["python"] = json.loads(_said(environment, sys.executable, HERE / "call.py"))
    figures["tenth"] = float(_said(environment, sys.executable, HERE / "tenth.py"))
    return figures | _starts(folder, environment, rounds)


def _loader() -> str:
    """pyopencl's OpenCL, by the path that this process has it from."""
    opencl_driver.library()
    maps = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split(maxsplit=5)[5] for line in maps if "libOpenCL" in line)


def _said(environment: Mapping[str, str], *words: str | Path) -> str:
    return subprocess.run(words, env=environment, check=True, capture_output=True, text=True).stdout


def _starts(folder: Path, environment: Mapping[str, str], rounds: int) -> dict[str, Any]:
    programs = ("start", "start_raw")
    found: dict[str, Any] = {}
    for state in ("cold", "warm"):  # the last cold runs fill the caches of the warm ones
        runs: dict[str, list[Run]] = {program: [] for program in programs}
        for _ in range(rounds):
            for program in programs:
                if state == "cold":
                    _forget(folder, program)
                own = {"POCL_CACHE_DIR": str(folder / f"pocl {program}")}
                runs[program].append(_started(folder / program, {**environment, **own}))
        for program in programs:
            names = [field.name for field in fields(Run)]
            found[f"{program} {state}"] = {name: median(getattr(run, name) for run in runs[program]) for name in names}
    return found


def _forget(folder: Path, program: str) -> None:
    """Empty the caches, PoCL's of *program* alone: the other one's last run is to be warm."""
    shutil.rmtree(folder / f"pocl {program}", ignore_errors=True)
    if program == "start":
        shutil.rmtree(folder / "cache", ignore_errors=True)


def _started(program: Path, environment: Mapping[str, str]) -> Run:
    start = time.perf_counter()
    process = subprocess.Popen([program], env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    answer = process.stdout.readline()
    seconds = time.perf_counter() - start
    answer += process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or answer != "501.5\n":
        raise subprocess.CalledProcessError(process.returncode, str(program), answer, f"it printed {answer!r}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def report(figures: Mapping[str, Any]) -> Iterator[str]:
    """The table: what, nomp's, without nomp, the two compared, and the goal."""
    rows = [("", "nomp", "OpenCL alone", "compared", "goal"), ("---", *["--:"] * 4)]
    for name, what, goal in (
        ("enqueue", "a launch, enqueued, us", "2.0"),
        ("finish", "a launch, waited for, us", "1.1"),
    ):
        part = figures[name]
        rows.append((what, f"{part['nomp']:.2f}", f"{part['raw']:.2f}", f"{part['ratio']:.2f} times", f"{goal} times"))
    maps, few, python = figures["enqueue with 10000 maps"], figures["enqueue"], figures["python"]
    more = maps["more"] - few["more"]
    row = "the first, with 10000 maps, us", f"{maps['nomp']:.2f}", f"{maps['raw']:.2f}", f"{more:+.2f} us", "0.2 us"
    rows.append(row)
    more = python["10000"] - python["few"]
    rows.append(("a look-up in 10000 maps, us", f"{python['10000']:.2f}", "", f"{more:+.2f} us", "0.2 us"))
    words = f"{python['call']:.2f}", f"{python['raw']:.2f}", f"{python['more']:+.2f} us"
    rows.append(("a launch from Python, us", *words, "10 us"))
    for state, goal in (("cold", "0.5 s"), ("warm", "0.25 s in all")):
        mine, alone = figures[f"start {state}"], figures[f"start_raw {state}"]
        for what, name in ((f"a program of one kernel, {state}, s", "seconds"), ("its processor time, s", "processor")):
            more = f"{mine[name] - alone[name]:+.3f} s"
            rows.append((what, f"{mine[name]:.3f}", f"{alone[name]:.3f}", more, goal if name == "seconds" else ""))
    mine, alone = figures["start warm"]["memory"], figures["start_raw warm"]["memory"]
    rows.append(("its memory, warm, MB", f"{mine:.0f}", f"{alone:.0f}", f"{mine - alone:+.0f} MB", "150 MB"))
    rows.append(("nomp's own processor time for a tenth kernel, ms", f"{figures['tenth'] * 1000:.0f}", "", "", "80 ms"))
    yield from (f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
