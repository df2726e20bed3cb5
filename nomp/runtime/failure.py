"""What the device's driver refuses, as diagnostics: used around every device operation of the runtime."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nomp.backend import BackendError
from nomp.diagnostics import NompError, Note, Span, error


@contextmanager
def driver_errors(doing: str, span: Span | None = None) -> Iterator[None]:
    """Turn a `BackendError` into N611, which says what nomp was *doing*."""
    try:
        yield
    except BackendError as reason:
        raise driver_error(doing, reason, span) from reason


def driver_error(doing: str, reason: BackendError, span: Span | None = None) -> NompError:
    """N611 for *reason*, of what nomp was *doing*."""
    notes = tuple(Note(line) for line in reason.log.splitlines() if line.strip())
    step = "nomp devices lists the devices, how much memory they have and whether they work"
    return error("N611", f"{doing} failed: {reason}", span, notes=notes, help=step)
