"""The `for` loops of a C file as places in its text, and the file with text inserted at such places.

Reads text only, without a preprocessor: good enough for the files of the suites, which `suites.py` rewrites with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_COMMENT, _STRING, _CHAR = r"//[^\n]*|/\*.*?\*/", r'"(?:\\.|[^"\\\n])*"', r"'(?:\\.|[^'\\\n])*'"
_DIRECTIVE = r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*"
_SKIPPED = re.compile("|".join((_COMMENT, _STRING, _CHAR, _DIRECTIVE)), re.S | re.M)
_FOR = re.compile(r"\bfor\s*\(")
_COUNTER = re.compile(r"\(\s*(?:(?:unsigned|signed|long|int|size_t|uint\w*)\s+)*(\w+)\s*=")
_CLOSING = {"(": ")", "{": "}"}


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop from *start* to *end* in the text, its *body* from there on; *parent* is the loop around it, or -1."""

    number: int
    parent: int
    line: int
    start: int
    body: int
    end: int
    counter: str | None
    declares_counter: bool


def blank(text: str) -> str:
    """*text* with spaces for comments, strings and lines of the preprocessor."""
    return _SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def loops(text: str) -> list[Loop]:
    """All loops of *text*, in its order."""
    plain = blank(text)
    found: list[Loop] = []
    open_loops: list[int] = []
    for number, match in enumerate(_FOR.finditer(plain)):
        start = match.start()
        body = _skip_space(plain, _matching(plain, match.end() - 1))
        while open_loops and found[open_loops[-1]].end <= start:
            open_loops.pop()
        header = _COUNTER.match(plain, match.end() - 1)
        declares = header is not None and " " in header[0].split("=")[0].strip("( ")
        end = statement_end(plain, body)
        parent = open_loops[-1] if open_loops else -1
        line = text.count("\n", 0, start) + 1
        found.append(Loop(number, parent, line, start, body, end, header[1] if header else None, declares))
        open_loops.append(number)
    return found


def statement_end(plain: str, start: int) -> int:
    """Where the statement at *start* of blanked text ends."""
    start = _skip_space(plain, start)
    if plain[start] == "{":
        return _matching(plain, start)
    if match := re.compile(r"(?:for|while|if|switch)\s*\(").match(plain, start):
        end = statement_end(plain, _matching(plain, match.end() - 1))
        other = re.compile(r"\s*else\b").match(plain, end) if match[0].startswith("if") else None
        return statement_end(plain, other.end()) if other else end
    position = start
    while plain[position] != ";":
        position = _matching(plain, position) if plain[position] in _CLOSING else position + 1
    return position + 1


def inserted(text: str, additions: Iterable[tuple[int, str]]) -> str:
    """*text* with each string put in at its position; of several at one position, the first comes first."""
    return "".join(_pieces(text, sorted(additions, key=lambda addition: addition[0])))


def _pieces(text: str, additions: Iterable[tuple[int, str]]) -> Iterator[str]:
    done = 0
    for position, addition in additions:
        yield text[done:position]
        yield addition
        done = position
    yield text[done:]


def _skip_space(plain: str, position: int) -> int:
    while plain[position].isspace():
        position += 1
    return position


def _matching(plain: str, position: int) -> int:
    """After the bracket that closes the one at *position*."""
    opening, closing, depth = plain[position], _CLOSING[plain[position]], 0
    for place in range(position, len(plain)):
        depth += (plain[place] == opening) - (plain[place] == closing)
        if depth == 0:
            return place + 1
    raise ValueError(f"no {closing} for the {opening} at {position}")
