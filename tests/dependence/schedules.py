"""What `pipeline` makes of a script, for tests that want to look at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import loopy as lp
import reading

from nomp import pipeline
from nomp.backend import DeviceInfo
from nomp.config import Settings
from nomp.device_source import DeviceSource, Variant
from nomp.diagnostics import Diagnostic, NompError
from nomp.legality import Watch
from nomp.lower import lower
from nomp.region import Region

USUAL = Variant(no_wrap=True)
DEVICE = DeviceInfo("fake", "opencl", "p", "fake device", "v", "1", "cpu", "none", 64, 1 << 15, 1 << 20, 1, 1)
SCALARS = {"n": 9, "m": 8, "off": 0}
Script = Callable[[lp.TranslationUnit], lp.TranslationUnit]


def lowered(region: Region) -> lp.TranslationUnit:
    return lower(region, USUAL, "opencl", for_script=True).kernel


@dataclass(frozen=True)
class Judgement:
    """What is said of a schedule when it is compiled, and of launches; nothing is kept of one that is always right."""

    watch: Watch | None
    doubts: tuple[Diagnostic, ...]

    def unproven(self) -> Diagnostic | None:
        return next(iter(self.doubts), None)

    def refusal(self, scalars: Mapping[str, int]) -> Diagnostic | None:
        """By isl; the condition in the record says the same."""
        if self.watch is None:
            return None
        found, wrong = self.watch.refusal(scalars), self.watch.schedule.wrong
        assert wrong is not None and wrong.holds(scalars) == (found is not None), scalars
        return found


def compiled(region: Region, script: Script) -> tuple[DeviceSource, Judgement]:
    """Raises `NompError` for what the pipeline refuses, whatever the values of a launch are."""
    source, doubts = pipeline.arranged(region, lambda kernel: (script(kernel), (), ()), DEVICE, {}, USUAL, Settings())
    return source, Judgement(Watch(region, source.schedule) if source.schedule else None, doubts)


def made(region: Region, script: Script) -> tuple[DeviceSource, Judgement] | None:
    """None if loopy cannot schedule it, or only in pieces."""
    try:
        return compiled(region, script)
    except NompError as problem:
        assert problem.diagnostics[0].code in ("N320", "N520")
        return None


def judged(region: Region, script: Script, scalars: dict[str, int]) -> Diagnostic | None:
    """What is said of a launch with *scalars*, or of all of them."""
    try:
        _, said_of = compiled(region, script)
    except NompError as problem:
        return problem.diagnostics[0]
    return said_of.refusal(scalars) or said_of.unproven()


def region_of(folder: Path, loop: str, clauses: str = 'transform("m", "f")') -> Region:
    parameters = "int n, int m, int off, double *a, double *b, double *c, int *k, double q[n][8], double r[n][8]"
    return reading.region(folder, f"void f({parameters}) {{\n#pragma nomp for {clauses}\n{loop}\n}}\n")


def said(folder: Path, loop: str, script: Script, scalars: dict[str, int] = SCALARS) -> str | None:
    """The code of what is said of *loop* with *script*."""
    wrong = judged(region_of(folder, loop), script, scalars)
    return wrong and wrong.code


def instructions(kernel: lp.TranslationUnit, **changes: Any) -> lp.TranslationUnit:
    """*kernel* with *changes* to all its instructions."""
    entry = kernel.default_entrypoint
    return kernel.with_kernel(entry.copy(instructions=[insn.copy(**changes) for insn in entry.instructions]))


def without_waiting(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    ids = frozenset((insn.id, "any") for insn in kernel.default_entrypoint.instructions)
    return instructions(kernel, no_sync_with=ids)


def without_order(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    return without_waiting(instructions(kernel, depends_on=frozenset(), depends_on_is_final=True))


def combined(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    """*kernel* with its domains in one, which transformations over several loops need."""
    entry = kernel.default_entrypoint
    return kernel.with_kernel(entry.copy(domains=[entry.combine_domains(tuple(range(len(entry.domains))))]))


def fused(kernel: lp.TranslationUnit) -> lp.TranslationUnit:
    return lp.rename_iname(kernel, "i", "j", existing_ok=True)
