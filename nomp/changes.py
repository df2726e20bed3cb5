"""What scripts have changed in a kernel besides its loops: instructions, and the shape of locals.

In: kernels and instructions before and after.  Used by `execution`.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import loopy as lp
from loopy.kernel.data import IlpBaseTag
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
        lanes = {iname for iname in insn.within_inames if entry.iname_tags_of_type(iname, IlpBaseTag)}
        for name in names & set(insn.assignee_var_names()) & entry.temporary_variables.keys():
            found.setdefault(name, set()).update(lanes - insn.write_dependency_names())
    return {name: list(map(var, sorted(inames))) for name, inames in found.items() if inames}


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
        return all(getattr(before, part) == getattr(after, part) for part in ("code", "iname_exprs", "predicates"))
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
