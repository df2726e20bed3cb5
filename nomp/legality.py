"""Whether a schedule runs iterations at the same time that depend on each other, or in the wrong order.

In: a region, and the loopy kernel that its scripts made of it.  Out: the loops whose iterations the kernel divides
among work items (`spread`), and a `Watch` over what may conflict then: the values of a launch tell whether it does.
`reordering` knows how its sequential loops are nested.
Called by `pipeline`, which warns of what cannot be proven, and by `runtime.kernel`, which refuses launches that are
wrong.

Locals are loopy's affair: they are private to an item, or shared by a group with barriers around what conflicts.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import islpy as isl

from nomp.accesses import Access, accesses
from nomp.arithmetic import Number, is_float
from nomp.conflict import Conflict, Witness, listed
from nomp.device_source import Order, Spread
from nomp.diagnostics import Diagnostic, Note, Span
from nomp.frontend.private import sets_first
from nomp.loops import INDEX, signed_step
from nomp.region import Const, For, Region
from nomp.reordering import digit, parts, reversed_pairs, shared_loops
from nomp.walks import walk

if TYPE_CHECKING:
    from loopy import InstructionBase, TranslationUnit


# ------------------------------------------------------------------------------------------- what a kernel spreads


def spread(region: Region, before: TranslationUnit, kernel: TranslationUnit) -> tuple[Spread, ...] | None:
    """The loops of *region* that *kernel* spreads over items; None if it was changed beyond recognition.

    *before* is the kernel that scripts were given.
    """
    from loopy import BarrierInstruction
    from loopy.kernel.data import ConcurrentTag

    entry = kernel.default_entrypoint
    ordered = any(isinstance(insn, BarrierInstruction) for insn in entry.instructions)
    used = {iname for insn in entry.instructions for iname in insn.within_inames}
    concurrent = {iname for iname in used if entry.iname_tags_of_type(iname, ConcurrentTag)}
    found = []
    for loop in (stmt for stmt in walk(region.body) if isinstance(stmt, For)):
        factors = parts(entry, loop.iname)
        if factors is None:
            return None
        moved = [iname for iname in factors if iname in concurrent]
        concurrent -= set(moved)
        if moved:
            unit = signed_step(loop) == Const(1, INDEX)  # else loopy counts trips, of which the counter is a multiple
            coordinates = _coordinates(factors, moved) if unit else ("{}",)
            exact = not ordered and (unit or len(moved) == len(factors))
            found.append(Spread(loop.iname, coordinates, exact))
    known = before.default_entrypoint.id_to_insn.keys()
    added = [insn for insn in entry.instructions if insn.id not in known or insn.within_inames & concurrent]
    return None if _touch(region, added) else tuple(found)


def _touch(region: Region, added: Iterable[InstructionBase]) -> bool:
    """Whether instructions that a script has *added*, or put into loops of its own, touch what the region writes.

    Those of a prefetch do not: they copy to a local what only is read.
    """
    written = {param.name for param in region.params if param.kind == "array" and param.writes}
    return any(written & (insn.write_dependency_names() | insn.read_dependency_names()) for insn in added)


def _coordinates(factors: Mapping[str, int], moved: list[str]) -> tuple[str, ...]:
    """What of the counter ``{}`` tells the items apart: all of it, or the digits that *moved* stand for."""
    if len(moved) == len(factors):
        return ("{}",)
    return tuple(digit(factors, factors[iname]) for iname in moved)


# ---------------------------------------------------------------------------------------------------- what conflicts


def unknown(region: Region) -> Diagnostic | None:
    """The warning (N404) where `spread` cannot say what a script did, unless the program vouches for all loops."""
    if region.clauses.independent.issuperset(stmt.iname for stmt in walk(region.body) if isinstance(stmt, For)):
        return None
    message = f"cannot tell which iterations of kernel '{region.name}' the script runs at the same time"
    step = 'if all its loops are independent, say so: annotate("independent", "i") for each'
    return Diagnostic("N404", message, _script(region), "warning", help=step)


_STEP = 'if they do touch different elements, say so: annotate("independent", "i") for the loop over i'


@dataclass(frozen=True, slots=True)
class _Danger:
    """Pairs of mentions that are wrong if they happen: their iterations, *what* they do then, and *loops* to blame."""

    pairs: Conflict
    what: str
    loops: frozenset[str]


class Watch:
    """The pairs of mentions of a variable that a schedule is wrong for, for some values of the region's scalars.

    Those in which two items may meet, and those whose iterations it runs in another order than the program.
    """

    def __init__(
        self, region: Region, spreads: tuple[Spread, ...], orders: tuple[Order, ...] = (), assumes: str = ""
    ) -> None:
        self.region = region
        self._assumed = isl.Set(assumes) if assumes else None
        self._accesses = accesses(region)
        dangers = [*self._meeting(spreads), *(self._reversed(spreads, orders) if orders else ())]
        vouched = region.clauses.independent
        dangers = [d for d in dangers if (d.pairs.exact or not d.loops <= vouched) and not d.pairs.never()]
        self._certain = [danger for danger in dangers if danger.pairs.exact]
        self._doubtful = [danger for danger in dangers if not danger.pairs.exact]

    def _conflicting(self, variables: Container[str]) -> Iterator[tuple[Access, Access]]:
        mentions = [access for access in self._accesses.found if access.variable in variables]
        for first, second in combinations_with_replacement(mentions, 2):
            if first.variable == second.variable and (first.writes or second.writes):
                yield first, second

    def _meeting(self, spreads: tuple[Spread, ...]) -> Iterator[_Danger]:
        how = {item.loop: item for item in spreads}
        arrays = {param.name for param in self.region.params if param.kind == "array" and param.writes}
        for first, second in self._conflicting(arrays):
            order, loops = _at_once(first, second, how)
            if order:
                exact = all(how[name].exact for name in loops)
                pairs = Conflict(first, second, 0, order, self._accesses.parameters, exact=exact)
                yield _Danger(pairs, "run at the same time", frozenset(loops))

    def _reversed(self, spreads: tuple[Spread, ...], orders: tuple[Order, ...]) -> Iterator[_Danger]:
        known, how = {order.loops: order for order in orders}, {item.loop: item for item in spreads}
        for first, second in self._conflicting(self._accesses.declared):
            shared = shared_loops(first, second)
            if first.op and first.op == second.op and self._is_any_order(first.variable):
                continue
            if not shared or self._is_private(first.variable, shared):
                continue
            order, exact = reversed_pairs(first, second, known, how)
            if order:
                pairs = Conflict(first, second, 0, order, self._accesses.parameters, exact=exact)
                loops = frozenset(loop.iname for loop in shared)
                yield _Danger(pairs, "do not run in the program's order", loops)

    def _is_any_order(self, variable: str) -> bool:
        """Whether what is accumulated into *variable* may come in any order: integers, and what a clause names."""
        named = any(reduction.name == variable for reduction in self.region.clauses.reductions)
        return named or any(p.name == variable and not is_float(p.dtype) for p in self.region.params)

    def _is_private(self, variable: str, shared: list[For]) -> bool:
        """Whether each iteration of the innermost of *shared* has a *variable* of its own, or sets it first."""
        return self._accesses.declared[variable] >= len(shared) or sets_first(shared[-1].body, variable)

    def unproven(self) -> Diagnostic | None:
        """A warning (N404), if data decide whether the schedule is right, and the program does not say that it is."""
        if not self._doubtful:
            return None
        doubtful = self._doubtful[0]
        name = self.region.host_name(doubtful.pairs.first.variable)
        message = f"cannot prove that iterations of kernel '{self.region.name}' touch different elements of '{name}'"
        if doubtful.what != "run at the same time":
            message += ", which the script reorders"
        notes = tuple(Note(_what(access), self.region.span(access.place)) for access in _both(doubtful.pairs))
        return Diagnostic("N404", message, _script(self.region), "warning", notes, _STEP)

    def refusal(self, scalars: Mapping[str, Number]) -> Diagnostic | None:
        """The error (N403, N309), if the schedule is wrong for these *scalars*, with an example."""
        if self._assumed is not None and (wrong := self._breach(self._assumed, scalars)):
            return wrong
        for danger in self._certain:
            if danger.pairs.happens(scalars):
                return self._refusal(danger, danger.pairs.witness(scalars))
        return None

    def _breach(self, assumed: isl.Set, scalars: Mapping[str, Number]) -> Diagnostic | None:
        """The error (N309), if *scalars* are not what the script has *assumed*."""
        names = sorted(name for name in assumed.get_var_names(isl.dim_type.param) if name in self.region.scalars)
        values = {name: int(scalars[name]) for name in names}
        given = " and ".join(f"{name} = {value}" for name, value in values.items())
        if not values or not (assumed & isl.Set(f"[{', '.join(names)}] -> {{ : {given} }}")).is_empty():
            return None
        told = str(assumed).partition("{")[2].rpartition("}")[0].strip(" :")
        message = f"the script assumes '{told}' in kernel '{self.region.name}', which is launched with {listed(values)}"
        step = "leave the assumption out, or launch the loop with such values only"
        return Diagnostic("N309", message, _script(self.region), help=step)

    def _refusal(self, danger: _Danger, witness: Witness) -> Diagnostic:
        name = self.region.host_name(danger.pairs.first.variable)
        first, second = listed(witness.source), listed(witness.sink)
        message = f"iterations {first} and {second} of kernel '{self.region.name}' {danger.what}, and both touch"
        values = listed({self.region.host_name(key): value for key, value in witness.parameters.items()})
        element = "one element of " if danger.pairs.first.index else ""
        what = f"{message} {element}'{name}'{f' (where {values})' if values else ''}"
        notes = tuple(Note(_what(access), self.region.span(access.place)) for access in _both(danger.pairs))
        step = "leave a loop sequential that carries this dependence; 'nomp check' says which may run in parallel"
        if danger.what != "run at the same time":
            step = "leave the loops in the program's order, or skew them first so that no dependence points backwards"
        return Diagnostic("N403", what, _script(self.region), notes=notes, help=step)


def _script(region: Region) -> Span:
    scripts = region.clauses.transforms
    return region.span(scripts[-1].place if scripts else region.place)


def _what(access: Access) -> str:
    return "written here" if access.writes else "read here"


def _both(conflict: Conflict) -> tuple[Access, ...]:
    """The two mentions, or the one that conflicts with itself."""
    first, second = conflict.first, conflict.second
    return (first,) if (first.place, first.writes) == (second.place, second.writes) else (first, second)


def _at_once(first: Access, second: Access, how: Mapping[str, Spread]) -> tuple[str, list[str]]:
    """That two iterations are different items', and by which loops around both; "" if none tells them apart."""
    terms, loops = [], []
    for depth, loop in enumerate(shared_loops(first, second)):
        if loop.iname in how:
            forms = how[loop.iname].coordinates
            terms += [f"{form.format(f'x{depth}')} != {form.format(f'y{depth}')}" for form in forms]
            loops.append(loop.iname)
    return " or ".join(terms), loops
