"""What is looked at before launches of a kernel that scripts have scheduled.

In: a region, the `Schedule` that its scripts made of it, and the scalars of a launch.  Out: what is wrong with it then.
isl is imported only for a launch that is refused, or where it alone can tell.  Used by `runtime.kernel`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from nomp.arithmetic import Number
from nomp.device_source import Schedule
from nomp.diagnostics import Diagnostic
from nomp.region import Region

if TYPE_CHECKING:
    from nomp.legality import Watch


class Guard:
    """Refuses launches for which *schedule* is wrong; without one, none."""

    def __init__(self, region: Region, schedule: Schedule | None) -> None:
        self._region, self._schedule = region, schedule

    def refusal(self, scalars: Mapping[str, Number]) -> Diagnostic | None:
        """The error, see `Watch.refusal`, if there is one for these *scalars*."""
        schedule = self._schedule
        if schedule is None or (schedule.wrong is not None and not schedule.wrong.holds(scalars)):
            return None
        return self._watch.refusal(scalars)

    @cached_property
    def _watch(self) -> Watch:
        from nomp.legality import Watch

        assert self._schedule is not None
        return Watch(self._region, self._schedule)
