"""Which launches a copy waits for: all that touch what it copies, whatever else there has been."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nomp.region import Const, Param
from nomp.runtime.aliasing import Reach, Used
from nomp.runtime.overtaking import MOST, PATIENCE, PAUSE, VAIN, Overtaking


class Queue:
    """A device whose points count the launches."""

    def __init__(self) -> None:
        self.launches = 0

    def point(self) -> int:
        return self.launches


def used(low: int, high: int, writes: bool) -> Used:
    """An array of bytes of which a launch uses [*low*, *high*)."""
    param = Param("a", "int8", "array", shape=(Const(1000, "int64"),), reads=True, writes=writes)
    return Used(param, 0, 0, 1000, Reach((low, high - 1), 1, frozenset({0})))


class Program:
    """Launches and copies, of which it is known what they have to wait for."""

    def __init__(self) -> None:
        self.version = self.changed = 0
        self.queue: Any = Queue()
        self.rests: list[int] = []
        self.overtaking = Overtaking(lambda: self.version, self.rests.append)
        self.launches: list[Sequence[Used] | None] = []

    def launch(self, touched: Sequence[Used] | None) -> None:
        self.launches.append(touched)
        self.queue.launches += 1
        self.overtaking.launched(self.queue, touched)

    def copy(self, low: int, high: int, writes: bool) -> int:
        """How many of the launches it waits for."""
        point = self.overtaking.point(low, high, writes)
        waits = len(self.launches) if point is None else point
        for touched in self.launches[waits:]:
            assert touched is not None
            assert not any(one.touches(low, high) and (writes or one.param.writes) for one in touched)
            assert not any(low <= last and first < high and (writes or one.param.writes)
                           for one in touched for first, last in [one.reach.elements or (low, low)])  # fmt: skip
        assert waits >= self.changed
        return int(waits)

    def change(self) -> None:
        """The map changes: copies wait for all launches until then."""
        self.version += 1
        self.changed = len(self.launches)


edges = st.integers(0, 20)
stretch = st.tuples(edges, edges, st.booleans()).map(lambda t: (min(t[:2]), max(t[:2]) + 1, t[2]))
launches = st.none() | st.lists(stretch.map(lambda s: used(*s)), max_size=3)
steps = st.lists(st.tuples(st.just("launch"), launches) | st.tuples(st.just("copy"), stretch)
                 | st.tuples(st.sampled_from(["watch", "change"]), st.none()), max_size=3 * MOST)  # fmt: skip


@given(steps)
def test_a_copy_waits_for_all_launches_that_touch_the_same_bytes(steps: list[tuple[str, Any]]) -> None:
    program = Program()
    program.overtaking.watch()
    for step, what in steps:
        match step:
            case "launch":
                program.launch(what)
            case "copy":
                program.copy(*what)
            case "watch":
                program.overtaking.watch()
            case "change":
                program.change()


@pytest.fixture
def program() -> Program:
    """One that has copied a part of an array before its first launch."""
    made = Program()
    made.overtaking.watch()
    made.launch([used(0, 1, True)])
    return made


def test_a_copy_does_not_wait_for_launches_that_touch_other_bytes(program: Program) -> None:
    program.launch([used(0, 10, False), used(10, 20, True)])
    for _ in range(3):
        program.launch([used(100, 200, True), used(300, 400, False)])
    assert program.copy(15, 30, writes=False) == 2
    assert program.copy(0, 10, writes=True) == 2
    assert program.copy(0, 10, writes=False) == 1  # the first one stands for all before it
    assert program.copy(350, 360, writes=False) == 1
    assert program.copy(350, 360, writes=True) == 5


def test_nothing_overtakes_what_is_not_known(program: Program) -> None:
    program.launch(None)
    program.launch([used(5, 6, True)])
    assert program.copy(500, 501, writes=False) == 2
    program.version += 1  # the map has changed, and may have copied something
    assert program.copy(500, 501, writes=False) == 3
    program.launch([used(5, 6, True)])
    assert program.copy(500, 501, writes=False) == 4


def test_launches_are_forgotten_from_the_oldest_on(program: Program) -> None:
    for _ in range(2 * MOST - 2):
        program.launch([used(5, 6, True)])
    assert program.copy(500, 501, writes=False) == MOST


def test_programs_that_copy_no_parts_pay_nothing(program: Program) -> None:
    for _ in range(PATIENCE):
        program.launch([used(5, 6, True)])
    assert not program.overtaking.is_watching
    assert program.copy(500, 501, writes=False) == PATIENCE + 1
    program.queue = SimpleNamespace()  # which is not asked for a point
    program.overtaking.launched(program.queue, [])


def test_a_device_without_points_has_all_copies_in_order(program: Program) -> None:
    program.queue.point = lambda: None
    program.launch([used(5, 6, True)])
    assert program.copy(500, 501, writes=False) == 2
    program.overtaking.watch()
    assert not program.overtaking.is_watching
    assert program.rests == [PATIENCE, 0]


def test_launches_are_left_to_python_while_they_are_looked_at() -> None:
    program = Program()
    program.overtaking.watch()
    for _ in range(PATIENCE):
        program.launch([used(5, 6, True)])
    program.overtaking.watch()
    assert program.rests == [PATIENCE, 0, PATIENCE]


def test_copies_that_always_wait_for_the_last_launch_let_others_be_for_a_while(program: Program) -> None:
    def copies(count: int, low: int, launches: int = 1) -> None:
        for _ in range(count):
            program.overtaking.watch()
            for _ in range(launches):
                program.launch([used(5, 6, True)])
            program.copy(low, low + 1, writes=False)

    copies(VAIN - 1, 5)
    copies(1, 500, 2)  # not in vain
    copies(VAIN - 1, 5)
    assert program.overtaking.is_watching
    copies(1, 5)
    assert not program.overtaking.is_watching and program.rests[-1] == 0
    said = len(program.rests)
    copies(PAUSE, 500, 2)
    assert len(program.rests) == said
    copies(1, 500, 2)
    assert program.overtaking.is_watching and program.rests[-1] == PATIENCE
