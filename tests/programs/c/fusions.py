"""Scripts that put loops into one."""

from __future__ import annotations

import loopy as lp


def one(knl, context, into, loops):
    """The loops *loops* become those of *into*."""
    targets = into.split()
    for number, loop in enumerate(loops.split()):
        knl = lp.rename_iname(knl, loop, targets[number % len(targets)], existing_ok=True)
    return knl


def blocks(knl, context, into, loops, size):
    """The same, in blocks of *size*."""
    return lp.split_iname(one(knl, context, into, loops), into, size)


def inside_out(knl, context, into, loops, order):
    """The same, nested in another *order*."""
    return lp.prioritize_loops(one(knl, context, into, loops), order)


def in_groups(knl, context, into, loops, groups, items):
    """The same, divided among groups and their items."""
    return lp.tag_inames(one(knl, context, into, loops), {groups: "g.0", items: "l.0"})


def without_array(knl, context, into, loops, array):
    """The same, where *array* needs one element only."""
    knl = one(knl, context, into, loops)
    return lp.unprivatize_temporaries_with_inames(knl, frozenset([into]), frozenset([array]))
