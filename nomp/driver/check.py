"""``nomp check``: judges the regions of C files without running them: what is refused, which loops are parallel.

In: C files and the options that their preprocessor needs.  Out: a line a loop on stdout, or JSON (docs/check.md shows
both); diagnostics on stderr.  Exit status 1 if one is an error.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nomp.dependence import Verdict, reason, verdicts
from nomp.diagnostics import Diagnostic, NompError, error
from nomp.driver import host, options, report, units
from nomp.driver.options import Item
from nomp.frontend.clang import Refused, SourceFile
from nomp.region import Region

_DESCRIPTION = """Judge the annotated loops of C files without running them: what cannot be compiled, and which loops
have iterations that do not depend on each other. Other options (-I, -D, -std=...) are the C compiler's."""


def main(arguments: Sequence[str]) -> int:
    """Run ``nomp check``; the exit status."""
    parser = argparse.ArgumentParser(
        prog="nomp check", usage="%(prog)s [--format FORMAT] [OPTION ...] FILE ...", description=_DESCRIPTION,
        allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")
    known, words = parser.parse_known_args(arguments)
    command = options.parse(["-fsyntax-only", *words])
    if not command.inputs:
        parser.error("name a C file")
    with tempfile.TemporaryDirectory(prefix="nomp-") as folder:
        sources = units.Sources(command, host.find(command.own.cc, command.own.dry_run), Path(folder))
        files = {item.value: _judged(sources, item) for item in command.inputs}
    if known.format == "json":
        print(json.dumps({"files": [_file_json(path, judged) for path, judged in files.items()]}, indent=2))
    else:
        _show(judged for found in files.values() for judged in found)
    problems = [problem for found in files.values() for judged in found for problem in judged.diagnostics]
    return int(any(problem.severity == "error" for problem in problems))


@dataclass(frozen=True, slots=True)
class Judged:
    """A region: *loops* are its loops with their lines and, unless it is *refused*, the verdicts on them."""

    file: str
    line: int
    kernel: str
    loops: tuple[tuple[str, int, Verdict | None], ...]
    diagnostics: tuple[Diagnostic, ...]
    region: Region | None = None

    def lines(self) -> Iterator[str]:
        """A line of text for each loop."""
        for name, line, verdict in self.loops:
            said = f"{verdict.parallel}: {reason(self.region, verdict)}" if self.region and verdict else "refused"
            yield f"{self.file}:{line}: loop '{name}': {said}"


def _judged(sources: units.Sources, item: Item) -> list[Judged]:
    """The regions of *item*, by line; what is wrong with the file itself is a region without loops."""
    try:
        files, refused = read(sources, item)
    except NompError as refusal:
        return [Judged(item.value, 0, "", (), refusal.diagnostics)]
    found = [*map(judge, units.region_list(files)), *map(judge_refused, refused)]
    return sorted(found, key=lambda judged: (judged.file, judged.line))


def read(sources: units.Sources, item: Item) -> tuple[tuple[SourceFile, ...], tuple[Refused, ...]]:
    """What of the C file or header *item* can be translated, and what cannot.  `NompError` if it cannot be read."""
    if item.language not in ("c", "c-header"):
        raise error("N503", f"'{item.value}' is no C file", help="name a C file, or a header")
    files, refused = sources.survey(replace(item, language="c"))
    if not files and not refused and not sources.is_readable(item):
        raise error("N201", f"'{item.value}' cannot be preprocessed", help="see the compiler's message")
    return files, refused


def judge(region: Region) -> Judged:
    """The verdicts on *region*'s loops, and what is wrong with it."""
    try:
        problems: tuple[Diagnostic, ...] = tuple(units.check([region]))
    except NompError as problem:
        problems = problem.diagnostics
    loops = tuple((v.loop.iname, region.span(v.loop.place).line, v) for v in verdicts(region))
    return Judged(region.file, region.line, region.name, loops, problems, region)


def judge_refused(refused: Refused) -> Judged:
    """The loops of a region that cannot be translated, and why not."""
    loops = tuple((name, line, None) for name, line in refused.loops)
    return Judged(refused.file, refused.line, f"_nomp_kernel_l{refused.line}", loops, refused.diagnostics)


def _show(found: Iterable[Judged]) -> None:
    """The verdicts on stdout, the diagnostics on stderr."""
    for judged in found:
        report.show(judged.diagnostics)
        for line in judged.lines():
            print(line, flush=True)


# ------------------------------------------------------------------------------------------------------------ JSON


def _file_json(path: str, found: Sequence[Judged]) -> dict[str, Any]:
    return {"file": path, "regions": [_region_json(judged) for judged in found]}


def _region_json(judged: Judged) -> dict[str, Any]:
    errors = [problem.code for problem in judged.diagnostics if problem.severity == "error"]
    verdict = "ok" if not errors else "error" if any(code.startswith("N1") for code in errors) else "refused"
    return {
        "line": judged.line, "kernel": judged.kernel, "verdict": verdict,
        "loops": [_loop_json(judged.region, *loop) for loop in judged.loops],
        "diagnostics": [problem.to_json() for problem in judged.diagnostics],
    }  # fmt: skip


def _loop_json(region: Region | None, iname: str, line: int, verdict: Verdict | None) -> dict[str, Any]:
    if region is None or verdict is None:
        return {"iname": iname, "line": line, "parallel": "unknown", "reason": "the region is refused", "witness": None}
    witness = verdict.witness and {
        "source": dict(verdict.witness.source), "sink": dict(verdict.witness.sink),
        "parameters": {region.host_name(name): value for name, value in verdict.witness.parameters.items()},
    }  # fmt: skip
    return {"iname": iname, "line": line, "parallel": verdict.parallel, "reason": reason(region, verdict),
            "witness": witness}  # fmt: skip
