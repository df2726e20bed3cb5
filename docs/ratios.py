"""Draws ``pictures/history.svg``: the ratios in ``benchmarks/history.jsonl``, commit by commit.

A thin line for each kernel and size, thick ones for geometric means; above 1 nomp is faster.  Machines are not mixed:
each has panels of its own, those of the one that has measured last first.  A commit of which fewer kernels have been
measured than of one before it has no geometric means.  Run `python docs/generate.py`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10
from pathlib import Path
from statistics import geometric_mean
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from history import HISTORY, read

OTHERS = {"omp": "gcc's OpenMP", "serial": "gcc"}
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 310, 60, 42, 150, 40
LABEL = 60
"""How wide the name of a commit is."""


def history(path: Path = HISTORY) -> str:
    """The picture of the lines in *path*, a panel for each ratio."""
    lines = sorted(read(path), key=lambda line: str(line["date"]))
    machines = list(dict.fromkeys(line["machine"] for line in reversed(lines)))
    kinds = [(machine, other) for machine in machines for other in OTHERS]
    panels = [_panel(number, other, [line for line in lines if line["machine"] == machine])
              for number, (machine, other) in enumerate(kinds)]  # fmt: skip
    height = HEIGHT * len(panels)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
    paper = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    style = '<g font-family="sans-serif" font-size="12" fill="#333333">'
    return "\n".join((head, paper, style, *panels, "</g></svg>", ""))


def _panel(number: int, other: str, lines: Sequence[dict[str, Any]]) -> str:
    """The *number*-th panel from the top: ratios to *other* in *lines*, which are of one machine."""
    curves: dict[str, dict[str, float]] = {}
    for line in lines:
        curves.setdefault(f"{line['kernel']} {line['size']}", {})[line["commit"]] = line["ratios"][other]
    commits = list(dict.fromkeys(line["commit"] for line in lines))
    values = [value for curve in curves.values() for value in curve.values()]
    low, high = floor(log10(min(values)) * 4) / 4, ceil(log10(max(values)) * 4) / 4
    top, step = number * HEIGHT, (WIDTH - LEFT - RIGHT) / len(commits)

    def place(commit: str, value: float) -> tuple[float, float]:
        part = (log10(value) - low) / (high - low or 1)
        return LEFT + step * (commits.index(commit) + 0.5), top + HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    parts = [f'<text x="{LEFT}" y="{top + 14}" font-weight="bold">time of {OTHERS[other]} / time of nomp</text>',
             f'<text x="{LEFT}" y="{top + 28}" font-size="10">{escape(lines[-1]["machine"])}</text>']  # fmt: skip
    for value in (0.25, 0.5, 1, 2, 4, 8, 16, 32):
        if low <= log10(value) <= high:
            y = place(commits[0], value)[1]
            colour = "#999999" if value == 1 else "#e4e4e4"
            parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{colour}"/>')
            parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    parts += [_curve(name, [place(*point) for point in curve.items()], "#3b6ea8", 1, 0.35)
              for name, curve in sorted(curves.items())]  # fmt: skip
    for name, colour, small in (("medium and large", "#c2571a", False), ("small", "#7a7a7a", True)):
        means = _means([curve for key, curve in curves.items() if key.endswith(" small") == small], commits)
        if means:
            points = [place(*point) for point in means.items()]
            parts.append(_curve(f"{name}: geometric mean", points, colour, 3, 1))
            parts.append(f'<text x="{points[-1][0] + 8:.1f}" y="{points[-1][1] + 4:.1f}" fill="{colour}">'
                         f"{list(means.values())[-1]:.2f} {name}</text>")  # fmt: skip
    every, y = ceil(LABEL / step), top + HEIGHT - 14
    parts += [f'<text x="{place(commit, 1)[0]:.1f}" y="{y}" text-anchor="middle">{escape(commit)}</text>'
              for commit in commits[::-every]]  # fmt: skip
    return "\n".join(parts)


def _means(curves: Sequence[dict[str, float]], commits: Sequence[str]) -> dict[str, float]:
    """The geometric mean of *curves* at each of *commits*, but for those with fewer of them than one before."""
    means, most = {}, 1
    for commit in commits:
        ratios = [curve[commit] for curve in curves if commit in curve]
        if len(ratios) >= most:
            means[commit], most = geometric_mean(ratios), len(ratios)
    return means


def _curve(name: str, points: Sequence[tuple[float, float]], colour: str, width: float, opacity: float) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{width + 1}"/>' for x, y in points)
    return (f'<g stroke="{colour}" fill="{colour}" opacity="{opacity}"><title>{escape(name)}</title>'
            f'<polyline points="{path}" fill="none" stroke-width="{width}"/>{dots}</g>')  # fmt: skip
