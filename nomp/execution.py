"""When and where a schedule runs the iterations of each statement.

In: the kernel that scripts are given, the one that they make of it, what became of the loops around each instruction
(`marks`), and the order in which loopy puts these.  Out: a `Schedule`, which relates the iterations of each instruction
to work items and time (`scheduled`).  Called by `pipeline`; `legality` judges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
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
from nomp.reordering import Timeline

# ---------------------------------------------------------------------------------------------- iterations and time


@dataclass(frozen=True)
class _Reader:
    """Reads the schedule of *after*, which scripts have made of *before*, and *source* of it.

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
        return domain.align_params(given.space)

    @cached_property
    def _known(self) -> tuple[str, ...]:
        """All names that may be parameters of a set: scalars, and locals that bounds depend on."""
        found = set(self.parameters)
        for entry in (self.before, self.after):
            found |= {name for d in entry.domains for name in d.get_var_names(dim_type.param)} - entry.all_inames()
        return tuple(sorted(found))

    def relation(self, domain: isl.Set, exprs: list[Any]) -> isl.Map:
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
        return self._affine(domain, exprs)

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

    def _affine(self, domain: isl.Set, exprs: list[Any]) -> isl.Map | None:
        try:
            return self.relation(domain, exprs)
        except Exception:  # whatever loopy raises for what is not affine
            return None

    def time(self, name: str, domain: isl.Set) -> isl.Map | None:
        """From what the inames of instruction *name* are to group, item and time."""
        within = self.after.id_to_insn[name].within_inames
        exprs, free = [], []
        for number, (kind, axis) in enumerate(self.axes):
            here = [iname for iname in within if self._is_on(iname, kind, axis)]
            free += [] if here else [number]
            exprs.append(self._coordinate(here[0], kind, axis) if here else 0)
        path = [step if isinstance(step, int) else var(step) for step in self.paths[name]]
        exprs += path + [0] * (self.length - len(path))
        found = self._affine(domain, exprs)
        if found is not None:
            for number in free:
                found = found.project_out(dim_type.out, number, 1).insert_dims(dim_type.out, number, 1)
        return found

    def _is_on(self, iname: str, kind: int, axis: int) -> bool:
        tags = self.after.iname_tags_of_type(iname, (GroupInameTag, LocalInameTag)[kind])
        return any(tag.axis == axis for tag in tags)

    def _coordinate(self, iname: str, kind: int, axis: int) -> Any:
        """What tells apart the items that run the iterations of the parallel loop *iname*."""
        if sum(self._is_on(other, kind, axis) for other in self.after.all_inames()) == 1:
            return var(iname)
        return var(iname) - pw_aff_to_expr(get_hw_axis_base_for_codegen(self.after, iname).to_pw_aff())

    def text(self, found: Any) -> tuple[str, bool]:
        """*found* as text, for any values of what is no scalar of the region; whether these do not matter."""
        return spelled(found, self.parameters)

    # ------------------------------------------------------------------------------------------------ placements

    def placement(self, name: str) -> Placement | None:
        """When instruction *name* of the program runs; None if that cannot be told."""
        insn, loops = self.after.id_to_insn[name], self.loops(name)
        if set(self.marks[name]) != set(loops):
            return None
        domain = self.domain(self.after, insn.within_inames)
        to = self._affine(domain, [self.marks[name][loop] for loop in loops])
        if to is None or not get_dependencies(tuple(self.marks[name].values())) <= insn.within_inames | {*self._known}:
            return None
        original = self.before.id_to_insn[name]
        found = Placement(
            self.lowered.statements[name], list(self.before.id_to_insn).index(name), name, loops,
            self._data(original.read_dependency_names()), self._data(original.assignee_var_names()), self.paths[name],
            frozenset(loop for loop in loops if self.marks[name][loop] == var(loop)), self._spread(name),
        )  # fmt: skip
        cells, lanes = self._cells(found, domain), self._lanes(found, domain)
        if cells is None or lanes is None:
            return None
        timed = self._timed(found, domain, self.time(name, domain))
        return replace(timed, cells=cells, lanes=lanes, blame=self.blames.get(name), **self._changes(found, domain, to))

    def _spread(self, name: str) -> frozenset[str] | None:
        """The loops that tell which item runs instruction *name*; None if they do not."""
        within = self.after.id_to_insn[name].within_inames
        parallel = {iname for iname in within if any(self._is_on(iname, *axis) for axis in self.axes)}
        found = {loop for loop, mark in self.marks[name].items() if parallel & get_dependencies(mark)}
        told = {iname for loop in found for iname in get_dependencies(self.marks[name][loop])}
        return frozenset(found) if len(parallel) == len(self.axes) and parallel <= told else None

    @cached_property
    def reshaped(self) -> frozenset[str]:
        """The locals whose shape scripts have changed."""
        return changes.reshaped(self.before, self.after)

    def _cells(self, found: Placement, domain: isl.Set) -> dict[str, str] | None:
        """What elements of reshaped locals the instruction of *found* uses; None if that cannot be told."""
        cells = dict[str, str]()
        for name in self.reshaped & (found.reads | found.writes):
            counters = self.counters(found.instruction, domain)
            elements = self._elements(self.after.id_to_insn[found.instruction], name, domain)
            if counters is None or elements is None or len(elements) > 1:
                return None
            cells[name], exact = self.text(counters.reverse().apply_range(elements[0]))
            if not exact:
                return None
        return cells

    def _lanes(self, found: Placement, domain: isl.Set) -> dict[str, str] | None:
        """Which copies the instruction of *found* uses of locals that have several; None if that cannot be told."""
        lanes = dict[str, str]()
        for name, inames in changes.by_lane(self.after, found.reads | found.writes).items():
            counters, copy = self.counters(found.instruction, domain), self._affine(domain, inames)
            if counters is None or copy is None:
                return None
            lanes[name], _ = self.text(counters.reverse().apply_range(copy))
        return lanes

    def _elements(self, insn: Any, name: str, domain: isl.Set) -> list[isl.Map] | None:
        """From *domain*, what the inames of *insn* are, to each element of *name* that it mentions."""
        found = [self._affine(domain, list(subscript)) for subscript in changes.subscripts(insn, name)]
        known = [element for element in found if element is not None]
        return known if len(known) == len(found) else None

    def _data(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset(names) & self._stored

    @cached_property
    def _stored(self) -> set[str]:
        """Arrays, cells and locals."""
        arrays = {arg.name for arg in self.before.args if not isinstance(arg, lp.ValueArg)}
        return arrays | set(self.before.temporary_variables)

    def _timed(self, found: Placement, domain: isl.Set, time: isl.Map | None) -> Placement:
        """*found* at *time*, which is that of the inames of its instruction, in *domain*."""
        counters = self.counters(found.instruction, domain)
        if counters is None or time is None:
            return found
        when, exact = self.text(counters.reverse().apply_range(time))
        return replace(found, when=when, exact=exact)

    def _changes(self, found: Placement, domain: isl.Set, to: isl.Map) -> dict[str, Any]:
        """The iterations that are lost, added, and run again; *to* is from *domain* to the program's inames."""
        loops = [var(loop) for loop in found.loops]
        program = self.relation(self.domain(self.before, frozenset(found.loops)), loops).range()
        given = self.before.assumptions & self.after.assumptions
        image = to.range()
        same = to.apply_range(to.reverse())
        again = (same - same.identity(same.domain().space.map_from_set())).domain().apply(to)
        kinds = {"lost": program - image, "extra": image - program, "again": again}
        texts: dict[str, Any] = {}
        for kind, points in kinds.items():
            points = points.intersect_params(given.align_params(points.space.params()))
            if not points.is_empty():
                for place, loop in enumerate(found.loops):
                    points = points.set_dim_name(dim_type.set, place, loop)
                values = [self.lowered.counters[loop] for loop in found.loops]
                texts[kind], exact = self.text(self.relation(points, values).range())
                texts["sure"] = exact and texts.get("sure", True)
        return texts

    def fetched(self, found: Placement) -> Iterator[Placement]:
        """When instruction *found* reads what instructions that a script has added have copied for it."""
        insn = self.after.id_to_insn[found.instruction]
        for other in self.added:
            variables = found.reads & self._data(other.read_dependency_names())
            if variables and set(other.assignee_var_names()) & insn.read_dependency_names():
                shared = insn.within_inames & other.within_inames
                here, there = (self.domain(self.after, i.within_inames) for i in (insn, other))
                outer = [var(iname) for iname in sorted(shared)]
                way = self.relation(here, outer).apply_range(self.relation(there, outer).reverse())
                time = self.time(other.id, there)
                copy = replace(found, reads=variables, writes=frozenset(), path=self.paths[other.id], when="")
                yield self._timed(copy, here, None if time is None else way.apply_range(time))

    @cached_property
    def added(self) -> list[Any]:
        """The instructions that scripts have added."""
        added = (insn for insn in self.after.instructions if insn.id not in self.before.id_to_insn)
        return [insn for insn in added if insn.id in self.paths]

    def unwaited(self) -> Iterator[tuple[str, str]]:
        """The locals of scripts that a group shares, and the scalars for which items do not wait before they use them.

        "" for scalars where that cannot be told.
        """
        for name in sorted({name for insn in self.added for name in insn.assignee_var_names()} & self.source.shared):
            running = (insn for insn in self.after.instructions if insn.id in self.paths)
            users = [insn for insn in running if name in insn.dependency_names()]
            uses = [use for insn in users for use in self._uses(insn, name)]
            if len(uses) < len(users):
                yield name, ""
            timeline = Timeline(self.frame(tuple(uses)))
            for one, other in combinations_with_replacement(uses, 2):
                if one.writes or other.writes:
                    cells = [isl.Map(use.cells[name]) for use in (one, other)]
                    missing = timeline.unwaited(one, other) & cells[0].apply_range(cells[1].reverse())
                    if not missing.is_empty():
                        yield name, str(missing.params()) if one.exact and other.exact else ""

    def _uses(self, insn: Any, name: str) -> Iterator[Placement]:
        """When items use *name*, in terms of the inames of *insn*; nothing if that cannot be told."""
        domain = self.domain(self.after, insn.within_inames)
        elements, time = self._elements(insn, name, domain), self.time(insn.id, domain)
        writes = frozenset(insn.assignee_var_names()) & {name}
        for element in elements if elements and time is not None else ():
            (when, exact), (cell, sure) = self.text(time), self.text(element)
            sure = exact and sure and not insn.predicates
            nothing = frozenset[str]()
            yield Placement(0, 0, insn.id, (), nothing, writes, (), nothing, when=when, exact=sure, cells={name: cell})

    def frame(self, placements: tuple[Placement, ...]) -> Schedule:
        """A schedule of *placements*."""
        groups = sum(kind == 0 for kind, _ in self.axes)
        return Schedule(placements, tuple(self.barriers()), groups, len(self.axes) - groups, self.source.shared)

    def barriers(self) -> Iterator[tuple[str, str]]:
        """The times at which items wait for each other, by kind."""
        for name, path in self.paths.items():
            _, _, kind = name.partition(" ")
            if not kind:
                continue
            inames = frozenset(step for step in path if isinstance(step, str))
            exprs = [step if isinstance(step, int) else var(step) for step in path]
            exprs += [0] * (self.length - len(path))
            times = self._affine(self.domain(self.after, inames), exprs)
            if times is None:
                continue
            times = times.range().insert_dims(dim_type.set, 0, len(self.axes))
            text, exact = self.text(times)
            if exact:  # else there may be fewer
                yield kind, text

    def is_as_it_was(self, name: str, fetched: Set[str]) -> bool:
        """Whether instruction *name* computes what it did, where it may read copies of what is *fetched*."""
        copies = {local for insn in self.added for local in insn.assignee_var_names()} if fetched else set()
        before, after = self.before.id_to_insn[name], self.after.id_to_insn[name]
        return changes.is_as_it_was(before, after, self.marks[name], self.reshaped, fetched, copies)

    @property
    def interferes(self) -> bool:
        """Whether scripts have added instructions that write what the program mentions."""
        return any(self._data(insn.assignee_var_names()) for insn in self.added)


def scheduled(
    lowered: Lowered, kernel: lp.TranslationUnit, marks: Marks, source: DeviceSource, parameters: Mapping[str, str],
    blames: Mapping[str, Blame],
) -> Schedule:  # fmt: skip
    """What scripts have made of the kernel of *lowered*: *kernel*, the *marks* that it had, and *source*."""
    reader = _Reader(lowered, kernel.default_entrypoint, marks, source, parameters, blames)
    ours = [insn.id for insn in reader.before.instructions if insn.id in lowered.statements]
    left = [name for name in ours if name in reader.after.id_to_insn]
    placements, complete = list[Placement](), not reader.interferes
    for name in left:
        if name not in reader.paths:  # it never runs
            continue
        found = reader.placement(name)
        if found is None:
            complete = False
            continue
        copied = list(reader.fetched(found))
        complete = complete and reader.is_as_it_was(name, {name for copy in copied for name in copy.reads})
        placements += [found, *copied]
    gone = set(ours) - set(left)
    needed = {name for name in gone if changes.is_needed(reader.before, reader.after, name)}
    return replace(
        reader.frame(tuple(placements)), complete=complete and gone == needed, unwaited=tuple(reader.unwaited()),
        gone={lowered.statements[name]: blames.get(name) for name in sorted(needed)},
    )  # fmt: skip
