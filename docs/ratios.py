"""Draws ``pictures/history.svg``: the ratios in ``benchmarks/history.jsonl``, commit by commit.

A thin line for each kernel and size, thick ones for geometric means; above 1 nomp is faster.  Machines are not
mixed: the one that measured last is drawn.  Run `python docs/generate.py`.
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
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 300, 60, 34, 60, 40


def history(path: Path = HISTORY) -> str:
    """The picture of the lines in *path*, a panel for each ratio."""
    found = read(path)
    lines = [line for line in found if line["machine"] == found[-1]["machine"]]
    commits = list(dict.fromkeys(line["commit"] for line in lines))
    panels = [_panel(number, name, lines, commits) for number, name in enumerate(OTHERS)]
    height = HEIGHT * len(panels)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
    paper = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    style = '<g font-family="sans-serif" font-size="12" fill="#333333">'
    return "\n".join((head, paper, style, *panels, "</g></svg>", ""))


def _panel(number: int, other: str, lines: Sequence[dict[str, Any]], commits: Sequence[str]) -> str:
    curves: dict[str, dict[str, float]] = {}
    for line in lines:
        if other in line["ratios"]:
            curves.setdefault(f"{line['kernel']} {line['size']}", {})[line["commit"]] = line["ratios"][other]
    values = [value for curve in curves.values() for value in curve.values()]
    low, high = floor(log10(min(values)) * 4) / 4, ceil(log10(max(values)) * 4) / 4
    top = number * HEIGHT

    def place(commit: str, value: float) -> tuple[float, float]:
        step = (WIDTH - LEFT - RIGHT) / len(commits)
        part = (log10(value) - low) / (high - low or 1)
        return LEFT + step * (commits.index(commit) + 0.5), top + HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    parts = [f'<text x="{LEFT}" y="{top + 20}" font-weight="bold">time of {OTHERS[other]} / time of nomp</text>']
    for value in (0.25, 0.5, 1, 2, 4, 8, 16, 32):
        if low <= log10(value) <= high:
            y = place(commits[0], value)[1]
            colour = "#999999" if value == 1 else "#e4e4e4"
            parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="{colour}"/>')
            parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    parts += [_curve(name, [place(*point) for point in curve.items()], "#3b6ea8", 1, 0.35)
              for name, curve in sorted(curves.items())]  # fmt: skip
    for name, colour, small in (("medium and large", "#c2571a", False), ("small", "#7a7a7a", True)):
        chosen = [curve for key, curve in curves.items() if key.endswith(" small") == small]
        found = {commit: [curve[commit] for curve in chosen if commit in curve] for commit in commits}
        means = {commit: geometric_mean(ratios) for commit, ratios in found.items() if ratios}
        if means:
            points = [place(*point) for point in means.items()]
            parts.append(_curve(f"{name}: geometric mean", points, colour, 3, 1))
            parts.append(f'<text x="{points[-1][0] + 8:.1f}" y="{points[-1][1] + 4:.1f}" fill="{colour}">'
                         f"{list(means.values())[-1]:.2f} {name}</text>")  # fmt: skip
    y = top + HEIGHT - 14
    parts += [f'<text x="{place(commit, 1)[0]:.1f}" y="{y}" text-anchor="middle">{escape(commit)}</text>'
              for commit in commits]  # fmt: skip
    return "\n".join(parts)


def _curve(name: str, points: Sequence[tuple[float, float]], colour: str, width: float, opacity: float) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{width + 1}"/>' for x, y in points)
    return (f'<g stroke="{colour}" fill="{colour}" opacity="{opacity}"><title>{escape(name)}</title>'
            f'<polyline points="{path}" fill="none" stroke-width="{width}"/>{dots}</g>')  # fmt: skip
