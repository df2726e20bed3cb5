"""Rewrites an annotated C file: each directive becomes a call of libnomp.

In: a `SourceFile` of the front end (the file's bytes, its directives and includes by byte offset).  Out: the bytes of
the file that the host compiler compiles.  Called by `cc`; ``nomp cc --emit c`` prints what it makes.

Every line of the original stays on its line: what is put in is one line long, and the line breaks of what it replaces
follow it.  One ``#line`` at the top is then enough for host errors, debuggers and ``__LINE__``.  An annotated loop
stays in the file too, after the call that launches it, for the case that this asks for it (NOMP_VERIFY=1): so the host
compiler checks it, in its own scope, and what only the loop uses counts as used.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nomp import region_json
from nomp.region import Param, Region

if TYPE_CHECKING:
    from nomp.frontend.clang import Directive, SourceFile, Update

_PIECE = 4000  # bytes of one string literal

_OPERATIONS = {"alloc": 1, "to": 2, "from": 4, "free": 8}

# Predefined by gcc and clang, so that no header is needed; int64 is `long` or `long long` as <stdint.h> has it.
_INTEGERS = {f"{sign}int{bits}": f"__{sign.upper()}INT{bits}_TYPE__" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_C_TYPES = _INTEGERS | {"bool": "_Bool", "float32": "float", "float64": "double"}


def rewrite(source: SourceFile, name: str, header: Path, copies: Mapping[str, Path]) -> bytes:
    """*source* as plain C, to be called *name* by the host compiler.

    *header* is ``nomp-pragma.h``.  *copies* gives, for each included header that has directives itself, its rewritten
    copy.
    """
    top = f'#include "{header}"\n#line 1 {_literal(name)}\n'.encode()
    edits = [(d.begin, d.end, _replacement(source.text, d)) for d in source.directives]
    edits += [(i.begin, i.end, f'#include "{copies.get(i.path, i.path)}"'.encode()) for i in source.includes]
    return top + _splice(source.text, sorted(edits)).removeprefix(codecs.BOM_UTF8)


def _splice(text: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    parts, position = [], 0
    for begin, end, new in edits:
        missing = text.count(b"\n", begin, end) - new.count(b"\n")
        parts += [text[position:begin], new, b"\n" * missing]
        position = end
    return b"".join((*parts, text[position:]))


def _replacement(text: bytes, directive: Directive) -> bytes:
    if directive.region is not None:
        return _loop(text, directive, directive.region)
    return (_call(directive) + ";").encode()


def _call(directive: Directive) -> str:
    place = f"{_literal(directive.span.file)}, {directive.span.line}"
    if directive.init_args is not None:
        count, vector = directive.init_args
        return f"nomp_pragma_init(({count}), (const char **)(__UINTPTR_TYPE__)({vector}), {place})"
    if directive.update is not None:
        return ", ".join(_updates(directive.update, place)).join(("(", ")"))
    return f"nomp_pragma_{directive.kind}({place})"


def _updates(update: Update, place: str) -> Iterator[str]:
    """One call a section, joined by commas to one expression: a pragma stays one statement."""
    operation = _OPERATIONS[update.op]
    for section in update.sections:
        base = section.base
        bounds = f"(__SIZE_TYPE__)({section.start}), (__SIZE_TYPE__)({section.end}), sizeof(({base})[0])"
        yield f"nomp_pragma_update({_address(base)}, {bounds}, {operation}, {_literal(base)}, {place})"


def _loop(text: bytes, directive: Directive, region: Region) -> bytes:
    """The block that launches *region*, with the loop's own text in it, which the call may ask for."""
    loop = loop_offset(text, region)
    parts = (_region(region), *_arguments(region.params), "if (nomp_pragma_run(&__nomp_region, __nomp_args)) {")
    breaks = text.count(b"\n", directive.begin, loop)
    column = loop - text.rfind(b"\n", 0, loop) - 1
    gap = b"\n" * breaks + b" " * column if breaks else b""
    return f"{{ {' '.join(parts)} ".encode() + gap + text[loop : directive.end] + b" nomp_pragma_confirm(); } }"


def loop_offset(text: bytes, region: Region) -> int:
    """The byte offset in *text* of the region's ``for``."""
    place = region.place
    start = 0
    for _ in range(place.line - 1):
        start = text.index(b"\n", start) + 1
    line = text[start:].split(b"\n", 1)[0].decode(errors="surrogateescape")
    return start + len(line[: place.column - 1].encode(errors="surrogateescape"))


def _region(region: Region) -> str:
    """The region as the program holds it: scripts are looked for beside the source, wherever the program runs."""
    searched = region.clauses.transforms or region.clauses.annotations
    embedded = replace(region, file=os.path.abspath(region.file)) if searched else region
    return f"NOMP_REGION({_literal(region_json.dumps(embedded))}, {_literal(region.file)}, {region.line});"


def _arguments(params: tuple[Param, ...]) -> Iterator[str]:
    """Declarations first, then assignments: C89 has that order, and wants constants in an array's initialiser."""
    for number, param in enumerate(params):
        if _is_copied(param):
            yield f"__extension__ {_C_TYPES[param.dtype]} __nomp_{number} = ({param.host});"
    yield f"void *__nomp_args[{max(1, len(params))}];"
    for number, param in enumerate(params):
        value = f"&__nomp_{number}" if _is_copied(param) else _address(param.host)
        yield f"__nomp_args[{number}] = {value};"


def _is_copied(param: Param) -> bool:
    return param.kind == "scalar" and param.variable == param.host


def _address(expression: str) -> str:
    """*expression* as ``void *``; by way of an integer, which drops ``const`` without a warning."""
    return f"(void *)(__UINTPTR_TYPE__)({expression})"


def _literal(text: str) -> str:
    """*text* as C string literals: printable ASCII stays, all else becomes octal escapes of its UTF-8 bytes."""
    data = text.encode(errors="surrogateescape")
    pieces = [data[i : i + _PIECE] for i in range(0, len(data), _PIECE)] or [b""]
    return " ".join('"' + "".join(map(_escaped, piece)) + '"' for piece in pieces)


def _escaped(byte: int) -> str:
    if byte in b'"\\?':  # a question mark could begin a trigraph
        return "\\" + chr(byte)
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
