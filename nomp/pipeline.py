"""The stages of the compiler, in order: the one place that lists them.

    Region  --lower-->  loopy kernel  --script-->  scheduled kernel  --codegen-->  DeviceSource

`check` runs at compile time, without loopy; `compile` runs at the first launch of a kernel, on its device, because a
script's decisions depend on the device.  Called by the driver and by `runtime.kernel`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from nomp import loops, reduction, schedule
from nomp.arithmetic import Number
from nomp.backend import DeviceInfo
from nomp.config import Settings
from nomp.device_source import Blame, DeviceSource, Schedule, Value, Variant
from nomp.diagnostics import Diagnostic, NompError, Note, error
from nomp.region import Expr, Region
from nomp.schedule import Part
from nomp.walks import fixed, with_values

if TYPE_CHECKING:
    from loopy import TranslationUnit

    from nomp.lower import Lowered
    from nomp.marks import Marks
    from nomp.script import Version
    from nomp.scripting import Asked, Context

    Arranged = tuple[TranslationUnit, tuple[Diagnostic, ...], tuple[Version, ...]]


_USUAL = Variant(no_wrap=True, apart=True)
"""The variant that nearly every launch uses, for those who look at a kernel without a launch."""


def check(region: Region) -> None:
    """Refuse what lowering cannot do.  Raises `NompError`; imports no loopy."""
    loops.check(region)


def compile(
    region: Region, device: DeviceInfo, jit: Mapping[str, Number], variant: Variant, settings: Settings
) -> tuple[DeviceSource, tuple[Diagnostic, ...]]:
    """*region* as source for *device*, and the warnings of its scripts.

    *jit* gives the values of the jit parameters.  Raises `NompError`: N250, N3xx for scripts, N401, N520.  Warns: N404.
    """
    check(region)
    from nomp.lower import functions

    source, warnings = _compiled(region, device, jit, variant, settings)
    return source.whole(functions.definitions(region.functions, device.dialect)), warnings


def _compiled(
    region: Region, device: DeviceInfo, jit: Mapping[str, Number], variant: Variant, settings: Settings
) -> tuple[DeviceSource, tuple[Diagnostic, ...]]:
    from nomp import script
    from nomp.scripting import Context

    scripted = script.wanted(region, settings)
    if variant.aliased:
        return _in_order(region, device, jit, variant), (_aliased(region),) if scripted else ()
    if not scripted:
        return _default(region, device, jit, variant), script.unused(region)
    context = Context({**device.context(), **script.about(region, jit)}, dict(variant.choices))
    arrange = partial(script.apply, region=region, context=context, settings=settings)
    source, warnings = arranged(region, arrange, device, jit, variant, settings, context)
    return replace(source, space=context.space), warnings


def arranged(
    region: Region, arrange: Callable[[TranslationUnit], Arranged], device: DeviceInfo, jit: Mapping[str, Number],
    variant: Variant, settings: Settings, context: Context | None = None,
) -> tuple[DeviceSource, tuple[Diagnostic, ...]]:  # fmt: skip
    """*region* as source for *device*, after what *arrange* (see `script.apply`) makes of its kernel, and warnings.

    *context*: that of the scripts, if they may leave the kernel to the default schedule.
    """
    from nomp import codegen, priorities

    made = _scripted(region, arrange, device, variant, settings)
    if context and made.kernel == made.lowered.kernel:
        return _default(region, device, jit, variant, context.asked), made.warnings
    if reduction.is_divided(region) and not codegen.is_parallel(made.kernel):
        return _default(region, device, jit, variant), made.warnings
    _refuse_races(region, made.kernel)
    _refuse_changes(region, made)
    kernel, reordered = priorities.as_asked(made.lowered.kernel, made.kernel, made.marks)
    source = _generate(region, kernel, made.lowered.values, jit, device)
    if reordered and (loop := priorities.in_pieces(source.nests, made.marks)):
        raise _codegen_error(region, f"its priorities cut loop '{loop}' into pieces")
    source, doubts = _judged(region, made, source, variant.wraps, settings)
    return source, (*made.warnings, *doubts)


def emit_loopy(region: Region, dialect: str = "opencl") -> str:
    """The loopy kernel that *region*'s scripts get, as text."""
    from nomp.lower import lower, show

    return show(lower(region, _USUAL, dialect, for_script=True).kernel)


def emit_source(region: Region, device: DeviceInfo, settings: Settings) -> tuple[str, tuple[Diagnostic, ...]]:
    """The source for *device*, with its scripts applied and jit parameters left open, and `compile`'s warnings."""
    source, diagnostics = compile(region, device, {}, _USUAL, settings)
    return source.text, diagnostics


@dataclass(frozen=True, slots=True)
class _Scripted:
    """The *lowered* region, the *kernel* that its scripts made of it, and what loops became in it.

    *blames* is what in scripts changed instructions.
    """

    lowered: Lowered
    kernel: TranslationUnit
    marks: Marks
    blames: Mapping[str, Blame]
    warnings: tuple[Diagnostic, ...]


def _scripted(
    region: Region, arrange: Callable[[TranslationUnit], Arranged], device: DeviceInfo, variant: Variant,
    settings: Settings,
) -> _Scripted:  # fmt: skip
    """What *arrange* makes of *region*."""
    from nomp import marks
    from nomp.lower import lower

    lowered = lower(region, variant, device.dialect, for_script=True)
    given = marks.marked(lowered)
    kernel, warnings, versions = arrange(given)
    blames = marks.changed_by(given, versions) if settings.legality != "off" else {}
    return _Scripted(lowered, *marks.unmarked(lowered, kernel), blames, warnings)


def _default(
    region: Region, device: DeviceInfo, jit: Mapping[str, Number], variant: Variant, asked: Asked | None = None
) -> DeviceSource:
    """Without a script: reductions in two stages, independent iterations shared out, anything else in order.

    *asked*: what a script says of that.
    """
    from nomp.scripting import usual_shares

    lanes, shares = (asked.lanes, asked.shares) if asked else (None, None)
    cpu = device.type == "cpu"
    region = fixed(region, jit)
    proven = not variant.wraps or reduction.is_pure(region)  # that what iterations write is apart
    parts = reduction.parts(region, _accumulators(device), cpu) if proven else ()
    if not (parts or variant.wraps):
        most, few = shares or usual_shares(device.compute_units), shares or usual_shares(device.compute_units, True)
        parts = schedule.parts(region, most, cpu, variant.apart, lanes, few)
    return _in_parts(parts, device, jit, variant) or _in_order(region, device, jit, variant)


def _in_order(region: Region, device: DeviceInfo, jit: Mapping[str, Number], variant: Variant) -> DeviceSource:
    from nomp.lower import lower

    lowered = lower(region, variant, device.dialect)
    return _generate(region, lowered.kernel, lowered.values, jit, device)


def _aliased(region: Region) -> Diagnostic:
    message = f"arrays of kernel '{region.name}' may overlap in this launch: its script is not used"
    step = "give the kernel arrays that are apart; it runs in the order of the source, in one work item, until then"
    return Diagnostic("N402", message, region.span(region.place), "warning", help=step)


def _accumulators(device: DeviceInfo) -> int:
    """How many partial results a reduction has: on CPUs the same for all, so that they agree to the last bit."""
    return 64 if device.type == "cpu" else 8 * max(1, device.compute_units)


def _in_parts(
    parts: Iterable[Part], device: DeviceInfo, jit: Mapping[str, Number], variant: Variant
) -> DeviceSource | None:
    """The *parts*, each on its grid; None where there are none, or loopy cannot do it."""
    import loopy as lp

    from nomp import codegen
    from nomp.lower import lower
    from nomp.lower.dialects import DIALECTS
    from nomp.lower.target import ReadOnce, vectors_of
    from nomp.scripting import with_all_registers

    whole: DeviceSource | None = None
    for part in parts:
        lowered = lower(part.region, variant, device.dialect)
        values = _values(lowered, part.derived)
        kernel = lowered.kernel
        if part.axes:
            kernel = codegen.each_by_itself(lp.tag_inames(kernel, dict(part.axes)), part.shared)
        kernel = lp.tag_inames(kernel, {name: vectors_of(width) for name, width in part.widths.items()})
        if part.long:
            kernel = with_all_registers(kernel)
        if part.once and DIALECTS[device.dialect].has_streams:
            kernel = kernel.with_kernel(kernel.default_entrypoint.tagged(ReadOnce(part.once)))
        try:
            source = codegen.generate(kernel, values, jit, device.dialect, part.scratch)
        except codegen.CodegenError:
            return None
        whole = source.after(whole) if whole else source
    return whole


def _values(lowered: Lowered, derived: Mapping[str, Expr]) -> tuple[Value, ...]:
    """The kernel's values in terms of the region's own scalars: *derived* says what its extra ones are."""
    return tuple(replace(value, expr=with_values(value.expr, derived)) for value in lowered.values)


def _generate(
    region: Region, kernel: TranslationUnit, values: Iterable[Value], jit: Mapping[str, Number], device: DeviceInfo
) -> DeviceSource:
    from nomp import codegen

    try:
        return codegen.generate(kernel, tuple(values), jit, device.dialect)
    except codegen.CodegenError as failure:
        raise _codegen_error(region, str(failure)) from failure


def _codegen_error(region: Region, message: str) -> NompError:
    scripts, step = region.clauses.transforms, "see what the script gets with 'nomp cc --emit loopy'"
    if scripts:
        what = f"the kernel that '{scripts[-1].module}.{scripts[-1].function}' made cannot be compiled: {message}"
        return error("N320", what, region.span(scripts[-1].place), help=step)
    if region.clauses.annotations:
        what = f"the kernel that the annotation script made cannot be compiled: {message}"
        return error("N320", what, region.span(region.place), help=step)
    return error("N520", f"no code can be generated for kernel '{region.name}': {message}", region.span(region.place))


def _judged(
    region: Region, made: _Scripted, source: DeviceSource, wraps: bool, settings: Settings
) -> tuple[DeviceSource, tuple[Diagnostic, ...]]:
    """*source* with what launches are to check of its schedule, if anything, and a warning where they cannot."""
    if settings.legality == "off":
        return source, ()
    from nomp import execution, legality
    from nomp.accesses import parameters

    assumes, schedule = _assumed(region, made.lowered.kernel, made.kernel), Schedule(complete=False)
    if not wraps:
        given = made.lowered, made.kernel, made.marks
        schedule = execution.scheduled(*given, source, parameters(region), made.blames)
    schedule = replace(schedule, assumes=assumes)
    watch = legality.Watch(region, schedule)
    doubt = watch.unproven()
    judged = replace(schedule, wrong=watch.wrong()) if watch.is_needed() else None
    return replace(source, schedule=judged), (doubt,) if doubt else ()


def _assumed(region: Region, before: TranslationUnit, kernel: TranslationUnit) -> str:
    """What a script takes for granted of the parameters, as isl's text.  Raises N309 for those that it has fixed."""
    entries = [unit.default_entrypoint for unit in (before, kernel)]
    used = entries[0].all_params() | {name for insn in entries[0].instructions for name in insn.read_dependency_names()}
    fixed = sorted((used & region.scalars) - entries[1].arg_dict.keys())
    if fixed:
        scripts = region.clauses.transforms
        message = f"the script makes a constant of '{region.host_name(fixed[0])}', which may have another value"
        step = f"name it in the pragma: jit({region.host_name(fixed[0])})"
        raise error("N309", message, region.span(scripts[-1].place if scripts else region.place), help=step)
    plain, assumed = (entry.assumptions for entry in entries)
    return "" if assumed.plain_is_equal(plain) else str(assumed)


def _refuse_races(region: Region, kernel: TranslationUnit) -> None:
    """A single variable that all iterations of a parallel loop write has no defined value afterwards."""
    from nomp import codegen

    cells = {param.name: param for param in region.params if param.kind == "cell"}
    for name, iname in codegen.parallel_writers(kernel, set(cells)):
        script = region.clauses.transforms[-1:]
        notes = tuple(Note(f"'{s.module}.{s.function}' made it parallel", region.span(s.place)) for s in script)
        message = f"loop '{iname}' cannot run in parallel: every iteration writes '{name}'"
        step = f"leave '{iname}' sequential, or name '{name}' in a reduce clause and leave the reduction unmapped"
        raise error("N401", message, region.span(cells[name].place or region.place), notes=notes, help=step)


def _refuse_changes(region: Region, made: _Scripted) -> None:
    """Refuse what a script must leave as it is, whatever launches do."""
    from nomp import changes

    before, after = made.lowered.kernel.default_entrypoint, made.kernel.default_entrypoint
    if changed := changes.argument(before, after):
        scripts = region.clauses.transforms
        message = f"the script changes what is passed to the kernel: '{region.host_name(changed)}'"
        step = "leave the arguments, their types and their layout as the program has them"
        raise error("N310", message, region.span(scripts[-1].place if scripts else region.place), help=step)
    if reason := changes.garbled(before, after):
        raise _codegen_error(region, reason)
