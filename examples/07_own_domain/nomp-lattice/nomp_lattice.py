"""A domain for methods on lattices.

annotate("lattice", "x y")      the counters of the lattice's sites, the one of neighbours in memory first
annotate("speed", "c")          the counter of the speeds at which something moves from site to site
"""

import loopy as lp

from nomp.scripting import Misfit

WORDS = {
    "lattice": "the counters of a lattice's sites, the fastest first",
    "speed": "the counter of the speeds",
}


def annotate(knl, annotations, context):
    """Called once for each annotation of a loop, with the word and its value.  All of them are in the context."""
    if "lattice" not in annotations or context["device::type"] == "cpu":
        return context.default(knl)  # nomp's own schedule; on a CPU it is the right one
    return rows(knl, context, annotations["lattice"].split(), dict(context["region::annotations"]).get("speed"))


def rows(knl, context, sites, speed):
    """A group has items along x, which neighbours in memory are numbered by; all speeds of a site are one item's.

    Before: ``for y: for x: for c: ...``.
    After: ``for y (group), x_outer (group), x_inner (items): for c (unrolled): ...``.
    """
    known = knl.default_entrypoint.all_inames()
    for name in [*sites, *filter(None, [speed])]:
        if name not in known:
            raise Misfit(f"there is no loop '{name}', but {', '.join(sorted(known))}")
    if len(sites) not in (2, 3):
        raise Misfit(f"a lattice has two directions or three, and not {len(sites)}")
    x, *others = sites
    knl = lp.split_iname(knl, x, context.param("items", [128, 64, 256]), outer_tag="g.0", inner_tag="l.0")
    knl = lp.tag_inames(knl, {name: f"g.{axis}" for axis, name in enumerate(others, 1)})
    if speed is None:
        return knl
    # A later loop over the same counter is c_, the next one c__.
    return lp.tag_inames(knl, {name: "unr_hint" for name in known if name.rstrip("_") == speed})
