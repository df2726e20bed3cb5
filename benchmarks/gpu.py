"""Time nomp on a GPU against CUDA by hand and against libraries: the kernels of STREAM, those of four transforms,
products of matrices (cuBLAS, cuSPARSE), attention (also PyTorch), and conjugate gradients on spectral elements.

    python benchmarks/gpu.py [--backend cuda --backend opencl] [--only stream] [--rounds 3] [--tuned] [--markdown FILE]

Builds `benchmarks/gpu` by nomp and by nvcc, runs the programs in turn (each a process that times its parts several
times), and prints tables in Markdown: medians, in milliseconds, and the ratio of the other program's to nomp's: above
1, nomp is faster.  With --tuned nomp's programs are tuned first, each on its own data.  Needs nvcc and a GPU; what else
is missing is said, and left out.  Exit status 1 if results differ.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from datetime import date
from pathlib import Path
from statistics import median
from typing import NoReturn

HERE = Path(__file__).parent / "gpu"
EXAMPLE = HERE.parent.parent / "examples" / "02_spectral_cg"
MESH = [str(path) for path in sorted(EXAMPLE.glob("*.c")) if path.name not in ("main.c", "cg.c")]
CASES = {
    "stream": [()],
    "kernels": [()],
    "libraries": [("product", "4096"), *((kind, "1000000") for kind in ("banded", "uniform", "power"))],
    "attention": [("1024",)],
    "spectral": [("7", str(n), "200") for n in (8, 16, 25)],
}
"""The command lines of each program; spectral: order, elements in each direction, iterations."""
SCRIPTS = {
    "stream": {"": "", " grid": "points"},
    "libraries": {"": "sparse"},
    "attention": {"": "attention"},
    "spectral": {"": "sem"},
}
"""The annotation scripts with which programs are run that have annotations, and what the table says of them."""
BY_HAND = {"libraries": "cuBLAS, cuSPARSE"}
"""What the other program is, where it is not written by hand."""
TOLERANCES = {"attention": 1e-5}  # of float
TOLERANCE = 1e-8
MISSING = 3
"""The status of programs for which something is not installed."""
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
    parser.add_argument("--tuned", action="store_true", help="tune nomp's programs first")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write what is printed to FILE, too")
    parser.add_argument("--build", type=Path, default=Path("build/gpu-bench"), help="where programs are built")
    options = parser.parse_args(words)
    options.build.mkdir(parents=True, exist_ok=True)
    wrong: list[str] = []
    with options.markdown.open("w") if options.markdown else nullcontext() as file:
        for line in _report(options, wrong):
            print(line, flush=True)
            if file:
                print(line, file=file, flush=True)
    print(*wrong, sep="\n")
    return 1 if wrong else 0


def _report(options: argparse.Namespace, wrong: list[str]) -> Iterator[str]:
    """All lines; what differs goes to *wrong*."""
    yield from (_machine(), "")
    for name in options.only or CASES:
        build_nomp(name, options.build)
        build_hand(name, options.build)
        if options.tuned:
            yield from _tuned(name, options)
        yield from _table(name, options, wrong)


INCLUDE = [f"-I{HERE}", f"-I{EXAMPLE}"]


def build_nomp(name: str, build: Path) -> None:
    """Build the program *name* in the folder *build* by nomp."""
    more = [*MESH, str(EXAMPLE / "cg.c")] if name == "spectral" else []
    nomp = [sys.executable, "-m", "nomp.driver", "cc", "-O3", *INCLUDE, str(HERE / f"{name}.c"), *more]
    _run([*nomp, "-o", str(build / f"{name}.nomp"), "-lm"])


def build_openmp(name: str, build: Path) -> None:
    """The same for the CPU's threads, by gcc: `portability` compares with that."""
    gcc = ["gcc", "-O3", "-march=native", "-fopenmp", "-Wno-unknown-pragmas", *INCLUDE]
    _run([*gcc, str(HERE / f"{name}.c"), "-o", str(build / f"{name}.omp"), "-lm"])


def build_hand(name: str, build: Path) -> None:
    """The same for the program by hand, by nvcc."""
    nvcc = ["nvcc", "-O3", "-arch=native", "-ldl", *INCLUDE]
    if name != "spectral":
        _run([*nvcc, str(HERE / f"{name}.cu"), "-o", str(build / f"{name}.hand")])
        return
    _run([*nvcc, "-c", str(HERE / "cg.cu"), "-o", str(build / "cg.o")])
    objects = []
    for source in (str(HERE / "spectral.c"), *MESH):
        objects.append(str(build / f"{Path(source).stem}.o"))
        _run(["gcc", "-O3", "-Wno-unknown-pragmas", *INCLUDE, "-c", source, "-o", objects[-1]])
    _run(["nvcc", *objects, str(build / "cg.o"), "-o", str(build / "spectral.hand"), "-lm"])


def _columns(name: str, options: argparse.Namespace) -> dict[str, dict[str, str]]:
    """How nomp's program is run, by what the table calls it: what is set for it."""
    return {f"{backend}{about}": {"NOMP_BACKEND": backend, "NOMP_ANNOTATIONS_SCRIPT": script}
            for backend in options.backend or ["cuda"] for about, script in SCRIPTS.get(name, {"": ""}).items()}


def _tuned(name: str, options: argparse.Namespace) -> Iterator[str]:
    """Tune the program *name*, and what has been found."""
    for settings in _columns(name, options).values():
        for case in CASES[name]:
            command = [sys.executable, "-m", "nomp.driver", "tune", "--dir", str(options.build / "tuned"), "--"]
            done = _run([*command, str(options.build / f"{name}.nomp"), *case], **settings)
            yield from (f"{line}  " for line in done.stderr.splitlines() if line.startswith("nomp tune: "))
    yield ""


def _table(name: str, options: argparse.Namespace, wrong: list[str]) -> Iterator[str]:
    """The lines of one table; what differs goes to *wrong*."""
    columns = _columns(name, options)
    titles = [f"nomp {column} / ms | hand/nomp" for column in columns]
    other = BY_HAND.get(name, "hand")
    yield f"| {name} | {other} / ms | {' | '.join(titles)} |" + (" GB/s |" if name == "stream" else "")
    yield "|:--|" + "--:|" * (1 + 2 * len(columns) + (name == "stream"))
    for case in CASES[name]:
        for label, command in _others(name, case, options.build).items():
            yield from _rows(name, case, (label, command), options, wrong)
    yield ""


def _others(name: str, case: tuple[str, ...], build: Path) -> dict[str, list[str]]:
    """The programs to compare with, by what the table says of them."""
    found = {"": [str(build / f"{name}.hand"), *case]}
    if name == "attention":
        found[" by PyTorch"] = [sys.executable, str(HERE / "attention_torch.py"), *case]
    return found


def _rows(
    name: str, case: tuple[str, ...], other: tuple[str, list[str]], options: argparse.Namespace, wrong: list[str]
) -> Iterator[str]:
    columns, (about, command) = _columns(name, options), other
    tuned = {"NOMP_TUNING_DIR": str(options.build / "tuned")} if options.tuned else {}
    runs: dict[str, list[Lines]] = {"hand": [], **{column: [] for column in columns}}
    for _ in range(options.rounds):
        found = read(command)
        if isinstance(found, str):
            yield f"| {case[0]}{about}: {found} |" + " |" * (1 + 2 * len(columns))
            return
        runs["hand"].append(found)
        for column, settings in columns.items():
            made = read([str(options.build / f"{name}.nomp"), *case], **settings, **tuned)
            assert not isinstance(made, str)
            runs[column].append(made)
    for part in runs["hand"][0]:
        times = {who: median(lines[part][0] for lines in found) for who, found in runs.items()}
        sums = [lines[part][1] for found in runs.values() for lines in found]
        if any(abs(value - sums[0]) > TOLERANCES.get(name, TOLERANCE) * abs(sums[0]) for value in sums):
            wrong.append(f"{name} {' '.join(case)} {part}: checksums {sums}")
        if not times["hand"]:  # a checksum of all that has been made
            continue
        cells = [f"{1e3 * times[one]:.4f} | {times['hand'] / times[one]:.2f}" for one in columns]
        label = f"{int(case[1]) ** 3} elements" if name == "spectral" else f"{part}{about}"
        row = f"| {label} | {1e3 * times['hand']:.4f} | {' | '.join(cells)} |"
        rate = BYTES[part] * COUNT / times[next(iter(columns))] / 1e9 if part in BYTES else 0
        yield row + (f" {rate:.0f} |" if part in BYTES else " |" if name == "stream" else "")


def read(command: list[str], **environment: str) -> Lines | str:
    """What a program printed, or the reason why it cannot run here."""
    done = _done(command, **environment)
    if done.returncode == MISSING:
        return f"left out ({done.stderr.strip()})"
    if done.returncode:
        _end(done)
    found = (line.split() for line in done.stdout.splitlines())
    return {name: (float(time), float(checksum)) for name, time, _, checksum in found}


def _run(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    done = _done(command, **environment)
    if done.returncode:
        _end(done)
    return done


def _done(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    libraries = [str(folder) for place in sys.path for folder in Path(place).glob("nvidia/*/lib")]  # of wheels
    known = os.environ.get("LD_LIBRARY_PATH", "")
    paths = {"LD_LIBRARY_PATH": ":".join(filter(None, [known, *libraries]))}
    return subprocess.run(command, env=os.environ | paths | environment, capture_output=True, text=True, check=False)


def _end(done: subprocess.CompletedProcess[str]) -> NoReturn:
    sys.exit(f"{' '.join(done.args)} ends with status {done.returncode}:\n{done.stdout}{done.stderr}")


def _machine() -> str:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return f"{_run(query).stdout.splitlines()[0]}, {date.today().isoformat()}"


if __name__ == "__main__":
    sys.exit(main())
