"""Diagnostics: what every stage says about the user's input, and how it is shown.

In: a code of the table in ``nomp/codes``, a place and a message.  Out: a `Diagnostic`, a plain value that renders
itself as text (gcc's form with a caret) or as JSON.  Errors are values first; `NompError` carries them up the stack.
Everything in nomp imports this module; it imports nothing of nomp.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Severity = Literal["error", "warning", "remark", "note"]

_sources: dict[str, tuple[str, ...]] = {}


def register_source(file: str, text: str) -> None:
    """Make *text* the contents of *file* for carets (for text that is on no disk, or may have changed there)."""
    # Not splitlines(), which also ends lines at form feeds and other characters that no compiler counts.
    _sources[file] = tuple(re.split(r"\r\n?|\n", re.sub(r"(\r\n?|\n)\Z", "", text)))


def source_line(file: str, line: int) -> str | None:
    """The text of the 1-based *line* of *file*, or None where it cannot be had."""
    if file not in _sources:
        try:
            text = Path(file).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        register_source(file, text)
    lines = _sources[file]
    return lines[line - 1] if 0 < line <= len(lines) else None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one source line: 1-based line and column, both in characters; *length* characters long."""

    file: str
    line: int
    column: int = 1
    length: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Note:
    """A related place (or a remark without one) printed under the message."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message.  *code* names a page of ``nomp explain``; *help* is the next step for the user."""

    code: str
    message: str
    span: Span | None = None
    severity: Severity = "error"
    notes: tuple[Note, ...] = ()
    help: str | None = None

    def render(self) -> str:
        """The message as text: gcc's first line, the source line with carets, notes, help."""
        prefix = f"{self.span}: " if self.span else "nomp: "
        parts = [f"{prefix}{self.severity}: {self.message} [{self.code}]"]
        if self.span:
            parts += _snippet(self.span)
        for note in self.notes:
            parts.append(f"{note.span}: note: {note.message}" if note.span else f"note: {note.message}")
            if note.span:
                parts += _snippet(note.span)
        if self.help:
            parts.append(f"help: {self.help}")
        return "\n".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The message as plain data, in the form of ``--diagnostics=json``."""
        place = {"file": self.span.file, "line": self.span.line, "column": self.span.column} if self.span else {}
        notes = [
            {"message": note.message} | ({"file": note.span.file, "line": note.span.line} if note.span else {})
            for note in self.notes
        ]
        data: dict[str, Any] = {"code": self.code, "severity": self.severity, **place, "message": self.message}
        return data | ({"notes": notes} if notes else {}) | ({"help": self.help} if self.help else {})


def _width(text: str) -> int:
    """Columns that *text* takes on a terminal (tabs are drawn as one)."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _snippet(span: Span) -> list[str]:
    text = source_line(span.file, span.line)
    if text is None:
        return []
    text = text.replace("\t", " ")
    start = span.column - 1
    length = max(1, _width(text[start : start + span.length]))
    ruler = " " * _width(text[:start]) + "^" + "~" * (length - 1)
    return [f"{span.line:>5} | {text}", f"      | {ruler}"]


@dataclass(eq=False)
class NompError(Exception):
    """Carries one or more error diagnostics to whoever shows them (driver, C API, Python caller)."""

    diagnostics: tuple[Diagnostic, ...] = field(default=())

    @property
    def code(self) -> str:
        """The code of the first diagnostic."""
        return self.diagnostics[0].code

    def __str__(self) -> str:
        return "\n".join(d.render() for d in self.diagnostics)

    def _render_traceback_(self) -> list[str]:
        """What IPython and Jupyter show: the message, which points at the cell, instead of nomp's own frames."""
        return str(self).splitlines()


def error(code: str, message: str, span: Span | None = None, **more: Any) -> NompError:
    """A `NompError` of one diagnostic, to be raised."""
    return NompError((Diagnostic(code, message, span, **more),))


def did_you_mean(word: str, choices: Iterable[str]) -> str | None:
    """The question that names the choice nearest to *word*, for a diagnostic's help; None if none is near."""
    near = difflib.get_close_matches(word, list(choices), n=1)
    return f"did you mean '{near[0]}'?" if near else None
