"""The files that `nomp profile` and `nomp roofline` write of what was measured.

In: runs, and the device's peaks if they are known.  Out: JSON, a trace, a page, plots.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from nomp import region_json, remarks
from nomp.diagnostics import Diagnostic, NompError, error
from nomp.driver import report
from nomp.region import Region
from nomp.report import page, roofline, trace
from nomp.report.events import Run
from nomp.report.peaks import Peaks
from nomp.report.profile import Profile, profile


@dataclass(frozen=True)
class Measured:
    """What files are made of."""

    runs: Sequence[Run]
    peaks: Peaks | None

    @cached_property
    def profile(self) -> Profile:
        """That of all runs."""
        return profile(self.runs)


Maker = Callable[[Measured], bytes]


def as_json(measured: Measured) -> bytes:
    """The table's numbers, with each kernel's share of the peaks."""
    data = measured.profile.to_json()
    for row, kernel in zip(data["kernels"], measured.profile.kernels, strict=True):
        found = roofline.point(kernel, measured.peaks) if measured.peaks else None
        row["share"] = found.share if found else None
    return json.dumps(data, indent=2).encode() + b"\n"


def as_trace(measured: Measured) -> bytes:
    """The trace of events."""
    return json.dumps(trace.trace(measured.runs)).encode() + b"\n"


def as_page(measured: Measured) -> bytes:
    """The page, with a plot if there is matplotlib and the peaks are known."""
    if measured.peaks is None:
        plot = "The peaks of this device are not known: 'nomp roofline' measures them."
    elif not _has_matplotlib():
        plot = "There is no plot without matplotlib: pip install 'nomp[report]'."
    else:
        plot = as_svg(measured).decode()
    return page.page(measured.profile, measured.peaks, plot, _codes(measured.runs)).encode()


def as_svg(measured: Measured) -> bytes:
    """The roofline."""
    return _picture(measured, "svg")


def as_png(measured: Measured) -> bytes:
    """The roofline."""
    return _picture(measured, "png")


def _picture(measured: Measured, form: str) -> bytes:
    from nomp.report import plot  # matplotlib

    assert measured.peaks is not None, "plots are of kernels below peaks"
    points = list(roofline.points(measured.profile, measured.peaks)) if measured.runs else []
    return plot.picture(points, measured.peaks, form)


def _has_matplotlib() -> bool:
    return find_spec("matplotlib") is not None


def require_matplotlib(files: Sequence[str]) -> None:
    """Raises N623 if *files* cannot be drawn."""
    if files and not _has_matplotlib():
        raise error("N623", f"{files[0]} cannot be drawn: matplotlib is not installed",
                    help="pip install 'nomp[report]'; --html and --json need no matplotlib")  # fmt: skip


def _codes(runs: Sequence[Run]) -> Iterator[page.Code]:
    """The code of each kernel, once."""
    seen = set()
    for run in runs:
        for number, region in run.regions.items():
            key = region_json.dumps(region)
            if key not in seen:
                seen.add(key)
                line, lines = region.first_line or region.line, "\n".join(region.text)
                generated = run.sources.get(number, "(compiled before the measurement began)")
                yield page.Code(region.name, region.file, line, lines, generated, _remarks(region))


def _remarks(region: Region) -> str:
    try:
        return remarks.remark(region).render()
    except NompError as reason:
        return str(reason)


def write(files: Mapping[str | None, Maker], measured: Measured, kept: str) -> int:
    """Write the *files* asked for; 1 if one cannot be, which is told, with the words that say what is *kept*."""
    problems = list[Diagnostic]()
    for name, make in files.items():
        if name is not None:
            try:
                Path(name).write_bytes(make(measured))
            except OSError as reason:
                problems.append(Diagnostic("N622", f"{name} cannot be written: {reason.strerror}", help=kept))
    report.show(problems)
    return int(bool(problems))
