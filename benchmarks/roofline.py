"""Draw the roofline of the device with nomp's kernels below it: those of `make bench-cpu`, or the spectral solver's.

    python benchmarks/roofline.py cpu [--size large] [--out docs/pictures]
    python benchmarks/roofline.py spectral [--elements 25] [--out FOLDER]

Builds the programs by `nomp cc -O3`, runs them all under one `nomp roofline` on the device that the settings name
(NOMP_BACKEND), and writes roofline-cpu.svg or roofline-spectral.svg, and .json, into the folder.  Prints the table.
Exit status 1 if a program fails.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import cpu
import gpu

NOMP = (sys.executable, "-m", "nomp.driver")


def main(words: Sequence[str] | None = None) -> int:
    """Build, run, draw; the exit status."""
    parser = argparse.ArgumentParser(description="Draw the roofline of the device, with nomp's kernels below it.")
    parser.add_argument("what", choices=("cpu", "spectral"))
    parser.add_argument("--size", choices=cpu.SIZES, default="large", help="of the kernels for CPUs (default: large)")
    parser.add_argument("--elements", default="25", help="of the spectral solver, in each direction (default: 25)")
    parser.add_argument("--kernel", action="append", choices=cpu.SOURCES, help="this kernel only; may be repeated")
    parser.add_argument("--build", type=Path, default=Path("build/roofline"), help="where programs are built")
    parser.add_argument("--out", type=Path, default=Path("build/roofline"), help="where files are written")
    options = parser.parse_args(words)
    for folder in (options.build, options.out):
        folder.mkdir(parents=True, exist_ok=True)
    if options.what == "cpu":
        commands = [[_built(name, [str(cpu.SOURCES[name])], options.build), options.size]
                    for name in options.kernel or cpu.SOURCES]  # fmt: skip
        return _drawn("cpu", commands, {}, options.out)
    sources = [str(path) for path in sorted(gpu.EXAMPLE.glob("*.c"))]
    command = [_built("spectral_cg", sources, options.build), "7", options.elements, "200"]
    return _drawn("spectral", [command], {"NOMP_ANNOTATIONS_SCRIPT": gpu.SCRIPTS["spectral"][""]}, options.out)


def _built(name: str, sources: Sequence[str], build: Path) -> str:
    program = str(build.absolute() / name)
    subprocess.run((*NOMP, "cc", *cpu.OPTIONS, *sources, "-o", program, "-lm"), check=True)
    return program


def _drawn(what: str, commands: Sequence[Sequence[str]], settings: dict[str, str], out: Path) -> int:
    files = (f"--{form}={out / f'roofline-{what}.{form}'}" for form in ("svg", "json"))
    script = " && ".join(map(shlex.join, commands))
    words = (*NOMP, "roofline", *files, "--", "sh", "-c", f"{{ {script}; }} > {os.devnull}")
    return subprocess.run(words, env=os.environ | settings, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
