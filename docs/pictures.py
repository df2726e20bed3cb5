"""Draws the pictures of loops in ``docs/pictures``: which work group runs an iteration, and in which order.

Run `python docs/generate.py`, which writes them; ``tests/docs/test_generated.py`` compares them.  A row of dots is an
iteration of the outer loop i, a dot in it one of the inner loop j; colours are work groups, lines the order inside one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

Point = tuple[int, int]
"""An iteration: i and j."""

N = 8
STEP, MARGIN = 30, 40
COLOURS = ("#3b6ea8", "#c2571a", "#2f7d4f", "#8a4f9e")


def picture(groups: Sequence[Sequence[Point]], joined: bool = True) -> str:
    """An SVG file: each of *groups* has its iterations in order; *joined* says that the order is one."""
    size = 2 * MARGIN + (N - 1) * STEP
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" width="{size}" height="{size}">',
             f'<rect width="{size}" height="{size}" fill="#ffffff"/>',
             '<g font-family="sans-serif" font-size="13" fill="#444444">',
             f'<text x="{MARGIN}" y="18">j &#8594;</text>', f'<text x="10" y="{MARGIN + 5}">i &#8595;</text>',
             "</g>"]  # fmt: skip
    for number, group in enumerate(groups):
        colour = COLOURS[number % len(COLOURS)]
        if joined:
            path = " ".join(f"{x},{y}" for x, y in map(_place, group))
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5" opacity="0.6"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="5" fill="{colour}"/>' for x, y in map(_place, group)]
        if joined:
            x, y = _place(group[0])
            parts.append(f'<circle cx="{x}" cy="{y}" r="9" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    return "\n".join((*parts, "</svg>", ""))


def _place(point: Point) -> Point:
    i, j = point
    return MARGIN + STEP * j, MARGIN + STEP * i


def _split(group_of: Callable[[Point], int], order: Iterable[Point]) -> list[list[Point]]:
    groups: dict[int, list[Point]] = {}
    for point in order:
        groups.setdefault(group_of(point), []).append(point)
    return [groups[number] for number in sorted(groups)]


ROWS = [(i, j) for i in range(N) for j in range(N)]
COLUMNS = [(i, j) for j in range(N) for i in range(N)]


def _tile(point: Point) -> int:
    return 2 * (point[0] // 4) + point[1] // 4


PICTURES = {
    "in-order.svg": lambda: picture([ROWS]),
    "turned.svg": lambda: picture([COLUMNS]),
    "rows.svg": lambda: picture(_split(lambda p: p[0] // 4, ROWS)),
    "tiles.svg": lambda: picture(_split(_tile, ROWS)),
    "items.svg": lambda: picture(_split(_tile, ROWS), joined=False),
}
