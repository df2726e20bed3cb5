"""How near kernels come to what their device can do: the roofline model.

In: a profile, and the device's peaks.  Out: `Point`s, one a kernel whose work is known.  Used by the table, the plot
and the page.  S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore
architectures", CACM 52(4), 2009.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nomp.report.peaks import Peaks
from nomp.report.profile import KernelRow, Profile


@dataclass(frozen=True, slots=True)
class Point:
    """A kernel: operations for each byte (*by_footprint*: of the elements used, each once; *by_access*: of all loads
    and stores), operations and bytes a second, the *share* of the speed that the device's peaks allow, and which of
    these is the *limit*: ``memory`` or ``arithmetic``.

    A share above 1 means that the data stayed in a cache, whose bandwidth is not among the peaks.
    """

    kernel: KernelRow
    by_footprint: float
    by_access: float
    speed: float
    bandwidth: float
    share: float
    limit: str


def point(row: KernelRow, peaks: Peaks) -> Point | None:
    """That of *row*, if its work and time are known."""
    work, bandwidth, speed, intensity = row.work, row.bandwidth, row.speed, row.intensity
    if work is None or bandwidth is None or speed is None or intensity is None:
        return None
    arithmetic = work.single / peaks.single + work.double / peaks.double
    memory = work.footprint / peaks.bandwidth
    return Point(
        row,
        intensity,
        work.operations / work.accessed if work.accessed else 0.0,
        speed,
        bandwidth,
        max(arithmetic, memory) / row.times.total,
        "memory" if memory >= arithmetic else "arithmetic",
    )


def points(profile: Profile, peaks: Peaks) -> Iterator[Point]:
    """Those of all kernels of *profile* that have one."""
    return (found for row in profile.kernels if (found := point(row, peaks)))
