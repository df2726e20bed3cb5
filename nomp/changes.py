"""What scripts have changed in a kernel besides its loops: instructions, arguments, and locals.

In: kernels and instructions before and after.  Used by `execution`, and by `pipeline` for what it refuses.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import loopy as lp
from loopy.kernel.array import FixedStrideArrayDimTag
from loopy.kernel.data import IlpBaseTag, VectorizeTag
from loopy.symbolic import IdentityMapper, SubstitutionMapper, WalkMapper, flatten
from pymbolic import var
from pymbolic.mapper.substitutor import make_subst_func


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
    for name, inames in lanes.items():
        writers = (insn for insn in after.instructions if name in insn.assignee_var_names())
        if odd := next((str(i) for insn in writers for i in inames if i.name not in insn.within_inames), None):
            return f"'{name}' is also written outside of loop '{odd}', whose iterations run side by side"
    return None


def keeps_locals(before: lp.LoopKernel, after: lp.LoopKernel) -> bool:
    """Whether the locals of *after* hold what those of *before* do, and nothing that is around instructions differs."""
    old, new = before.temporary_variables, after.temporary_variables
    kept = all(_held(old[name]) == _held(new[name]) for name in old.keys() & new.keys())
    around = ("index_dtype", "preambles", "preamble_generators", "target")
    kept = kept and all(getattr(before, part) == getattr(after, part) for part in around)
    return kept and all(local.base_storage is None and _is_injective(local) for local in new.values())


def _held(local: Any) -> tuple[Any, ...]:
    initial = local.initializer
    return local.dtype, None if initial is None else initial.tobytes(), local.read_only, local.offset


def _is_injective(local: Any) -> bool:
    """Whether no two elements of *local* are one in memory, as far as numbers tell."""
    axes = [(tag.stride, extent) for tag, extent in zip(local.dim_tags or (), local.shape or (), strict=False)
            if isinstance(tag, FixedStrideArrayDimTag)]  # fmt: skip
    if not all(isinstance(number, int) for axis in axes for number in axis):
        return bool(local.dim_tags == local.copy(dim_tags=["c"] * len(local.shape)).dim_tags)
    reach = 0
    for stride, extent in sorted(axes):
        if extent > 1 and stride <= reach:
            return False
        reach += stride * (extent - 1)
    return True


def is_as_it_was(
    before: Any, after: Any, marks: Mapping[str, Any], shapes: Set[str], originals: Set[str], copies: Set[str]
) -> bool:
    """Whether the instruction *after* computes what *before* does.

    *marks* say what has become of its loops; locals in *shapes* may have other subscripts, and *copies* may be read in
    the place of *originals*.
    """
    become = SubstitutionMapper(make_subst_func(marks))
    if isinstance(before, lp.CInstruction):
        before = before.with_transformed_expressions(become)
        parts = ("code", "iname_exprs", "read_variables", "assignees", "predicates")
        return all(getattr(before, part) == getattr(after, part, None) for part in parts)
    target, old, new = _Copies(shapes), _Copies(originals | shapes), _Copies(copies | shapes)
    told = [flatten(become(expr)) for expr in (*map(target, before.assignees), old(before.expression))]
    now = [flatten(expr) for expr in (*map(target, after.assignees), new(after.expression))]
    guards = {flatten(become(old(guard))) for guard in before.predicates}
    return told == now and guards == {flatten(new(guard)) for guard in after.predicates}


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


class _Copies(IdentityMapper):  # type: ignore[misc]
    """Writes one word for all elements of some arrays."""

    def __init__(self, names: Set[str]) -> None:
        super().__init__()
        self.names = names

    def map_subscript(self, expr: Any) -> Any:
        """An element."""
        return var("copy") if expr.aggregate.name in self.names else super().map_subscript(expr)

    def map_variable(self, expr: Any) -> Any:
        """A scalar, which an array may have become."""
        return var("copy") if expr.name in self.names else expr


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
