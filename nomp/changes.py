"""What scripts have changed in a kernel besides its loops: instructions, arguments, and locals.

In: kernels and instructions before and after.  Used by `execution`, and by `pipeline` for what it refuses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from math import prod
from typing import Any

import loopy as lp
from islpy import dim_type
from loopy.kernel.array import FixedStrideArrayDimTag
from loopy.kernel.data import IlpBaseTag, VectorizeTag
from loopy.kernel.function_interface import CallableKernel
from loopy.symbolic import IdentityMapper, SubstitutionMapper, WalkMapper, flatten
from pymbolic import primitives as p
from pymbolic import var
from pymbolic.mapper.dependency import DependencyMapper
from pymbolic.mapper.substitutor import make_subst_func

_WITH_CALLS = DependencyMapper(include_calls=True)


def reshaped(before: lp.LoopKernel, after: lp.LoopKernel) -> frozenset[str]:
    """The locals of *before* whose shape is another one in *after*."""
    old, new = before.temporary_variables, after.temporary_variables
    return frozenset(name for name in old.keys() & new.keys() if old[name].shape != new[name].shape)


def by_lane(entry: lp.LoopKernel, names: Set[str]) -> dict[str, list[Any]]:
    """The inames for each of whose values loopy will give one of *names*, a local, a copy of its own."""
    found: dict[str, set[str]] = {}
    for insn in entry.instructions:
        lanes = {iname for iname in insn.within_inames if entry.iname_tags_of_type(iname, (IlpBaseTag, VectorizeTag))}
        for name in names & set(insn.assignee_var_names()) & entry.temporary_variables.keys():
            found.setdefault(name, set()).update(lanes - insn.write_dependency_names())
    return {name: list(map(var, sorted(inames))) for name, inames in found.items() if inames}


def argument(before: lp.LoopKernel, after: lp.LoopKernel) -> str | None:
    """An argument of *after* that a launcher cannot pass, which knows those of *before* only."""
    known = {arg.name: _passed(arg) for arg in before.args}
    return next((arg.name for arg in after.args if known.get(arg.name) != _passed(arg)), None)


def _passed(arg: Any) -> tuple[Any, ...]:
    """What an argument's bytes mean."""
    return type(arg), arg.dtype, *(getattr(arg, part, None) for part in ("dim_tags", "offset", "address_space"))


def garbled(before: lp.LoopKernel, after: lp.LoopKernel) -> str | None:
    """Why loopy would make wrong code of *after*, or good code by chance only."""
    locals_ = set(before.temporary_variables)
    lanes, moved = by_lane(after, locals_), reshaped(before, after)
    for insn in after.instructions:
        changed = sorted((lanes.keys() | moved) & insn.dependency_names())
        if changed and isinstance(insn, lp.CInstruction):
            return f"a 'while' or 'do' loop is carried as text, which would take '{changed[0]}' for what it was"
    if changed := sorted((lanes.keys() | moved) & bounds(after, after.all_inames())):
        return f"'{changed[0]}' says how far a loop goes, which takes one number and not an array"
    for name, inames in lanes.items():
        writers = (insn for insn in after.instructions if name in insn.assignee_var_names())
        if odd := next((str(i) for insn in writers for i in inames if i.name not in insn.within_inames), None):
            return f"'{name}' is also written outside of loop '{odd}', whose iterations run side by side"
    return None


def bounds(entry: lp.LoopKernel, inames: Set[str]) -> set[str]:
    """All that the bounds of *inames* depend on."""
    domains = (entry.domains[entry.get_home_domain_index(iname)] for iname in inames)
    return {name for domain in domains for name in domain.get_var_names(dim_type.param)}


def keeps_locals(before: lp.LoopKernel, after: lp.LoopKernel) -> bool:
    """Whether the locals of *after* hold what those of *before* do, and nothing that is around instructions differs."""
    old, new = before.temporary_variables, after.temporary_variables
    kept = all(_held(old[name]) == _held(new[name]) for name in old.keys() & new.keys())
    around = ("index_dtype", "preambles", "preamble_generators", "target")
    kept = kept and all(getattr(before, part) == getattr(after, part) for part in around)
    return kept and all(local.base_storage is None and _is_injective(local) for local in new.values())


def keeps_functions(before: lp.TranslationUnit, after: lp.TranslationUnit) -> bool:
    """Whether what instructions call is what it was."""
    one, other = ({name: f for name, f in unit.callables_table.items() if not isinstance(f, CallableKernel)}
                  for unit in (before, after))  # fmt: skip
    return one == other


def is_followed(added: Any) -> bool:
    """Whether it can be told what an instruction that a script has *added* does: not for text, nor for calls."""
    if isinstance(added, lp.Assignment):
        return not any(isinstance(part, p.Call) for part in _WITH_CALLS(added.expression))
    return isinstance(added, lp.BarrierInstruction | lp.NoOpInstruction)


def _held(local: Any) -> tuple[Any, ...]:
    initial = local.initializer
    return local.dtype, None if initial is None else initial.tobytes(), local.read_only, local.offset


def _is_injective(local: Any) -> bool:
    """Whether no two elements of *local* are one in memory, and all are in what it has of that, as numbers tell."""
    stored = local.storage_shape or local.shape or ()
    axes = [(tag.stride, extent) for tag, extent in zip(local.dim_tags or (), local.shape or (), strict=False)
            if isinstance(tag, FixedStrideArrayDimTag)]  # fmt: skip
    if not all(isinstance(number, int) for axis in (*axes, stored) for number in axis):
        packed = local.copy(dim_tags=["c"] * len(stored)).dim_tags
        return bool(stored == local.shape and local.dim_tags == packed)
    reach = 0
    for stride, extent in sorted(axes):
        if extent > 1 and stride <= reach:
            return False
        reach += stride * (extent - 1)
    return reach < prod(stored)


Mention = tuple[Any, Any]
"""An element of an array in an instruction before and after; a scalar that is one, too."""


def replaced(before: Any, after: Any, marks: Mapping[str, Any], names: Set[str]) -> list[Mention] | None:
    """What elements of *names* the instruction *after* reads in the place of which that *before* reads.

    None if it differs otherwise.  *marks* say what has become of its loops.
    """
    become = SubstitutionMapper(make_subst_func(marks))
    if isinstance(before, lp.CInstruction):
        before = before.with_transformed_expressions(become)
        parts = ("code", "iname_exprs", "read_variables", "assignees", "predicates")
        return [] if all(getattr(before, part) == getattr(after, part, None) for part in parts) else None
    told = _masked((become(before.expression),), names) | _masked(map(become, before.predicates), names)
    now = _masked((after.expression,), names) | _masked(after.predicates, names)
    if told.keys() != now.keys() or len(after.predicates) != len(before.predicates):
        return None
    return [pair for key, old in told.items() for pair in zip(old, now[key], strict=True)]


def writes_the_same(before: Any, after: Any, marks: Mapping[str, Any], shapes: Set[str]) -> bool:
    """Whether *after* writes what *before* does; locals in *shapes* may have other subscripts."""
    become = SubstitutionMapper(make_subst_func(marks))
    mask = _Masked(shapes)
    told, now = ([flatten(mask(expr)) for expr in exprs] for exprs in (map(become, before.assignees), after.assignees))
    return told == now


def _masked(exprs: Iterable[Any], names: Set[str]) -> dict[Any, list[Any]]:
    """Each of *exprs* with one word for all elements of *names*, and these."""
    found = {}
    for expr in exprs:
        mask = _Masked(names)
        found[flatten(mask(expr))] = mask.found
    return found


def subscripts(insn: Any, name: str) -> set[tuple[Any, ...]]:
    """The subscripts of *name* in instruction *insn*, () for a scalar."""
    collect = _Subscripts(name)
    for expr in (*insn.assignees, *insn.predicates, getattr(insn, "expression", 0)):
        collect(expr)
    return collect.found


def is_needed(before: lp.LoopKernel, after: lp.LoopKernel, name: str) -> bool:
    """Whether nothing does in *after* what instruction *name* did, which it lacks."""
    written = set(before.id_to_insn[name].assignee_var_names())
    read = {variable for insn in after.instructions for variable in insn.read_dependency_names()}
    read |= written - before.temporary_variables.keys()
    added = [insn for insn in after.instructions if insn.id not in before.id_to_insn]
    return bool(written & read) and not any(written & set(insn.assignee_var_names()) for insn in added)


class _Masked(IdentityMapper):  # type: ignore[misc]
    """Writes one word for all elements of some arrays, and notes them."""

    def __init__(self, names: Set[str]) -> None:
        super().__init__()
        self.names, self.found = names, list[Any]()

    def map_subscript(self, expr: Any) -> Any:
        """An element."""
        return self._mask(expr) if expr.aggregate.name in self.names else super().map_subscript(expr)

    def map_variable(self, expr: Any) -> Any:
        """A scalar, which an array may have become."""
        return self._mask(expr) if expr.name in self.names else expr

    def _mask(self, expr: Any) -> Any:
        self.found.append(expr)
        return var("copy")


class _Subscripts(WalkMapper):  # type: ignore[misc]
    """Collects the subscripts of an array, or a scalar."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.found = name, set[tuple[Any, ...]]()

    def map_subscript(self, expr: Any) -> None:
        """An element."""
        if expr.aggregate.name == self.name:
            self.found.add(expr.index_tuple)
        for part in expr.index_tuple:
            self.rec(part)

    def map_variable(self, expr: Any) -> None:
        """A scalar."""
        if expr.name == self.name:
            self.found.add(())
