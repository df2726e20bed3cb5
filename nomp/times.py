"""When and where instructions of a scheduled kernel run, as relations between inames, work items and time.

In: the kernel that scripts are given, the one that they make of it, what became of the loops around each instruction
(`marks`), and the order in which loopy puts these.  Out: isl's relations.  Used by `execution` and `copies`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import islpy as isl
import loopy as lp
from islpy import dim_type
from loopy.kernel.data import GroupInameTag, LocalInameTag
from loopy.kernel.tools import get_hw_axis_base_for_codegen
from loopy.symbolic import CoefficientCollector, SubstitutionMapper, aff_from_expr, get_dependencies, pw_aff_to_expr
from pymbolic import primitives as p
from pymbolic import var
from pymbolic.mapper.substitutor import make_subst_func

from nomp import changes
from nomp.accesses import spelled
from nomp.device_source import Blame, DeviceSource, Placement, Schedule
from nomp.lower import Lowered
from nomp.marks import Marks


@dataclass(frozen=True)
class Times:
    """When and where instructions of *after* run, which scripts have made of *before*, and *source* of it.

    *parameters* are the names that sets have for the region's scalars, *blames* is what changed instructions last.
    """

    lowered: Lowered
    after: lp.LoopKernel
    marks: Marks
    source: DeviceSource
    parameters: Mapping[str, str]
    blames: Mapping[str, Blame]

    @cached_property
    def before(self) -> lp.LoopKernel:
        """The kernel that scripts were given."""
        return self.lowered.kernel.default_entrypoint

    @cached_property
    def paths(self) -> Mapping[str, tuple[int | str, ...]]:
        """What leads to each instruction, see `Placement`; to barriers as well, by number and kind."""
        found: dict[str, tuple[int | str, ...]] = {}
        around: list[int | str] = [0]
        for number, (kind, name) in enumerate(self.source.steps):
            if kind == "loop":
                around += [name, 0]
                continue
            if kind == "end":
                del around[-2:]
            else:
                found[name if kind == "run" else f"{number} {name}"] = tuple(around)
            around[-1] += 1  # type: ignore[operator]
        return found

    @cached_property
    def axes(self) -> tuple[tuple[Any, int], ...]:
        """The parallel axes in use, those of groups first."""
        inames = frozenset().union(*(i.within_inames for i in self.after.instructions if i.id in self.paths))
        tags = (tag for iname in inames for tag in self.after.iname_tags(iname))
        kinds = (GroupInameTag, LocalInameTag)
        return tuple(sorted({(kinds.index(type(t)), t.axis) for t in tags if type(t) in kinds}))

    @cached_property
    def length(self) -> int:
        """How many numbers a time has."""
        return max(map(len, self.paths.values()), default=1)

    @cached_property
    def _hidden(self) -> set[str]:
        """What bounds depend on that is no scalar of the region."""
        return set(self._known) - set(self.parameters)

    # ------------------------------------------------------------------------------------------------- relations

    def domain(self, entry: lp.LoopKernel, inames: frozenset[str]) -> isl.Set:
        """The values that *inames* take together, over all parameters; of no other iname."""
        domain = entry.get_inames_domain(inames).to_set() if inames else isl.Set("{ [] }")
        names = domain.get_var_names(dim_type.set)
        for place in reversed(range(len(names))):
            if names[place] not in inames:
                domain = domain.project_out(dim_type.set, place, 1)
        given = isl.Set.universe(isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[], params=list(self._known)))
        return domain.align_params(given.space).compute_divs()  # else what is split is bounded again for each split

    @cached_property
    def _known(self) -> tuple[str, ...]:
        """All names that may be parameters of a set: scalars, and locals that bounds depend on."""
        found = set(self.parameters)
        for entry in (self.before, self.after):
            found |= {name for d in entry.domains for name in d.get_var_names(dim_type.param)} - entry.all_inames()
        return tuple(sorted(found))

    def relation(self, domain: isl.Set, exprs: Iterable[Any]) -> isl.Map:
        """From the points of *domain* to the values of *exprs* there."""
        found = isl.Map.from_domain(domain)
        for expr in exprs:
            value = isl.Map.from_aff(aff_from_expr(domain.space, expr)).intersect_domain(domain)
            found = found.flat_range_product(value)
        return found

    def loops(self, name: str) -> tuple[str, ...]:
        """The loops around instruction *name* in the program, outermost first."""
        within = self.before.id_to_insn[name].within_inames
        return tuple(iname for iname in self.lowered.counters if iname in within)

    def in_bounds(self, name: str) -> frozenset[str]:
        """The locals that say how far the loops around instruction *name* go, in the program or now."""
        within = [(entry, entry.id_to_insn[name].within_inames) for entry in (self.before, self.after)]
        return self.data(bound for entry, inames in within for bound in changes.bounds(entry, inames))

    def counters(self, name: str, domain: isl.Set) -> isl.Map | None:
        """From what the inames of instruction *name* are, in *domain*, to the counters of its loops."""
        become = SubstitutionMapper(make_subst_func(self.marks[name]))
        exprs = []
        for loop in self.loops(name):
            value = self.lowered.counters[loop]
            if get_dependencies(value) & self._hidden:
                value = self._in_place_of(loop, value)
                if value is None:
                    return None
                place = domain.find_dim_by_name(dim_type.set, self.marks[name][loop].name)
                domain = domain.drop_constraints_involving_dims(dim_type.set, place, 1)
            exprs.append(become(value))
        return self.affine(domain, exprs)

    def _in_place_of(self, loop: str, value: Any) -> Any:
        """What grows and is the same as the counter of *loop*, which is *value* and starts at what only a launch knows.

        Good enough where no other loop shares the iname; None if there is no such thing.
        """
        coefficients = CoefficientCollector([loop])(value)
        step = coefficients.get(var(loop))
        constant = get_dependencies(value) - {loop} <= self.before.arg_dict.keys()
        marks = {own.get(loop, var(loop)) for own in self.marks.values()}
        if not isinstance(step, int) or not constant or len(marks) > 1:
            return None
        (mark,) = marks
        alone = isinstance(mark, p.Variable) and not any(
            mark.name in get_dependencies(expr)
            for own in self.marks.values() for other, expr in own.items() if other != loop
        )  # fmt: skip
        return (1 if step > 0 else -1) * var(loop) if alone else None

    def affine(self, domain: isl.Set, exprs: Iterable[Any]) -> isl.Map | None:
        """The same; None where an expression is not affine."""
        try:
            return self.relation(domain, exprs)
        except Exception:  # whatever loopy raises for what is not affine
            return None

    def time(self, name: str, domain: isl.Set) -> isl.Map | None:
        """From what the inames of instruction *name* are to group, item and time."""
        exprs = list[Any]()
        for iname, axis in zip(self.on_axes(name), self.axes, strict=True):
            exprs.append(self._coordinate(iname, *axis) if iname else 0)
        found = self.affine(domain, exprs + self._number(self.paths[name]))
        for place, iname in enumerate(self.on_axes(name)):
            if found is not None and not iname:  # all along this axis run it
                found = found.project_out(dim_type.out, place, 1).insert_dims(dim_type.out, place, 1)
        return found

    def on_axes(self, name: str) -> list[str | None]:
        """For each of `axes` the iname around instruction *name* that is on it, if there is one."""
        within = sorted(self.after.id_to_insn[name].within_inames)
        return [next((iname for iname in within if self.is_on(iname, *axis)), None) for axis in self.axes]

    def is_on(self, iname: str, kind: int, axis: int) -> bool:
        """Whether *iname* is mapped to this axis."""
        tags = self.after.iname_tags_of_type(iname, (GroupInameTag, LocalInameTag)[kind])
        return any(tag.axis == axis for tag in tags)

    def _coordinate(self, iname: str, kind: int, axis: int) -> Any:
        """What tells apart the items that run the iterations of the parallel loop *iname*."""
        if sum(self.is_on(other, kind, axis) for other in self.after.all_inames()) == 1:
            return var(iname)
        return var(iname) - pw_aff_to_expr(get_hw_axis_base_for_codegen(self.after, iname).to_pw_aff())

    def text(self, found: Any) -> tuple[str, bool]:
        """*found* as text, for any values of what is no scalar of the region; whether these do not matter."""
        return spelled(found, self.parameters)

    # ------------------------------------------------------------------------------------------------- what is around

    def elements(self, insn: Any, name: str, domain: isl.Set) -> list[isl.Map] | None:
        """From *domain*, what the inames of *insn* are, to each element of *name* that it mentions."""
        found = [self.affine(domain, list(subscript)) for subscript in changes.subscripts(insn, name)]
        known = [element for element in found if element is not None]
        return known if len(known) == len(found) else None

    def fits(self, insn: Any, name: str) -> bool:
        """Whether all elements of the local *name* that *insn* mentions are there, whatever predicates allow."""
        domain = self.domain(self.after, insn.within_inames | insn.reduction_inames())
        shape = self.after.temporary_variables[name].shape
        pairs = (zip(subscript, shape, strict=True) for subscript in changes.subscripts(insn, name))
        sides = [side for pair in pairs for index, extent in pair for side in (index, extent - 1 - index)]
        try:
            values = [isl.PwAff.from_aff(aff_from_expr(domain.space, side)) for side in sides]
        except Exception:  # as above
            return False
        return all(domain <= value.nonneg_set() for value in values)

    @property
    def all_fit(self) -> bool:
        """Whether the locals that scripts have added or given another shape have all the elements that are used."""
        new = self.after.temporary_variables.keys() - self.before.temporary_variables.keys() | self.reshaped
        running = (insn for insn in self.after.instructions if insn.id in self.paths)
        return all(self.fits(insn, name) for insn in running for name in new & insn.dependency_names())

    def data(self, names: Iterable[str]) -> frozenset[str]:
        """Those of *names* that are arrays, cells and locals."""
        return frozenset(names) & self._stored

    @cached_property
    def _stored(self) -> set[str]:
        arrays = {arg.name for arg in self.before.args if not isinstance(arg, lp.ValueArg)}
        return arrays | set(self.before.temporary_variables)

    def frame(self, placements: tuple[Placement, ...]) -> Schedule:
        """A schedule of *placements*."""
        groups = sum(kind == 0 for kind, _ in self.axes)
        return Schedule(placements, self.barriers, groups, len(self.axes) - groups, self.source.shared, self.common)

    @cached_property
    def barriers(self) -> tuple[tuple[str, str], ...]:
        """The times at which items wait for each other, by kind."""
        found = []
        for name, path in self.paths.items():
            _, _, kind = name.partition(" ")
            if not kind:
                continue
            inames = frozenset(step for step in path if isinstance(step, str))
            times = self.affine(self.domain(self.after, inames), self._number(path))
            if times is None:
                continue
            text, exact = self.text(times.range().insert_dims(dim_type.set, 0, len(self.axes)))
            if exact:  # else there may be fewer
                found.append((kind, text))
        return tuple(found)

    def _number(self, path: tuple[int | str, ...]) -> list[Any]:
        """*path* as what a time is, without group and item."""
        steps = [step if isinstance(step, int) else var(step) for step in path]
        return steps + [0] * (self.length - len(path))

    @cached_property
    def reshaped(self) -> frozenset[str]:
        """The locals whose shape scripts have changed."""
        return changes.reshaped(self.before, self.after)

    @cached_property
    def lanes(self) -> Mapping[str, list[Any]]:
        """The inames for whose values each local has copies of its own, if it has."""
        return changes.by_lane(self.after, set(self.after.temporary_variables))

    @cached_property
    def common(self) -> frozenset[str]:
        """The locals that all groups share."""
        return frozenset(scratch.name for scratch in self.source.scratch)

    @cached_property
    def added(self) -> list[Any]:
        """The instructions that scripts have added, and that run."""
        added = (insn for insn in self.after.instructions if insn.id not in self.before.id_to_insn)
        return [insn for insn in added if insn.id in self.paths]
