"""Time nomp on a GPU against CUDA by hand: the kernels of STREAM, those of four transforms, and conjugate gradients on
spectral elements.

    python benchmarks/gpu.py [--backend cuda --backend opencl] [--only stream] [--rounds 3] [--markdown FILE]

Builds `benchmarks/gpu` by nomp and by nvcc, runs the programs in turn (each a process that times its parts several
times), and prints tables in Markdown: medians, in milliseconds, and the ratio of the hand-written program's to nomp's:
above 1, nomp is faster.  Needs nvcc and a GPU.  Exit status 1 if results differ.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent / "gpu"
EXAMPLE = HERE.parent.parent / "examples" / "02_spectral_cg"
MESH = [str(path) for path in sorted(EXAMPLE.glob("*.c")) if path.name not in ("main.c", "cg.c")]
CASES = {"stream": [()], "kernels": [()], "spectral": [("7", str(n), "200") for n in (8, 16, 25)]}
"""The command lines of each program; spectral: order, elements in each direction, iterations."""
SCHEDULES = {
    "stream": {"": {}, " grid": {"NOMP_ANNOTATIONS_SCRIPT": "points"}},
    "kernels": {"": {}},
    "spectral": {"": {"NOMP_ANNOTATIONS_SCRIPT": "sem"}},
}
"""The schedules that each program is run with: what a column is called, and what is set for it."""
TOLERANCE = 1e-8
COUNT = 2**27
BYTES = {"copy": 16, "mul": 16, "add": 24, "triad": 24, "dot": 16}
"""What the kernels of STREAM move for an element."""

Lines = dict[str, tuple[float, float]]
"""What a program prints: for each part its median in seconds, and a checksum."""


def main(words: Sequence[str] | None = None) -> int:
    """Build, run, print; the exit status."""
    parser = argparse.ArgumentParser(description="Compare nomp with CUDA by hand on a GPU.")
    parser.add_argument("--backend", action="append", help="one of nomp's backends; may be repeated (default: cuda)")
    parser.add_argument("--only", action="append", choices=CASES, help="this program; may be repeated")
    parser.add_argument("--rounds", type=int, default=3, help="how often each program is run (default: 3)")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write what is printed to FILE, too")
    parser.add_argument("--build", type=Path, default=Path("build/gpu-bench"), help="where programs are built")
    options = parser.parse_args(words)
    options.build.mkdir(parents=True, exist_ok=True)
    wrong: list[str] = []
    lines = [_machine(), ""]
    for name in options.only or CASES:
        _build(name, options.build)
        lines += _table(name, options, wrong)
    print(*lines, *wrong, sep="\n")
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n")
    return 1 if wrong else 0


def _build(name: str, build: Path) -> None:
    include = [f"-I{HERE}", f"-I{EXAMPLE}"]
    nomp = [sys.executable, "-m", "nomp.driver", "cc", "-O3", *include, str(HERE / f"{name}.c"), "-lm"]
    nvcc = ["nvcc", "-O3", "-arch=native", *include]
    _run([*nomp, *([*MESH, str(EXAMPLE / "cg.c")] if name == "spectral" else []), "-o", str(build / f"{name}.nomp")])
    if name in ("stream", "kernels"):
        _run([*nvcc, str(HERE / f"{name}.cu"), "-o", str(build / f"{name}.hand")])
        return
    _run([*nvcc, "-c", str(HERE / "cg.cu"), "-o", str(build / "cg.o")])
    objects = []
    for source in (str(HERE / "spectral.c"), *MESH):
        objects.append(str(build / f"{Path(source).stem}.o"))
        _run(["gcc", "-O3", "-Wno-unknown-pragmas", *include, "-c", source, "-o", objects[-1]])
    _run(["nvcc", *objects, str(build / "cg.o"), "-o", str(build / "spectral.hand"), "-lm"])


def _table(name: str, options: argparse.Namespace, wrong: list[str]) -> Iterator[str]:
    """The lines of one table; what differs goes to *wrong*."""
    build = options.build
    columns = {f"{backend}{schedule}": {"NOMP_BACKEND": backend, **settings}
               for backend in options.backend or ["cuda"] for schedule, settings in SCHEDULES[name].items()}
    titles = [f"nomp {column} / ms | hand/nomp" for column in columns]
    yield f"| {name} | hand / ms | {' | '.join(titles)} |" + (" GB/s |" if name == "stream" else "")
    yield "|:--|" + "--:|" * (1 + 2 * len(columns) + (name == "stream"))
    for case in CASES[name]:
        runs: dict[str, list[Lines]] = {"hand": [], **{column: [] for column in columns}}
        for _ in range(options.rounds):
            runs["hand"].append(_read([str(build / f"{name}.hand"), *case]))
            for column, settings in columns.items():
                runs[column].append(_read([str(build / f"{name}.nomp"), *case], **settings))
        for part in runs["hand"][0]:
            times = {who: median(lines[part][0] for lines in found) for who, found in runs.items()}
            sums = [lines[part][1] for found in runs.values() for lines in found]
            if any(abs(value - sums[0]) > TOLERANCE * abs(sums[0]) for value in sums):
                wrong.append(f"{name} {' '.join(case)} {part}: checksums {sums}")
            if not times["hand"]:  # a checksum of all that has been made
                continue
            cells = [f"{1e3 * times[one]:.4f} | {times['hand'] / times[one]:.2f}" for one in columns]
            label = f"{int(case[1]) ** 3} elements" if case else part
            row = f"| {label} | {1e3 * times['hand']:.4f} | {' | '.join(cells)} |"
            rate = BYTES[part] * COUNT / times[next(iter(columns))] / 1e9 if part in BYTES else 0
            yield row + (f" {rate:.0f} |" if part in BYTES else " |" if name == "stream" else "")
    yield ""


def _read(command: list[str], **environment: str) -> Lines:
    """What a program printed."""
    found = (line.split() for line in _run(command, **environment).splitlines())
    return {name: (float(time), float(checksum)) for name, time, _, checksum in found}


def _run(command: list[str], **environment: str) -> str:
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ends with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def _machine() -> str:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return f"{_run(query).splitlines()[0]}, {date.today().isoformat()}"


if __name__ == "__main__":
    sys.exit(main())
