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
    """One element a group.  On a GPU a group has a thread for each (j, i) of both nests, and k is a loop; the group
    copies the element's values and the derivatives to its own memory before."""
    element = loop(context, "element_loop")
    if context["device::type"] == "cpu":
        return lp.tag_inames(knl, {element: "g.0"})  # the loops inside run in order
    knl = in_one_domain(knl)
    knl = fetched(knl, "u", element, ["k", "j", "i", "l"], ["u_element", "u_k", "u_j", "u_i"])
    knl = fetched(knl, "d", element, ["i", "j", "k", "l", "i_", "j_", "k_", "l_"], ["d_i", "d_l"])
    threads = {"i": "l.0", "j": "l.1", "i_": "l.0", "j_": "l.1", "u_i": "l.0", "u_j": "l.1", "d_l": "l.0", "d_i": "l.1"}
    return lp.tag_inames(knl, {element: "g.0", **threads, "l": "unr", "l_": "unr"})


def fetched(knl, array, element, loops, names):
    """*array*, or what *loops* go through of it, in a group's memory, copied by loops with the given *names*."""
    return lp.add_prefetch(
        knl, array, loops, fetch_outer_inames=frozenset([element]), default_tag=None, dim_arg_names=names,
        temporary_address_space=lp.AddressSpace.LOCAL,
    )


def in_one_domain(knl):
    """*knl* with all its loops in one set, which transformations of several loops need."""
    entry = knl.default_entrypoint
    return knl.with_kernel(entry.copy(domains=[entry.combine_domains(tuple(range(len(entry.domains))))]))


def points(knl, context):
    """Independent points.  On a CPU a group runs 4096 of them in order, on a GPU it has 256 threads of one point."""
    point = loop(context, "point_loop")
    if context["device::type"] == "cpu":
        return lp.split_iname(knl, point, 4096, outer_tag="g.0")
    return lp.split_iname(knl, point, 256, outer_tag="g.0", inner_tag="l.0")
