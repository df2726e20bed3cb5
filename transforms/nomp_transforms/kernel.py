"""What the transforms of this package share: names of loops, sizes, copies in local memory.

*knl* is a loopy translation unit, *context* what nomp knows of the device and the region (`nomp.scripting.Context`).
Each function returns what it says and changes nothing; `Misfit` says why a kernel is not of the form that is wanted.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import loopy as lp
import numpy as np
from islpy import dim_type
from loopy.symbolic import WalkMapper, get_dependencies, pw_aff_to_expr
from pymbolic import evaluate, var

from nomp.scripting import Context, Misfit, usual_shares

LOCAL = lp.AddressSpace.LOCAL
UNROLLED = "unr_hint"
"""The tag of short loops that hold arrays in registers: the device's compiler unrolls them."""


def is_cpu(context: Context) -> bool:
    """Whether one work item runs as fast as a whole group: nothing is gained by sharing there."""
    return bool(context["device::type"] == "cpu")


def by_default(knl: Any, context: Context, lanes: Iterable[int] = ()) -> Any:
    """*knl* with nomp's own schedule, of which the tuner may say among how many items of a CPU it divides a loop, or
    how many *lanes*, one of these numbers, a row has on a GPU."""
    if not is_cpu(context):
        return context.default(knl, lanes=context.param("lanes", tuple(lanes)) if lanes else None)
    units = int(context["device::compute_units"])
    counts = dict.fromkeys((usual_shares(units), 8 * units, 2 * units, units))
    return context.default(knl, shares=context.param("shares", tuple(counts)))


def loops(knl: Any, names: str | Iterable[str]) -> list[str]:
    """The inames that *names* (blanks between them) stand for.  `Misfit` for one that the kernel does not have."""
    wanted = names.split() if isinstance(names, str) else list(names)
    known = knl.default_entrypoint.all_inames()
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1) or sorted(known)
            raise Misfit(f"there is no loop '{name}'; there is {', '.join(near)}")
    if len(set(wanted)) < len(wanted):
        raise Misfit(f"a loop is named twice in '{' '.join(wanted)}'")
    return wanted


def one_to_three(knl: Any, names: str, what: str) -> list[str]:
    """The same for *what*, a form that has as many loops as a grid has axes.  `Misfit` for none, and for more."""
    found = loops(knl, names)
    if not 1 <= len(found) <= 3:
        raise Misfit(f"{what} has one to three loops, and not {len(found)}")
    return found


def outermost(knl: Any, context: Context) -> str:
    """The annotated loop."""
    (name,) = loops(knl, [context["region::loop"]])
    return name


def namesakes(knl: Any, name: str) -> list[str]:
    """*name*, and what later loops over the same counter are called: ``i``, ``i_``, ``i__``."""
    found = loops(knl, name)
    while (name := f"{name}_") in knl.default_entrypoint.all_inames():
        found.append(name)
    return found


def as_one(knl: Any, name: str) -> Any:
    """*knl* with the later loops over the counter *name* called so, too."""
    for other in namesakes(knl, name)[1:]:
        knl = lp.rename_iname(knl, other, name, existing_ok=True)
    return knl


def inside(knl: Any, outer: str) -> set[str]:
    """The loops inside *outer*."""
    entry = knl.default_entrypoint
    return {i for insn in entry.instructions if outer in insn.within_inames for i in insn.within_inames} - {outer}


def trips(knl: Any, context: Context, name: str) -> int | None:
    """How many iterations loop *name* has, if that is known when the kernel is compiled: a number, or a `jit` value."""
    entry = knl.default_entrypoint
    around = entry.domains[entry.get_home_domain_index(name)].get_var_names(dim_type.param)
    if entry.all_inames() & set(around):  # they say how far it goes
        return None
    count = pw_aff_to_expr(entry.get_iname_bounds(name).size)
    jit: Mapping[str, int] = context["region::jit"]
    return int(evaluate(count, jit)) if get_dependencies(count) <= jit.keys() else None


def known_trips(knl: Any, context: Context, name: str) -> int:
    """The same.  `Misfit` if it is not known."""
    found = trips(knl, context, name)
    if found is None:
        count = pw_aff_to_expr(knl.default_entrypoint.get_iname_bounds(name).size)
        missing = sorted(get_dependencies(count) - context["region::jit"].keys())
        if set(missing) <= set(context["region::open"]):
            raise Misfit(f"only a launch tells {', '.join(missing)}, on which the iterations of loop '{name}' depend")
        names = ", ".join(missing)
        raise Misfit(f"how many iterations loop '{name}' has is not known when it is compiled: name {names} in jit()")
    return found


SHORT = 16
"""How many iterations a loop has at most that is unrolled, wherever it is."""


def unrolled(knl: Any, context: Context, names: Iterable[str], most: int = SHORT) -> Any:
    """*knl* with those of the loops *names* unrolled by the device's compiler that have up to *most* iterations."""
    counts = {name: trips(knl, context, name) for name in names}
    return lp.tag_inames(knl, {name: UNROLLED for name, count in counts.items() if count and count <= most})


def in_one_domain(knl: Any, names: Iterable[str]) -> Any:
    """*knl* with the loops *names* in one set, which transformations of several loops need."""
    entry = knl.default_entrypoint
    homes = sorted({entry.get_home_domain_index(name) for name in names})
    if len(homes) < 2:
        return knl
    kept = [domain for number, domain in enumerate(entry.domains) if number not in homes]
    return knl.with_kernel(entry.copy(domains=[entry.combine_domains(tuple(homes)), *kept]))


def mentions(knl: Any, name: str) -> list[tuple[Any, ...]]:
    """The subscripts of all elements of array *name* in the kernel."""
    found = _Mentions(name)
    for insn in knl.default_entrypoint.instructions:
        insn.with_transformed_expressions(found.see)
    return found.subscripts


class _Mentions(WalkMapper):  # type: ignore[misc]
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.subscripts = name, list[tuple[Any, ...]]()

    def see(self, expr: Any) -> Any:
        """Look through *expr*, and return it."""
        self(expr)
        return expr

    def map_subscript(self, expr: Any) -> None:
        """Note *expr* if it is an element of the array."""
        if expr.aggregate.name == self.name:
            self.subscripts.append(expr.index_tuple)
        super().map_subscript(expr)


def read_only(knl: Any) -> list[str]:
    """The arrays that are passed to the kernel, and that it does not write."""
    entry = knl.default_entrypoint
    written = {name for insn in entry.instructions for name in insn.assignee_var_names()}
    return [arg.name for arg in entry.args if isinstance(arg, lp.ArrayArg) and arg.name not in written]


def locals_of(knl: Any) -> set[str]:
    """The local arrays."""
    return {name for name, local in knl.default_entrypoint.temporary_variables.items() if local.shape}


def own(knl: Any, items: Iterable[str]) -> set[str]:
    """The local arrays of which each item of the loops *items* uses elements of its own only."""
    subscripts = {name: mentions(knl, name) for name in locals_of(knl)}
    return {name for name, found in subscripts.items()
            if all(var(iname) in subscript for subscript in found for iname in items)}  # fmt: skip


def numbers(knl: Any, context: Context, names: Iterable[str]) -> int:
    """How many numbers the local arrays *names* have, whose sizes are known."""
    shapes = (knl.default_entrypoint.temporary_variables[name].shape for name in names)
    return sum(prod(evaluate(extent, context["region::jit"]) for extent in shape) for shape in shapes)


def refuse_beyond_memory(knl: Any, context: Context, own: Iterable[str] = ()) -> None:
    """`Misfit` if the local arrays need more memory than a group has; *own* are those that each item has in registers.

    Arrays whose size is not known yet do not count.
    """
    needed = 0
    for name, local in knl.default_entrypoint.temporary_variables.items():
        extents, jit = tuple(local.storage_shape or local.shape), context["region::jit"]
        if extents and name not in own and get_dependencies(extents) <= jit.keys():
            needed += prod(evaluate(extent, jit) for extent in extents) * np.dtype(local.dtype.numpy_dtype).itemsize
    if needed > context["device::local_mem_bytes"]:
        raise Misfit(f"a group needs {needed} bytes of local memory, and has {context['device::local_mem_bytes']}")


def has_memory(knl: Any, context: Context, own: Iterable[str] = ()) -> bool:
    """Whether a group has memory enough; see `refuse_beyond_memory`."""
    try:
        refuse_beyond_memory(knl, context, own)
    except Misfit:
        return False
    return True


def edges(knl: Any, context: Context, sizes: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """For loops that are to be split into blocks of *sizes*: how many blocks at their beginning and their end have code
    of their own, so that all others ask for nothing.  (For `split_iname`, as its ``slabs``.)

    None has if it is known that there is one block, or that all are full.
    """
    apart = context.param("edges", ("apart", "together")) == "apart"
    counts = {name: trips(knl, context, name) for name in sizes}
    return {name: (0, 1) if apart and (count is None or (count > sizes[name] and count % sizes[name])) else (0, 0)
            for name, count in counts.items()}  # fmt: skip


def fetched(
    knl: Any, array: str, outer: Iterable[str], sweep: Iterable[str], axes: Sequence[str] = (), tag: str | None = None
) -> Any:
    """*knl* with what *sweep* goes through of *array* in a group's memory, copied once for each iteration of *outer*.

    The copying loops are tagged by *axes*, those for the last dimension first; the others by *tag*, or unrolled.
    Before: ``for i: for l: ... d[i, l]``.  After: ``for a: for b: d_here[a, b] = d[a, b]``, a barrier,
    ``for i: for l: ... d_here[i, l]``.
    """
    knl = _copied(knl, array, outer, sweep, f"{array}_here", LOCAL, tag)
    if tag:
        return knl
    made = [name for name in copying(knl, array) if name in knl.default_entrypoint.all_inames()]
    tags = dict(zip(reversed(made), (*axes, *[UNROLLED] * len(made)), strict=False))
    return lp.tag_inames(knl, tags)


def _copied(
    knl: Any, array: str, outer: Iterable[str], sweep: Iterable[str], copy: str, space: lp.AddressSpace, tag: str | None
) -> Any:
    """*knl* with what *sweep* goes through of *array* in its *copy*, made once for each iteration of *outer*."""
    swept = sorted(get_dependencies(tuple(mentions(knl, array))) & {*sweep})
    return lp.add_prefetch(
        knl, array, swept, fetch_outer_inames=frozenset(outer), default_tag=tag, dim_arg_names=copying(knl, array),
        temporary_name=copy, temporary_address_space=space,
    )  # fmt: skip


def copying(knl: Any, array: str) -> list[str]:
    """What the loops are called that copy *array*, one for each of its dimensions."""
    return [f"{array}_{number}" for number in range(len(knl.default_entrypoint.arg_dict[array].shape))]


def held(knl: Any, array: str, outer: Iterable[str], sweep: Iterable[str]) -> Any:
    """*knl* with what *sweep* goes through of *array* in an item's own registers, loaded once for each iteration of
    *outer*, before anything else.

    Before: ``for k: ... g[e, 0, k]*r + g[e, 1, k]*s``.  After: ``for a: for b: g_mine[a, b] = g[e, a, b]``,
    ``for k: ... g_mine[0, k]*r + g_mine[1, k]*s``.
    """
    return _copied(knl, array, outer, sweep, mine(array), lp.AddressSpace.PRIVATE, UNROLLED)


def mine(array: str) -> str:
    """What an item's own copy of *array* is called (`held`)."""
    return f"{array}_mine"


BANKS = 16
"""Neighbouring doubles that the items of half a warp read at once."""


def padded(knl: Any, local: str) -> Any:
    """*knl* with the rows of the plane *local* in a group's memory apart, so that four items in each of neighbouring
    rows get theirs at once."""
    plane = knl.default_entrypoint.temporary_variables[local]
    rows, length = plane.shape
    stride = length + (4 - length) % BANKS
    plane = plane.copy(dim_tags=[f"stride:{stride}", "stride:1"], storage_shape=(rows, stride))
    temporaries = {**knl.default_entrypoint.temporary_variables, local: plane}
    return knl.with_kernel(knl.default_entrypoint.copy(temporary_variables=temporaries))
