"""Sums along rows, in the program's order.

    transform("reduce", "rows", row="i", over="j")

Sums over all iterations of an annotated loop need no transform: ``reduce("sum", "+")``.
"""

from __future__ import annotations

from typing import Any

import loopy as lp
from loopy.symbolic import get_dependencies

from nomp.scripting import Context, Misfit
from nomp_transforms import kernel

WARP = 32


def rows(knl: Any, context: Context, row: str, over: str) -> Any:
    """A group of 32 work items has 32 rows, and copies 32 columns of them at a time, neighbours by neighbours.

    Before::

        for i:
          sum = 0
          for j: sum += a[i, j]*x[j]
          y[i] = sum

    After, on a GPU::

        for i_outer (group), i_inner (items):
          sum = 0
          for j_outer:
            for a_0 (unrolled), a_1 (items): a_here[a_0, a_1] = a[32*i_outer + a_0, 32*j_outer + a_1]
            barrier
            for j_inner (unrolled): sum += a_here[i_inner, j_inner]*x[32*j_outer + j_inner]
            barrier
          y[32*i_outer + i_inner] = sum

    Each sum is made in the program's order.  On a CPU nomp's own schedule is used.  Fits a loop over rows around one
    along them that reads an array by both.
    """
    kernel.loops(knl, [row, over])
    arrays = [name for name in kernel.read_only(knl) if _by_both(knl, name, row, over)]
    if not arrays:
        raise Misfit(f"no array is read by '{row}' and '{over}', with neighbours along '{over}'")
    if kernel.is_cpu(context):
        return context.default(knl)
    columns = int(context.param("columns", (32, 16, 64)))
    edges = kernel.edges(context)
    knl = lp.split_iname(knl, row, WARP, outer_tag="g.0", inner_tag="l.0", slabs=edges)
    knl = lp.split_iname(knl, over, columns, slabs=edges)
    outer, inner = [f"{row}_outer", f"{over}_outer"], [f"{row}_inner", f"{over}_inner"]
    knl = kernel.in_one_domain(knl, {*outer, *inner})
    for array in arrays:
        knl = kernel.fetched(knl, array, outer, inner, ["l.0"])
        knl = kernel.padded(knl, f"{array}_here")
    return lp.tag_inames(knl, {f"{over}_inner": kernel.UNROLLED})


def _by_both(knl: Any, array: str, row: str, over: str) -> bool:
    found = kernel.mentions(knl, array)
    return bool(found) and all(
        str(subscript[-1]) == over and row in get_dependencies(subscript[:-1]) for subscript in found
    )
