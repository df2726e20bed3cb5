"""Where the measurements of a program go: those of ``NOMP_PROFILE=1``, and those that a Python program asks for.

In: the settings.  Out: a sink for `recorder.Recorder`: a file where ``profile_dir`` names a folder, else a table at the
end.  Used by `runtime.session`; `profile` is ``nomp.profile``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property

from nomp import config
from nomp.backend import DeviceInfo
from nomp.config import Settings
from nomp.diagnostics import Diagnostic
from nomp.report import peaks
from nomp.report.events import Log, Sink, header, log_path
from nomp.report.profile import CopyRow, KernelRow, Profile, StageRow, Summary
from nomp.report.tables import table
from nomp.runtime.shown import tell


def measurement(settings: Settings, device: DeviceInfo) -> Sink:
    """What measurements are to be told.  A file that cannot be written becomes a table, which is said (N620)."""

    def ended(profile: Profile) -> None:
        tell("\n" + table(profile, peaks.known(settings, device.name, device.driver)))

    in_the_end = Summary(device.name, ended)
    if settings.profile_dir is None:
        return in_the_end
    about = header(device, time.time())

    def failed(reason: OSError, step: str = "make room for them; those of the rest of the run are lost") -> None:
        message = f"the measurements cannot be written to {settings.profile_dir}: {reason.strerror}"
        tell(Diagnostic("N620", message, severity="warning", help=step).render() + "\n")

    try:
        return Log(log_path(settings.profile_dir, about), about, failed)
    except OSError as reason:
        failed(reason, "give profile-dir a folder that exists and can be written; a table follows at the end instead")
        return in_the_end


class Measured:
    """What has been measured; complete, and to be read, when the block of `profile` has ended.

    ``print`` shows a table.  Times are in seconds.
    """

    def __init__(self, device: DeviceInfo) -> None:
        self._device = device
        self.sink = Summary(device.name)

    @cached_property
    def _profile(self) -> Profile:
        return self.sink.profile()

    @property
    def kernels(self) -> tuple[KernelRow, ...]:
        """A row for each kernel, those that took longest first."""
        return self._profile.kernels

    @property
    def copies(self) -> tuple[CopyRow, ...]:
        """A row for each array and direction."""
        return self._profile.copies

    @property
    def stages(self) -> tuple[StageRow, ...]:
        """A row for each stage of the compiler."""
        return self._profile.stages

    def to_json(self) -> dict[str, object]:
        """All rows as plain data."""
        return self._profile.to_json()

    def __str__(self) -> str:
        return table(self._profile, peaks.known(config.load(), self._device.name, self._device.driver))


@contextmanager
def profile() -> Iterator[Measured]:
    """Measure what the program does with the device in the block: ``with nomp.profile() as measured: ...``.

    A measurement that goes on already (``NOMP_PROFILE=1``, a block around this one) has all of this, too.  Raises
    `NompError`: N602 before init, N611 for a device without a clock.
    """
    from nomp.runtime import session

    device = session.device()
    if device is None:
        session.sync()  # says N602
        raise AssertionError("without a device nothing can be waited for")
    measured = Measured(device)
    session.measure(measured.sink)
    try:
        yield measured
    finally:
        if session.started():  # finalize has ended the measurement
            session.measured(measured.sink)
