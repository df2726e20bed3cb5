"""Tiles of sums of products, in a group's memory and in registers.

    transform("tile", "tile", loops="j i", over="k")

``loops`` are the columns and the rows of the result, the fastest first, ``over`` is what is summed over.
"""

from __future__ import annotations

from typing import Any

import loopy as lp
from loopy.symbolic import get_dependencies

from nomp.scripting import Context, Misfit
from nomp_transforms import kernel, units


def tile(knl: Any, context: Context, loops: str, over: str) -> Any:
    """A group computes a tile of the result, each work item several elements of it, one tile of the sum at a time.

    Before::

        for i, j:
          sum = 0
          for k: sum += a[i, k]*b[k, j]
          c[i, j] = sum

    After, on a GPU, for tiles of 64 by 64, sums of 16, and 4 by 4 elements an item::

        for i_outer, j_outer (groups), i_item, j_item (items):
          sum[4, 4] = 0
          for k_outer:
            a_here[64, 16] = a[...];  b_here[16, 64] = b[...]
            barrier
            for k_inner (unrolled): sum[p, q] += a_here[16*p + i_item, k_inner]*b_here[k_inner, 16*q + j_item]
            barrier
          c[...] = sum[p, q]

    Each sum is made in the program's order.  Tiles at the edges have code of their own.  Where a GPU has matrix units
    for it, they do that (`units`).  On a CPU nomp's own schedule is used.  Fits two loops around a sum in a local
    variable.
    """
    names = kernel.loops(knl, loops)
    (summed,) = kernel.loops(knl, [over])
    if len(names) != 2:
        raise Misfit(f"a tile has two loops, and not {len(names)}")
    arrays = [name for name in kernel.read_only(knl) if _is_shared(knl, name, names, summed)]
    if not arrays:
        raise Misfit(
            f"no array in the loop over '{over}' is read by several iterations of '{names[0]}' or '{names[1]}'"
        )
    _refuse_sums_in_memory(knl, summed)
    if kernel.is_cpu(context):
        return kernel.by_default(knl, context)
    if units.fit(knl, context, names, summed, arrays):
        return units.tiled(knl, context, names, summed, arrays)
    *each, depth = map(int, context.param("tile", ("4 4 16", "8 4 16", "4 8 16", "8 8 8", "2 2 16")).split())
    sizes = {name: count * SIDE for name, count in zip(names, each, strict=True)} | {summed: depth}
    edges = kernel.edges(knl, context, sizes)
    for axis, name in enumerate(names):
        knl = lp.split_iname(knl, name, sizes[name], outer_tag=f"g.{axis}", slabs=edges[name])
        knl = lp.split_iname(knl, f"{name}_inner", SIDE, outer_tag="ilp.unr", inner_tag=f"l.{axis}")
    knl = lp.split_iname(knl, summed, depth, slabs=edges[summed])
    outer = [f"{name}_outer" for name in (*names, summed)]
    inner = [f"{summed}_inner", *(f"{name}_inner_{part}" for name in names for part in ("outer", "inner"))]
    knl = kernel.in_one_domain(knl, {*outer, *inner})
    for array in arrays:
        knl = kernel.fetched(knl, array, outer, inner, tag="l.auto")
    return lp.tag_inames(knl, {f"{summed}_inner": kernel.UNROLLED})


SIDE = 16
"""Items of a group in each direction."""


def _is_shared(knl: Any, array: str, names: list[str], summed: str) -> bool:
    """Whether iterations of one of *names* that differ read the same elements of *array* in the sum."""
    used = get_dependencies(tuple(kernel.mentions(knl, array)))
    return summed in used and not set(names) <= used


def _refuse_sums_in_memory(knl: Any, summed: str) -> None:
    entry = knl.default_entrypoint
    for insn in entry.instructions:
        written = set(insn.assignee_var_names()) - entry.temporary_variables.keys()
        if summed in insn.within_inames and written:
            name = min(written)
            raise Misfit(f"the loop over '{summed}' writes '{name}': add up in a local variable, and store that once")
