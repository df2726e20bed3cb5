"""Which lines of a script make its kernel what it becomes.

In: the call of a script's function.  Out: each kernel that comes up in it, with its line.  Called by `script`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from nomp.diagnostics import Span, source_line

Line = tuple[str, int]
"""A file and a line of it."""


class Followed:
    """Watches functions of the files that are *owned* run, and keeps each new value of *kind* with its line."""

    def __init__(self, owned: Callable[[str], bool], kind: type, given: Any) -> None:
        self._owned, self._kind = owned, kind
        self.made: list[tuple[Line, Any]] = []
        self._seen = {id(given): given}
        self._lines: dict[FrameType, int] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        """Follow *frame* line by line if it belongs to the script: Python calls this for each function that begins."""
        return self._step if event == "call" and self._owned(frame.f_code.co_filename) else None

    def _step(self, frame: FrameType, event: str, value: Any) -> Any:
        line = self._lines.get(frame, frame.f_lineno)
        for local in [*frame.f_locals.values(), *([value] if event == "return" else [])]:
            if isinstance(local, self._kind) and id(local) not in self._seen:
                self._seen[id(local)] = local
                self.made.append(((frame.f_code.co_filename, line), local))
        self._lines[frame] = frame.f_lineno
        if event == "return":
            del self._lines[frame]
        return self._step


@contextmanager
def followed(owned: Callable[[str], bool], kernel: Any) -> Iterator[list[tuple[Line, Any]]]:
    """A block in which a script works on *kernel*: what it makes of it, line by line.

    Nothing while a debugger is at work: Python can have only one.
    """
    watch = Followed(owned, type(kernel), kernel)
    if sys.gettrace() is not None:
        yield watch.made
        return
    sys.settrace(watch)
    try:
        yield watch.made
    finally:
        sys.settrace(None)


def span(line: Line) -> Span:
    """*line* without the blanks around it."""
    file, number = line
    text = source_line(file, number) or ""
    return Span(file, number, len(text) - len(text.lstrip()) + 1, max(1, len(text.strip())))
