"""Compare what `nomp check` says of the loops of a public suite with what they do when the program runs.

    python benchmarks/suites.py PATH [--file NAME] [--json FILE]

PATH is a checkout of TSVC_2 (https://github.com/UoB-HPC/TSVC_2), whose kernels are the loops within those over `nl`,
or of DataRaceBench (https://github.com/LLNL/dataracebench), whose loops are those under `#pragma omp` with `for` or
`simd`.  Each file is rewritten in two ways in a temporary folder: with `#pragma nomp for` before these loops, for
`nomp check`; and with calls before and in all loops (trace.c), to be compiled without OpenMP and run.  The run says of
each loop, nested ones included, whether its iterations touched what another one wrote.

Prints the counts in Markdown, then each loop for which verdict and run disagree, and each without a conflict in the
run that is not proven.  A `yes` or `reduction` for a loop whose iterations were seen to conflict is unsound, unless
`ALLOWED` says why it is not.  A run shows one size and one set of data, so that a `no` without a conflict in the run
may be right; its reason tells for which parameters.  That a loop accumulates means that each iteration reads and then
writes what others do, which a recurrence may do, too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import annotate
from annotate import Loop

TRACE = Path(__file__).with_name("trace.c")
SEEN = ("independent", "accumulates", "conflict")
VERDICTS = ("yes", "reduction", "no", "unknown", "refused")
SOUND = {"yes": {"independent"}, "reduction": {"independent", "accumulates"}}
ALLOWED = {
    ("tsvc.c", 3021): "pointers into one array: each launch compares addresses, and keeps the program's order then",
    ("tsvc.c", 3068): "the same",
    ("tsvc.c", 3094): "the same",
    ("tsvc.c", 3121): "the same",
    ("DRB014-outofbounds-orig-yes.c", 73): "a subscript is out of bounds, which is undefined in C",
    ("DRB014-outofbounds-orig-yes.c", 74): "the same",
    ("DRB015-outofbounds-var-yes.c", 78): "the same",
    ("DRB015-outofbounds-var-yes.c", 79): "the same",
    ("DRB195-diffusion1-yes.c", 37): "pointers into one array, as in TSVC_2",
}
"""Verdicts that are right though the run shows conflicts, by file and line, and why."""

_TYPES = r"(?:(?:unsigned|signed|long|short|int|char|float|double|real_t|size_t|u?int\d+_t)\s+)+"
_DECLARATION = re.compile(rf"(?:^|(?<=[;{{}}]))\s*(?:static\s+)?({_TYPES})([^;(){{}}]*?|[^;{{}}]*?=[^;{{}}]*?);", re.M)
_OMP_LOOP = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b(?:[^\n]*\\\n)*[^\n]*\b(?:for|simd)\b", re.M)


@dataclass
class Judged:
    """A loop of a suite: what *seen* in the run, None if it had fewer than two iterations, and the verdict."""

    file: str
    line: int
    annotated: bool
    text: str
    seen: str | None = None
    verdict: str = "refused"
    reason: str = ""
    codes: list[str] = field(default_factory=list)

    @property
    def problem(self) -> str | None:
        """How *verdict* and *seen* disagree."""
        if self.seen is None:
            return None
        if self.verdict in SOUND and self.seen not in SOUND[self.verdict]:
            return f"allowed ({why})" if (why := ALLOWED.get((self.file, self.line))) else "unsound"
        return "no conflict in the run" if self.verdict == "no" and self.seen == "independent" else None


def main(words: list[str] | None = None) -> int:
    """Judge the suite; exit status 1 if a verdict is unsound."""
    parser = argparse.ArgumentParser(description="Compare verdicts on the loops of TSVC_2 or DataRaceBench with runs.")
    parser.add_argument("path", type=Path, help="a checkout of the suite")
    parser.add_argument("--file", action="append", help="only files of this name; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all verdicts to FILE")
    options = parser.parse_args(words)
    sources = _sources(options.path)
    chosen = [source for source in sources if not options.file or source.name in options.file]
    if not chosen:
        parser.error(f"no C files of TSVC_2 or DataRaceBench in {options.path}")
    judged = [loop for source in chosen for loop in judge(source)]
    print("\n".join(_report(judged)))
    if options.json:
        options.json.write_text(json.dumps([vars(loop) | {"problem": loop.problem} for loop in judged], indent=1))
    return int(any(loop.problem == "unsound" for loop in judged))


def _sources(path: Path) -> list[Path]:
    return sorted([*path.glob("src/tsvc.c"), *path.glob("micro-benchmarks/DRB*.c"), *path.glob("DRB*.c")])


def judge(source: Path) -> list[Judged]:
    """The loops of *source* that are annotated, and those in them, with what the run and `nomp check` say."""
    text = source.read_text(encoding="utf-8", errors="replace")
    found = annotate.loops(text)
    roots = _kernels(text, found) if source.name == "tsvc.c" else _worksharing(text, found)
    wanted = [loop for loop in found if _root(loop, found, roots) is not None]
    if not wanted:
        return []
    print(source.name, file=sys.stderr)
    judged = {loop.number: _judged(source, text, loop, roots) for loop in wanted}
    with tempfile.TemporaryDirectory(prefix="nomp-suites-") as folder:
        for number, seen in _run(source, text, found, Path(folder)).items():
            if number in judged:
                judged[number].seen = seen
        _check(source, text, roots, judged, found, Path(folder))
    return list(judged.values())


def _judged(source: Path, text: str, loop: Loop, roots: list[Loop]) -> Judged:
    return Judged(source.name, loop.line, loop in roots, text[loop.start : loop.end])


def _kernels(text: str, found: list[Loop]) -> list[Loop]:
    """The outermost loops within the loops over `nl`, and those of functions without one."""
    repeats = {loop.number for loop in found if loop.counter == "nl"}
    return [loop for loop in found if loop.number not in repeats and loop.parent in repeats | {-1}]


def _worksharing(text: str, found: list[Loop]) -> list[Loop]:
    """The outermost loops that a pragma of OpenMP shares out."""
    ends = [match.end() for match in _OMP_LOOP.finditer(text)]
    first = {next((loop.number for loop in found if loop.start > end), None) for end in ends}
    shared = [loop for loop in found if loop.number in first]
    return [loop for loop in shared if not any(other.start < loop.start < other.end for other in shared)]


def _root(loop: Loop, found: list[Loop], roots: list[Loop]) -> Loop | None:
    while loop not in roots:
        if loop.parent < 0:
            return None
        loop = found[loop.parent]
    return loop


def _run(source: Path, text: str, found: list[Loop], folder: Path) -> dict[int, str]:
    """What is seen of each loop that has two iterations or more, when the traced program runs."""
    helpers = [source.parent / "common.c", source.parent / "dummy.c"] if source.name == "tsvc.c" else []
    for other in (*helpers, *source.parent.glob("*.h")):  # copied: an include looks into its file's own folder first
        (folder / other.name).write_text(_small(other.read_text(encoding="utf-8", errors="replace")), encoding="utf-8")
    (folder / source.name).write_text(_small(_traced(text, found)), encoding="utf-8")
    traced, program = folder / "traced.o", folder / "program"
    includes: list[str | Path] = ["-I", folder, *_includes(source)]
    others = [*(folder / helper.name for helper in helpers), *source.parent.glob("utilities/polybench.c")]
    libraries = ["-lm", "-lgomp", "-lpthread"]
    steps: tuple[list[str | Path], ...] = (
        ["gcc", "-std=gnu11", "-w", "-O0", "-fsanitize=thread", *includes, "-c", folder / source.name, "-o", traced],
        ["gcc", "-w", "-O1", *includes, traced, TRACE, *others, "-o", program, *libraries],
    )
    for step in steps:
        built = subprocess.run(step, capture_output=True, text=True, check=False)
        if built.returncode:
            print(f"{source.name} is not traced: {built.stderr.strip()[:300]}", file=sys.stderr)
            return {}
    report = folder / "report"
    environment = os.environ | {"TRACE": str(report)}
    try:
        subprocess.run([program], env=environment, cwd=folder, capture_output=True, check=False, timeout=60)
    except subprocess.TimeoutExpired:
        print(f"{source.name} runs too long", file=sys.stderr)
    lines = report.read_text().splitlines() if report.exists() else []
    numbers = [[int(word) for word in line.split()] for line in lines]
    return {loop: SEEN[seen] for loop, _, iterations, seen in numbers if iterations > 1}


def _small(text: str) -> str:
    """TSVC's kernels once each, on short arrays; another text as it is."""
    text = re.sub(r"(define LEN_1D) \d+", r"\1 400", re.sub(r"(define LEN_2D) \d+", r"\1 24", text))
    return re.sub(r"\bnl < [^;]*;", "nl < 1;", text)


def _includes(source: Path) -> list[str]:
    folders = (source.parent, source.parent / "utilities", source.parent / "polybench")
    return [word for folder in folders for word in ("-I", str(folder))]


def _traced(text: str, found: list[Loop]) -> str:
    additions = []
    for loop in found:
        counter = f"&{loop.counter}" if loop.counter and not loop.declares_counter else "0"
        additions.append((loop.start, f"{{ trace_begin({loop.number}, {loop.parent}, {counter}); "))
        additions.append((loop.body, "{ trace_next(); "))
    # Of the loops that end at one place, the inner ones are closed first.
    additions += [(loop.end, f" }} trace_end({loop.number}); }}") for loop in reversed(found)]
    at_start: list[tuple[int, str]] = []
    for position, call, is_global in _variables(text, found):
        (at_start if is_global else additions).append((position, call))
    start = " ".join(call for _, call in at_start)
    prototypes = (
        "extern void trace_begin(int, int, void *), trace_next(void), trace_end(int);"
        "extern void trace_variable(void *, __SIZE_TYPE__, int, int), trace_global(void *, __SIZE_TYPE__, int, int);\n"
    )
    constructor = f"\n__attribute__((constructor)) static void trace_globals(void) {{ {start} }}\n"
    return prototypes + annotate.inserted(text, additions) + constructor


def _variables(text: str, found: list[Loop]) -> Iterator[tuple[int, str, bool]]:
    """For each scalar that is declared, and each array in a loop: where, a call that tells of it, is it global."""
    plain = annotate.blank(text)
    for match in _DECLARATION.finditer(plain):
        level = plain.count("{", 0, match.start()) - plain.count("}", 0, match.start())
        in_loop = any(loop.body <= match.start() < loop.end for loop in found)
        integer = int(not re.search("float|double|real_t", match[1]))
        for declarator in _split(match[2]):
            name = re.match(r"\s*(\w+)\s*((?:\[[^]]*\]\s*)*)(?:=|$)", declarator)
            if name and (in_loop or not name[2]):
                function = "trace_variable" if level else "trace_global"
                call = f" {function}(&{name[1]}, sizeof {name[1]}, {int(not name[2])}, {integer});"
                yield match.end(), call, level == 0


def _split(declarators: str) -> list[str]:
    """*declarators* at the commas that are in no bracket."""
    parts, depth = [""], 0
    for char in declarators:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def _check(
    source: Path, text: str, roots: list[Loop], judged: dict[int, Judged], found: list[Loop], folder: Path
) -> None:
    """Ask `nomp check` for the verdicts on the loops of *judged*."""
    annotated = folder / f"annotated_{source.name}"
    annotated.write_text(annotate.inserted(text, [(r.start, "\n#pragma nomp for\n") for r in roots]), encoding="utf-8")
    before = {loop.number: loop.line + 2 * sum(root.start <= loop.start for root in roots) for loop in found}
    by_line = {before[number]: loop for number, loop in judged.items()}
    command = [sys.executable, "-m", "nomp.driver", "check", "--format", "json", *_includes(source), str(annotated)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(f"nomp check {source.name} ends with status {done.returncode}: {done.stderr}")
    for region in json.loads(done.stdout)["files"][0]["regions"]:
        codes = sorted({problem["code"] for problem in region["diagnostics"] if problem["severity"] == "error"})
        messages = "; ".join(problem["message"] for problem in region["diagnostics"])
        for loop in region["loops"]:
            if (entry := by_line.get(loop["line"])) is not None:
                refused = region["verdict"] != "ok"
                entry.verdict = "refused" if refused else loop["parallel"]
                entry.reason = messages if refused else loop["reason"]
                entry.codes = codes


def _report(judged: list[Judged]) -> Iterator[str]:
    yield f"{len(judged)} loops, {sum(loop.annotated for loop in judged)} of them annotated\n"
    yield from _table("in the run", Counter((loop.seen or "not run", loop.verdict) for loop in judged))
    named = [loop for loop in judged if loop.annotated and loop.file.startswith("DRB")]
    if named:
        yield "\nAnnotated loops by what the names of their files say:\n"
        yield from _table("race", Counter(("yes" if "-yes" in loop.file else "no", loop.verdict) for loop in named))
    codes = Counter(code for loop in judged if loop.annotated for code in loop.codes)
    yield "\nRefused: " + (", ".join(f"{code} {n}" for code, n in codes.most_common()) or "none")
    for loop in judged:
        unproven = "not proven" if loop.seen in SEEN[:2] and loop.verdict in ("unknown", "refused") else None
        if problem := loop.problem or unproven:
            yield f"\n{loop.file}:{loop.line}: {problem}: seen: {loop.seen}, verdict: {loop.verdict}: {loop.reason}"
            yield loop.text


def _table(title: str, count: Counter[tuple[str, str]]) -> Iterator[str]:
    yield f"| {title} | " + " | ".join(VERDICTS) + " |"
    yield "|:--" + "|--:" * len(VERDICTS) + "|"
    for row in [*SEEN, "not run", "yes", "no"]:
        if any(count[row, verdict] for verdict in VERDICTS):
            yield f"| {row} | " + " | ".join(str(count[row, verdict]) for verdict in VERDICTS) + " |"


if __name__ == "__main__":
    sys.exit(main())
