"""What `pipeline` makes of a script, for tests that want to look at it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import loopy as lp
import reading

from nomp import codegen, priorities
from nomp.accesses import parameters
from nomp.device_source import DeviceSource, Variant
from nomp.diagnostics import Diagnostic
from nomp.execution import scheduled
from nomp.legality import Watch
from nomp.lower import lower
from nomp.marks import marked, unmarked
from nomp.region import Region

USUAL = Variant(no_wrap=True)
Script = Callable[[lp.TranslationUnit], lp.TranslationUnit]


def lowered(region: Region) -> lp.TranslationUnit:
    return lower(region, USUAL, "opencl", for_script=True).kernel


def made(region: Region, script: Script) -> tuple[DeviceSource, Watch] | None:
    """None if loopy cannot schedule it, or only in pieces."""
    given = lower(region, USUAL, "opencl", for_script=True)
    kernel, marks = unmarked(given, script(marked(given)))
    kernel, asked = priorities.as_asked(given.kernel, kernel, marks)
    try:
        source = codegen.generate(kernel, (), {}, "opencl")
    except codegen.CodegenError:
        return None
    if asked and priorities.in_pieces(source.nests, marks):
        return None
    return source, Watch(region, scheduled(given, kernel, marks, source, parameters(region), {}))


def judged(region: Region, script: Script, scalars: dict[str, int]) -> Diagnostic | None:
    """What is said of a launch with *scalars*."""
    found = made(region, script)
    assert found is not None
    return found[1].refusal(scalars) or found[1].unproven()


def region_of(folder: Path, loop: str, clauses: str = 'transform("m", "f")') -> Region:
    parameters = "int n, int m, int off, double *a, double *b, double *c, int *k, double q[n][8], double r[n][8]"
    return reading.region(folder, f"void f({parameters}) {{\n#pragma nomp for {clauses}\n{loop}\n}}\n")
