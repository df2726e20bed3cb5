"""Attention over chosen blocks of keys: a domain of annotations, and the transform behind it.

    annotate("loop", "query group") annotate("query", "q") annotate("feature", "d")

The loop goes over groups of queries that look at the same blocks of keys.  *q* counts the queries of a group and *d*
the features; keys and values of a block are copied into local arrays by loops of which the innermost is over *d*.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import loopy as lp

from nomp.scripting import Context, Misfit, with_all_registers
from nomp_transforms import attention_tiles, kernel

WORDS = {
    "loop": "what the loop goes over: query group",
    "query": "the counter of a group's queries",
    "feature": "the counter of a query's, a key's and a value's numbers",
}


def annotate(knl: Any, annotations: Mapping[str, str], context: Context) -> Any:
    """The schedule that *annotations*, one word and its value, ask for."""
    if "loop" not in annotations:
        return context.default(knl)
    words = dict(context["region::annotations"])
    if annotations["loop"] != "query group":
        raise Misfit(f"'{annotations['loop']}' is no loop of attention: {WORDS['loop']}")
    if missing := [word for word in ("query", "feature") if word not in words]:
        raise Misfit(f'a loop over query groups needs annotate("{missing[0]}", ...), {WORDS[missing[0]]}')
    return queries(knl, context, words["query"], words["feature"])


def queries(knl: Any, context: Context, query: str, feature: str) -> Any:
    """A group of work items has a group of queries, an item each, and copies each block of keys together.

    Before::

        for g:
          for b:
            for j, d: keys[j, d] = k[32*chosen[g, b] + j, d]
            for q: ... x[g, q, d]*keys[j_, d] ... out[q, d] ...

    After, on a GPU; keys are shared by the items, and out is each one's own::

        for g (group):
          for b:
            for j, d (items): keys[j, d] = k[32*chosen[g, b] + j, d]
            barrier
            for q (items): ... x[g, q, d]*keys[j_, d] ... out[d] ...
            barrier

    Where scores, weights and results have loops over queries of their own, items share these by tiles
    (`attention_tiles`).  On a CPU nomp's own schedule is used.  Fits loops in which every local array is either a
    query's own, that is, it is only used with the same *query* in its subscript, or the group's.
    """
    group = kernel.outermost(knl, context)
    (item,), (number,) = kernel.loops(knl, query), kernel.loops(knl, feature)
    if kernel.is_cpu(context):
        return kernel.by_default(knl, context)
    parts = attention_tiles.fitting(knl, context, query, feature)
    if parts and context.param("queries", ("tiles", "items")) == "tiles":
        with suppress(Misfit):
            return attention_tiles.tiled(knl, context, parts)
    items = kernel.known_trips(knl, context, item)
    if items > context["device::max_threads_per_block"]:
        raise Misfit(f"{items} queries are more than a group has items")
    copies = _copying(knl, item, number)
    knl = kernel.as_one(knl, item)
    own = kernel.own(knl, [item])
    knl = lp.unprivatize_temporaries_with_inames(knl, {item}, own) if own else knl
    kernel.refuse_beyond_memory(knl, context, own)
    numbers = set(kernel.namesakes(knl, number)) - {*copies}
    knl = kernel.unrolled(knl, context, numbers, most=128)
    for name in copies:
        knl = lp.split_iname(knl, name, items, inner_tag="l.0")
    return with_all_registers(lp.tag_inames(knl, {group: "g.0", item: "l.0"}))


def _copying(knl: Any, item: str, number: str) -> list[str]:
    """The loops over numbers that are not inside one over queries: all items share what these do."""
    entry = knl.default_entrypoint
    mine = {*kernel.namesakes(knl, item)}
    return [
        name
        for name in kernel.namesakes(knl, number)
        if not any(mine & insn.within_inames for insn in entry.instructions if name in insn.within_inames)
    ]
