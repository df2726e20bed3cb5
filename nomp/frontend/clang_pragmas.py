"""Finds nomp's pragmas and the preprocessor's other lines in the text of a C file.

In: the bytes of a file.  Out: where each directive and each ``_Pragma`` stands, in bytes.  `frontend.clang` calls it
for the main file and for each user header: libclang itself has no cursor for a pragma.  Comments, strings and spliced
lines are understood; whether the preprocessor takes a line or skips it is not this module's matter.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    rb"""(?P<newline>\r?\n|\r)
       | (?P<space>[ \t\f\v]+ | \\[ \t]*\r?\n | //(?:\\\r?\n|[^\n])*?(?=\r?\n|\Z) | /\*.*?(?:\*/|\Z))
       | (?P<string>"(?:\\\r?\n|\\.|[^"\\\n])*")
       | (?P<char>'(?:\\\r?\n|\\.|[^'\\\n])*')
       | (?P<hash>\#|%:)
       | (?P<word>[A-Za-z_\x80-\xff][A-Za-z0-9_\x80-\xff]*)
       | (?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPED = re.compile(rb'\\(["\\])')


@dataclass(frozen=True, slots=True)
class Line:
    """A preprocessor directive: bytes *begin* (its ``#``) to *end* (before the newline).

    *name* is ``pragma``, ``if`` ..., *word* the word after it (of ``define``, the macro), *text* all after the name.
    """

    begin: int
    end: int
    name: str
    word: str
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """A nomp pragma: bytes *begin* to *end* hold it all, *text* is what follows ``#pragma``, from offset *start* on."""

    begin: int
    end: int
    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Scan:
    """The directives of a file (nomp's pragmas included) and nomp's pragmas, both by offset."""

    lines: tuple[Line, ...]
    pragmas: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    begin: int
    end: int
    text: bytes


def _tokens(data: bytes, start: int, stop: int) -> Iterator[_Token]:
    for match in _TOKEN.finditer(data, start, stop):
        yield _Token(match.lastgroup or "", match.start(), match.end(), match.group())


def scan(data: bytes) -> Scan:
    """The directives and nomp pragmas in the C text *data*."""
    lines: list[Line] = []
    pragmas: list[Found] = []
    code: list[_Token] = []  # the tokens of the program itself
    directive: list[_Token] = []
    fresh = True
    first = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    for token in [*_tokens(data, first, len(data)), _Token("newline", len(data), len(data), b"")]:
        if token.kind == "newline":
            if directive:
                _close(data, directive, lines, pragmas)
            fresh, directive = True, []
        elif directive or (fresh and token.kind == "hash"):
            directive.append(token)
        elif token.kind != "space":
            fresh = False
            code.append(token)
    pragmas += _operators(code)
    return Scan(tuple(lines), tuple(sorted(pragmas, key=lambda found: found.begin)))


def _close(data: bytes, tokens: list[_Token], lines: list[Line], pragmas: list[Found]) -> None:
    """Add the directive that *tokens* (from its ``#`` to its end) make to *lines*, and to *pragmas* if it is ours."""
    words = [token for token in tokens[1:] if token.kind != "space"]
    if not words:
        return
    end = _end_of(tokens)
    body = words[1].begin if len(words) > 1 else end
    name, word = (part.text.decode("utf-8", "replace") for part in [*words, words[0]][:2])
    line = Line(tokens[0].begin, end, name, word, data[body:end].decode("utf-8", "replace"))
    lines.append(line)
    if line.name == "pragma" and line.word == "nomp":
        pragmas.append(Found(line.begin, end, body, line.text))


def _end_of(tokens: list[_Token]) -> int:
    """The end of a directive without the blanks before its newline (comments stay in it)."""
    last = tokens[-1]
    blank = last.kind == "space" and not last.text.startswith(b"/")
    return tokens[-2].end if blank and len(tokens) > 1 else last.end


def _operators(code: list[_Token]) -> Iterator[Found]:
    """The ``_Pragma("nomp ...")`` operators among the program's tokens."""
    for index, token in enumerate(code):
        parts = code[index : index + 4]
        shape = [part.kind if part.kind == "string" else part.text for part in parts]
        if shape != [b"_Pragma", b"(", "string", b")"]:
            continue
        text = _unescaped(parts[2].text[1:-1]).decode("utf-8", "replace")
        if re.match(r"\s*nomp\b", text):
            lead = len(text) - len(text.lstrip())
            yield Found(token.begin, parts[3].end, parts[2].begin + 1 + lead, text[lead:])


def _unescaped(literal: bytes) -> bytes:
    """The text of a string literal with blanks in place of its backslashes, so that columns stay.

    The blank comes before an opening quote, after a closing one.
    """
    quotes = 0

    def replace(match: re.Match[bytes]) -> bytes:
        nonlocal quotes
        if match.group(1) == b"\\":
            return b"\\ "
        quotes += 1
        return b' "' if quotes % 2 else b'" '

    return _ESCAPED.sub(replace, literal)
