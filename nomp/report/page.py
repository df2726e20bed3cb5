"""The profile as one HTML file that needs nothing else: tables that sort, the roofline, and each kernel's code.

In: a `Profile`, what is known of its kernels, and the plot.  Out: the page's text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template

from nomp.report.peaks import Peaks
from nomp.report.profile import Profile, Times
from nomp.report.roofline import point
from nomp.report.tables import BOUNDS, TIMES, near

Cell = tuple[str, float | str]
"""What a cell shows, and what it is sorted by."""


@dataclass(frozen=True, slots=True)
class Code:
    """A *kernel*'s loop (*source*, whose first line is *line* of *file*), what was made of it, and remarks."""

    kernel: str
    file: str
    line: int
    source: str
    generated: str
    remarks: str


def page(profile: Profile, peaks: Peaks | None, plot: str, codes: Iterable[Code]) -> str:
    """The page; *plot* is an SVG file's text, or why there is none."""
    text = Template((files("nomp.report") / "page.html").read_text(encoding="utf-8"))
    sections = [_kernels(profile, peaks), *_plot(plot), *_others(profile), *map(_code, codes)]
    about = f"Times on {profile.device}, by its own clock."
    if peaks:
        about += (f" Peaks: {peaks.bandwidth / 1e9:.1f} GB/s, {peaks.single / 1e9:.0f} GFLOP/s in single, "
                  f"{peaks.double / 1e9:.0f} in double precision.")  # fmt: skip
    return text.substitute(title="nomp profile", about=escape(about), sections="\n".join(sections))


def _kernels(profile: Profile, peaks: Peaks | None) -> str:
    heads = ("kernel", "source", *TIMES, "GB/s", "GFLOP/s", "FLOP/byte", "of peak", "limit")
    rows = []
    for row in profile.kernels:
        found = point(row, peaks) if peaks else None
        share = (f"{row.mark}{found.share:.0%}", found.share) if found else ("-", "")
        rows.append([_word(row.name), _word(f"{os.path.basename(row.file)}:{row.line}"), *_times(row.times),
                     *(_billions(speed, row.mark) for speed in (row.bandwidth, row.speed)),
                     _number(row.intensity, row.mark and "~"), share,
                     _word(found.limit if found else "-")])  # fmt: skip
    legend = any(row.mark for row in profile.kernels)
    return _table("Kernels", heads, rows) + (f"\n<p>{escape(BOUNDS)}; ~: about so much</p>" if legend else "")


def _others(profile: Profile) -> Iterator[str]:
    yield _table("Copies", ("array", "direction", *TIMES, "MB", "GB/s"), [
        [_word(row.array), _word(row.direction), *_times(row.times), _number(row.nbytes / 1e6),
         _billions(row.times.rate(row.nbytes))] for row in profile.copies
    ])  # fmt: skip
    stages = [[_word(row.stage), *_times(row.times)[:2]] for row in profile.stages]
    yield _table("Stages of the compiler", ("stage", *TIMES[:2]), stages)


def _word(text: str) -> Cell:
    return text, text


def _number(value: float | None, mark: str = "") -> Cell:
    return ("-", "") if value is None else (f"{mark}{value:.2f}", value)


def _billions(value: float | None, mark: str = "") -> Cell:
    return _number(value and value / 1e9, mark)


def _times(times: Times) -> list[Cell]:
    micro = [seconds * 1e6 for seconds in (times.mean, times.least, times.most)]
    return [(str(times.calls), times.calls), (f"{times.total * 1e3:.3f}", times.total),
            *((f"{value:.1f}", value) for value in micro)]  # fmt: skip


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th{_is_text(name)} title='sort'>{escape(name)}</th>" for name in heads)
    body = "\n".join(
        "<tr>" + "".join(f'<td{_is_text(name)} data-value="{escape(str(value))}">{escape(shown)}</td>'
                         for name, (shown, value) in zip(heads, row, strict=True)) + "</tr>" for row in rows
    )  # fmt: skip
    return (f"<h2>{escape(title)}</h2>\n<div class='wide'><table>\n<thead><tr>{head}</tr></thead>\n"
            f"<tbody>\n{body}\n</tbody></table></div>")  # fmt: skip


def _is_text(head: str) -> str:
    return ' class="text"' if head in ("source", "direction", "limit") else ""


def _plot(plot: str) -> Iterator[str]:
    if plot:
        inside = re.sub(r"^.*?(?=<svg)", "", plot, flags=re.DOTALL) if "<svg" in plot else f"<p>{escape(plot)}</p>"
        yield f"<h2>Roofline</h2>\n<figure>{inside}</figure>"


def _code(code: Code) -> str:
    remarks = f"<div class='remark'>{escape(code.remarks)}</div>" if code.remarks else ""
    return (f"<h2>{escape(code.kernel)}</h2>\n{remarks}\n<div class='pair'>\n"
            f"<div><h3>{escape(near(code.file))}:{code.line}</h3><pre>{escape(code.source)}</pre></div>\n"
            f"<div><h3>generated</h3><pre>{escape(code.generated)}</pre></div>\n</div>")  # fmt: skip
