"""The C front end: files with nomp pragmas to typed regions.

In: the path of a C file and the preprocessor flags it is built with, or the text of one function.  Out: what to replace
where (`SourceFile`), with a typed `Region` for each annotated loop.  Called by the driver (`parse`) and by the C API
(`parse_function`).  libclang parses; ``clang_pragmas`` finds the pragmas, which libclang does not show;
``clang_regions`` translates the loops.  Errors: one `NompError` with all N1xx and N2xx diagnostics, by position.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from clang.cindex import CursorKind

from nomp.diagnostics import Diagnostic, NompError, Note, Span, error, register_source
from nomp.frontend import clang_ast as ast
from nomp.frontend import clang_scope as scope
from nomp.frontend.clang_ast import Cursor, SourceText, Unit
from nomp.frontend.clang_callees import reached
from nomp.frontend.clang_context import position
from nomp.frontend.clang_headers import counter_name
from nomp.frontend.clang_pragmas import Found, Line, Scan, scan
from nomp.frontend.clang_regions import translate
from nomp.frontend.clang_scope import Site
from nomp.frontend.clang_updates import Update, refuse_effects, update
from nomp.pragma import DirectiveName, ForClauses, Pragma
from nomp.pragma import parse as parse_pragma
from nomp.region import Region

__all__ = ["Directive", "Include", "Refused", "SourceFile", "Update", "parse", "parse_function", "survey"]


@dataclass(frozen=True, slots=True)
class Directive:
    """One pragma and the text to replace: bytes *begin* to *end* (``for``: through its loop), ending in *end_line*.

    *called* has the functions that the loop reaches: file, first line and last line.
    """

    kind: DirectiveName
    span: Span
    begin: int
    end: int
    end_line: int
    region: Region | None = None
    update: Update | None = None
    init_args: tuple[str, str] | None = None
    called: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Include:
    """An ``#include`` line, bytes *begin* to *end*, of the header *path*.

    It leads to directives, or it is found beside the file that includes it, and nowhere else once that file is a copy
    in another folder.
    """

    begin: int
    end: int
    path: str


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file with its directives and the ``#include`` lines that a copy of it needs changed, both by offset."""

    path: str
    text: bytes
    directives: tuple[Directive, ...]
    includes: tuple[Include, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """A pragma with which something is wrong.  *loops* are those that it annotates: their counters and their lines."""

    file: str
    line: int
    diagnostics: tuple[Diagnostic, ...]
    loops: tuple[tuple[str, int], ...] = ()


def parse(path: str, arguments: Sequence[str], compiler: str = "cc") -> tuple[SourceFile, ...]:
    """The C file *path*, then each user header (by the path clang gives it) that leads to directives.

    *arguments* are the flags that the preprocessor and the language depend on (-I -D -U -include -isystem -std ...);
    *compiler* is the host's, whose own headers are used.  Raises `NompError` with everything found wrong.
    """
    files, refused = survey(path, arguments, compiler)
    if refused:
        raise failure(refused)
    return files


def failure(refused: Iterable[Refused]) -> NompError:
    """All that is wrong with *refused*, by position."""
    return NompError(tuple(sorted((d for one in refused for d in one.diagnostics), key=position)))


def survey(
    path: str, arguments: Sequence[str], compiler: str = "cc"
) -> tuple[tuple[SourceFile, ...], tuple[Refused, ...]]:
    """`parse`, for who wants to know of both: what can be translated and what cannot."""
    unit = ast.load(path, arguments, compiler=compiler)
    scans = {source.path: scan(source.data) for source in unit.sources.values()}
    macros = {line.word: line.text for found in scans.values() for line in found.lines if line.name == "define"}
    refused: list[Refused] = []
    files = {}
    for source in unit.sources.values():
        refused += (Refused(source.path, line, (problem,)) for line, problem in _from_macros(unit, source, macros))
        directives = _directives(unit, source, scans[source.path], refused)
        files[source.path] = SourceFile(source.path, source.data, directives, ())
    leading = _leading(unit, files)
    refused += _out_of_place(unit, files, scans, leading)
    return _with_includes(unit, files, scans, leading), tuple(refused)


def _active(unit: Unit, source: SourceText, found: Scan) -> list[Found]:
    """The pragmas of *source* that the preprocessor does not skip."""
    if not found.pragmas:
        return []
    skipped = unit.skipped(source.path)
    return [p for p in found.pragmas if not any(begin <= p.begin < end for begin, end in skipped)]


def _directives(unit: Unit, source: SourceText, found: Scan, refused: list[Refused]) -> tuple[Directive, ...]:
    """The directives of the pragmas that the preprocessor takes; the others go to *refused*."""
    directives: list[Directive] = []
    for pragma in _active(unit, source, found):
        try:
            outer = [d for d in directives if d.kind == "for" and d.begin < pragma.begin < d.end]
            if outer:
                raise _nested(source, pragma, outer[0])
            directives.append(_directive(unit, source, found, pragma))
        except NompError as problem:
            line, loops = source.line(pragma.begin), tuple(_loops_after(unit, source, pragma))
            refused.append(Refused(source.path, line, problem.diagnostics, loops))
    return tuple(directives)


def _loops_after(unit: Unit, source: SourceText, pragma: Found) -> Iterator[tuple[str, int]]:
    """The ``for`` loops in the one that follows *pragma*, which has been refused: their counters and their lines."""
    following = [site.following() for site in scope.sites(unit, source, pragma.begin, pragma.end)]
    if "for" in pragma.text.split()[1:2] and following and following[0] is not None:
        for inner in ast.walk(following[0]):
            if inner.kind == CursorKind.FOR_STMT:
                yield counter_name(inner), source.line(ast.begin(inner))


def _nested(source: SourceText, pragma: Found, outer: Directive) -> NompError:
    notes = (Note(f"this loop ends in line {outer.end_line}", outer.span),)
    advice = "annotate the outer loop only; a transform script decides about the inner ones"
    span = source.span(pragma.start, pragma.end)
    return error("N204", "a pragma inside an annotated loop", span, notes=notes, help=advice)


def _directive(unit: Unit, source: SourceText, found: Scan, pragma: Found) -> Directive:
    place = source.place(pragma.start, pragma.end)
    parsed = parse_pragma(pragma.text, source.path, place.line, place.column)
    site = _site(unit, source, pragma, parsed)
    if parsed.directive == "for":
        return _for(site, found, pragma, parsed)
    if site.around[-1].kind != CursorKind.COMPOUND_STMT:
        advice = "put braces around the statements that belong together"
        raise error("N204", f"'{parsed.directive}' stands where only one statement can be", parsed.span, help=advice)
    moved = update(parsed, site, _macros(found)) if parsed.directive == "update" else None
    refuse_effects(parsed.span, "an argument of 'init'", *(parsed.init_args or ()))
    end_line = source.line(pragma.end)
    return Directive(parsed.directive, parsed.span, pragma.begin, pragma.end, end_line, None, moved, parsed.init_args)


def _site(unit: Unit, source: SourceText, pragma: Found, parsed: Pragma) -> Site:
    sites = scope.sites(unit, source, pragma.begin, pragma.end)
    if not sites:
        advice = "move it into the function that is to do this"
        raise error("N204", f"'{parsed.directive}' stands outside of any function", parsed.span, help=advice)
    if len(sites) > 1:
        advice = "write a function for each case instead of including one text several times"
        message = "a pragma in a file that is included more than once: it would mean different things"
        raise error("N204", message, parsed.span, help=advice)
    return sites[0]


def _macros(found: Scan) -> frozenset[str]:
    return frozenset(line.word for line in found.lines if line.name == "define")


# ----------------------------------------------------------------------------------------------------- for pragmas


def _for(site: Site, found: Scan, pragma: Found, parsed: Pragma) -> Directive:
    source, clauses = site.source, parsed.clauses
    assert clauses is not None
    loop = _loop_after(site, pragma, parsed)
    end = scope.statement_end(site, loop)
    _check_text(site, found, loop, (pragma.end, end), parsed.span)
    first, last = source.line(pragma.begin), source.line(end)
    name = clauses.name.text if clauses.name else f"_nomp_kernel_l{first}"
    empty = Region(name, source.path, first, (), (), first_line=first, text=source.lines(first, last))
    region = translate([loop], clauses, site, empty)
    functions: list[Cursor] = []
    list(reached(loop, functions))
    called = tuple((f.location.file.name, f.extent.start.line, f.extent.end.line) for f in functions[1:])
    return Directive("for", parsed.span, pragma.begin, end, last, region, called=called)


def _loop_after(site: Site, pragma: Found, parsed: Pragma) -> Cursor:
    following = site.following()
    clean = following is not None and scope.only_blank(site.source, pragma.end, ast.begin(following))
    if following is not None and clean and following.kind == CursorKind.FOR_STMT:
        return following
    what = "the block ends" if following is None else _STATEMENTS.get(following.kind, "there is another statement")
    if following is not None and not clean:
        what = "there is another line for the preprocessor"
    notes = (Note("found here", site.source.span(ast.begin(following), ast.end(following))),) if following else ()
    message = f"'nomp for' needs a 'for' loop after it, but {what}"
    raise error("N202", message, parsed.span, notes=notes, help="put the pragma in the line before the loop")


_STATEMENTS = {
    CursorKind.WHILE_STMT: "there is a 'while' loop",
    CursorKind.DO_STMT: "there is a 'do' loop",
    CursorKind.DECL_STMT: "there is a declaration",
    CursorKind.COMPOUND_STMT: "there is a block",
    CursorKind.IF_STMT: "there is an 'if'",
    CursorKind.LABEL_STMT: "there is a label",
}


def _check_text(site: Site, found: Scan, loop: Cursor, text: tuple[int, int], span: Span) -> None:
    """Refuse a loop whose text cannot be replaced: parts of it would be lost, or left behind."""
    siblings = ast.children(site.around[-1])
    if any(text[0] <= ast.begin(other) < text[1] for other in siblings if other != loop):
        advice = "write the loop itself without the macro"
        raise error("N202", "the macro that ends this loop holds more than the loop", span, help=advice)
    inside = [line for line in found.lines if text[0] <= line.begin < text[1]]
    lasting = [line for line in inside if line.name in ("define", "undef", "include")]
    depth = [_DEPTH.get(line.name, 0) for line in inside]
    if lasting or sum(depth) or any(total < 0 for total in accumulate(depth)):
        line = (lasting or inside)[0]
        where = (Note("this line", site.source.span(line.begin, line.end)),)
        advice = "move it out of the loop"
        raise error("N202", f"'#{line.name}' in the annotated loop reaches beyond it", span, notes=where, help=advice)


_DEPTH = {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}


# ------------------------------------------------------------------------------------------------ macros, includes


def _from_macros(unit: Unit, source: SourceText, macros: dict[str, str]) -> Iterator[tuple[int, Diagnostic]]:
    """Line and error for each nomp pragma in *source* that a macro makes: no text of the program can be replaced."""
    for use in unit.expansions:
        if use.source is not source:
            continue
        name = use.cursor.spelling
        body = _expanded(name, macros, set())
        text = source.data[use.begin : use.end].decode("utf-8", "replace")
        if "_Pragma" in body and re.search(r"\bnomp\b", text + body):
            advice = "write the pragma itself here, in a line of its own"
            span = source.span(use.begin, use.end)
            yield span.line, Diagnostic("N203", f"macro '{name}' makes a nomp pragma", span, help=advice)


def _expanded(name: str, macros: dict[str, str], seen: set[str]) -> str:
    """The text of macro *name* and of all the macros that it uses."""
    if name in seen or name not in macros:
        return ""
    seen.add(name)
    inner = re.findall(r"[^\W\d]\w*", macros[name])
    return " ".join([macros[name], *(_expanded(word, macros, seen) for word in inner)])


def _leading(unit: Unit, files: dict[str, SourceFile]) -> dict[str, list[tuple[int, str]]]:
    """The main file and the headers that lead to directives, each with its ``#include`` lines that do, by offset."""
    leading = {path for path, file in files.items() if file.directives}
    edges = _edges(unit) if leading - {unit.main.path} else []
    while grown := {outer for outer, _, inner in edges if inner in leading and outer in files} - leading:
        leading |= grown
    return {
        path: [(offset, inner) for outer, offset, inner in edges if outer == path and inner in leading]
        for path in files
        if path == unit.main.path or path in leading
    }


def _out_of_place(
    unit: Unit, files: dict[str, SourceFile], scans: dict[str, Scan], leading: dict[str, list[tuple[int, str]]]
) -> Iterator[Refused]:
    """What is wrong with headers that have directives: a copy of them would not be compiled, or mean something else."""
    reached, left = set(), [unit.main.path]
    while left:
        path = left.pop()
        reached.add(path)
        left += (inner for _, inner in leading.get(path, ()) if inner not in reached)
    for path in leading:
        source = unit.sources[path]
        if path not in reached and files[path].directives:
            span = files[path].directives[0].span
            advice = "include it in the source, instead of with -include"
            problem = Diagnostic("N503", "nomp pragma in a header that no '#include' line leads to", span, help=advice)
            yield Refused(path, span.line, (problem,))
        for line in scans[path].lines if path != unit.main.path else ():
            if line.name == "include_next":
                span, advice = source.span(line.begin, line.end), "move the pragmas to another header"
                problem = Diagnostic("N503", "'#include_next' in a header with nomp pragmas", span, help=advice)
                yield Refused(path, span.line, (problem,))


def _with_includes(
    unit: Unit, files: dict[str, SourceFile], scans: dict[str, Scan], leading: dict[str, list[tuple[int, str]]]
) -> tuple[SourceFile, ...]:
    """The *leading* files with their ``#include`` lines."""
    result = []
    edges = _edges(unit)
    for path, found in leading.items():
        lines = [line for line in scans[path].lines if line.name == "include"]
        inner = {line: name for offset, name in found for line in lines if line.begin <= offset < line.end}
        meant = [(offset, name) for outer, offset, name in edges if outer == path]
        beside = {line: name for line in lines if line not in inner and (name := _beside(path, line, meant))}
        includes = tuple(Include(line.begin, line.end, name) for line, name in (inner | beside).items())
        result.append(replace(files[path], includes=includes))
    return tuple(result)


def _beside(path: str, line: Line, meant: list[tuple[int, str]]) -> str | None:
    """The file in the folder of *path* that the ``#include`` of *line* means, if there is one."""
    folder, quoted = os.path.dirname(path), re.match(r'\s*"([^"\n]+)"', line.text)
    if quoted:
        if not os.path.isfile(os.path.join(folder, quoted[1])):
            return None
        # By way of a folder `.`: that tells it from headers that the program itself finds by absolute paths.
        marked = os.path.join(os.path.abspath(folder), ".", quoted[1])
        return marked if '"' not in marked else os.path.abspath(marked)
    if re.match(r"\s*<", line.text):
        return None
    names = (os.path.abspath(name) for offset, name in meant if line.begin <= offset < line.end)  # of a macro
    return next((name for name in names if name.startswith(os.path.join(os.path.abspath(folder), ""))), None)


def _edges(unit: Unit) -> list[tuple[str, int, str]]:
    """Each ``#include`` line as file, offset, included file: also those that ``#pragma once`` makes empty."""
    directives = [c for c in ast.children(unit.tree.cursor) if c.kind == CursorKind.INCLUSION_DIRECTIVE]
    found = [(c.location.file, c.location.offset, c.get_included_file()) for c in directives]
    return [(outer.name, offset, inner.name) for outer, offset, inner in found if outer and inner]


# ------------------------------------------------------------------------------------------------------------ C API


def parse_function(text: str, clauses: ForClauses, file: str = "<nomp_jit>") -> Region:
    """The one function that *text* defines as a region, its statements the body, its parameters in their order.

    Raises `NompError` for C errors, for more or less than one function, and for what no kernel can do.
    """
    register_source(file, text)
    unit = ast.load(file, _PRELUDE, text)
    if len(unit.functions) != 1:
        advice = "give the text of one function definition"
        message = f"nomp_jit takes one function, but the text defines {len(unit.functions)}"
        raise error("N219", message, Span(file, 1), help=advice)
    source, function = unit.functions[0].source, unit.functions[0].cursor
    body = ast.children(function)[-1]
    statements = ast.children(body)
    if statements and statements[-1].kind == CursorKind.RETURN_STMT and not ast.children(statements[-1]):
        statements.pop()
    site = Site(source, unit, function, (function, body), ast.begin(body) + 1)
    name = clauses.name.text if clauses.name else function.spelling
    line = source.line(ast.begin(function))
    empty = Region(name, file, line, (), (), first_line=1, text=source.lines(1, len(source.starts)))
    return translate(statements, clauses, site, empty, whole_function=True)


_PRELUDE = ("-include", "stdbool.h", "-include", "stddef.h", "-include", "stdint.h")
