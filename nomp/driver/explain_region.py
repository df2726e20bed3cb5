"""``nomp explain FILE:LINE``: what is done with the annotated loop around a line, and why, stage by stage.

In: a place in a C file or header, and the options that its preprocessor needs.  Out: on stdout what the kernel takes
from the program, what `check` says of its loops, who schedules it, and the source for the default device; diagnostics
on stderr.  Exit status 1 if one is an error.  Called by `explain`.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nomp import config, remarks, script_files
from nomp.diagnostics import NompError, Note, Span, error
from nomp.driver import check, host, options, report, stages, units
from nomp.driver.check import Judged
from nomp.frontend.clang import Directive
from nomp.region import Param, Region
from nomp.runtime import aliasing


def explain(file: str, line: int, flags: Sequence[str]) -> int:
    """Print what is done with the region of *line* of *file*, which is compiled with *flags*; the exit status.

    `NompError` N806 if there is none, and what `check.read` raises.
    """
    command = options.parse(["-fsyntax-only", *flags, file])
    with tempfile.TemporaryDirectory(prefix="nomp-") as folder:
        sources = units.Sources(command, host.find(command.own.cc, command.own.dry_run), Path(folder))
        found = list(_places(sources, command))
    own = [place for place in found if os.path.realpath(place.judged.file) == os.path.realpath(file)]
    place = next((place for place in own if place.first <= line <= place.last), None)
    if place is None:
        raise _nowhere(file, line, own)
    report.show(place.judged.diagnostics)
    print("\n".join(_about(place)), flush=True)
    wrong = any(problem.severity == "error" for problem in place.judged.diagnostics)
    return 1 if wrong or place.judged.region is None else _show_source(place.judged.region)


@dataclass(frozen=True, slots=True)
class _Place:
    """A region, and the lines from its pragma to its end."""

    judged: Judged
    first: int
    last: int


def _places(sources: units.Sources, command: options.Command) -> Iterator[_Place]:
    """The regions of the last input, by line."""
    files, refused = check.read(sources, command.inputs[-1])
    directives = [directive for file in files for directive in file.directives if directive.region is not None]
    found = [_place(directive) for directive in directives]
    for problem in refused:
        judged = check.judge_refused(problem)
        wrong = [d.span.line for d in judged.diagnostics if d.span and d.span.file == judged.file]
        found.append(_Place(judged, problem.line, max([problem.line, *wrong, *(line for _, line in problem.loops)])))
    yield from sorted(found, key=lambda place: place.first)


def _place(directive: Directive) -> _Place:
    assert directive.region is not None
    return _Place(check.judge(directive.region), directive.span.line, directive.end_line)


def _nowhere(file: str, line: int, found: Sequence[_Place]) -> NompError:
    """N806, with the regions before and after *line*."""
    before = [place for place in found if place.last < line][-1:]
    after = [place for place in found if place.first > line][:1]
    notes = tuple(Note(_title(place), Span(place.judged.file, place.first)) for place in (*before, *after))
    step = f"name a line from a 'nomp for' pragma to the end of its loop: nomp explain {file}:LINE"
    if not notes:
        step = "put '#pragma nomp for' before a loop"
    return error("N806", f"no annotated loop in line {line}", Span(file, line), notes=notes, help=step)


def _title(place: _Place) -> str:
    return f"kernel '{place.judged.kernel}' is made of lines {place.first} to {place.last}"


# ----------------------------------------------------------------------------------------------------------- stages


def _about(place: _Place) -> Iterator[str]:
    judged, region = place.judged, place.judged.region
    yield f"{judged.file}:{place.first}: {_title(place)}"
    if region is not None:
        yield from _part("takes from the program", (_taken(region, param) for param in region.params))
    yield from _part("loops, and whether the iterations of each may run at the same time", judged.lines())
    if region is not None:
        yield from _part("schedule", _schedule(judged, region))


def _part(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield from ("", f"{title}:", *(f"  {line}" for line in lines))


def _taken(region: Region, param: Param) -> str:
    """What the kernel does with *param*, and where its data must be."""
    ops = [found.op for found in region.clauses.reductions if found.name == param.name]
    use = " and ".join(word for word, done in (("read", param.reads), ("written", param.writes)) if done) or "not used"
    how = {
        "scalar": "compiled into the kernel" if param.name in region.clauses.jit else "by value",
        "array": f"{use}; must be mapped",
        "table": "a constant table; needs no map",
        "cell": f"reduced with '{ops[0]}'" if ops else f"{use}; copied to the device and back",
        "counter": "its last value is set after the launch",
    }[param.kind]
    called = "" if param.name == param.variable else f" ('{param.name}' in scripts)"
    return f"{param.variable}: {param.dtype}, {how}{called}"


def _schedule(judged: Judged, region: Region) -> Iterator[str]:
    settings = config.load()
    yield remarks.scheduled(region)
    for script in region.clauses.transforms:
        place = script_files.locate(script.module, region.file, settings)
        values = ", ".join(f"{key}={value!r}" for key, value in script.arguments)
        yield f"{script.module}.{script.function}({values}) is in {place or 'no place that is looked at'}"
    step = remarks.advice(region, [verdict for _, _, verdict in judged.loops if verdict])
    if step:
        yield step
    if region.clauses.transforms and settings.legality != "off":
        yield "each launch is checked: iterations that depend on each other must keep their order (N403)"
    if aliasing.matters(region):
        yield "arrays are taken to be apart; where two overlap at a launch, it runs in order, in one work item (N402)"


def _show_source(region: Region) -> int:
    """Print the source for the default device, by way of the scripts; 1 if there is none."""
    try:
        for device, text in stages.sources([region]):
            print("\n".join(_part(f"source for {device}", text.splitlines())))
    except NompError as problem:
        report.show(problem.diagnostics)
        return 1
    return 0
