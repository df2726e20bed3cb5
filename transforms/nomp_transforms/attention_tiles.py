"""Attention by tiles: of queries by keys, and of queries by features.  Used by `attention`.

Takes programs whose loops over a group's queries do one of three things each, and share nothing but arrays:

    scores    for q, j: sum = 0;  for d: sum += x[q, d]*keys[j, d];  scores[q, j] = sum
    weights   for q: what has no loop over features, such as  for j: scores[q, j] = exp(scores[q, j] - top)
    results   for q, j, d: out[q, d] += scores[q, j]*values[j, d], and whatever else is set for each feature
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import loopy as lp
from islpy import dim_type
from loopy.symbolic import get_dependencies

from nomp.scripting import Context, with_all_registers
from nomp_transforms import kernel

COLUMNS = 8
"""Items along keys, and along features."""
VECTOR = 4
"""Neighbouring features that an item has: it loads them at once."""
MOST = 64
"""Elements of a result that an item has in registers."""
AT_ONCE = f"{kernel.UNROLLED}.16"
"""The tag of loops that are unrolled in part."""
_UNKNOWN = Context({"region::jit": {}})
"""For numbers that the program has itself: arrays of which `jit` tells the size are not for tiles."""
COPIES, SCORES, WEIGHTS, RESULTS, FEATURE = "copies", "scores", "weights", "results", "feature"


@dataclass(frozen=True, slots=True)
class Parts:
    """What each instruction is for (*kinds*, by its name), and *keys*, the loop around the sums of scores.

    *query* and *feature* are the counters of the program; *rows* of items share the queries."""

    query: str
    feature: str
    keys: str
    kinds: dict[str, str]
    rows: int = 0

    def loop(self, kind: str) -> str:
        """What the loop over queries is called that has *kind*; for FEATURE, that over features of results."""
        return f"{self.query}_of_{kind}"

    def of(self, knl: Any, kind: str) -> list[Any]:
        """The instructions of *kind*."""
        return [insn for insn in knl.default_entrypoint.instructions if self.kinds.get(insn.id) == kind]

    def around(self, knl: Any, kind: str, names: Iterable[str]) -> list[str]:
        """Those of the loops *names* that are around instructions of *kind*."""
        return sorted({name for insn in self.of(knl, kind) for name in insn.within_inames & {*names}})


def fitting(knl: Any, context: Context, query: str, feature: str) -> Parts | None:
    """The parts of *knl*, if it has the form that this module is for, and numbers of iterations that suit tiles."""
    instructions = knl.default_entrypoint.instructions
    queries, features = ({*kernel.namesakes(knl, name)} for name in (query, feature))
    kinds = {insn.id: _kind(insn, queries, features) for insn in instructions}
    nests = {insn.within_inames - features for insn in instructions if kinds[insn.id] == SCORES}
    inside = _inside(knl, queries)
    if len(nests) != 1 or len(found := [*set().union(*nests) & inside]) != 1 or _are_bound(knl, inside):
        return None
    (keys,) = found
    kinds |= {insn.id: SCORES for insn in instructions if insn.within_inames in nests}
    counts = [_count(knl, names) for names in (queries, features, {keys})]
    rows = _rows(context, *counts) if _are_apart(knl, kinds, inside) else None
    return Parts(query, feature, keys, kinds, rows) if rows else None


def _count(knl: Any, names: Iterable[str]) -> int:
    """How many iterations each of the loops *names* has; 0 if it is not known, or not the same for all."""
    entry, found = knl.default_entrypoint, dict[str, int | None]()
    for name in names:
        bounds = entry.get_iname_bounds(name)
        found[f"{bounds.lower_bound_pw_aff} {bounds.upper_bound_pw_aff}"] = kernel.trips(knl, _UNKNOWN, name)
    return next(iter(found.values())) or 0 if len(found) == 1 else 0


def _kind(insn: Any, queries: set[str], features: set[str]) -> str:
    if not insn.within_inames & queries:
        return COPIES
    if along := insn.within_inames & features:
        return RESULTS if along & get_dependencies(insn.assignees) else SCORES
    return WEIGHTS


def _inside(knl: Any, queries: set[str]) -> set[str]:
    """The loops that the program has inside those over *queries*."""
    found = set[str]()
    for chain in knl.default_entrypoint.loop_priority:
        place = next((number for number, name in enumerate(chain, start=1) if name in queries), len(chain))
        found |= {*chain[place:]}
    return found


def _are_bound(knl: Any, names: set[str]) -> bool:
    """Whether loops around one of the loops *names* say how far it goes."""
    entry = knl.default_entrypoint
    domains = (entry.domains[entry.get_home_domain_index(name)] for name in names)
    return any(entry.all_inames() & {*domain.get_var_names(dim_type.param)} for domain in domains)


def _are_apart(knl: Any, kinds: dict[str, str], inside: set[str]) -> bool:
    """Whether instructions of different *kinds* have no scalar in common, and none of the loops *inside*."""
    entry, users = knl.default_entrypoint, dict[str, set[str]]()
    scalars = {name for name, local in entry.temporary_variables.items() if not local.shape}
    for insn in entry.instructions:
        for name in insn.dependency_names() & scalars | insn.within_inames & inside:
            users.setdefault(name, set()).add(kinds[insn.id])
    return all(len(found) == 1 for found in users.values())


def _rows(context: Context, queries: int, features: int, keys: int) -> int | None:
    """Among how many rows of items a group's *queries* are shared; None if the numbers do not suit tiles."""
    if not queries * features * keys or keys % COLUMNS or features % (COLUMNS * VECTOR):
        return None
    enough = max(queries * features / (MOST * COLUMNS), queries / COLUMNS)
    most = context["device::max_threads_per_block"] // COLUMNS
    found = [rows for rows in (16, 8, 32) if queries % rows == 0 and enough <= rows <= most]
    return int(context.param("rows", found)) if found else None


def tiled(knl: Any, context: Context, parts: Parts) -> Any:
    """*knl* by tiles.  `Misfit` if a group has too little memory."""
    group, features = kernel.outermost(knl, context), kernel.namesakes(knl, parts.feature)
    summed, copied = parts.around(knl, SCORES, features), list(_copied(knl, parts, {*features}))
    for name in parts.around(knl, RESULTS, features):
        knl = lp.rename_iname(knl, name, parts.loop(FEATURE), existing_ok=True)
    knl = _by_parts(knl, parts)
    results = kernel.own(knl, [parts.loop(RESULTS), parts.loop(FEATURE)])
    alone = kernel.own(knl, [parts.loop(WEIGHTS)]) - results
    kernel.refuse_beyond_memory(knl, context, results | alone)
    knl = _split(knl, parts, results, alone)
    for line, name in copied:
        knl = _shared_out(knl, line, name, parts.rows)
    for array in kernel.read_only(knl):
        if _is_of_queries(knl, array, parts, {group, *summed}):
            more = _in_memory(knl, array, group, parts.rows)
            knl = more if kernel.has_memory(more, context, results | alone) else knl
    for array in sorted(kernel.locals_of(knl) - results - alone):
        if _is_plane(knl, array):
            more = kernel.padded(knl, array)
            knl = more if kernel.has_memory(more, context, results | alone) else knl
    knl = lp.tag_inames(lp.tag_inames(knl, {group: "g.0"}), dict(_unrolled(knl, parts)))
    # The program's order of loops is right; that of loops which have been split since would only be in the way.
    return with_all_registers(knl.with_kernel(knl.default_entrypoint.copy(loop_priority=frozenset())))


def _by_parts(knl: Any, parts: Parts) -> Any:
    """*knl* with one loop over queries for all scores, one for all weights, and one for all results."""
    for query in kernel.namesakes(knl, parts.query):
        for kind in (SCORES, WEIGHTS, RESULTS):
            names = [insn.id for insn in parts.of(knl, kind) if query in insn.within_inames]
            if names:
                within = " or ".join(f"id:{name}" for name in names)
                knl = lp.duplicate_inames(knl, [query], within, new_inames=[f"{query}_{kind}"])
                knl = lp.rename_iname(knl, f"{query}_{kind}", parts.loop(kind), existing_ok=True)
    return lp.remove_unused_inames(knl)


def _split(knl: Any, parts: Parts, results: set[str], alone: set[str]) -> Any:
    """*knl* with loops over queries, keys and features by tiles.

    Items have their elements of the arrays *results* and *alone* in registers: a tile of these, a single one of those.
    """
    scores, weights, rows, columns = (parts.loop(kind) for kind in (SCORES, WEIGHTS, RESULTS, FEATURE))
    knl = lp.unprivatize_temporaries_with_inames(knl, {rows, columns}, results) if results else knl
    knl = lp.unprivatize_temporaries_with_inames(knl, {weights}, alone) if alone else knl
    for name, side, axis in ((scores, parts.rows, 1), (parts.keys, COLUMNS, 0), (rows, parts.rows, 1)):
        knl = lp.split_iname(knl, name, side, outer_tag="ilp.unr", inner_tag=f"l.{axis}")
    knl = lp.split_iname(knl, weights, COLUMNS, outer_tag="l.1", inner_tag="l.0")
    knl = lp.split_iname(knl, columns, COLUMNS * VECTOR, outer_tag="ilp.unr")
    knl = lp.split_iname(knl, f"{columns}_inner", VECTOR, outer_tag="l.0", inner_tag="ilp.unr")
    for name in (f"{rows}_outer", f"{columns}_outer", f"{columns}_inner_inner"):
        knl = lp.privatize_temporaries_with_inames(knl, name, results) if results else knl
    return knl


def _copied(knl: Any, parts: Parts, features: set[str]) -> Iterator[tuple[str, str]]:
    """The loops over lines, where there is one, and over features of what is copied."""
    entry = knl.default_entrypoint
    others = set().union(*(insn.within_inames for insn in entry.instructions if parts.kinds[insn.id] != COPIES))
    for name in parts.around(knl, COPIES, features):
        nests = {insn.within_inames - others - {name} for insn in entry.instructions if name in insn.within_inames}
        lines = [line for nest in nests for line in nest]
        yield lines[0] if len(nests) == len(lines) == 1 else "", name


def _shared_out(knl: Any, line: str, name: str, rows: int) -> Any:
    """*knl*, in which all items of a group share the copying loops *line*, if there is one, and *name*: neighbours have
    neighbouring elements."""
    if line:
        knl = lp.split_iname(knl, line, rows, inner_tag="l.1")
        return lp.split_iname(knl, name, COLUMNS, inner_tag="l.0")
    knl = lp.split_iname(knl, name, rows * COLUMNS, inner_iname=f"{name}_item")
    return lp.split_iname(knl, f"{name}_item", COLUMNS, outer_tag="l.1", inner_tag="l.0")


def _is_of_queries(knl: Any, array: str, parts: Parts, others: set[str]) -> bool:
    """Whether which element of *array* is read tells a score's query, and nothing else but *others*: it stays the same
    for all keys."""
    query = {f"{parts.loop(SCORES)}_{part}" for part in ("outer", "inner")}
    used = get_dependencies(tuple(kernel.mentions(knl, array))) & knl.default_entrypoint.all_inames()
    return bool(query < used <= query | others)


def _in_memory(knl: Any, array: str, group: str, rows: int) -> Any:
    """*knl* with what a group uses of *array* in its memory."""
    used = get_dependencies(tuple(kernel.mentions(knl, array))) & knl.default_entrypoint.all_inames()
    knl = kernel.fetched(kernel.in_one_domain(knl, {group, *used}), array, {group}, used - {group}, tag="for")
    *lines, last = (name for name in kernel.copying(knl, array) if name in knl.default_entrypoint.all_inames())
    knl = _shared_out(knl, lines[-1] if lines else "", last, rows)
    return lp.tag_inames(knl, {f"{name}_outer": AT_ONCE for name in (*lines[-1:], last)})


def _is_plane(knl: Any, array: str) -> bool:
    shape = knl.default_entrypoint.temporary_variables[array].shape
    return len(shape) == 2 and all(isinstance(extent, int) for extent in shape)


def _unrolled(knl: Any, parts: Parts) -> Iterator[tuple[str, str]]:
    """The tags of loops of one part that each item has all iterations of: short ones over weights are unrolled
    altogether, so that an item reads each score once."""
    entry = knl.default_entrypoint
    for name in sorted(entry.all_inames()):
        kinds = {parts.kinds.get(insn.id) for insn in entry.instructions if name in insn.within_inames}
        if len(kinds) == 1 and None not in kinds and not entry.iname_tags(name):
            whole = kinds == {WEIGHTS} and (kernel.trips(knl, _UNKNOWN, name) or MOST) < MOST
            yield name, kernel.UNROLLED if whole else AT_ONCE
