"""Whether a schedule runs iterations at the same time that depend on each other.

In: a region, and the loopy kernel that its scripts made of it.  Out: the loops whose iterations the kernel divides
among work items (`spread`), and a `Watch` over what may conflict then: the values of a launch tell whether it does.
Called by `pipeline`, which warns of what cannot be proven, and by `runtime.kernel`, which refuses launches that are
wrong.

Locals are loopy's affair: they are private to an item, or shared by a group with barriers around what conflicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from nomp.accesses import Access, accesses
from nomp.arithmetic import Number
from nomp.conflict import Conflict, Witness, listed
from nomp.device_source import Spread
from nomp.diagnostics import Diagnostic, Note, Span
from nomp.loops import INDEX, signed_step
from nomp.region import Const, For, Region
from nomp.walks import walk

if TYPE_CHECKING:
    from loopy import InstructionBase, LoopKernel, TranslationUnit


# ------------------------------------------------------------------------------------------- what a kernel spreads


def spread(region: Region, before: TranslationUnit, kernel: TranslationUnit) -> tuple[Spread, ...] | None:
    """The loops of *region* that *kernel* spreads over items; None if it was changed beyond recognition.

    *before* is the kernel that scripts were given.  loopy keeps what replaced each iname: after
    ``split_iname(knl, "i", 8)`` that is ``i_inner + 8*i_outer``.
    """
    from loopy import BarrierInstruction
    from loopy.kernel.data import ConcurrentTag

    entry = kernel.default_entrypoint
    ordered = any(isinstance(insn, BarrierInstruction) for insn in entry.instructions)
    used = {iname for insn in entry.instructions for iname in insn.within_inames}
    concurrent = {iname for iname in used if entry.iname_tags_of_type(iname, ConcurrentTag)}
    found = []
    for loop in (stmt for stmt in walk(region.body) if isinstance(stmt, For)):
        parts = _parts(entry, loop.iname)
        if parts is None:
            return None
        moved = [iname for iname in parts if iname in concurrent]
        concurrent -= set(moved)
        if moved:
            unit = signed_step(loop) == Const(1, INDEX)  # else loopy counts trips, of which the counter is a multiple
            coordinates = _coordinates(parts, moved) if unit else ("{}",)
            exact = not ordered and (unit or len(moved) == len(parts))
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


def _parts(entry: LoopKernel, iname: str) -> dict[str, int] | None:
    """What the loop *iname* has become: inames with their factors; None if it is no sum of these."""
    from loopy.symbolic import CoefficientCollector, SubstitutionMapper
    from pymbolic import evaluate, var
    from pymbolic.mapper.substitutor import make_subst_func

    rewritten = {str(old) for rewrite in entry.applied_iname_rewrites for old in rewrite}
    if iname in rewritten & entry.all_inames():
        return None  # in some instructions it is still what it was
    expr = var(iname)
    for rewrite in entry.applied_iname_rewrites:
        expr = SubstitutionMapper(make_subst_func(rewrite))(expr)
    try:
        factors = {part: int(evaluate(factor)) for part, factor in CoefficientCollector()(expr).items()}
    except Exception:  # whatever loopy's mappers make of a quotient or a product of inames
        return None
    named = {str(part): factor for part, factor in factors.items() if part != 1}
    return named if named.keys() <= entry.all_inames() else None


def _coordinates(parts: Mapping[str, int], moved: list[str]) -> tuple[str, ...]:
    """What of the counter ``{}`` tells the items apart: all of it, or the digits that *moved* stand for."""
    if len(moved) == len(parts):
        return ("{}",)
    factors = sorted(parts.values())
    found = []
    for iname in moved:
        larger = [factor for factor in factors if factor > parts[iname]]
        digit = f"(({{}}) mod {larger[0]})" if larger else "({})"
        found.append(f"floor({digit}/{parts[iname]})")
    return tuple(found)


# ---------------------------------------------------------------------------------------------------- what conflicts


def unknown(region: Region) -> Diagnostic | None:
    """The warning (N404) where `spread` cannot say what a script did, unless the program vouches for all loops."""
    if region.clauses.independent.issuperset(stmt.iname for stmt in walk(region.body) if isinstance(stmt, For)):
        return None
    message = f"cannot tell which iterations of kernel '{region.name}' the script runs at the same time"
    step = 'if all its loops are independent, say so: annotate("independent", "i") for each'
    return Diagnostic("N404", message, _script(region), "warning", help=step)


_STEP = 'if they do touch different elements, say so: annotate("independent", "i") for the loop over i'


class Watch:
    """The pairs of mentions of an array in which two items may meet, for some values of the region's scalars."""

    def __init__(self, region: Region, spreads: tuple[Spread, ...]) -> None:
        self.region = region
        found = accesses(region)
        arrays = {param.name for param in region.params if param.kind == "array" and param.writes}
        mentions = [access for access in found.found if access.variable in arrays]
        how = {item.loop: item for item in spreads}
        self._certain: list[Conflict] = []
        self._doubtful: list[Conflict] = []
        for first, second in combinations_with_replacement(mentions, 2):
            order, loops = _at_once(first, second, how)
            if first.variable != second.variable or not (first.writes or second.writes) or not order:
                continue
            exact = all(how[name].exact for name in loops)
            conflict = Conflict(first, second, 0, order, found.parameters, exact=exact)
            if not conflict.exact and region.clauses.independent.issuperset(loops):
                continue
            if not conflict.never():
                (self._certain if conflict.exact else self._doubtful).append(conflict)

    def unproven(self) -> Diagnostic | None:
        """A warning (N404), if data decide whether two items meet, and the program does not say that they do not."""
        if not self._doubtful:
            return None
        doubtful = self._doubtful[0]
        name = self.region.host_name(doubtful.first.variable)
        message = f"cannot prove that iterations of kernel '{self.region.name}' touch different elements of '{name}'"
        notes = tuple(Note(_what(access), self.region.span(access.place)) for access in _both(doubtful))
        return Diagnostic("N404", message, _script(self.region), "warning", notes, _STEP)

    def refusal(self, scalars: Mapping[str, Number]) -> Diagnostic | None:
        """The error (N403), if two items meet for these *scalars*, with an example."""
        for conflict in self._certain:
            if conflict.happens(scalars):
                return self._refusal(conflict, conflict.witness(scalars))
        return None

    def _refusal(self, conflict: Conflict, witness: Witness) -> Diagnostic:
        name = self.region.host_name(conflict.first.variable)
        first, second = listed(witness.source), listed(witness.sink)
        message = f"iterations {first} and {second} of kernel '{self.region.name}' run at the same time, and both touch"
        values = listed({self.region.host_name(key): value for key, value in witness.parameters.items()})
        what = f"{message} one element of '{name}'{f' (where {values})' if values else ''}"
        notes = tuple(Note(_what(access), self.region.span(access.place)) for access in _both(conflict))
        step = "leave a loop sequential that carries this dependence; 'nomp check' says which may run in parallel"
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
    for depth, (one, other) in enumerate(zip(first.loops, second.loops, strict=False)):
        if one is not other:
            break
        if one.iname in how:
            forms = how[one.iname].coordinates
            terms += [f"{form.format(f'x{depth}')} != {form.format(f'y{depth}')}" for form in forms]
            loops.append(one.iname)
    return " or ".join(terms), loops
