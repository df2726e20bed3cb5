"""What the device's driver refuses, as diagnostics: used around every device operation of the runtime."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nomp.backend import BackendError
from nomp.diagnostics import Note, Span, error


@contextmanager
def driver_errors(doing: str, span: Span | None = None) -> Iterator[None]:
    """Turn a `BackendError` into N611, which says what nomp was *doing*."""
    try:
        yield
    except BackendError as reason:
        notes = tuple(Note(line) for line in reason.log.splitlines() if line.strip())
        step = "nomp devices lists the devices, how much memory they have and whether they work"
        raise error("N611", f"{doing} failed: {reason}", span, notes=notes, help=step) from reason
