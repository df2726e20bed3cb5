"""Independent loops over a grid of points.

    transform("grid", "grid", loops="x y z")

``loops`` has the counter first in which neighbours in memory are numbered.
"""

from __future__ import annotations

from math import prod
from typing import Any

import loopy as lp

from nomp.scripting import Context
from nomp_transforms import kernel

ROW = 4096
"""How many iterations of a single loop a work item of a CPU runs: enough to be worth starting."""


SIZES = {
    1: ("256", "128", "512", "64"),
    2: ("64 4", "32 8", "128 2", "32 4", "16 4"),
    3: ("64 4 1", "32 4 2", "32 8 1", "16 4 1"),
}
"""Items of a group along each axis, for as many loops."""


def grid(knl: Any, context: Context, loops: str) -> Any:
    """Each point is a work item; on a CPU, each plane, or row, or 4096 points.

    Before::

        for y:
          for x: a[y, x] = ...

    After, on a GPU::

        for y_outer, x_outer (groups), y_inner, x_inner (items):
          a[4*y_outer + y_inner, 64*x_outer + x_inner] = ...

    After, on a CPU::

        for y (group):
          for x: a[y, x] = ...

    Fits one to three loops whose iterations are independent.
    """
    names = kernel.one_to_three(knl, loops, "a grid")
    if kernel.is_cpu(context):
        if len(names) > 1:
            return lp.tag_inames(knl, {names[-1]: "g.0"})
        return lp.split_iname(knl, names[0], ROW, outer_tag="g.0")
    return over_groups(knl, context, names)


def over_groups(knl: Any, context: Context, names: list[str]) -> Any:
    """*knl* with the loops *names*, the fastest first, over groups of a GPU's items."""
    most = context["device::max_threads_per_block"]
    chosen = context.param("items", [size for size in SIZES[len(names)] if prod(map(int, size.split())) <= most])
    for axis, (name, size) in enumerate(zip(names, map(int, chosen.split()), strict=True)):
        if size == 1:
            knl = lp.tag_inames(knl, {name: f"g.{axis}"})
        else:
            knl = lp.split_iname(knl, name, size, outer_tag=f"g.{axis}", inner_tag=f"l.{axis}")
    return knl
