"""Tiles of products of matrices of doubles, for the matrix units of NVIDIA's GPUs.  Used by `tile`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import loopy as lp
import numpy as np
from loopy.symbolic import get_dependencies

from nomp.scripting import Context, by_matrix_units, has_matrix_units
from nomp_transforms import kernel

WARPS, ROWS, COLUMNS, PAIR = 4, 8, 4, 2
"""Warps of a group, items of a warp along rows and along columns, and neighbouring columns that an item has."""


def fit(knl: Any, context: Context, names: Sequence[str], summed: str, arrays: Sequence[str]) -> bool:
    """Whether units of the device can make the sums over *summed* of products of elements of *arrays*.

    *names* are the columns and the rows of the result, of which each array depends on its own.
    """
    entry, indices = knl.default_entrypoint, [index for name in arrays for index in kernel.mentions(knl, name)]
    doubles = all(entry.arg_dict[name].dtype.numpy_dtype == np.float64 for name in arrays)
    planes = len(indices) == len(arrays) == 2 and all(len(index) == 2 for index in indices)
    used = {frozenset(get_dependencies(index) & {*names, summed}) for index in indices}
    own = {frozenset({name, summed}) for name in names}
    return has_matrix_units(context) and doubles and planes and used == own


def tiled(knl: Any, context: Context, names: Sequence[str], summed: str, arrays: Sequence[str]) -> Any:
    """A group computes a tile of the result, a warp of it some rows, one tile of the sum at a time.

    Before: see `tile`.  After, for tiles of 64 by 64 and sums of 32::

        for i_outer, j_outer (groups), i_warp (4 warps), i_item (8 items by), j_item (4 items):
          sum[2, 8, 2] = 0
          for k_outer:
            a_here[64, 32] = a[...];  b_here[32, 64] = b[...]
            barrier
            for k_inner (units): sum[p, q, v] += a_here[16*i_warp + 8*p + i_item, k_inner]
                                                 * b_here[k_inner, 8*q + 2*j_item + v]
            barrier
          c[...] = sum[p, q, v]

    Rows of the tiles are padded, so that a warp finds what it needs at once in all banks of the memory.
    """
    blocks = context.param("units", ("8 2 32", "8 2 16", "8 4 16", "16 2 16"))
    column_blocks, row_blocks, depth = map(int, blocks.split())
    columns, rows = names
    item, block = ({name: f"{name}_{part}" for name in names} for part in ("item", "block"))
    sizes = {columns: column_blocks * COLUMNS * PAIR, rows: WARPS * row_blocks * ROWS, summed: depth}
    edges, axes = kernel.edges(knl, context, sizes), {columns: "g.0", rows: "g.1", summed: None}
    for name, size in sizes.items():
        knl = lp.split_iname(knl, name, size, outer_tag=axes[name], slabs=edges[name])
    knl = lp.split_iname(knl, f"{rows}_inner", row_blocks * ROWS, outer_iname=f"{rows}_warp", outer_tag="l.2")
    knl = lp.split_iname(knl, f"{rows}_inner_inner", ROWS, outer_iname=block[rows], inner_iname=item[rows],
                         outer_tag="ilp.unr", inner_tag="l.1")  # fmt: skip
    knl = lp.split_iname(knl, f"{columns}_inner", COLUMNS * PAIR, outer_iname=block[columns], outer_tag="ilp.unr")
    knl = lp.split_iname(knl, f"{columns}_inner_inner", PAIR, outer_iname=item[columns], inner_iname=f"{columns}_pair",
                         outer_tag="l.0", inner_tag="ilp.unr")  # fmt: skip
    outer = [f"{name}_outer" for name in (*names, summed)]
    inner = [f"{summed}_inner", f"{rows}_warp", f"{columns}_pair", *item.values(), *block.values()]
    knl = kernel.in_one_domain(knl, {*outer, *inner})
    for array in arrays:
        knl = _spread(kernel.padded(kernel.fetched(knl, array, outer, inner, tag="for"), f"{array}_here"), array)
    return by_matrix_units(knl, f"{summed}_inner")


def _spread(knl: Any, array: str) -> Any:
    """*knl*, in which all items of a group copy *array*, neighbours neighbouring elements of a row."""
    lines, row = f"{array}_0", f"{array}_1"
    length = knl.default_entrypoint.temporary_variables[f"{array}_here"].shape[1]
    knl = lp.split_iname(knl, row, COLUMNS, inner_tag="l.0")
    if length % (COLUMNS * ROWS):
        knl = lp.split_iname(knl, lines, ROWS, inner_tag="l.1")
        lines = f"{lines}_outer"
    else:
        knl = lp.split_iname(knl, f"{row}_outer", ROWS, inner_tag="l.1")
    return lp.split_iname(knl, lines, WARPS, inner_tag="l.2")
