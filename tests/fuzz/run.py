"""The differential fuzzer: random annotated programs, compiled by gcc alone and by ``nomp cc``, must print the same.

    python run.py [-n PROGRAMS] [-s SEED] [-j JOBS] [-o FOLDER] [--regions R] [--shrink SECONDS]

A program that gcc's sanitizers complain about is dropped; regions that nomp refuses (N1xx to N4xx at compile time) are
counted by code and taken out.  Anything else is a failure: another output, a crash, a traceback, a time-out, an error
of the device compiler.  Failures are made small (SECONDS for each, 0: not at all) and saved in FOLDER.  Exit status 1
if there was one.

The program of nomp runs in a child of this process, as a shared library that ``nomp cc`` itself made: the child has
loopy and pyopencl loaded already, and may crash.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import coverage
from c_statements import FEATURES
from generate import SCRIPT, SCRIPTS, Program, generate
from shrink import shrink

SANITIZERS = "-fsanitize=undefined,address,float-cast-overflow,float-divide-by-zero"
HOST = ["gcc", "-O1", "-w", "-std=gnu11", "-ffp-contract=off"]
TIME_LIMIT = 60
SETTINGS = {"NOMP_ANNOTATIONS_SCRIPT": SCRIPT, "NOMP_CACHE": "off"}  # off: what is tested is the compiler
PRELOADED = (
    "pyopencl", "nomp.capi.pragmas", "nomp.codegen", "nomp.driver.cc", "nomp.driver.emit", "nomp.frontend.clang",
    "nomp.lower", "nomp.pipeline", "nomp.reduction", "nomp.runtime.session", "nomp.script", "nomp_backends.opencl",
)  # fmt: skip
LATE = ("N401", "N320", "N304")
"""Refusals of what a script made: only the launch can tell."""
TOLERANCE = {"exact": 0.0, "loose": 2e-5}


@dataclass(slots=True)
class Outcome:
    """What became of one program.  *failure* is empty where nomp did right; *kind* says how it failed."""

    seed: int
    dropped: str = ""
    kind: str = ""
    failure: str = ""
    refused: Counter[str] = field(default_factory=Counter)
    regions: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    program: Program | None = None


@dataclass(frozen=True, slots=True)
class Ran:
    """How nomp's side ended: *stage* is ``compile`` or ``run``, *status* the exit status (negative: a signal)."""

    stage: str
    status: int
    output: str
    errors: str


Sabotage = Callable[[], None]


def check(program: Program, seed: int, folder: Path, sabotage: Sabotage | None = None) -> Outcome:
    """Run *program* both ways; *sabotage* is called in nomp's process first."""
    outcome = Outcome(seed)
    for _ in range(4):
        outcome.program, outcome.regions = program, len(program.regions)
        verdict, ran = attempt(str(program.tree()), folder, sabotage)
        outcome.seen += coverage.read(folder)
        if verdict != "refused":
            break
        refused = _refused_regions(program, ran.errors)
        outcome.refused += Counter(code for code, _ in refused)
        if not {number for _, number in refused} - {None}:
            outcome.kind, outcome.failure = "refused outside of regions", ran.errors
            return outcome
        program = program.without({number for _, number in refused if number is not None})
    if verdict.startswith("dropped"):
        outcome.dropped = verdict
    elif verdict not in ("same", "refused"):
        outcome.kind = verdict.split("\n")[0]
        outcome.failure = verdict if ran.status == 0 else f"{verdict}\n{ran.errors[-3000:]}"
    return outcome


def failure(text: str, folder: Path, sabotage: Sabotage | None = None) -> str:
    """How the program *text* fails: the first line of the verdict, empty where it does not fail."""
    verdict, _ = attempt(text, folder, sabotage)
    return "" if verdict.startswith(("same", "refused", "dropped")) else verdict.split("\n")[0]


def attempt(text: str, folder: Path, sabotage: Sabotage | None = None) -> tuple[str, Ran]:
    """Run the program *text* both ways: ``same``, ``refused``, ``dropped: ...`` or how it fails, and nomp's side."""
    (folder / "program.c").write_text(text)
    (folder / f"{SCRIPT}.py").write_text(SCRIPTS)
    ran = Ran("", 0, "", "")
    expected, problem = _reference(folder)
    if problem:
        return f"dropped: {problem}", ran
    ran = run_nomp(folder, sabotage)
    if ran.status == 0:
        difference = compare(expected, ran.output)
        return ("same" if not difference else f"mismatch of {difference}"), ran
    if ran.status == -signal.SIGKILL:
        return f"time-out in {ran.stage}", ran
    if _refused(ran):
        return "refused", ran
    errors = re.sub(r".*: warning: .*", "", ran.errors)  # of arrays that may overlap, N402
    found = re.search(r"\[(N\d+)\]|internal error: \w+(: '?[a-z_]+)?|\w+Error", errors)
    return f"{ran.stage}: status {ran.status}: {found.group() if found else 'no message'}", ran


def _reference(folder: Path) -> tuple[str, str]:
    """What the program prints without nomp, and why it is no use (empty: it is)."""
    for words, name in (([SANITIZERS], "sanitized"), ([], "plain")):
        made = subprocess.run(
            [*HOST, *words, "program.c", "-o", name, "-lm"], cwd=folder, capture_output=True, text=True
        )
        if made.returncode:
            return "", f"gcc: {made.stderr[:300]}"
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    outputs = []
    for name in ("sanitized", "plain"):
        try:
            ran = subprocess.run([f"./{name}"], cwd=folder, env=env, capture_output=True, text=True, timeout=20)
        except subprocess.TimeoutExpired:
            return "", "endless"
        if ran.returncode or ran.stderr:
            found = re.search(r"runtime error: (.{1,60})|ERROR: (\S+ \S+)", ran.stderr)
            return "", found.group() if found else f"status {ran.returncode}"
        outputs.append(ran.stdout)
    return outputs[1], "" if outputs[0] == outputs[1] else "two answers of gcc"


# ----------------------------------------------------------------------------------------------------- nomp's side


def preload() -> None:
    """Import what nomp's children need, once."""
    for module in PRELOADED:
        import_module(module)


def run_nomp(folder: Path, sabotage: Sabotage | None = None) -> Ran:
    """Compile ``program.c`` of *folder* with ``nomp cc`` and run its ``main``, in a child process."""
    child = os.fork()
    if child == 0:
        _child(folder, sabotage)
    status = _wait(child)
    stage, output, errors = (_text(folder / name) for name in ("stage", "out", "err"))
    return Ran(stage, status, output, errors)


def _text(file: Path) -> str:
    return file.read_text(errors="replace") if file.exists() else ""


def _wait(child: int) -> int:
    limit = time.monotonic() + TIME_LIMIT
    while time.monotonic() < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGKILL


def _child(folder: Path, sabotage: Sabotage | None) -> None:
    """Never returns."""
    status = 99
    try:
        os.chdir(folder)
        for name, descriptor in (("out", 1), ("err", 2)):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), descriptor)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        os.environ.setdefault("NOMP_CACHE_DIR", str(folder / "cache"))
        os.environ.update(SETTINGS)
        if sabotage:
            sabotage()
        status = _compile_and_run()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        ctypes.CDLL(None).fflush(None)
        os._exit(status)


def _compile_and_run() -> int:
    from nomp.driver import cli

    Path("stage").write_text("compile")
    coverage.record()
    status = cli.main(["cc", *HOST[1:], "-shared", "-fPIC", "program.c", "-o", "program.so", "-lm"])
    if status:
        return status
    Path("stage").write_text("run")
    arguments = (ctypes.c_char_p * 2)(b"program", None)
    return int(ctypes.CDLL("./program.so").main(1, arguments))


# ------------------------------------------------------------------------------------------------------- verdicts


def compare(expected: str, found: str) -> str:
    """The first difference of two outputs, empty if there is none that matters."""
    one, other = expected.splitlines(), found.splitlines()
    for left, right in zip(one, other, strict=False):
        if left != right and not _alike(left.split(), right.split()):
            return f"{left.split(':')[0]}\ngcc:  {left}\nnomp: {right}"
    return "" if len(one) == len(other) else f"lines\ngcc printed {len(one)}, nomp {len(other)}"


def _alike(left: Sequence[str], right: Sequence[str]) -> bool:
    tolerance = TOLERANCE[left[0]]
    return len(left) == len(right) and all(a == b or _close(a, b, tolerance) for a, b in zip(left, right, strict=True))


def _close(left: str, right: str, tolerance: float) -> bool:
    if "nan" in left and "nan" in right:
        return True
    try:
        one, other = float.fromhex(left), float.fromhex(right)
    except ValueError:
        return False
    return "x" in left and math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)


def refusals(errors: str) -> list[str]:
    """The codes of all errors (no warnings) in *errors*."""
    return re.findall(r"^.*: error: .*\[(N\d+)\]$", errors, re.M)


def _refused(ran: Ran) -> bool:
    """Whether nomp refused something of the program, with codes that refusals have at this stage."""
    codes = refusals(ran.errors)
    if ran.status != 1 or not codes or "internal error" in ran.errors or "Traceback" in ran.errors:
        return False
    if ran.stage == "run":
        return codes[-1] in LATE
    return all(re.fullmatch(r"N[1-4]\d\d", code) for code in codes)


def _refused_regions(program: Program, errors: str) -> list[tuple[str, int | None]]:
    """The codes of the errors in *errors* with the numbers of the regions that they, or their notes, point at."""
    found, code = [], ""
    for file, line, severity, text in re.findall(r"^(\S+?):(\d+)(?::\d+)?: (error|warning|note): (.*)$", errors, re.M):
        if severity != "note":
            code = text.split("[")[-1].rstrip("]") if severity == "error" else ""
        if code and file.endswith("program.c") and (severity == "error" or text.startswith("called")):
            found.append((code, program.region_at(int(line))))
    return found


# ----------------------------------------------------------------------------------------------------------- main


def one(seed: int, regions: int, sabotage: Sabotage | None = None, features: frozenset[str] = FEATURES) -> Outcome:
    """The outcome of the program of *seed*."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        return check(generate(seed, regions, features), seed, Path(folder), sabotage)


def run(seeds: Sequence[int], regions: int, jobs: int, seconds: float = math.inf) -> list[Outcome]:
    """The outcomes of the programs of *seeds*, as far as *seconds* allow, with a line on stdout for each failure."""
    outcomes, end = [], time.monotonic() + seconds
    with ProcessPoolExecutor(jobs, initializer=preload) as pool:
        for future in as_completed([pool.submit(one, seed, regions) for seed in seeds]):
            outcome = future.result()
            outcomes.append(outcome)
            if outcome.failure:
                print(f"seed {outcome.seed}: {outcome.failure[:1500]}\n", flush=True)
            if time.monotonic() > end:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    return outcomes


def report(outcomes: Sequence[Outcome]) -> str:
    """The summary of a run."""
    refused = sum((o.refused for o in outcomes), Counter[str]())
    seen = sum((o.seen for o in outcomes), Counter[str]())
    dropped = Counter(o.dropped[:60] for o in outcomes if o.dropped)
    failures = Counter(re.sub(r"\d+", "N", o.kind) for o in outcomes if o.failure)
    compared = sum(o.regions for o in outcomes if not (o.dropped or o.failure))
    lines = [
        f"programs {len(outcomes)}, regions compared {compared}, "
        f"dropped {sum(dropped.values())}, failures {sum(failures.values())}",
        f"refused regions: {_listed(refused)}",
        f"dropped: {_listed(dropped)}",
        f"failures: {_listed(failures)}",
        f"never generated: {', '.join(coverage.missing(seen)) or 'nothing'}",
    ]
    return "\n".join(lines)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


def save(outcome: Outcome, output: Path, budget: float) -> None:
    """Make the failing program small and save it with the way to run it."""
    assert outcome.program is not None
    output.mkdir(parents=True, exist_ok=True)
    tree = outcome.program.tree()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        tree = shrink(tree, lambda text: failure(text, Path(folder)) == outcome.kind, budget)
        final, ran = attempt(str(tree), Path(folder))
    source = output / f"seed{outcome.seed}.c"
    comment = f"{final}\n{ran.errors[-1500:]}".replace("*/", "* /")
    source.write_text(f"{tree}\n/*\n{comment}\n*/\n")
    (output / f"{SCRIPT}.py").write_text(SCRIPTS)
    settings = " ".join(f"{name}={value}" for name, value in SETTINGS.items())
    print(f"{source}: nomp cc -O1 -w {source} -o t -lm && {settings} ./t   # {final}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", type=int, default=100, help="programs")
    parser.add_argument("-s", type=int, default=0, help="the first seed")
    parser.add_argument("-j", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    parser.add_argument("-o", type=Path, default=Path("build/fuzz"), help="where failures are saved")
    parser.add_argument("--regions", type=int, default=8, help="regions in a program")
    parser.add_argument("--seconds", type=float, default=math.inf, help="start no more programs after that time")
    parser.add_argument("--shrink", type=float, default=60, help="seconds for making a failure small; 0: leave it")
    given = parser.parse_args()
    outcomes = run(range(given.s, given.s + given.n), given.regions, given.j, given.seconds)
    print(report(outcomes))
    failed = [outcome for outcome in outcomes if outcome.failure]
    if failed:
        preload()
    for outcome in failed:
        save(outcome, given.o, given.shrink)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
