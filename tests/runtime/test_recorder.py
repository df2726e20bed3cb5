"""Measuring sessions, over fake devices where everything takes a second."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake import DeviceOverRealMemory, FakeDevice
from test_replay import FakeNative
from test_session import Bench, region

from nomp.backend import BackendError
from nomp.diagnostics import NompError
from nomp.region import Region
from nomp.report.events import Event, Span
from nomp.runtime import recorder
from nomp.runtime.memory import FREE, FROM, TO
from nomp.runtime.plan import WORTH
from nomp.runtime.recorder import Recorder
from nomp.runtime.replay import Action, Replay


class Heard:
    """A sink."""

    def __init__(self) -> None:
        self.regions: dict[int, Region] = {}
        self.batches: list[list[Event]] = []
        self.sources: list[tuple[int, str]] = []
        self.closed = 0

    def region(self, number: int, region: Region) -> None:
        self.regions[number] = region

    def source(self, number: int, text: str) -> None:
        self.sources.append((number, text))

    def events(self, events: Sequence[Event]) -> None:
        self.batches.append(list(events))

    def close(self) -> None:
        self.closed += 1

    @property
    def all(self) -> list[tuple[str, str]]:
        return [(event.kind, event.name) for batch in self.batches for event in batch for _ in event.spans]


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_is_measured_between_two_points() -> None:
    bench, heard = Bench(), Heard()
    session = bench.init()
    a, n = np.zeros(4), ctypes.c_int(3)
    addresses = [ctypes.addressof(n), a.ctypes.data]
    kernel = session.declare(region())
    session.update(a.ctypes.data, 0, 4, 8, TO, "before")
    session.measure(heard)
    session.update(a.ctypes.data, 0, 2, 8, TO, "a")
    for _ in range(3):
        session.run(kernel, addresses)
    session.sync()
    session.update(a.ctypes.data, 0, 3, 8, FROM, "a")
    session.measured(heard)
    session.run(kernel, addresses)
    session.update(a.ctypes.data, 0, 4, 8, FROM | FREE, "after")
    assert list(a) == [4, 4, 4, 0]
    assert heard.all == [("stage", "device compiler"), ("to", "a"), *[("kernel", "k")] * 3, ("from", "a")]
    assert [region.name for region in heard.regions.values()] == ["k"]
    assert heard.sources == [(0, "text")]
    sync, copy = heard.batches
    assert [event.sizes for event in sync[2:]] == [{"n": 3}]
    assert [span for event in sync[1:] for span in event.spans] == [(2 * n * 10**9, 10**9) for n in range(4)]
    assert (copy[0].nbytes, copy[0].spans) == (24, [(8 * 10**9, 10**9)])
    assert heard.closed == 1
    assert bench.device.log.count("stop timing") == 1
    session.finalize()
    assert heard.closed == 1


def test_finalize_tells_the_rest() -> None:
    bench, heard = Bench(), Heard()
    session = bench.init()
    n, a = ctypes.c_int(3), np.zeros(4)
    kernel = session.declare(region())
    session.update(a.ctypes.data, 0, 4, 8, TO, "a")
    session.measure(heard)
    session.run(kernel, [ctypes.addressof(n), a.ctypes.data])
    device = bench.device
    session.finalize()
    assert ("kernel", "k") in heard.all and heard.closed == 1
    assert device.log[-2:] == ["stop timing", "close"]


def test_a_measurement_within_another_is_part_of_it() -> None:
    bench, outer, inner = Bench(), Heard(), Heard()
    session = bench.init()
    a, n = np.zeros(4), ctypes.c_int(3)
    kernel = session.declare(region())

    def step(name: str) -> None:
        session.update(a.ctypes.data, 0, 4, 8, TO, name)
        session.run(kernel, [ctypes.addressof(n), a.ctypes.data])

    session.measure(outer)
    step("before")
    session.measure(inner)
    step("in")
    session.measured(inner)
    step("after")
    assert inner.all == [("to", "in"), ("kernel", "k")] and inner.closed == 1
    assert [found.name for found in inner.regions.values()] == ["k"]  # which was known before
    session.measured(inner)  # again, or once it is over: nothing
    session.measured(outer)
    names = [("to", "before"), ("kernel", "k"), ("to", "in"), ("kernel", "k"), ("to", "after"), ("kernel", "k")]
    assert [found for found in outer.all if found[0] != "stage"] == names and outer.closed == 1
    assert bench.device.log.count("stop timing") == 1
    session.measured(outer)
    session.finalize()
    assert (outer.closed, inner.closed) == (1, 1)


def test_measurements_that_overlap_end_each_for_itself() -> None:
    session, first, second, third = Bench().init(), Heard(), Heard(), Heard()
    a = np.zeros(4)
    session.measure(first)
    session.update(a.ctypes.data, 0, 4, 8, TO, "one")
    session.measure(second)
    session.update(a.ctypes.data, 0, 4, 8, TO, "two")
    session.measured(first)
    session.update(a.ctypes.data, 0, 4, 8, TO, "three")
    session.measured(second)
    session.update(a.ctypes.data, 0, 4, 8, TO, "none")
    session.measure(third)
    session.update(a.ctypes.data, 0, 4, 8, TO, "four")
    session.finalize()
    told = [[name for _, name in heard.all] for heard in (first, second, third)]
    assert told == [["one", "two"], ["two", "three"], ["four"]]
    assert [heard.closed for heard in (first, second, third)] == [1, 1, 1]


def test_many_operations_are_passed_on_half_by_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "PATIENCE", float("inf"))
    heard = Heard()
    made = Recorder(FakeDevice(bytearray()), heard)
    for _ in range(recorder.MOST_PENDING):
        made.run(region(), {}, lambda: None)
    assert len(heard.all) == recorder.MOST_PENDING // 2
    made.stop()
    assert len(heard.all) == recorder.MOST_PENDING


def test_regions_are_told_apart_by_all_that_they_are() -> None:
    heard = Heard()
    made = Recorder(FakeDevice(bytearray()), heard)
    dtypes = ("float32", "float64", "float32")
    for dtype in dtypes:
        n, a = region().params
        made.run(replace(region(), params=(n, replace(a, dtype=dtype))), {}, lambda: None)  # an object of its own
    made.stop()
    assert [found.params[1].dtype for found in heard.regions.values()] == ["float32", "float64"]
    assert [(event.region, len(event.spans)) for batch in heard.batches for event in batch] == [(0, 2), (1, 1)]


def test_a_crash_loses_little(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(recorder.time, "perf_counter", lambda: now[0])
    heard = Heard()
    made = Recorder(FakeDevice(bytearray()), heard)
    for _ in range(4):
        made.run(region(), {}, lambda: None)
    assert heard.batches == []
    now[0] = 10.0
    made.run(region(), {}, lambda: None)
    assert len(heard.all) == 3


class Replays:
    """Who repeats launches without Python: what it is told, and times that it then has."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.kept: list[Replay] = []
        self.ready: list[tuple[int, Span]] = []
        self.due = False

    def start(self, native: Any, markers: Any) -> None:
        self.log.append("start")

    def stop(self) -> None:
        self.log.append("stop")

    def keep(self, kernel: int, replay: Replay, text: str) -> None:
        assert text == "k s.c:2"
        self.kept.append(replay)

    def forget(self) -> None:
        self.log.append("forget")

    def held_back(self) -> Any:
        return nullcontext()

    def rest(self, launches: int) -> None: ...

    def count(self) -> int:
        return 0

    def is_due(self) -> bool:
        return self.due

    def times(self, everything: bool) -> list[tuple[int, Span]]:
        found, self.ready = self.ready, []
        return found


@pytest.fixture
def replays(monkeypatch: pytest.MonkeyPatch) -> Replays:
    """For a session whose device has its driver's functions."""
    monkeypatch.setattr(DeviceOverRealMemory, "native", lambda device: FakeNative())
    return Replays()


def test_launches_are_left_to_c_with_labels_while_they_are_measured(replays: Replays) -> None:
    bench, heard = Bench(), Heard()
    session = bench.session
    session.replays = replays
    bench.init()
    a, n = np.zeros(4), ctypes.c_int(3)
    session.update(a.ctypes.data, 0, 4, 8, TO, "a")
    kernel = session.declare(region())

    def run(times: int) -> list[int]:
        before = len(replays.kept)
        for _ in range(times):
            session.run(kernel, [ctypes.addressof(n), a.ctypes.data])
        return [action.label for kept in replays.kept[before:] for action in kept.actions]

    assert run(3) == [0]
    replays.log.clear()
    session.measure(heard)
    assert replays.log == ["forget", "stop", "start"]
    (label,) = run(WORTH + 1)  # what was kept before is not timed: all is prepared anew
    assert label > 0
    replays.ready = [(label, (50, 7)), (label, (60, 8))]
    session.sync()
    launches = [event for batch in heard.batches for event in batch if event.kind == "kernel"]
    assert [event.sizes for event in launches] == [{"n": 3}]
    assert list(launches[0].spans)[-2:] == [(50, 7), (60, 8)]
    replays.ready, replays.due = [(label, (70, 9))], True
    run(1)  # C had no more room
    assert heard.batches[-1][0].spans[-1] == (70, 9)
    replays.ready, replays.log = [(label, (80, 9))], []
    session.measured(heard)
    assert heard.batches[-1][0].spans[-1] == (80, 9) and replays.log == ["forget", "stop", "start"]
    assert run(WORTH + 1) == [0]
    session.finalize()


def test_what_c_has_measured_is_told_at_finalize(replays: Replays) -> None:
    bench, heard = Bench(), Heard()
    bench.session.replays = replays
    session = bench.init()
    session.measure(heard)
    a, n = np.zeros(4), ctypes.c_int(3)
    session.update(a.ctypes.data, 0, 4, 8, TO, "a")
    kernel = session.declare(region())
    for _ in range(2):
        session.run(kernel, [ctypes.addressof(n), a.ctypes.data])
    replays.ready, replays.log = [(replays.kept[0].actions[0].label, (5, 6))], []
    device = bench.device
    replays.stop = lambda: replays.log.append(f"stop after {device.log[-1]}")  # type: ignore[method-assign]
    session.finalize()
    assert heard.batches[-1][-1].spans[-1] == (5, 6)
    assert replays.log[:2] == ["forget", "stop after sync"]  # and before the queue that is timed is given up
    assert device.log[-2:] == ["stop timing", "close"]


def test_parts_of_a_launch_and_copies_have_labels() -> None:
    heard = Heard()
    made = Recorder(FakeDevice(bytearray()), heard)
    actions = (Action("write", position=0, size=8), Action("set"), Action("launch"), Action("launch"),
               Action("read", position=0, size=8), Action("store"), Action("read", 5, size=8, stage=5))  # fmt: skip
    found = made.labelled(Replay({}, {}, actions, ()), region(), {"n": 3})
    launch, write, read = 1, 2, 3
    assert [action.label for action in found.actions] == [write, 0, launch, -launch, read, 0, 0]
    again = made.labelled(Replay({}, {}, actions, ()), region(), {"n": 4})
    assert [action.label for action in again.actions] == [write, 0, 4, -4, read, 0, 0]


def test_without_a_clock_launches_are_left_to_c_as_before(
    replays: Replays, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(device: FakeDevice) -> None:
        raise BackendError("it has no clock")

    monkeypatch.setattr(DeviceOverRealMemory, "start_timing", refuse)
    bench = Bench()
    bench.session.replays = replays
    session = bench.init()
    replays.log.clear()
    with pytest.raises(NompError, match="it has no clock"):
        session.measure(Heard())
    assert replays.log == ["forget", "stop", "start"]
    a, n = np.zeros(4), ctypes.c_int(3)
    session.update(a.ctypes.data, 0, 4, 8, TO, "a")
    kernel = session.declare(region())
    for _ in range(2):
        session.run(kernel, [ctypes.addressof(n), a.ctypes.data])
    assert [action.label for action in replays.kept[0].actions] == [0]
    session.finalize()


def test_a_device_without_a_clock_runs_unmeasured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(device: FakeDevice) -> None:
        raise BackendError("it has no clock")

    monkeypatch.setattr(DeviceOverRealMemory, "start_timing", refuse)
    session = Bench().init("--nomp-profile", "1")
    assert "nomp: warning: measuring failed: it has no clock [N611]" in capsys.readouterr().err
    a, n = np.zeros(4), ctypes.c_int(3)
    session.update(a.ctypes.data, 0, 4, 8, TO, "a")
    session.run(session.declare(region()), [ctypes.addressof(n), a.ctypes.data])
    session.update(a.ctypes.data, 0, 4, 8, FROM, "a")
    assert list(a) == [1, 1, 1, 0]
    session.finalize()
