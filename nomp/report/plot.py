"""The roofline as a picture, by matplotlib, which draws into files and needs no display.

In: points and peaks.  Out: the bytes of an SVG or PNG file.  ImportError where matplotlib is not installed.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

from nomp.report.peaks import Peaks
from nomp.report.roofline import Point

_COLOURS = ("#3b6ea8", "#c2571a", "#2f7d4f", "#8a4f9e", "#a8822a", "#4c8c94", "#b0415a", "#5f6b78")
_SHAPES = "os^Dv"
_INK = "#333333"
_FEW = 8
"""So many kernels have their names inside the plot."""


def picture(points: Sequence[Point], peaks: Peaks, form: str = "svg") -> bytes:
    """The roofs of *peaks* and, for each of *points*, its speed over operations a byte: a dot by footprint, a ring by
    access, and a line between them."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams.update({"svg.hashsalt": "nomp", "svg.fonttype": "none", "font.size": 9})
    figure: Any = Figure(figsize=(8, 5) if len(points) <= _FEW else (11, 5), layout="constrained")
    axes = figure.subplots()
    left, right = _extent(points, peaks)
    _roofs(axes, peaks, left, right)
    for number, point in enumerate(points):
        _dot(axes, point, _COLOURS[number % len(_COLOURS)], _SHAPES[number // len(_COLOURS) % len(_SHAPES)])
    axes.set(xscale="log", yscale="log", xlim=(left, right), xlabel="operations a byte",
             ylabel="operations a second (GFLOP/s)", title=f"Roofline of {peaks.device}")  # fmt: skip
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if 0 < sum(point.speed > 0 for point in points) <= _FEW:
        axes.legend(loc="lower right", frameon=False)
    elif points:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=7)
    made = io.BytesIO()
    figure.savefig(made, format=form, dpi=150, metadata={"Date": None} if form == "svg" else None)
    return made.getvalue()


def _extent(points: Sequence[Point], peaks: Peaks) -> tuple[float, float]:
    """The range of operations a byte that shows all points and where the roof bends."""
    bend = peaks.single / peaks.bandwidth
    shown = [bend, *(x for point in points for x in (point.by_footprint, point.by_access) if x > 0)]
    return min(0.05, min(shown) / 2), max(64.0, 3 * max(shown))


def _roofs(axes: Any, peaks: Peaks, left: float, right: float) -> None:
    for name, speed, style, up in (("single", peaks.single, "-", 1), ("double", peaks.double, "--", -1)):
        bend = speed / peaks.bandwidth
        ends = [left, bend, right]
        roof = [min(x * peaks.bandwidth, speed) / 1e9 for x in ends]
        axes.plot(ends, roof, color=_INK, linewidth=1.2, linestyle=style)
        axes.annotate(f"{name} precision {speed / 1e9:.0f} GFLOP/s", (right, speed / 1e9), (-4, 3 * up),
                      color=_INK, textcoords="offset points", ha="right", va="bottom" if up > 0 else "top")  # fmt: skip
    place = 2 * left, 2 * left * peaks.bandwidth / 1e9
    axes.annotate(f"memory {peaks.bandwidth / 1e9:.0f} GB/s", place, (8, -8), color=_INK, textcoords="offset points",
                  ha="left", va="top")  # fmt: skip


def _dot(axes: Any, point: Point, colour: str, shape: str) -> None:
    if not point.speed:
        return  # a copy computes nothing: a logarithm has no place for it
    speed = point.speed / 1e9
    axes.plot([point.by_access, point.by_footprint], [speed, speed], color=colour, linewidth=0.8, alpha=0.6)
    axes.plot([point.by_access], [speed], shape, markerfacecolor="none", color=colour, markersize=5)
    place = f"{os.path.basename(point.kernel.file)}:{point.kernel.line}"
    label = f"{place} {point.kernel.name} ({point.share:.0%})"
    axes.plot([point.by_footprint], [speed], shape, color=colour, markersize=6, label=label)
