"""A profile as text for people.

In: a `Profile`, and the peaks of its device if they are known.  Out: tables: times on the device, GB/s by the least
traffic (every element once), the share of what the peaks allow; copies; stages of the compiler.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from nomp.report.peaks import Peaks
from nomp.report.profile import KernelRow, Profile, Times
from nomp.report.roofline import point

TIMES = ("calls", "total ms", "mean us", "min us", "max us")
BOUNDS = "<: at most so much, for not all of it could be counted"


def table(profile: Profile, peaks: Peaks | None = None) -> str:
    """*profile*, with shares of *peaks*."""
    parts = [f"profile on {profile.device}"]
    if profile.kernels:
        heads = ("kernel", "source", *TIMES, "GB/s", "GFLOP/s", *(("of peak",) if peaks else ()))
        parts.append(_aligned((heads, *(_kernel(row, peaks) for row in profile.kernels)), 2))
    if profile.copies:
        heads = ("copy", "array", *TIMES, "MB", "GB/s")
        rows = [(row.direction, row.array, *_numbers(row.times), f"{row.nbytes / 1e6:.2f}",
                 _billions(row.times.rate(row.nbytes))) for row in profile.copies]  # fmt: skip
        parts.append(_aligned((heads, *rows), 2))
    if profile.stages:
        stages = [(row.stage, str(row.times.calls), f"{row.times.total * 1e3:.1f}") for row in profile.stages]
        parts.append(_aligned((("stage of the compiler", "calls", "total ms"), *stages), 1))
    if any(row.mark for row in profile.kernels):
        parts.append(BOUNDS)
    if peaks and any((found := point(row, peaks)) and found.share > 1 for row in profile.kernels):
        parts.append("of peak above 100%: data stayed in a cache, which is faster than the memory that was measured")
    return "\n\n".join(parts) + "\n"


def _kernel(row: KernelRow, peaks: Peaks | None) -> tuple[str, ...]:
    found = point(row, peaks) if peaks else None
    share = (f"{row.mark}{found.share:.0%}" if found else "-",) if peaks else ()
    speeds = (_billions(speed, row.mark) for speed in (row.bandwidth, row.speed))
    return row.name, f"{near(row.file)}:{row.line}", *_numbers(row.times), *speeds, *share


def near(file: str) -> str:
    """*file* as seen from here, if it is below."""
    return file.removeprefix(os.path.join(os.getcwd(), ""))


def _numbers(times: Times) -> tuple[str, ...]:
    return (str(times.calls), f"{times.total * 1e3:.3f}",
            *(f"{seconds * 1e6:.1f}" for seconds in (times.mean, times.least, times.most)))  # fmt: skip


def _billions(value: float | None, mark: str = "") -> str:
    return "-" if value is None else f"{mark}{value / 1e9:.2f}"


def _aligned(rows: Sequence[Sequence[str]], left: int) -> str:
    """*rows* in columns, the first *left* of them from the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ([cell.ljust(width) if place < left else cell.rjust(width) for place, (cell, width) in
              enumerate(zip(row, widths, strict=True))] for row in rows)  # fmt: skip
    return "\n".join("  ".join(line).rstrip() for line in lines)
