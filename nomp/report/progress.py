"""What is being waited for, on a terminal: a line that comes after a second and goes when the wait is over.

In: the title of some work, and its steps.  Out: a line on stderr, where that is a terminal and rich is installed
(``pip install 'nomp[report]'``); nothing elsewhere.  Used for compiling and tuning, and by `nomp roofline`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 1.0
"""Seconds until the line comes."""


@contextmanager
def shown(title: str, total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Show *title* while the block runs.  It gets a function for each of its *total* steps, called with its name."""
    line = _Line(title, total) if sys.stderr is not None and sys.stderr.isatty() else None
    if line is None:
        yield _unseen
        return
    line.timer.start()
    try:
        yield line.step
    finally:
        line.end()


def _unseen(name: str) -> None:
    """The step *name* begins, which no one sees."""


class _Line:
    """A line of rich's; NO_COLOR is rich's business too."""

    def __init__(self, title: str, total: int | None) -> None:
        self._title, self._total, self._done, self._name = title, total, 0, ""
        self._lock = threading.Lock()
        self._ended = False
        self._progress: object | None = None
        self.timer = threading.Timer(PATIENCE, self._start)
        self.timer.daemon = True

    def step(self, name: str) -> None:
        """The step *name* begins."""
        with self._lock:
            self._done, self._name = self._done + bool(self._name), name
            self._update()

    def end(self) -> None:
        """Take the line away."""
        self.timer.cancel()
        with self._lock:
            self._ended = True
            if self._progress is not None:
                self._bar.stop()

    def _start(self) -> None:
        try:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
        except ImportError:
            return
        with self._lock:
            if self._ended:
                return
            bars = (BarColumn(),) if self._total else ()
            columns = (SpinnerColumn(), TextColumn("{task.description}"), *bars, TimeElapsedColumn())
            self._progress = self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(self._title, total=self._total)
            self._update()
            self._bar.start()

    def _update(self) -> None:
        if self._progress is not None:
            words = f"{self._title}: {self._name}" if self._name else self._title
            self._bar.update(self._task, description=words, completed=self._done)
