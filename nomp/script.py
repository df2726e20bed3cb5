"""Transform and annotation scripts: found, called, and what they return checked.

In: the loopy kernel of a region, the region and the device's context.  Out: the kernel that its scripts made of it, and
warnings.  `pipeline` calls `apply` when it compiles a kernel; the driver calls `missing`, which runs no script.

Annotations come first, in order: ``annotate(kernel, {key: value}, context)`` of the annotation script, once a clause.
Then the transforms, in order: ``function(kernel, context, **keywords)``.  *context* is one `Context` for all calls of
a region: the device's, and what `about` tells of the region.

A module of annotations may say which words it has a meaning for: ``WORDS``, a dictionary of them.  Other words are then
reported (N312) and not passed on.

Errors: `NompError` N301 to N306 and N311, at the script's own line where it has one, with a note at the pragma.
"""

from __future__ import annotations

import ast
import inspect
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from nomp import script_lines
from nomp.clocks import timed
from nomp.config import Settings
from nomp.diagnostics import (
    Diagnostic,
    NompError,
    Note,
    Severity,
    Span,
    did_you_mean,
    error,
    register_source,
    source_line,
)
from nomp.region import NOWHERE, For, Region
from nomp.script_files import folders, known, load, locate, modules, owns, source_of, words
from nomp.scripting import Context, Misfit

Version = tuple[Span, Any]
"""A kernel with the line of a script that made it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a region's clauses ask for: ``function(kernel, *before, context, **keywords)`` of script *module*.

    *span* is the clause's.  A call that changes nothing is worth a message of severity *unchanged*.
    """

    module: str
    function: str
    span: Span
    before: tuple[Any, ...] = ()
    keywords: Mapping[str, int | float | str] = field(default_factory=dict)
    unchanged: Severity = "warning"


def missing(region: Region, settings: Settings) -> tuple[Diagnostic, ...]:
    """Warnings N301 and N302 for scripts and functions of *region* that are not there.  Runs no script."""
    found: list[Diagnostic] = []
    for call in _calls(region, settings):
        place = locate(call.module, region.file, settings)
        if place is None:
            found.append(_no_module(call, region, settings, "warning"))
            continue
        file = source_of(place)
        names = _defined_in(file) if file else set()
        if names and call.function not in names:
            found.append(_no_function(call, place, names, "warning"))
    return tuple(found)


def wanted(region: Region, settings: Settings) -> bool:
    """Whether there is a script to run for *region*."""
    return bool(modules(region, settings))


def unused(region: Region) -> tuple[Diagnostic, ...]:
    """A remark (N308), if *region*, for which no script runs, has annotations for scripts."""
    return (_unused(region),) if words(region) else ()


def about(region: Region, jit: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """What scripts are told of *region*, whose jit parameters have the values *jit*."""
    loop = region.body[0] if region.body else None
    return {
        "region::annotations": region.clauses.annotations, "region::name": region.name, "region::jit": dict(jit),
        "region::loop": loop.iname if isinstance(loop, For) else "",
        "region::open": tuple(name for name in region.clauses.jit if name not in jit),
    }  # fmt: skip


@timed("script")
def apply(
    kernel: Any, region: Region, context: Context, settings: Settings
) -> tuple[Any, tuple[Diagnostic, ...], tuple[Version, ...]]:
    """*kernel* (a loopy TranslationUnit) after the annotations and transforms of *region*, warnings, all that it was.

    The last is empty where schedules are not judged.  Raises `NompError` N301 to N306 and N311.
    """
    warnings: list[Diagnostic] = []
    versions: list[Version] = []
    for call in _calls(region, settings):
        kernel = _run(call, kernel, context, region, settings, warnings, versions)
    return kernel, tuple(warnings), tuple(versions)


def _calls(region: Region, settings: Settings) -> Iterator[Call]:
    if settings.annotations_script:
        for key, value in words(region):
            yield Call(settings.annotations_script, "annotate", region.span(NOWHERE), ({key: value},), {}, "remark")
    for script in region.clauses.transforms:
        yield Call(script.module, script.function, region.span(script.place), (), dict(script.arguments))


def _run(
    call: Call, kernel: Any, context: Context, region: Region, settings: Settings, warnings: list[Diagnostic],
    versions: list[Version],
) -> Any:  # fmt: skip
    """What *call* makes of *kernel*."""
    place = locate(call.module, region.file, settings)
    if place is None:
        raise NompError((_no_module(call, region, settings),))
    with _blamed(call, place, "N303", f"script '{call.module}' cannot be loaded", settings):
        script = load(place)
    words = getattr(script.module, "WORDS", None) if call.before else None
    if words is not None and not set(call.before[0]) <= set(words):
        warnings.append(_unknown_word(call, words))
        return kernel
    function = getattr(script.module, call.function, None)
    if not callable(function):
        raise NompError((_no_function(call, place, vars(script.module)),))
    _refuse_wrong_arguments(call, function, kernel, context)
    followed: AbstractContextManager[list[tuple[script_lines.Line, Any]]] = nullcontext([])
    if settings.legality != "off":  # else nobody asks which line did what
        followed = script_lines.followed(lambda file: owns(place, file), kernel)
    failed = f"'{call.module}.{call.function}' failed"
    with _blamed(call, place, "N304", failed, settings), script.importable(), followed as made:
        result = function(kernel, *call.before, context, **call.keywords)
    if not isinstance(result, type(kernel)):
        raise _wrong_result(call, function, kernel, result)
    for file in {line[0] for line, _ in made}:
        _refresh(file)
    versions += [(script_lines.span(line), version) for line, version in made]
    if result is not context.left and (result is kernel or result == kernel):
        warnings.append(_did_nothing(call, function))
    return result


# ------------------------------------------------------------------------------------------------ what went wrong


@contextmanager
def _blamed(call: Call, place: Path | str, code: str, what: str, settings: Settings) -> Iterator[None]:
    """A block in which a script runs: what it raises becomes a `NompError` at the script's own line."""
    try:
        yield
    except NompError:
        raise
    except Misfit as reason:
        raise _misfit(call, place, reason) from reason
    except (Exception, SystemExit) as problem:
        if settings.debug:
            traceback.print_exception(problem)
        raise _script_error(call, place, code, what, problem) from problem


def _script_error(call: Call, place: Path | str, code: str, what: str, problem: BaseException) -> NompError:
    text = problem.msg if isinstance(problem, SyntaxError) else str(problem)
    first, *more = text.splitlines() or [""]
    message = f"{what}: {type(problem).__name__}{': ' if first else ''}{first}"
    span = _place_of(problem, place)
    notes = [Note(line) for line in more if line.strip()]
    if span:
        notes.append(Note("called for this pragma", call.span))
    return error(code, message, span or call.span, notes=tuple(notes), help="NOMP_DEBUG=1 shows Python's own traceback")


def _misfit(call: Call, place: Path | str, reason: Misfit) -> NompError:
    """The pragma is what is wrong, or the loop under it."""
    span = _place_of(reason, place)
    notes = (Note("the script says so here", span),) if span else ()
    step = "'nomp cc --emit loopy' shows the kernel that scripts get"
    return error("N311", f"'{call.module}.{call.function}' does not fit this loop: {reason}", call.span,
                 notes=notes, help=step)  # fmt: skip


def _unknown_word(call: Call, words: Iterable[str]) -> Diagnostic:
    ((word, _),) = call.before[0].items()
    step = did_you_mean(word, words) or f"it has a meaning for: {', '.join(words)}"
    message = f"script '{call.module}' has no meaning for the annotation '{word}', which is left out"
    return Diagnostic("N312", message, call.span, "warning", help=step)


def _place_of(problem: BaseException, place: Path | str) -> Span | None:
    """Where in the script *problem* arose: the innermost of its lines, or the line that is no Python."""
    if isinstance(problem, SyntaxError) and problem.filename and owns(place, problem.filename):
        _refresh(problem.filename)
        one_line = problem.end_lineno in (None, problem.lineno) and problem.offset
        length = (problem.end_offset or 0) - (problem.offset or 0) if one_line else 1
        return Span(problem.filename, problem.lineno or 1, problem.offset or 1, max(1, length))
    frames = [f for f in traceback.extract_tb(problem.__traceback__) if owns(place, f.filename)]
    return _frame_span(frames[-1]) if frames else None


def _frame_span(frame: traceback.FrameSummary) -> Span:
    """The stretch of the line that *frame* was at (Python gives it in bytes), or the whole line."""
    _refresh(frame.filename)
    line = frame.lineno or 1
    text = (source_line(frame.filename, line) or "").rstrip()
    begin = len(text) - len(text.lstrip())
    end = len(text)
    if frame.colno is not None and frame.end_colno is not None:
        begin = len(text.encode()[: frame.colno].decode(errors="replace"))
        if frame.end_lineno == line:
            end = len(text.encode()[: frame.end_colno].decode(errors="replace"))
    return Span(frame.filename, line, begin + 1, max(1, end - begin))


def _refresh(file: str) -> None:
    """Show *file* as it is now."""
    if Path(file).is_file():
        register_source(file, Path(file).read_text(encoding="utf-8", errors="replace"))


def _no_module(call: Call, region: Region, settings: Settings, severity: Severity = "error") -> Diagnostic:
    looked = ", ".join(map(str, folders(region.file, settings)))
    note = Note(f"looked in {looked}, in nomp_transforms, in the entry points nomp.transforms and in Python's own path")
    step = did_you_mean(call.module, known(region.file, settings)) or f"write {call.module}.py beside {region.file}"
    if call.module.endswith(".py"):
        step = f"write the module's name without .py: {call.module.removesuffix('.py')}"
    return Diagnostic("N301", f"no script '{call.module}'", call.span, severity, notes=(note,), help=step)


def _no_function(call: Call, place: Path | str, names: Iterable[str], severity: Severity = "error") -> Diagnostic:
    message = f"no function '{call.function}' in script '{call.module}'"
    note = Note(f"the script is {source_of(place) or place}")
    near = did_you_mean(call.function, [name for name in names if name != call.function])
    step = near or f"define it: def {call.function}(knl, context): ... return knl"
    return Diagnostic("N302", message, call.span, severity, notes=(note,), help=step)


def _defined_in(file: Path) -> set[str]:
    """All names that *file* gives a value; none if that cannot be told without running it."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.alias(name="*"):
                return set()
            case ast.alias(name=name, asname=other):
                names.add(other or name)
    return names


def _refuse_wrong_arguments(call: Call, function: Callable[..., Any], kernel: Any, context: Any) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # callables of C have none
        return
    try:
        signature.bind(kernel, *call.before, context, **call.keywords)
    except TypeError as reason:
        parameters = [f"{p.name}=..." if p.default is not p.empty else p.name for p in signature.parameters.values()]
        given = ["knl", *("annotations" for _ in call.before), "context", *(f"{key}=..." for key in call.keywords)]
        near = (did_you_mean(key, signature.parameters) for key in call.keywords if key not in signature.parameters)
        shapes = f"it is {call.function}({', '.join(parameters)}), called as {call.function}({', '.join(given)})"
        step = next(filter(None, near), None) or shapes
        message = f"'{call.module}.{call.function}': {reason}"
        raise error("N305", message, call.span, notes=_defined(function), help=step) from None


def _wrong_result(call: Call, function: Callable[..., Any], kernel: Any, result: Any) -> NompError:
    found, wanted = type(result).__name__, type(kernel).__name__
    step = {
        "NoneType": "end the function with 'return knl'",
        "LoopKernel": "return the whole unit: 'return t_unit.with_kernel(knl)'",
    }.get(found, f"return the {wanted} that loopy's functions return")
    what = "None" if result is None else f"a value of type {found}"
    message = f"'{call.module}.{call.function}' returned {what} instead of a {wanted}"
    span = _def_span(function)
    notes = (Note("called for this pragma", call.span),) if span else ()
    return error("N306", message, span or call.span, notes=notes, help=step)


def _did_nothing(call: Call, function: Callable[..., Any]) -> Diagnostic:
    message = f"'{call.module}.{call.function}' returned the kernel unchanged"
    step = "loopy's functions return a new kernel: write knl = lp.split_iname(knl, ...)"
    span = _def_span(function)
    notes = (Note("called for this pragma", call.span),) if span else ()
    return Diagnostic("N307", message, span or call.span, call.unchanged, notes=notes, help=step)


def _unused(region: Region) -> Diagnostic:
    message = "no annotation script is set, so that nothing is done about these annotations"
    step = "set NOMP_ANNOTATIONS_SCRIPT or --nomp-annotations-script"
    return Diagnostic("N308", message, region.span(NOWHERE), "remark", help=step)


def _defined(function: Callable[..., Any]) -> tuple[Note, ...]:
    span = _def_span(function)
    return (Note("defined here", span),) if span else ()


def _def_span(function: Callable[..., Any]) -> Span | None:
    """The line of *function*'s ``def``, below its decorators; None for what is not written in Python."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return None
    line = code.co_firstlineno
    while (source_line(code.co_filename, line) or "").lstrip().startswith("@"):
        line += 1
    return script_lines.span((code.co_filename, line))
