"""The transform scripts of the programs in this folder."""

from __future__ import annotations

import loopy as lp


def rows(knl, context, block=32):
    """Spread the iterations of ``i`` over groups of *block* items."""
    return lp.split_iname(knl, "i", block, outer_tag="g.0", inner_tag="l.0")


def tiles(knl, context, x=8, y=4):
    """Spread the iterations of ``i`` and ``j`` over groups of *y* by *x* items."""
    knl = lp.split_iname(knl, "j", x, outer_tag="g.0", inner_tag="l.0")
    return lp.split_iname(knl, "i", y, outer_tag="g.1", inner_tag="l.1")
