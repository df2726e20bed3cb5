"""Diagnostics that a running program is told of on stderr.  Used by `runtime.session` and `runtime.python`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from nomp.config import Settings
from nomp.diagnostics import Diagnostic, NompError

_SHOWN_FROM = {"warning": 2, "remark": 3, "note": 3}
"""The least ``verbose`` at which a diagnostic of that severity is shown."""


def show(diagnostics: Iterable[Diagnostic], settings: Settings) -> None:
    """Print those of *diagnostics* on stderr that *settings* ask for."""
    for diagnostic in diagnostics:
        if settings.verbose >= _SHOWN_FROM.get(diagnostic.severity, 1):
            print(diagnostic.render(), file=sys.stderr)


@contextmanager
def warned(settings: Settings) -> Iterator[None]:
    """Errors of a block, without which the program goes on, as warnings."""
    try:
        yield
    except NompError as reason:
        show([replace(found, severity="warning") for found in reason.diagnostics], settings)


def judge(settings: Settings) -> Callable[[Diagnostic], None]:
    """What to do about a schedule that is wrong."""

    def illegal(problem: Diagnostic) -> None:
        if settings.legality == "error":
            raise NompError((problem,))
        show([replace(problem, severity="warning")], settings)

    return illegal


def tell(text: str) -> None:
    """Print *text*, measurements, there; a program does not end because no one can read them."""
    with contextlib.suppress(OSError):
        print(text, end="", file=sys.stderr, flush=True)
