"""Spectral elements: a domain of annotations, and the transform behind them.

    annotate("loop", "element") annotate("dof", "i j k")    a loop over elements; i, j and k number an element's nodes
    annotate("loop", "node")                                 a loop over nodes, of no element in particular

``--nomp-annotations-script sem`` makes the schedules; the program names no transform.  ``dof`` has the counter first in
which neighbours in memory are numbered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import loopy as lp
from loopy.symbolic import get_dependencies

from nomp.scripting import Context, Misfit, with_all_registers
from nomp_transforms import kernel

WORDS = {
    "loop": "what the loop goes over: element, node",
    "dof": "the counters of an element's nodes, the fastest first",
}


def annotate(knl: Any, annotations: Mapping[str, str], context: Context) -> Any:
    """The schedule that *annotations*, one word and its value, ask for; the other words are in the context."""
    match annotations:
        case {"loop": "element"}:
            words = dict(context["region::annotations"])
            if "dof" not in words:
                raise Misfit('a loop over elements needs annotate("dof", "i j k"), the counters of an element\'s nodes')
            return elements(knl, context, words["dof"])
        case {"loop": "node"}:
            return kernel.by_default(knl, context)
        case {"loop": other}:
            raise Misfit(f"'{other}' is no loop of spectral elements: {WORDS['loop']}")
    return context.default(knl)


def elements(knl: Any, context: Context, dof: str) -> Any:
    """An element a group, a work item for each node of a plane, and the third direction in registers.

    Before, for the derivative in two directions and the one back::

        for e:
          for k, j, i:
            for l: r += d[i, l]*u[e, k, j, l];  t += d[k, l]*u[e, l, j, i]
            ur[k, j, i] = r;  ut[k, j, i] = t
          for k_, j_, i_:
            for l_: s += d[l_, i_]*ur[k_, j_, l_] + d[l_, k_]*ut[l_, j_, i_]
            w[e, k_, j_, i_] = s

    After, on a GPU; i and j are items, ur is shared by them, and ut is each one's own, as is
    what one alone reads of arrays, which it loads first::

        for e (group), j, i (items):
          d_here[j, i] = d[j, i];  for u_1: u_here[u_1, j, i] = u[e, u_1, j, i]
          barrier
          for k (unrolled):
            for l (unrolled): r += d_here[i, l]*u_here[k, j, l];  t += d_here[k, l]*u_here[l, j, i]
            ur[k, j, i] = r;  ut[k] = t
          barrier
          for k_ (unrolled):
            for l_ (unrolled): s += d_here[l_, i]*ur[k_, j, l_] + d_here[l_, k_]*ut[l_]
            w[e, k_, j, i] = s

    On a CPU nomp's own schedule is used, which gives each work item a share of the elements.  Fits loops that go over
    all of an element's nodes, whose number is known when the kernel is compiled.
    """
    element = kernel.outermost(knl, context)
    names = kernel.loops(knl, dof)
    plane = names[:2]
    sizes = {name: kernel.known_trips(knl, context, name) for name in names}
    if len(plane) < 2:
        raise Misfit(f"an element has two directions or three, and not only '{dof}'")
    if kernel.is_cpu(context):
        return kernel.by_default(knl, context)
    if sizes[plane[0]] * sizes[plane[1]] > context["device::max_threads_per_block"]:
        raise Misfit(f"a plane of {sizes[plane[0]]} by {sizes[plane[1]]} nodes is more than a group has items")
    return _in_groups(knl, context, element, names, sizes[plane[0]] * sizes[plane[1]])


def _in_groups(knl: Any, context: Context, element: str, dof: list[str], nodes: int) -> Any:
    """*knl*; the first two of *dof*, which have so many *nodes*, are items of groups of some elements each."""
    plane, directions, together = dof[:2], len(dof), _together(context, nodes)
    third = {other for name in dof[2:] for other in kernel.namesakes(knl, name)}
    for name in plane:
        knl = kernel.as_one(knl, name)
    short = kernel.inside(knl, element) - {*plane}
    knl = kernel.in_one_domain(knl, {element, *plane, *short})
    in_registers = context.param("third", ("registers", "memory")) == "registers"
    own = kernel.own(knl, plane) if in_registers else set()
    if own:
        knl = lp.unprivatize_temporaries_with_inames(knl, {*plane}, own)
    group, items = {element}, [*plane]
    if together > 1:
        knl = lp.split_iname(knl, element, together)
        group, items = {f"{element}_outer"}, [*plane, f"{element}_inner"]
        if shared := kernel.locals_of(knl) - own:
            knl = lp.privatize_temporaries_with_inames(knl, f"{element}_inner", shared)
    kernel.refuse_beyond_memory(knl, context, own)
    axes = ["l.0", "l.1", *[kernel.UNROLLED] * (directions - 2), "l.2"]
    for array in kernel.read_only(knl):
        each = together == 1 or _mention(knl, array, {element, f"{element}_inner"})  # what all have stays in caches
        if each and _mention(knl, array, short - third):
            more = kernel.fetched(knl, array, group, {*items, *short}, axes)
            knl = more if kernel.has_memory(more, context, own) else knl
    if in_registers:
        knl, held = _early(knl, context, group, {*items}, third)
        knl = _with_room(knl, context, own | held, together * nodes) if held else knl
    tags = dict(zip((*group, *items), ("g.0", "l.0", "l.1", "l.2"), strict=False))
    return lp.tag_inames(knl, {**tags, **dict.fromkeys(short if in_registers else short - third, kernel.UNROLLED)})


MOST = 64
"""How many numbers an item loads before it computes, at most."""


def _early(knl: Any, context: Context, group: set[str], items: set[str], third: set[str]) -> tuple[Any, set[str]]:
    """*knl*, in which an item loads all that it alone reads before it computes, so that all that is under way together;
    and the arrays in its registers that get it."""
    others = {iname for outer in group for iname in kernel.inside(knl, outer)} - items - third
    of_element = [array for array in kernel.read_only(knl) if _mention(knl, array, group)]
    own = [array for array in of_element if _mention(knl, array, third) and not _mention(knl, array, others)]
    if not own or context.param("loads", ("early", "late")) == "late":
        return knl, set()
    early, held = knl, {kernel.mine(array) for array in own}
    for array in own:
        early = kernel.held(early, array, group | items, third)
    return (early, held) if kernel.numbers(early, context, held) <= MOST else (knl, set())


REGISTERS, OTHERS = 1 << 16, 80
"""Those of a multiprocessor of NVIDIA's GPUs, and how many of them an item needs besides its arrays."""


def _with_room(knl: Any, context: Context, arrays: set[str], items: int) -> Any:
    """*knl*, of which as many groups of *items* fit on a multiprocessor as its registers have room for the *arrays* of
    each item, of doubles: CUDA's compiler else gives items more registers, and fewer groups fit."""
    if context["backend::name"] != "cuda":
        return knl
    warp = context["device::warp_size"]
    needed = -(-items // warp) * warp * (2 * kernel.numbers(knl, context, arrays) + OTHERS)
    return with_all_registers(knl, max(1, REGISTERS // needed))


def _together(context: Context, plane: int) -> int:
    """How many elements a group has, whose items are a *plane* of one: enough to fill warps."""
    enough = [count for count in (1, 2, 4, 8) if count * plane <= context["device::max_threads_per_block"]]
    enough.sort(key=lambda count: abs(count * plane - 64))
    return int(context.param("elements", enough))


def _mention(knl: Any, array: str, names: set[str]) -> bool:
    """Whether a subscript of *array* depends on one of the loops *names*."""
    return any(get_dependencies(subscript) & names for subscript in kernel.mentions(knl, array))
