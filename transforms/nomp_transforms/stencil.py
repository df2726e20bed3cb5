"""Stencils on structured grids: a domain of annotations, and the transform behind them.

    annotate("stencil", "x y z")        new values of a grid's points from old ones around them

The word has the counter first in which neighbours in memory are numbered; one to three of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import loopy as lp

from nomp.scripting import Context
from nomp_transforms import kernel
from nomp_transforms.grid import over_groups

WORDS = {"stencil": "the counters of a grid's points, the fastest first"}


def annotate(knl: Any, annotations: Mapping[str, str], context: Context) -> Any:
    """The schedule that *annotations*, one word and its value, ask for."""
    return column(knl, context, annotations["stencil"])


def column(knl: Any, context: Context, loops: str) -> Any:
    """A work item goes through several points along the slowest direction, and keeps what they share in registers.

    Before::

        for z, y, x: v[z, y, x] = u[z - 1, y, x] + u[z + 1, y, x] + u[z, y, x - 1] + u[z, y, x + 1]

    After, on a GPU; y and x are items, and the value at z + 1 is loaded once for two or three points::

        for z_outer (group):
          v[4*z_outer, y, x]     = u[4*z_outer - 1, y, x] + u[4*z_outer + 1, y, x] + ...
          v[4*z_outer + 1, y, x] = u[4*z_outer,     y, x] + u[4*z_outer + 2, y, x] + ...
          ...

    Loops inside that have few iterations are unrolled, so that small local arrays are in registers, too.  The first and
    the last group, where some of the points may not be there, have code of their own.  On a CPU nomp's
    own schedule is used.  Fits one to three loops whose iterations are independent.
    """
    names = kernel.one_to_three(knl, loops, "a stencil")
    if kernel.is_cpu(context):
        return kernel.by_default(knl, context)
    inner = set.intersection(*(kernel.inside(knl, name) for name in names)) - {*names}
    knl = kernel.unrolled(knl, context, inner)
    *plane, slow = names
    much = (1, 2, 4)  # for points with loops of their own: code grows, and there are fewer registers to keep things in
    points = context.param("points", much if inner else (4, 8, 2, 1)) if plane else 1
    if points == 1:
        return over_groups(knl, context, names)
    knl = over_groups(knl, context, plane)
    return lp.split_iname(knl, slow, points, outer_tag=f"g.{len(plane)}", inner_tag="unr", slabs=(1, 1))
