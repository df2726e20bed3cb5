"""What instructions that scripts have added copy, and whether those of the program read it in time.

In: the `Times` of a scheduled kernel.  Out: when the program's elements are read that its instructions find in copies,
and the locals of scripts for which items do not wait.  Used by `execution`.

A copy is faithful if whoever reads an element of it gets what the program reads there: the last instruction that wrote
the element before has copied just that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import islpy as isl
import loopy as lp
from pymbolic import primitives as p

from nomp import changes
from nomp.device_source import Placement
from nomp.reordering import Timeline
from nomp.times import Times


@dataclass(frozen=True)
class Copies:
    """The copies that scripts have made in the kernel of *times*."""

    times: Times

    @cached_property
    def locals(self) -> frozenset[str]:
        """All that added instructions write."""
        return frozenset(name for insn in self.times.added for name in insn.assignee_var_names())

    @cached_property
    def _originals(self) -> frozenset[str]:
        return frozenset(name for insn in self.times.added for name in self.times.data(insn.read_dependency_names()))

    def reads(self, found: Placement) -> list[Placement] | None:
        """*found* as it reads what it does itself, and as it has read what has been copied for it.

        None if its instruction may compute something else than the program's does.
        """
        before, after = (entry.id_to_insn[found.instruction] for entry in (self.times.before, self.times.after))
        shapes, marks = self.times.reshaped, self.times.marks[found.instruction]
        if not changes.writes_the_same(before, after, marks, shapes):
            return None
        mentions = changes.replaced(before, after, marks, shapes | self._originals | self.locals)
        if mentions is None:
            return None
        direct, fetched = set(self.times.data(set().union(*after.assignee_subscript_deps()))), list[Placement]()
        for old, new in mentions:
            name = _name(old)
            if old == new or (name == _name(new) and name in shapes):
                direct.add(name)
                continue
            copy = self._copied(found, after, old, new)
            if copy is None:
                return None
            fetched.append(copy)
        return self._apart(found, direct, fetched)

    def _apart(self, found: Placement, direct: set[str], fetched: list[Placement]) -> list[Placement]:
        """*found* without what it does not read then.  Of what is read at several times it is not told when what is."""
        ways: dict[str, set[str]] = {}
        for copy in fetched:
            for name in copy.reads:
                ways.setdefault(name, set()).add(copy.when)
        alone = {name for name in ways if len(ways[name]) == 1 and name not in direct}
        here = replace(found, reads=found.reads - (ways.keys() - direct))
        if ways.keys() - alone:
            here = replace(here, exact=False)
        return [here, *(copy if copy.reads <= alone else replace(copy, exact=False) for copy in fetched)]

    def _copied(self, found: Placement, reader: Any, old: Any, new: Any) -> Placement | None:
        """When *reader*, which is that of *found*, reads in *new* what *old* has been; None if it finds something else.
        """
        times, copy = self.times, _name(new)
        writers = [insn for insn in times.after.instructions if copy in insn.assignee_var_names()]
        if not found.when or copy not in self.locals or len(writers) != 1:
            return None
        (writer,) = writers
        if not self._is_plain(writer, copy, _name(old)) or not self._have_own(copy, writer, reader):
            return None
        here = times.domain(times.after, reader.within_inames | reader.reduction_inames())
        last = self._last(writer, reader, here, old, new, Timeline(times.frame((found,))).later(copy))
        counters = times.counters(reader.id, here)
        if last is None or counters is None:
            return None
        when, exact = times.text(counters.reverse().apply_range(last))
        return replace(found, reads=frozenset({_name(old)}), writes=frozenset(), path=times.paths[writer.id], when=when,
                       exact=exact, spread=None, lost="", extra="", again="")  # fmt: skip

    def _last(self, writer: Any, reader: Any, here: isl.Set, old: Any, new: Any, later: isl.Map) -> isl.Map | None:
        """For the inames of *reader*, in *here*, when *writer* has last written what is read in *new*.

        None if that is not always *old*.
        """
        times, there = self.times, self.times.domain(self.times.after, writer.within_inames)
        elements = [(there, writer.assignee), (there, writer.expression), (here, new), (here, old)]
        maps = [times.affine(domain, _index(mention)) for domain, mention in elements]
        maps += [times.time(writer.id, there), times.time(reader.id, here)]
        known = [one for one in maps if one is not None and times.text(one)[1]]
        if len(known) < len(maps):
            return None
        filled, taken, found, wanted, written, used = known
        before = written.apply_range(later).apply_range(used.reverse()) & filled.apply_range(found.reverse())
        over = written.apply_range(later).apply_range(written.reverse()) & filled.apply_range(filled.reverse())
        last = (before - over.apply_range(before)).reverse()
        right = here <= last.domain() and last.apply_range(taken) <= wanted
        return last.apply_range(written) if right else None

    def _is_plain(self, insn: Any, copy: str, original: str) -> bool:
        """Whether *insn* does nothing but copy an element of *original* into *copy*, which holds what that does."""
        entry = self.times.after
        plain = isinstance(insn, lp.Assignment) and not insn.predicates and not insn.atomicity
        if not plain or not isinstance(insn.expression, p.Variable | p.Subscript) or _name(insn.expression) != original:
            return False
        if original in self.times.reshaped or copy in self.times.before.temporary_variables:
            return False
        dtype = entry.temporary_variables[copy].dtype
        return dtype in (None, lp.auto) or dtype == entry.get_var_descriptor(original).dtype

    def _have_own(self, copy: str, writer: Any, reader: Any) -> bool:
        """Whether all who run *reader* have a *copy* that *writer* has filled: items, or groups that share one."""
        groups = sum(kind == 0 for kind, _ in self.times.axes)
        own = len(self.times.axes)
        if copy in self.times.common | self.times.source.shared:
            own = 0 if copy in self.times.common else groups
        pairs = zip(self.times.on_axes(writer.id)[:own], self.times.on_axes(reader.id)[:own], strict=True)
        return all(there is None or here is not None for there, here in pairs)

    def unwaited(self) -> Iterator[tuple[str, str]]:
        """The locals of scripts that items share, and the scalars for which these do not wait before they use them.

        "" for scalars where that cannot be told.
        """
        for name in sorted(self.locals & (self.times.source.shared | self.times.common)):
            running = (insn for insn in self.times.after.instructions if insn.id in self.times.paths)
            users = [insn for insn in running if name in insn.dependency_names()]
            uses = [use for insn in users for use in self._uses(insn, name)]
            if len(uses) < len(users):
                yield name, ""
            timeline = Timeline(self.times.frame(tuple(uses)))
            for one, other in combinations_with_replacement(uses, 2):
                if one.writes or other.writes:
                    cells = [isl.Map(use.cells[name]) for use in (one, other)]
                    missing = timeline.unwaited(one, other, name) & cells[0].apply_range(cells[1].reverse())
                    if not missing.is_empty():
                        yield name, str(missing.params()) if one.exact and other.exact else ""

    def _uses(self, insn: Any, name: str) -> Iterator[Placement]:
        """When items use *name*, in terms of the inames of *insn*; nothing if that cannot be told."""
        domain = self.times.domain(self.times.after, insn.within_inames | insn.reduction_inames())
        elements, time = self.times.elements(insn, name, domain), self.times.time(insn.id, domain)
        writes = frozenset(insn.assignee_var_names()) & {name}
        for element in elements if elements and time is not None else ():
            (when, exact), (cell, sure) = self.times.text(time), self.times.text(element)
            sure = exact and sure and not insn.predicates
            nothing = frozenset[str]()
            yield Placement(0, 0, insn.id, (), nothing, writes, (), nothing, when=when, exact=sure, cells={name: cell})

    @property
    def interfere(self) -> bool:
        """Whether scripts have added instructions that may do more than fill locals of their own."""
        return bool(self.times.data(self.locals)) or not all(map(changes.is_followed, self.times.added))


def _name(mention: Any) -> str:
    return str(mention.aggregate.name if isinstance(mention, p.Subscript) else mention.name)


def _index(mention: Any) -> tuple[Any, ...]:
    return tuple(mention.index_tuple) if isinstance(mention, p.Subscript) else ()
