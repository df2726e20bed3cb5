"""Time the kernels in `benchmarks/cpu`, built three ways: by gcc, by gcc with OpenMP, and by nomp without scripts.

    python benchmarks/cpu.py [--kernel gemm] [--size medium] [--rounds 3] [--domains] [--json FILE]
                             [--markdown FILE]

The three programs of a kernel take turns, each run a process of its own that times its kernel several times; the
shortest time counts.  Prints tables in Markdown, with the ratios of the other two programs' times to nomp's: above 1,
nomp is faster.  With --domains, kernels whose loops are annotated are tuned, each size by itself, with the annotation
script of their domain, and run so as well.  Exit status 1 if a program fails, or if its results are not the serial
program's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path
from statistics import geometric_mean

from nomp import backend, config
from nomp.runtime.devices import open_device

HERE = Path(__file__).parent
SOURCES = {path.stem: path for path in sorted((HERE / "cpu").glob("*.c"))}
SIZES = ("small", "medium", "large")
OPTIONS = ("-O3", "-march=native")
TOLERANCE = 1e-9
"""How far checksums may differ, relative to the serial program's: sums are added in other orders."""

# What a reader takes the names in the table for: the compiler, and what is set in the environment of the program.
COMPILERS = {
    "serial": (("gcc", *OPTIONS), {}),
    "omp": (("gcc", *OPTIONS, "-fopenmp"), {"OMP_PROC_BIND": "true"}),
    "nomp": ((sys.executable, "-m", "nomp.driver", "cc", *OPTIONS), {}),
}
TUNED = "tuned"
"""The program by nomp, with a domain's script and what tuning it has found."""
DOMAINS = {
    "fdtd-2d": "stencil", "gesummv": "dense", "heat-3d": "stencil", "jacobi-1d": "stencil", "jacobi-2d": "stencil",
    "spectral": "sem", "spmv": "sparse",
}  # fmt: skip


@dataclass
class Case:
    """A *kernel* at a *size*: the shortest run of each program, in seconds, and what went wrong."""

    kernel: str
    size: str
    seconds: dict[str, float] = field(default_factory=dict)
    medians: dict[str, float] = field(default_factory=dict)
    checksum: float | None = None
    wrong: list[str] = field(default_factory=list)

    def ratio(self, other: str, ours: str = "nomp") -> float | None:
        """How many times as long as *ours* the *other* program's shortest run is; None if one of them failed."""
        return self.seconds[other] / self.seconds[ours] if {other, ours} <= self.seconds.keys() else None


def main(words: list[str] | None = None) -> int:
    """Build, run, print; the exit status."""
    options = _options().parse_args(words)
    options.build.mkdir(parents=True, exist_ok=True)
    kernels = options.kernel or list(SOURCES)
    failed = {kernel: _compile(kernel, options.build) for kernel in kernels}
    cases = [Case(kernel, size) for kernel in kernels for size in options.size or SIZES]
    for number, case in enumerate(cases, 1):
        print(f"{number}/{len(cases)} {case.kernel} {case.size}", file=sys.stderr)
        case.wrong += failed[case.kernel]
        if not case.wrong:
            _measure(case, options)
    report = "\n".join(_report(cases))
    print(report)
    if options.markdown:
        options.markdown.write_text(report + "\n")
    if options.json:
        options.json.write_text(json.dumps({"machine": _machine(), "cases": [vars(case) for case in cases]}, indent=1))
    wrong = [f"{case.kernel} {case.size}: {what}" for case in cases for what in case.wrong]
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compare nomp with gcc, and with gcc's OpenMP, on small kernels.")
    parser.add_argument("--kernel", action="append", choices=SOURCES, help="this kernel; may be repeated")
    parser.add_argument("--size", action="append", choices=SIZES, help="this size; may be repeated")
    parser.add_argument("--rounds", type=int, default=3, help="how often each program is run (default: 3)")
    parser.add_argument("--domains", action="store_true", help="tune with the domains' scripts, and run so as well")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write what is printed to FILE, too")
    parser.add_argument("--build", type=Path, default=HERE.parent / "build" / "bench", help="where programs are built")
    return parser


def _program(kernel: str, name: str, build: Path) -> Path:
    return build / f"{kernel}.{name}"


def _compile(kernel: str, build: Path) -> list[str]:
    """Build the programs of *kernel*; the messages of the compilers that failed."""
    wrong = []
    for name, (compiler, _) in COMPILERS.items():
        command = (*compiler, str(SOURCES[kernel]), "-o", str(_program(kernel, name, build)), "-lm")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            wrong.append(f"{name} does not compile: {done.stderr.strip()}")
    return wrong


def _programs(case: Case, options: argparse.Namespace) -> Iterator[tuple[str, tuple[str, ...], dict[str, str]]]:
    """The name of each program, its command, and what is set in its environment."""
    for name, (_, environment) in COMPILERS.items():
        yield name, (str(_program(case.kernel, name, options.build)), case.size), environment
    if options.domains and (domain := DOMAINS.get(case.kernel)):
        settings = {"NOMP_ANNOTATIONS_SCRIPT": domain, "NOMP_TUNING_DIR": str(options.build / TUNED)}
        yield TUNED, (str(_program(case.kernel, "nomp", options.build)), case.size), settings


def _tune(case: Case, options: argparse.Namespace) -> None:
    """Find the fastest choices for *case*, if it has a domain."""
    for name, command, settings in _programs(case, options):
        if name == TUNED:
            words = (sys.executable, "-m", "nomp.driver", "tune", "--", *command)
            done = subprocess.run(words, env=os.environ | settings, capture_output=True, text=True, check=False)
            told = (line for line in done.stderr.splitlines() if line.startswith("nomp tune"))
            print(*told, sep="\n", file=sys.stderr)
            if done.returncode:
                case.wrong.append(f"nomp tune ends with status {done.returncode}: {done.stderr.strip()}")


def _measure(case: Case, options: argparse.Namespace) -> None:
    _tune(case, options)
    for _ in range(options.rounds if not case.wrong else 0):
        for name, command, environment in _programs(case, options):
            done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
            if done.returncode:
                case.wrong.append(f"{name} ends with status {done.returncode}: {done.stderr.strip()}")
                return
            shortest, median, checksum = map(float, done.stdout.split()[2:])
            case.seconds[name] = min(shortest, case.seconds.get(name, shortest))
            case.medians[name] = min(median, case.medians.get(name, median))
            case.checksum = checksum if case.checksum is None else case.checksum  # the serial program is the first
            if not abs(checksum - case.checksum) <= TOLERANCE * abs(case.checksum):
                case.wrong.append(f"{name} computes {checksum!r}, not {case.checksum!r}")
                return


def _report(cases: list[Case]) -> Iterator[str]:
    """The tables, line by line: the sizes that a launch is worth its cost for, then the small one."""
    yield ", ".join(_machine().values())
    for title, sizes in (("medium and large", SIZES[1:]), ("small", SIZES[:1])):
        if chosen := [case for case in cases if case.size in sizes]:
            yield f"\n### {title.capitalize()}\n"
            yield from _table(chosen)


def _table(cases: list[Case]) -> Iterator[str]:
    tuned = any(TUNED in case.seconds for case in cases)
    columns = ("kernel", "size", *(f"{name} / ms" for name in COMPILERS), "omp/nomp", "serial/nomp")
    widths: tuple[int, ...] = (11, 6, 11, 11, 11, 8, 11)
    if tuned:
        columns, widths = (*columns, f"{TUNED} / ms", f"omp/{TUNED}"), (*widths, 11, 9)
    yield _row(columns, widths)
    yield "|" + "|".join(f":{'-' * (w + 1)}" if n < 2 else f"{'-' * (w + 1)}:" for n, w in enumerate(widths)) + "|"
    for case in cases:
        times = [f"{1e3 * case.seconds[name]:.3f}" if name in case.seconds else "failed" for name in COMPILERS]
        faster = [f"{ratio:.2f}" if (ratio := case.ratio(other)) else "" for other in ("omp", "serial")]
        if tuned and TUNED in case.seconds:
            faster += [f"{1e3 * case.seconds[TUNED]:.3f}", f"{case.ratio('omp', TUNED) or 0:.2f}"]
        yield _row((case.kernel, case.size, *times, *faster, *[""] * (len(widths) - len(faster) - 5)), widths)
    yield ""
    for other in ("omp", "serial"):
        right = [case for case in cases if not case.wrong]
        if ratios := {f"{case.kernel} {case.size}": ratio for case in right if (ratio := case.ratio(other))}:
            worst = min(ratios, key=lambda name: ratios[name])
            mean = geometric_mean(ratios.values())
            yield f"{other}/nomp: geometric mean {mean:.2f} of {len(ratios)}, worst {ratios[worst]:.2f} ({worst})  "


def _row(cells: tuple[str, ...], widths: tuple[int, ...]) -> str:
    texts = (f"{c:<{w}}" if n < 2 else f"{c:>{w}}" for n, (c, w) in enumerate(zip(cells, widths, strict=True)))
    return "| " + " | ".join(texts) + " |"


@cache
def _machine() -> dict[str, str]:
    """What the figures depend on."""
    gcc = subprocess.run(("gcc", "-dumpfullversion"), capture_output=True, text=True, check=True).stdout.strip()
    return {
        "processor": _processor(),
        "threads": f"{len(os.sched_getaffinity(0))} threads",
        "compiler": f"gcc {gcc} {' '.join(OPTIONS)}",
        "device": _device(),
        "date": date.today().isoformat(),
    }


def _processor() -> str:
    """Its name, and on x86 its family and model: virtual machines have names that several processors share."""
    info = Path("/proc/cpuinfo")
    found = dict(re.findall(r"^(model name|cpu family|model)\s*:\s*(.*)", info.read_text(), re.MULTILINE)
                 if info.exists() else ())  # fmt: skip
    name = found.get("model name") or platform.processor() or platform.machine()
    return f"{name} (family {found['cpu family']}, model {found['model']})" if "cpu family" in found else name


def _device() -> str:
    """What nomp's programs run on."""
    with closing(open_device(config.load(), backend.registered())) as device:
        return f"{device.info.backend} on {device.info.name}"


if __name__ == "__main__":
    sys.exit(main())
