"""Which pairs of iterations a schedule does not run one after the other, as the program does.

In: two `Placement`s of a `Schedule`.  Out: relations (isl's maps) between the counters around the one and the counters
around the other.  Used by `dangers` and `copies`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl
from islpy import dim_type

from nomp.device_source import Placement, Schedule
from nomp.loops import signed_step
from nomp.region import Const, For


@dataclass(frozen=True)
class Timeline:
    """The times of *schedule*, and how they follow each other."""

    schedule: Schedule

    def early(self, first: Placement, second: Placement) -> isl.Map:
        """The pairs of iterations of which one item runs that of *first* before that of *second*."""
        return self._between(first, self._one_item_later, second)

    def apart(self, first: Placement, second: Placement) -> isl.Map:
        """The pairs that different items run."""
        return self._between(first, self._another_item, second)

    def synchronised(self, first: Placement, second: Placement, kinds: tuple[str, ...]) -> isl.Map:
        """The pairs between which all items concerned wait for each other, at a barrier of one of *kinds*."""
        key = first.when, kinds, second.when
        if key not in self._waited:
            found = self._between(first, self._never, second)
            for kind, times in self._barriers:
                if kind in kinds:
                    later = self._later if kind == "all" else self._later_in_group
                    waits = self._when(first).apply_range(later).intersect_range(times)
                    found |= waits.apply_range(later).apply_range(self._when(second).reverse())
            self._waited[key] = found
        return self._waited[key]

    @cached_property
    def _waited(self) -> dict[tuple[str, tuple[str, ...], str], isl.Map]:
        return {}

    @cached_property
    def _barriers(self) -> list[tuple[str, isl.Set]]:
        return [(kind, isl.Set(text)) for kind, text in self.schedule.barriers]

    def unwaited(self, first: Placement, second: Placement, variable: str) -> isl.Map:
        """The pairs of items that share *variable*, between which they do not wait for each other."""
        kinds = self.waits(variable)
        waited = self.synchronised(first, second, kinds) | self.synchronised(second, first, kinds).reverse()
        return (self.sharing(first, second, variable) & self.apart(first, second)) - waited

    def sharing(self, first: Placement, second: Placement, variable: str) -> isl.Map:
        """The pairs that items run that share *variable*, a local."""
        if variable in self.schedule.common:
            return self._between(first, self._any, second)
        return self._between(first, self._one_group if variable in self.schedule.shared else self._one_item, second)

    def later(self, variable: str) -> isl.Map:
        """From each time to the later ones of items that share *variable*, a local."""
        if variable in self.schedule.common:
            return self._later
        return self._later_in_group if variable in self.schedule.shared else self._one_item_later

    def waits(self, variable: str) -> tuple[str, ...]:
        """The kinds of barriers that make items wait for each other's use of *variable*."""
        return ("all", "group", "local") if variable in self.schedule.shared else ("all", "group")

    # -------------------------------------------------------------------------------------------- between two times

    def _between(self, first: Placement, relation: isl.Map, second: Placement) -> isl.Map:
        key = first.when, id(relation), second.when
        if key not in self._known:
            self._known[key] = self._when(first).apply_range(relation).apply_range(self._when(second).reverse())
        return self._known[key]

    @cached_property
    def _known(self) -> dict[tuple[str, int, str], isl.Map]:
        return {}

    def _when(self, placement: Placement) -> isl.Map:
        if placement.when not in self._maps:
            self._maps[placement.when] = isl.Map(placement.when)
        return self._maps[placement.when]

    @cached_property
    def _maps(self) -> dict[str, isl.Map]:
        return {}

    @cached_property
    def _size(self) -> tuple[int, int]:
        """How many dimensions tell items apart, and how many there are."""
        first = isl.Map(next(p.when for p in self.schedule.placements if p.when))
        return self.schedule.groups + self.schedule.items, first.dim(dim_type.out)

    def _relation(self, constraint: str) -> isl.Map:
        size = self._size[1]
        left, right = (", ".join(f"{letter}{k}" for k in range(size)) for letter in "ab")
        return isl.Map(f"{{ [{left}] -> [{right}] : {constraint} }}")

    def _lexicographic(self, equal: int) -> str:
        """That *b* is later than *a*, and agrees with it in the first *equal* dimensions."""
        items, size = self._size
        same = [f"a{k} = b{k}" for k in range(equal)]
        cases = []
        for place in range(items, size):
            before = [f"a{k} = b{k}" for k in range(items, place)]
            cases.append(" and ".join([*same, *before, f"a{place} < b{place}"]))
        return " or ".join(f"({case})" for case in cases)

    @cached_property
    def _one_item_later(self) -> isl.Map:
        return self._relation(self._lexicographic(self._size[0]))

    @cached_property
    def _later_in_group(self) -> isl.Map:
        return self._relation(self._lexicographic(self.schedule.groups))

    @cached_property
    def _later(self) -> isl.Map:
        return self._relation(self._lexicographic(0))

    @cached_property
    def _never(self) -> isl.Map:
        return self._relation("false")

    @cached_property
    def _any(self) -> isl.Map:
        return self._relation("true")

    @cached_property
    def _one_item(self) -> isl.Map:
        return self._relation(" and ".join(f"a{k} = b{k}" for k in range(self._size[0])) or "true")

    @cached_property
    def _one_group(self) -> isl.Map:
        return self._relation(" and ".join(f"a{k} = b{k}" for k in range(self.schedule.groups)) or "true")

    @cached_property
    def _another_item(self) -> isl.Map:
        return self._relation(" or ".join(f"a{k} != b{k}" for k in range(self._size[0])) or "false")


# ------------------------------------------------------------------------------------------------ the program's order


def shared_loops(one: Sequence[For], other: Sequence[For]) -> list[For]:
    """The loops in both, outermost first."""
    return [first for first, second in zip(one, other, strict=False) if first is second]


def in_program_order(shared: Sequence[For], *, equal: bool) -> tuple[str, bool]:
    """That the iteration *x* of the loops *shared* comes before *y*, or they are *equal*; whether this is exact."""
    cases, exact = [], True
    for depth, loop in enumerate(shared):
        step = signed_step(loop)
        relation = ("<" if step.value > 0 else ">") if isinstance(step, Const) else "!="
        exact = exact and relation != "!="
        cases.append(" and ".join([*(f"x{k} = y{k}" for k in range(depth)), f"x{depth} {relation} y{depth}"]))
    if equal:
        cases.append(" and ".join(f"x{k} = y{k}" for k in range(len(shared))) or "true")
    return " or ".join(f"({case})" for case in cases) or "false", exact


def keeps_order(first: Placement, second: Placement, shared: Sequence[str]) -> bool:
    """Whether the code of the two is in the program's order, in the same loops, *shared* being those of the program.

    For what one item runs, that is enough.
    """
    common: list[str] = []
    for one, other in zip(first.path, second.path, strict=False):
        if one != other:
            earlier = isinstance(one, int) and isinstance(other, int) and one < other
            return common == list(shared) and earlier == (first.number < second.number)
        if isinstance(one, str):
            if one not in first.same & second.same:
                return False
            common.append(one)
    return common == list(shared)


def relation(first: Placement, second: Placement, parameters: Mapping[str, str], constraint: str) -> isl.Map:
    """The pairs of iterations *x* and *y* of the two that *constraint* allows."""
    left, right = (
        ", ".join(f"{letter}{k}" for k in range(len(placement.loops)))
        for letter, placement in (("x", first), ("y", second))
    )
    return isl.Map(f"[{', '.join(parameters.values())}] -> {{ [{left}] -> [{right}] : {constraint} }}")
