"""How the kernels of this example run on a device: one function a kind of loop, called when a kernel first runs.

A pragma names the function, `transform("schedule", "elements")`, and says what its loop means,
`annotate("element_loop", "e")`.  So the schedule speaks of elements and points and need not know the loop's name.
`knl` is a loopy translation unit, `context` describes the device.
"""

import loopy as lp


def loop(context, meaning):
    """The name of the loop that the pragma annotates with *meaning*."""
    return dict(context["region::annotations"])[meaning]


def elements(knl, context):
    """One element a group.  On a GPU a group has a thread for each (j, i) of both nests, and k is a loop."""
    knl = lp.tag_inames(knl, {loop(context, "element_loop"): "g.0"})
    if context["device::type"] == "cpu":
        return knl  # the loops inside run in order; the compiler vectorises the innermost
    return lp.tag_inames(knl, {"i": "l.0", "j": "l.1", "i_": "l.0", "j_": "l.1"})


def points(knl, context):
    """Independent points.  On a CPU a group runs 4096 of them in order, on a GPU it has 256 threads of one point."""
    point = loop(context, "point_loop")
    if context["device::type"] == "cpu":
        return lp.split_iname(knl, point, 4096, outer_tag="g.0")
    return lp.split_iname(knl, point, 256, outer_tag="g.0", inner_tag="l.0")
