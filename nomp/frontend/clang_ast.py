"""libclang as the C front end uses it: parsing a translation unit, and questions about one cursor.

In: a path (or text) and preprocessor flags.  Out: a `Unit`, whose cursors the other ``clang_*`` modules read through
the functions here.  Offsets are libclang's: bytes, of the place where a macro is used, not where it is defined.
"""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import subprocess
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clang import cindex
from clang.cindex import CursorKind

from nomp.diagnostics import Diagnostic, NompError, Span, error
from nomp.region import Place

Cursor = Any  # clang.cindex.Cursor: the binding has no types
Type = Any  # clang.cindex.Type

for kinds in (cindex.CursorKind, cindex.TypeKind):
    for number in range(len(kinds._kinds)):
        if kinds._kinds[number] is None:
            kinds(number)  # kinds that the binding does not know (_Float16) are kinds too, and no reason to raise

_OPERATORS = """
    * / % + - << >> <=> < > <= >= == != & ^ | && || = *= /= %= += -= <<= >>= &= ^= |= ,
"""  # in the order of libclang's CX_BinaryOperatorKind, of which the first is 3
_BINARY = dict(enumerate(_OPERATORS.split(), 3))
_UNARY = {
    1: "x++",
    2: "x--",
    3: "++x",
    4: "--x",
    5: "&",
    6: "*",
    7: "+",
    8: "-",
    9: "~",
    10: "!",
    13: "+",
}  # 13: __extension__


@dataclass(frozen=True, slots=True)
class SourceText:
    """The bytes of one file, and the way from byte offsets to lines and columns in characters."""

    path: str
    data: bytes
    starts: tuple[int, ...] = field(default=(), repr=False)

    @staticmethod
    def of(path: str, data: bytes) -> SourceText:
        """*data* as the text of *path*."""
        return SourceText(path, data, (0, *(i + 1 for i, byte in enumerate(data) if byte == 10)))

    def line(self, offset: int) -> int:
        """The 1-based line of *offset*."""
        return bisect_right(self.starts, offset)

    def place(self, begin: int, end: int) -> Place:
        """The stretch from *begin* to *end*, cut at the end of its first line."""
        line = self.line(begin)
        start = self.starts[line - 1]
        stop = self.starts[line] - 1 if line < len(self.starts) else len(self.data)
        inside = self.data[begin : max(begin, min(end, stop))].rstrip(b"\r")
        return Place(line, len(_text(self.data[start:begin])) + 1, max(1, len(_text(inside))))

    def span(self, begin: int, end: int) -> Span:
        """The stretch from *begin* to *end* as a span of this file, cut at the end of its first line."""
        return Span(self.path, *self.place(begin, end))

    def lines(self, first: int, last: int) -> tuple[str, ...]:
        """The lines *first* to *last* (1-based, inclusive) without their ends."""
        stops = (*self.starts[1:], len(self.data))
        return tuple(_text(self.data[self.starts[n - 1] : stops[n - 1]]).rstrip("\r\n") for n in range(first, last + 1))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A function definition or the use of a macro, in a user file: its cursor and the bytes *begin* to *end*."""

    source: SourceText
    cursor: Cursor
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Unit:
    """One parsed translation unit.

    *sources* has the main file first, then each user header, by the path clang uses.  *functions* are those defined in
    user files, *variables* all at file scope; *expansions* are the uses of macros in user files.  *addressed* keeps
    what `clang_scope.Site.addressed` found in each function.
    """

    main: SourceText
    tree: Any
    sources: dict[str, SourceText]
    functions: tuple[Stretch, ...]
    variables: tuple[Cursor, ...]
    expansions: tuple[Stretch, ...]
    addressed: dict[int, frozenset[tuple[int, str]]] = field(default_factory=dict)

    def skipped(self, path: str) -> list[tuple[int, int]]:
        """Byte ranges of *path* that the preprocessor left out."""
        ranges = _library().clang_getSkippedRanges(self.tree, cindex.File.from_name(self.tree, path))
        found = [ranges.contents.ranges[i] for i in range(ranges.contents.count)]
        return [(r.start.offset, r.end.offset) for r in found]


class _RangeList(ctypes.Structure):
    _fields_ = (("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange)))


@functools.cache
def _library() -> Any:
    """The loaded library, with the functions bound that `clang.cindex` leaves out."""
    library = cindex.conf.lib
    for name, result, arguments in (
        ("clang_getCursorBinaryOperatorKind", ctypes.c_int, [cindex.Cursor]),
        ("clang_getCursorUnaryOperatorKind", ctypes.c_int, [cindex.Cursor]),
        ("clang_Cursor_getVarDeclInitializer", cindex.Cursor, [cindex.Cursor]),
        ("clang_Cursor_Evaluate", ctypes.c_void_p, [cindex.Cursor]),
        ("clang_EvalResult_getKind", ctypes.c_int, [ctypes.c_void_p]),
        ("clang_EvalResult_isUnsignedInt", ctypes.c_uint, [ctypes.c_void_p]),
        ("clang_EvalResult_getAsLongLong", ctypes.c_longlong, [ctypes.c_void_p]),
        ("clang_EvalResult_getAsUnsigned", ctypes.c_ulonglong, [ctypes.c_void_p]),
        ("clang_EvalResult_getAsDouble", ctypes.c_double, [ctypes.c_void_p]),
        ("clang_EvalResult_dispose", None, [ctypes.c_void_p]),
        ("clang_getSkippedRanges", ctypes.POINTER(_RangeList), [cindex.TranslationUnit, cindex.File]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


@functools.cache
def _searched(compiler: str) -> tuple[str, ...]:
    """The folders in which *compiler* looks for headers: its own (``stddef.h`` ...), which the libclang wheel lacks,
    and those that a wrapper like mpicc adds."""
    try:
        # By its path: gcc finds its own folders from it, and a program that embeds us may run without PATH.
        command = [shutil.which(compiler) or compiler, "-E", "-v", "-x", "c", os.devnull]
        environment = os.environ | {"LC_ALL": "C"}
        told = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stderr
    except (OSError, subprocess.CalledProcessError):
        return ()
    _, _, rest = told.partition("\n#include <...> search starts here:\n")
    listed, _, _ = rest.partition("\nEnd of search list.")
    return tuple(line.strip() for line in listed.splitlines())


# What host compilers only warn about is for them to say.
_LENIENT = (
    "-fsyntax-only",
    "-ferror-limit=0",
    "-Wno-error",
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-function-pointer-types",
)


def load(path: str, arguments: Sequence[str], text: str | None = None, compiler: str = "cc") -> Unit:
    """Parse the C file *path* (or *text* under that name) with the preprocessor flags *arguments*.

    Raises `NompError` N201 with everything that clang calls an error.
    """
    flags = ["-x", "c", *arguments, *_LENIENT]
    flags += [word for folder in _searched(compiler) for word in ("-isystem", folder)]
    unsaved = [] if text is None else [(path, text)]
    detailed = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD  # skipped ranges and macros
    try:
        data = Path(path).read_bytes() if text is None else text.encode()
        tree = cindex.Index.create().parse(path, args=flags, unsaved_files=unsaved, options=detailed)
    except OSError as problem:
        raise error("N201", f"cannot read {path}: {problem.strerror}", help="check the name of the file") from None
    except cindex.TranslationUnitLoadError:
        raise error("N201", f"libclang could not parse {path}", help="check the options after its name") from None
    main = SourceText.of(path, data)
    sources = {path: main, **_headers(tree)}
    _raise_errors(tree, sources, _searched(compiler))
    return _unit(main, tree, sources)


def _unit(main: SourceText, tree: Any, sources: dict[str, SourceText]) -> Unit:
    """The unit with its top-level cursors sorted out, in one pass (there may be thousands, most of them macros)."""
    found: dict[CursorKind, list[Cursor]] = {
        CursorKind.FUNCTION_DECL: [], CursorKind.VAR_DECL: [], CursorKind.MACRO_INSTANTIATION: []
    }  # fmt: skip
    for cursor in children(tree.cursor):
        if cursor.kind in found:
            found[cursor.kind].append(cursor)
    functions, expansions = (
        tuple(
            Stretch(sources[cursor.location.file.name], cursor, begin(cursor), end(cursor))
            for cursor in found[kind]
            if _is_user(cursor, sources)
        )
        for kind in (CursorKind.FUNCTION_DECL, CursorKind.MACRO_INSTANTIATION)
    )
    defined = tuple(function for function in functions if function.cursor.is_definition())
    return Unit(main, tree, sources, defined, tuple(found[CursorKind.VAR_DECL]), expansions)


def _is_user(cursor: Cursor, sources: dict[str, SourceText]) -> bool:
    file = cursor.location.file
    return file is not None and file.name in sources


def _headers(tree: Any) -> dict[str, SourceText]:
    """The user headers of *tree*, by clang's name for them."""
    found: dict[str, SourceText] = {}
    for inclusion in tree.get_includes():
        name = inclusion.include.name
        start = cindex.SourceLocation.from_offset(tree, inclusion.include, 0)
        if name not in found and not start.is_in_system_header:
            found[name] = SourceText.of(name, Path(name).read_bytes())
    return found


def _is_harmless(found: Any, searched: tuple[str, ...]) -> bool:
    """Whether the error *found* is about what only gcc knows, in its own headers, and hides no type from us.

    These are attributes (``omp.h``), and bodies of functions for single instructions (``immintrin.h``).
    """
    file = found.location.file
    own = [os.path.normpath(folder) for folder in searched if os.path.isfile(os.path.join(folder, "stddef.h"))]
    if file is None or os.path.dirname(file.name) not in own:
        return False
    return "attribute" in found.spelling or file.name.endswith("intrin.h")


def _raise_errors(tree: Any, sources: dict[str, SourceText], searched: tuple[str, ...]) -> None:
    problems = []
    for found in tree.diagnostics:
        if found.severity >= cindex.Diagnostic.Error and not _is_harmless(found, searched):
            problems.append(Diagnostic("N201", found.spelling, _span(sources, found), help=_ADVICE))
    if problems:
        raise NompError(tuple(problems))


_ADVICE = "the file must compile as C; give the flags it is built with (-I, -D, -std) to nomp as well"


def _span(sources: dict[str, SourceText], found: Any) -> Span | None:
    place = found.location
    if place.file is None:
        return None
    source = sources.get(place.file.name)
    return source.span(place.offset, place.offset + 1) if source else Span(place.file.name, place.line, place.column)


# ------------------------------------------------------------------------------------------- questions about a cursor


def children(cursor: Cursor) -> list[Cursor]:
    """The direct children of *cursor*.

    Not by the binding's `get_children`: what is raised in its callback, as by Ctrl-C, would be printed and forgotten,
    and with it the children that follow.
    """
    found: list[Cursor] = []
    raised: list[BaseException] = []

    def visit(child: Cursor, _parent: Cursor, _data: Any) -> int:
        try:
            child._tu = cursor._tu
            found.append(child)
        except BaseException as problem:  # re-raised below
            raised.append(problem)
            return 0  # stop
        return 1  # go on

    stopped = cindex.conf.lib.clang_visitChildren(cursor, cindex.callbacks["cursor_visit"](visit), None)
    if stopped:  # without a reason, if Ctrl-C came before the first line of `visit`
        raise next(iter(raised), KeyboardInterrupt())
    return found


def walk(cursor: Cursor) -> Iterator[Cursor]:
    """*cursor* and everything under it, in source order."""
    left = [cursor]
    while left:
        yield (found := left.pop())
        left += reversed(children(found))


def begin(cursor: Cursor) -> int:
    """The byte offset at which *cursor* begins."""
    return int(cursor.extent.start.offset)


def end(cursor: Cursor) -> int:
    """The byte offset just after *cursor*."""
    return int(cursor.extent.end.offset)


def within(cursor: Cursor, source: SourceText) -> bool:
    """Whether *cursor* stands in the file *source* (what a function includes in its body does not)."""
    file = cursor.extent.start.file
    return file is not None and file.name == source.path


def key(declaration: Cursor) -> tuple[int, str]:
    """What identifies the variable that *declaration* (any of its declarations) declares."""
    first = declaration.canonical
    return first.hash, first.spelling


def operator(cursor: Cursor) -> str:
    """The operator of *cursor* as C spells it (``x++`` and ``++x`` for the two increments); "" if it has none."""
    if cursor.kind == CursorKind.UNARY_OPERATOR:
        return _UNARY.get(_library().clang_getCursorUnaryOperatorKind(cursor), "")
    if cursor.kind in (CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR):
        return _BINARY.get(_library().clang_getCursorBinaryOperatorKind(cursor), "")
    return ""


def initialiser(declaration: Cursor) -> Cursor | None:
    """The initialiser of a variable, None if it has none."""
    found = _library().clang_Cursor_getVarDeclInitializer(declaration)
    found._tu = declaration._tu
    return None if found.kind.is_invalid() else found


def evaluate(cursor: Cursor) -> int | float | None:
    """The value of a constant arithmetic expression, None where clang knows none."""
    library = _library()
    result = library.clang_Cursor_Evaluate(cursor)
    if not result:
        return None
    try:
        kind = library.clang_EvalResult_getKind(result)
        if kind == 1:
            if library.clang_EvalResult_isUnsignedInt(result):
                return int(library.clang_EvalResult_getAsUnsigned(result))
            return int(library.clang_EvalResult_getAsLongLong(result))
        return float(library.clang_EvalResult_getAsDouble(result)) if kind == 2 else None
    finally:
        library.clang_EvalResult_dispose(result)


def bare(cursor: Cursor) -> Cursor:
    """*cursor* without the parentheses and implicit conversions around it."""
    while cursor.kind in (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR):
        inner = children(cursor)
        if len(inner) != 1:
            return cursor
        cursor = inner[0]
    return cursor
