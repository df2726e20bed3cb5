"""Reads the C sources of a ``nomp cc`` command: finds those with pragmas, checks their regions, rewrites them.

In: an input of the command line.  Out: a `Unit`, the rewritten file with what is needed to compile it as if it were the
original, or None where the host compiler should read the original itself.  Called by `cc` and `stages`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nomp.capi import INCLUDE
from nomp.diagnostics import Diagnostic, NompError, Span, error
from nomp.driver import host, options, report
from nomp.driver.host import PRAGMA, Host, Sight
from nomp.driver.options import Command, Item

if TYPE_CHECKING:
    from nomp.frontend.clang import Refused, SourceFile
    from nomp.region import Region

_LINE = re.compile(rb"^[ \t]*#[ \t]*(?:line[ \t]+)?\d", re.MULTILINE)

_NO_COMPILER = "do not let pragmas and their loops depend on __clang__, __GNUC__ or __has_include"
_OPENMP = re.compile(rb"#[ \t]*pragma[ \t]+omp[ \t]+(?!simd\b)")
_BESIDE = re.compile(rb'__has_include(_next)?\s*\(\s*"')
_AS_CLANG = (
    "-U__GNUC__", "-D__GNUC__=4", "-U__GNUC_MINOR__", "-D__GNUC_MINOR__=2", "-U__GNUC_PATCHLEVEL__",
    "-D__GNUC_PATCHLEVEL__=1", "-D__clang__=1", "-D__clang_major__=18", "-D__clang_minor__=1", "-D__llvm__=1",
    "-U__VERSION__", "-D__VERSION__=18",
)  # fmt: skip
"""What makes a host compiler say of itself what clang does; headers of the system look at the minor version, too."""

# Languages in which a pragma would reach the host compiler, and be ignored there.
_REFUSED = {"cpp-output": "preprocessed C", "c++": "C++", "c++-cpp-output": "preprocessed C++"}


@dataclass(frozen=True, slots=True)
class Unit:
    """A rewritten source: *path* as the user spelled it, *file* the new text.

    *folders*: what the paths that are in the new text, or that it has, begin with, and what the user's begin with.
    """

    path: str
    file: Path
    folders: tuple[tuple[str, str], ...] = ()

    @property
    def stem(self) -> str:
        """The file name without its suffix, which names the outputs."""
        return Path(self.path).stem


class Sources:
    """The inputs of one command.  *folder* is private to it; *stdin* holds standard input once ``-`` was read."""

    def __init__(self, command: Command, compiler: Host, folder: Path) -> None:
        self.command = command
        self.compiler = compiler
        self.folder = folder
        self.stdin: bytes | None = None
        self._count = 0
        self._judged = False

    def read(self, item: Item) -> Unit | None:
        """The unit for *item*, or None if it has no pragmas.  `NompError` for what is wrong with its regions."""
        files = self.parse(item)
        if not files:
            return None
        self._judge_options()
        own, regions = self.command.own, region_list(files)
        if own.check:
            report.show(check(regions), own.diagnostics)
        if own.remarks:
            from nomp.remarks import remark

            report.show(map(remark, regions), own.diagnostics)
        return self._write(files)

    def _judge_options(self) -> None:
        found = list(options.other_meanings(self.command))
        if any(diagnostic.severity == "error" for diagnostic in found):
            raise NompError(tuple(found))
        if not self._judged:
            report.show(found, self.command.own.diagnostics)
        self._judged = True

    def parse(self, item: Item) -> tuple[SourceFile, ...]:
        """The source file of *item* and its headers with directives; empty if there is no directive in them."""
        files, refused = self.survey(item)
        if refused:
            from nomp.frontend import clang

            raise clang.failure(refused)
        return files

    def survey(self, item: Item) -> tuple[tuple[SourceFile, ...], tuple[Refused, ...]]:
        """`parse`, for who wants to know of both: what can be translated and what cannot."""
        if item.language != "c" or item.value == "-":
            self._refuse_pragmas(item)
            return (), ()
        if Path(item.value).is_fifo():
            step = "write it to a file first, or give it to the compiler as '-'"
            raise error("N503", f"'{item.value}' is a pipe, which can be read only once", help=step)
        text = self.compiler.preprocessed([*self.host_words, "-x", "c", item.value])
        found = host.pragmas(text)
        for sight in found:
            if sight.in_system_header:
                what, step = "a system header", "name the header's folder with -I instead of -isystem"
                raise error("N503", f"nomp pragma in {what}, which 'nomp cc' does not read", sight.span, help=step)
        if not found:
            return (), ()
        from nomp.frontend import clang

        files, refused = clang.survey(item.value, self.clang_words, self.compiler.program)
        if not refused:
            _refuse_unseen(found, files)
            self._refuse_other_readings(item, files, text)
        return files, refused

    def _refuse_other_readings(self, item: Item, files: Sequence[SourceFile], text: bytes) -> None:
        """N507 for loops whose text depends on which compiler reads it: nomp's parser, which is clang, is another one.
        N207 for OpenMP in them that the host compiler would carry out, and not just vectorise by.

        The host, which has made *text* of the file, reads it once more, as what clang says it is.
        """
        for file in files:
            if beside := _BESIDE.search(file.text):
                span = Span(file.path, file.text.count(b"\n", 0, beside.start()) + 1)
                what = "a copy of this file is compiled in another folder, where no header is beside it"
                raise error("N507", what, span, help=_NO_COMPILER)
        if not region_list(files):
            return
        openmp = ("-U_OPENMP", options.OPENMP) if options.OPENMP in self.clang_words else ()
        as_clang = self.compiler.preprocessed([*self.host_words, *_AS_CLANG, *openmp, "-x", "c", item.value])
        plain, other = host.lines(text), host.lines(as_clang)
        for path, line in _region_lines(files):
            place = _shown(path, files[0]), line
            if openmp and _OPENMP.search(plain.get(place, b"")):
                step = "move it out of the loop, or compile the file without -fopenmp"
                raise error("N207", "an OpenMP pragma cannot be in a kernel", Span(path, line), help=step)
            if plain.get(place) != other.get(place):
                message = "nomp's parser reads this line in another way than the host compiler"
                raise error("N507", message, Span(path, line), help=_NO_COMPILER)

    def is_readable(self, item: Item) -> bool:
        """Whether the host compiler can preprocess *item*; if not, it says why."""
        return self.compiler.run([*self.host_words, "-x", "c", item.value, "-E", "-o", os.devnull]) == 0

    @property
    def host_words(self) -> list[str]:
        """The options with which the host compiler reads a source, for runs of its preprocessor alone."""
        return [*options.compile_words(self.command), "-w", "-idirafter", str(INCLUDE)]

    @property
    def clang_words(self) -> list[str]:
        """What the front end must know to read a source as the host compiler does, in words that clang understands."""
        fixed = options.preprocessor_words(options.parse(self.compiler.options))
        return [*fixed, *options.preprocessor_words(self.command), "-idirafter", str(INCLUDE)]

    def _refuse_pragmas(self, item: Item) -> None:
        """N503 for pragmas in what is not a C file: the host compiler would ignore them."""
        if item.value == "-":
            self.stdin = sys.stdin.buffer.read() if self.stdin is None else self.stdin
        spans = self._other_pragmas(item)
        if spans:
            what = "a program from standard input" if item.value == "-" else _REFUSED[item.language]
            step = "compile the C source itself: nomp cc -c FILE.c"
            raise error("N503", f"nomp pragma in {what}, which 'nomp cc' does not read", spans[0], help=step)

    def _other_pragmas(self, item: Item) -> list[Span]:
        if item.language in ("c", "c++"):
            text = self.compiler.preprocessed([*self.host_words, "-x", item.language, item.value], self.stdin)
            return [sight.span for sight in host.pragmas(text)]
        return _written_pragmas(item.value, self.stdin) if item.language in _REFUSED else []

    def _write(self, files: Sequence[SourceFile]) -> Unit:
        """Write the rewritten files, each into a folder of its own, so that no quoted include finds another one."""
        from nomp.driver import emit

        places = {file.path: self._place(file.path) for file in files}
        for file in files:
            shown = _shown(file.path, files[0])
            places[file.path].write_bytes(emit.rewrite(file, shown, INCLUDE / "nomp-pragma.h", places))
        folders = []
        for file in files:
            folder = os.path.dirname(_shown(file.path, files[0]))
            own = (f"{places[file.path].parent}/", os.path.join(os.path.abspath(folder), "./"))
            folders += [(used, os.path.join(folder, "")) for used in own]
        return Unit(files[0].path, places[files[0].path], tuple(folders))

    def _place(self, path: str) -> Path:
        folder = self.folder / str(self._count)
        folder.mkdir()
        self._count += 1
        return folder / os.path.basename(path)


def _region_lines(files: Sequence[SourceFile]) -> Iterator[tuple[str, int]]:
    """The lines of the annotated loops and of the functions that they call."""
    for file in files:
        for directive in file.directives:
            if directive.region is not None:
                for path, first, last in ((file.path, directive.span.line, directive.end_line), *directive.called):
                    yield from ((path, line) for line in range(first, last + 1))


def _shown(path: str, main: SourceFile) -> str:
    """The *path* of a file as gcc spells it: clang has ``./h.h`` for a header beside ``x.c``."""
    return path if main.path.startswith("./") else path.removeprefix("./")


def _refuse_unseen(sights: Sequence[Sight], files: Sequence[SourceFile]) -> None:
    """No pragma may be dropped because the front end, which is clang, skips what the host compiler does not.

    A file with ``#line`` in it (made by a generator) tells nothing: the host names other lines than the file has.
    """
    if any(_LINE.search(file.text) for file in files):
        return
    seen = {
        (os.path.realpath(file.path), file.text.count(b"\n", 0, directive.begin) + 1)
        for file in files
        for directive in file.directives
    }
    unseen = [s.span for s in sights if (os.path.realpath(s.span.file), s.span.line) not in seen]
    step = _NO_COMPILER
    message = "nomp's parser skips this pragma, the host compiler does not"
    if unseen:
        raise NompError(tuple(Diagnostic("N507", message, span, help=step) for span in unseen))


def region_list(files: Sequence[SourceFile]) -> list[Region]:
    """The regions of *files*, in order."""
    return [d.region for file in files for d in file.directives if d.region is not None]


def check(regions: Sequence[Region]) -> list[Diagnostic]:
    """Judge *regions* without running them: the warnings.  `NompError` with the errors of all of them."""
    from nomp import config, pipeline, script

    settings = config.load()
    errors: list[Diagnostic] = []
    for region in regions:
        try:
            pipeline.check(region)
        except NompError as problem:
            errors += problem.diagnostics
    if errors:
        raise NompError(tuple(errors))
    return [warning for region in regions for warning in script.missing(region, settings)]


def _written_pragmas(path: str, stdin: bytes | None) -> list[Span]:
    """The nomp pragmas in the text of *path*, which is preprocessed already."""
    try:
        text = stdin if path == "-" and stdin is not None else Path(path).read_bytes()
    except OSError:  # the host compiler says so
        return []
    return [Span(path, text.count(b"\n", 0, found.start()) + 1) for found in PRAGMA.finditer(text)]
