"""``nomp cc``: a drop-in for the C compiler that honours nomp's pragmas.

In: a compiler's command line.  Out: what the host compiler makes of it, its messages and its exit status.  One step
after the other: take the command line apart (`options`), find the host compiler (`host`), read each C file that has
pragmas (`frontend.clang`), check its regions (`pipeline.check`), rewrite it (`emit`) into a private folder, compile
that, and link with libnomp.  A command without such files goes to the host compiler as it is.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from nomp.capi import INCLUDE
from nomp.diagnostics import NompError, error
from nomp.driver import host, library, options, report
from nomp.driver.host import Host
from nomp.driver.options import Command, Dependencies, Item
from nomp.driver.units import Sources, Unit

HELP = """usage: nomp cc [OPTION ...] ARGUMENT ...

Compile C with nomp's pragmas. ARGUMENT is whatever the host C compiler takes: files, -c, -o, -I, -D, -O2, -l ...
  --emit STAGE          print a stage instead of compiling: pragmas, region, loopy, source, c
  --remarks             say what was done with each region
  --no-check            do not check the regions (the program reports what is wrong when it runs)
  --cc CC               the host compiler (default: $NOMP_CC, else cc, gcc or clang)
  --prebuild BACKEND[:ARCH]  compile the kernels of the program, too, into a folder beside it
  --save-temps          keep the rewritten C file beside the output, as NAME.nomp.c
  -###                  print the host compiler's commands, compile nothing
  --diagnostics=FORMAT  text or json
  --help                this text (--version is the host compiler's)"""


def main(arguments: Sequence[str]) -> int:
    """Run ``nomp cc`` on the words after it; the exit status.  `NompError` for what concerns no file."""
    command = options.parse(arguments)
    if command.own.help:
        print(HELP)
        return 0
    with tempfile.TemporaryDirectory(prefix="nomp-") as folder:
        try:
            return _run(command, Path(folder))
        except NompError as problem:
            report.show(problem.diagnostics, command.own.diagnostics)
            return 1


def _run(command: Command, folder: Path) -> int:
    compiler = host.find(command.own.cc, command.own.dry_run)
    if command.own.emit is not None:
        from nomp.driver import stages

        return stages.show(command, compiler, folder)
    if not command.inputs or command.mode == "preprocess":
        return compiler.run((*command.words, *_include_words(command)))
    _refuse_overwriting(command)
    sources = Sources(command, compiler, folder)
    return _link(sources) if command.mode == "link" else _compile_all(sources)


def _refuse_overwriting(command: Command) -> None:
    """The host compiler, which gets other files, would not notice."""
    output = command.value("-o")
    for item in command.inputs if output and os.path.exists(output) else ():
        if os.path.exists(item.value) and os.path.samefile(item.value, output or ""):
            step = "name another file after -o"
            raise error("N502", f"input file '{item.value}' is the same as the output file", help=step)


def _compile_all(sources: Sources) -> int:
    """``-c``, ``-S`` or ``-fsyntax-only``: each input by itself, going on after a failure as gcc does."""
    command = sources.command
    if command.value("-o") is not None and len(options.compiled(command)) > 1 and command.mode != "check":
        return sources.compiler.run(command.words)  # which the host refuses
    statuses = [_compile_one(sources, item) for item in command.inputs]
    return next((status for status in statuses if status), 0)


def _compile_one(sources: Sources, item: Item) -> int:
    command = sources.command
    try:
        unit = sources.read(item)
    except NompError as problem:
        return _refused(command, problem)
    if unit is None:
        return sources.compiler.run((*_only(command, item), *_include_words(command)), sources.stdin)
    suffix = ".s" if command.mode == "assemble" else ".o"
    return _compile(sources, unit, command.value("-o") or unit.stem + suffix)


def _link(sources: Sources) -> int:
    """Compile what has pragmas to objects of our own, then let the host do all the rest in one command."""
    command, objects, status = sources.command, dict[Item, str](), 0
    for item in command.inputs:
        try:
            unit = sources.read(item)
        except NompError as problem:
            status = _refused(command, problem)
            continue
        if unit is not None:
            objects[item] = str(unit.file.with_suffix(".o"))
            status = _compile(sources, unit, objects[item]) or status
    if status:
        return status
    words = _linked_words(command, objects) if objects else list(command.words)
    words += [*_include_words(command), *_library_words(command, needed=bool(objects))]
    status = sources.compiler.run(words, sources.stdin)
    if command.own.prebuild and not status and not command.own.dry_run:
        from nomp.driver import prebuild

        report.show(prebuild.build(Path(command.value("-o") or "a.out"), command.own.prebuild), command.own.diagnostics)
    return status


def _refused(command: Command, problem: NompError) -> int:
    report.show(problem.diagnostics, command.own.diagnostics)
    return 1


# ------------------------------------------------------------------------------------------------ one compilation


def _compile(sources: Sources, unit: Unit, output: str) -> int:
    """Compile *unit* to *output* as the host would compile the original, its dependency file included."""
    command = sources.command
    if command.own.save_temps and not command.own.dry_run:
        shutil.copyfile(unit.file, _beside_output(command, unit, f"{unit.stem}.nomp.c"))
    status = sources.compiler.run(_compile_words(command, sources.compiler, unit, output))
    wanted = options.dependencies(command)
    if status or wanted is None:
        return status
    status = sources.compiler.run(_dependency_words(sources, unit, wanted, output))
    if status and command.mode != "check" and Path(output).is_file():  # and not /dev/null
        Path(output).unlink()  # or the next make would take it for finished
    return status


def _compile_words(command: Command, compiler: Host, unit: Unit, output: str) -> list[str]:
    step = {"assemble": ["-S", "-o", output], "check": ["-fsyntax-only"]}.get(command.mode, ["-c", "-o", output])
    # Debuggers and __FILE__ shall name the source as the user has it, and two builds shall give the same object.
    kinds = ("debug", "macro") if compiler.knows_prefix_maps else ("debug",)
    maps = [f"-f{kind}-prefix-map={used}={meant}" for used, meant in unit.folders for kind in kinds]
    given = (*options.compile_words(command), *_include_words(command))
    beside = ("-dumpdir", _auxiliary(command, unit)) if options.leaves_files(command) else ()
    return [*maps, *given, *beside, "-x", "c", *step, str(unit.file)]


def _dependency_words(sources: Sources, unit: Unit, wanted: Dependencies, output: str) -> list[str]:
    """Preprocess the original once more, for its dependencies alone: they must not name our temporary files."""
    command = sources.command
    made = command.value("-o") or f"{unit.stem}.o" if command.mode == "link" else output
    targets = wanted.targets or ("-MQ", made)
    file = wanted.file or _dependency_file(command, unit)
    return [*sources.host_words, wanted.flag, *wanted.others, *targets, "-MF", file, "-x", "c", unit.path]


def _dependency_file(command: Command, unit: Unit) -> str:
    """The name that gcc gives it: after ``-o``, or after the source and (gcc 11 on) the program."""
    output = command.value("-o")
    if output is not None:
        return str(Path(output).with_suffix(".d"))
    return f"{_auxiliary(command, unit) if command.mode == 'link' else ''}{unit.stem}.d"


def _auxiliary(command: Command, unit: Unit) -> str:
    """What the names of other files that a compilation leaves begin with, where it links at once (gcc 11 on)."""
    output = (command.value("-o") or "a").removesuffix(".exe")
    folder, program = os.path.split(output)
    return os.path.join(folder or ".", "") if len(command.inputs) == 1 and program == unit.stem else f"{output}-"


def _beside_output(command: Command, unit: Unit, name: str) -> Path:
    return Path(command.value("-o") or "").parent / name


# ------------------------------------------------------------------------------------------------- host's words


def _only(command: Command, item: Item) -> list[str]:
    """The command with *item* as its only input."""
    return [word for other in command.items if other is item or not other.is_input for word in other.words]


def _linked_words(command: Command, objects: dict[Item, str]) -> list[str]:
    """The command with each compiled source replaced by its object; an object is no C, whatever ``-x`` says."""
    words: list[str] = []
    language = "none"
    for item in command.items:
        if item.name == "-x":
            language = item.value
        if item in objects:
            words += [objects[item]] if language == "none" else ["-x", "none", objects[item], "-x", language]
        else:
            words += item.words
    return words


def _include_words(command: Command) -> tuple[str, ...]:
    """Where ``nomp.h`` is, for commands that read C."""
    return ("-idirafter", str(INCLUDE)) if any(item.language.startswith("c") for item in command.inputs) else ()


def _library_words(command: Command, needed: bool) -> list[str]:
    """Link with libnomp: always named, so that objects of earlier calls find it, but recorded only where it is used.

    *needed*: this command itself compiled pragmas.
    """
    if command.has("-r", "-static"):
        if needed and command.has("-static"):
            raise error("N505", "a program with nomp pragmas cannot be linked with -static", help="leave -static out")
        return []
    if needed:
        library.require()
    if not library.built():
        return []
    language = ["-x", "none"] if command.has("-x") else []
    return [*language, *library.link_words("-Wl,--push-state,--as-needed", "-Wl,--pop-state")]
