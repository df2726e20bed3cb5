"""Launches whose loops the host runs, too, to compare what they make: ``NOMP_VERIFY``.

In: a kernel and the addresses of a launch; then, that its loop has run.  Out: N618 where the two differ, N619 once for
each kernel that cannot be compared.  Used by `runtime.session`, whose lock is held from a launch until its loop has
run; `verify.Trial` has what is compared.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from nomp.config import Settings
from nomp.diagnostics import Diagnostic
from nomp.runtime.kernel import Context, Kernel
from nomp.runtime.shown import show

if TYPE_CHECKING:
    from nomp.runtime.verify import Trial


class Trials:
    """Those that are going on; *lock* is that of a session."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._running: list[Trial | None] = []  # the innermost last; None for a loop inside another one's
        self._warned: set[Kernel | None] = set()

    @property
    def are_running(self) -> bool:
        """Whether a loop runs on the host now."""
        return bool(self._running)

    def attempt(
        self, context: Context, kernel: Kernel, addresses: Sequence[int], has_loop: bool, settings: Settings
    ) -> bool:
        """Launch *kernel*.  True: the program is to run its loop, and then to call `confirm`."""
        from nomp.runtime.verify import Unverifiable  # and NumPy, which nothing else needs

        trial = None
        if not self._running:
            try:
                if not has_loop:
                    raise Unverifiable("kernels given as text have no loop in the program")
                trial = kernel.attempt(context, addresses)
            except Unverifiable as reason:
                self.warn(kernel if has_loop else None, reason, settings)
                kernel.run(context, addresses)
                return False
        self._lock.acquire()
        self._running.append(trial)
        return True

    def verify(
        self, context: Context, kernel: Kernel, addresses: Sequence[int], loop: Callable[[], None] | None,
        settings: Settings,
    ) -> None:  # fmt: skip
        """Launch *kernel*, run *loop* from the same data, and compare.  Raises N618."""
        if self.attempt(context, kernel, addresses, loop is not None, settings) and loop:
            stopped = None
            try:
                loop()
            except BaseException as reason:
                stopped = reason
            self.confirm(stopped)

    def confirm(self, stopped: BaseException | None = None) -> None:
        """The loop of the last launch has run, unless *stopped*.  Raises N618 if the kernel differs."""
        trial = self._running.pop()
        try:
            if trial is not None:
                trial.confirm(stopped)
        finally:
            self._lock.release()

    def warn(self, kernel: Kernel | None, reason: object, settings: Settings) -> None:
        """Say once that *kernel*, or (None) those whose text the program gives, are not verified, and what to do."""
        if kernel not in self._warned:
            self._warned.add(kernel)
            what = f"kernel '{kernel.region.name}' is not verified" if kernel else "NOMP_VERIFY has no effect here"
            step = "leave the host the memory of what is mapped" if kernel else "write the loop under a pragma instead"
            span = kernel.span if kernel else None
            show([Diagnostic("N619", f"{what}: {reason}", span, "warning", help=step)], settings)
