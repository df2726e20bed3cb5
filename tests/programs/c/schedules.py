"""The transform scripts of the programs in this folder."""

from __future__ import annotations

import loopy as lp
import numpy as np
from pymbolic import parse


def rows(knl, context, block=32):
    """Spread the iterations of ``i`` over groups of *block* items."""
    return lp.split_iname(knl, "i", block, outer_tag="g.0", inner_tag="l.0")


def tiles(knl, context, x=8, y=4):
    """Spread the iterations of ``i`` and ``j`` over groups of *y* by *x* items."""
    knl = lp.split_iname(knl, "j", x, outer_tag="g.0", inner_tag="l.0")
    return lp.split_iname(knl, "i", y, outer_tag="g.1", inner_tag="l.1")


def staged(knl, context):
    """Keep what the one instruction computes in a temporary in global memory before storing it."""
    entry = knl.default_entrypoint
    (store,) = entry.instructions
    kept = lp.TemporaryVariable("kept", np.int32, (parse("length"),), address_space=lp.AddressSpace.GLOBAL)
    first = store.copy(id="keep", assignee=parse("kept[i]"))
    second = store.copy(expression=parse("kept[i]"), depends_on=frozenset({"keep"}))
    return knl.with_kernel(entry.copy(instructions=[first, second], temporary_variables={"kept": kept}))


def nested(knl, context, order):
    """The loops in another order, one after the other."""
    return lp.prioritize_loops(knl, order)


def squares(knl, context):
    """Tiles of 4 by 8 iterations, one after the other."""
    knl = lp.split_iname(lp.split_iname(knl, "i", 4), "j", 8)
    return lp.prioritize_loops(knl, "i_outer, j_outer, i_inner, j_inner")


def strips(knl, context, unrolled=0):
    """Four iterations at a time, in order."""
    return lp.split_iname(knl, "i", 4, inner_tag="unr" if unrolled else None)


def groups_of_three_loops(knl, context):
    """Give each group an iteration of ``g``, and its items those of the three loops over ``i``."""
    for iname in ("i", "i_", "i__"):
        knl = lp.split_iname(knl, iname, 64, inner_tag="l.0")
    return lp.tag_inames(knl, {"g": "g.0"})
