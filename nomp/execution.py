"""When and where a schedule runs the iterations of each statement.

In: the kernel that scripts are given, the one that they make of it, what became of the loops around each instruction
(`marks`), and the order in which loopy puts these.  Out: a `Schedule`, which relates the iterations of each instruction
to work items and time (`scheduled`).  Called by `pipeline`; `legality` judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import loopy as lp
from islpy import dim_type
from loopy.symbolic import get_dependencies
from pymbolic import var

from nomp import changes
from nomp.clocks import timed
from nomp.copies import Copies
from nomp.device_source import Blame, DeviceSource, Placement, Schedule
from nomp.lower import Lowered
from nomp.marks import Marks
from nomp.times import Times


class _Reader(Times):
    """Places the instructions of the program."""

    def placement(self, name: str) -> Placement | None:
        """When instruction *name* of the program runs; None if that cannot be told."""
        loops, original = self.loops(name), self.before.id_to_insn[name]
        if set(self.marks[name]) != set(loops):
            return None
        reads = self.data(original.read_dependency_names()) | self.in_bounds(name)
        found = Placement(
            self.lowered.statements[name], list(self.before.id_to_insn).index(name), name, loops,
            reads, self.data(original.assignee_var_names()),
            self.paths.get(name, ()), frozenset(loop for loop in loops if self.marks[name][loop] == var(loop)),
            self._spread(name), blame=self.blames.get(name),
        )  # fmt: skip
        changed = self._changes(found)
        if changed is None:
            return None
        found = replace(found, **changed)
        return self._in_time(found) if found.path else found

    def _spread(self, name: str) -> frozenset[str] | None:
        """The loops that tell which item runs instruction *name*; None if they do not."""
        within = self.after.id_to_insn[name].within_inames
        parallel = {iname for iname in within if any(self.is_on(iname, *axis) for axis in self.axes)}
        found = {loop for loop, mark in self.marks[name].items() if parallel & get_dependencies(mark)}
        told = {iname for loop in found for iname in get_dependencies(self.marks[name][loop])}
        return frozenset(found) if len(parallel) == len(self.axes) and parallel <= told else None

    def _in_time(self, found: Placement) -> Placement | None:
        """*found* with its time and with the copies and elements of locals that it uses; None if these are unknown."""
        name = found.instruction
        domain = self.domain(self.after, self.after.id_to_insn[name].within_inames)
        counters, time = self.counters(name, domain), self.time(name, domain)
        cells, lanes = dict[str, str](), dict[str, str]()
        mentioned = found.reads | found.writes
        for local in mentioned & (self.reshaped | self.lanes.keys()):
            if counters is None:
                return None
            here = counters.reverse()
            if local in self.reshaped:
                elements = self.elements(self.after.id_to_insn[name], local, domain) or []
                cells[local], exact = self.text(here.apply_range(elements[0])) if len(elements) == 1 else ("", False)
                if not exact:
                    return None
            if local in self.lanes:
                copy = self.affine(domain, self.lanes[local])
                if copy is None:
                    return None
                lanes[local], _ = self.text(here.apply_range(copy))
        found = replace(found, cells=cells, lanes=lanes)
        if counters is None or time is None:
            return found
        when, exact = self.text(counters.reverse().apply_range(time))
        return replace(found, when=when, exact=exact)

    def _changes(self, found: Placement) -> dict[str, Any] | None:
        """The iterations that are lost, added, and run again; None if that cannot be told."""
        original, insn = self.before.id_to_insn[found.instruction], self.after.id_to_insn[found.instruction]
        summed = tuple(iname for iname in self.lowered.counters if iname in original.reduction_inames())
        marks = {**self.marks[found.instruction], **{iname: var(iname) for iname in summed}}
        within = insn.within_inames | insn.reduction_inames()
        if not get_dependencies(tuple(marks.values())) <= within | {*self._known}:
            return None
        loops = (*found.loops, *summed)
        to = self.affine(self.domain(self.after, within), [marks[loop] for loop in loops])
        if to is None:
            return None
        program = self.relation(self.domain(self.before, frozenset(loops)), [var(loop) for loop in loops]).range()
        image = to.range()
        same = to.apply_range(to.reverse())
        again = (same - same.identity(same.domain().space.map_from_set())).domain().apply(to)
        kinds = {"lost": program - image, "extra": image - program, "again": again}
        texts: dict[str, Any] = {}
        for kind, points in kinds.items():
            for entry in (self.before, self.after):
                points = points.intersect_params(entry.assumptions.to_set().align_params(points.space.params()))
            points = points.project_out(dim_type.set, len(found.loops), len(summed))
            if not points.is_empty():
                for place, loop in enumerate(found.loops):
                    points = points.set_dim_name(dim_type.set, place, loop)
                values = [self.lowered.counters[loop] for loop in found.loops]
                texts[kind], exact = self.text(self.relation(points, values).range())
                texts["sure"] = exact and texts.get("sure", True)
        return texts


@timed("find dependences")
def scheduled(
    lowered: Lowered, kernel: lp.TranslationUnit, marks: Marks, source: DeviceSource, parameters: Mapping[str, str],
    blames: Mapping[str, Blame],
) -> Schedule:  # fmt: skip
    """What scripts have made of the kernel of *lowered*: *kernel*, the *marks* that it had, and *source*."""
    reader = _Reader(lowered, kernel.default_entrypoint, marks, source, parameters, blames)
    ours = [insn.id for insn in reader.before.instructions if insn.id in lowered.statements]
    left = [name for name in ours if name in reader.after.id_to_insn]
    copies, placements = Copies(reader), list[Placement]()
    complete = not copies.interfere and changes.keeps_locals(reader.before, reader.after)
    complete = complete and reader.all_fit and changes.keeps_functions(lowered.kernel, kernel)
    for name in left:
        found = reader.placement(name)
        if found is None:
            complete = False
        elif not found.path:  # it never runs
            placements.append(found)
        else:
            understood = copies.reads(found)
            complete = complete and understood is not None
            placements += understood or [found]
    gone = set(ours) - set(left)
    needed = {name for name in gone if changes.is_needed(reader.before, reader.after, name)}
    return replace(
        reader.frame(tuple(placements)), complete=complete and gone == needed, unwaited=tuple(copies.unwaited()),
        gone={lowered.statements[name]: blames.get(name) for name in sorted(needed)},
    )  # fmt: skip
