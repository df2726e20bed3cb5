"""Measuring sessions, over fake devices where everything takes a second."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake import DeviceOverRealMemory, FakeDevice
from test_session import Bench, region

from nomp.backend import BackendError
from nomp.region import Region
from nomp.report.events import Event
from nomp.runtime import recorder
from nomp.runtime.memory import FREE, FROM, TO
from nomp.runtime.recorder import Recorder


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
        return [(event.kind, event.name) for batch in self.batches for event in batch]


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
    session.measure(None)
    session.run(kernel, addresses)
    session.update(a.ctypes.data, 0, 4, 8, FROM | FREE, "after")
    assert list(a) == [4, 4, 4, 0]
    assert heard.all == [("stage", "device compiler"), ("to", "a"), *[("kernel", "k")] * 3, ("from", "a")]
    assert [region.name for region in heard.regions.values()] == ["k"]
    assert heard.sources == [(0, "text")]
    sync, copy = heard.batches
    assert [event.sizes for event in sync[2:]] == [{"n": 3}] * 3
    assert [event.begin for event in sync[1:]] == [0, 2, 4, 6]
    assert (copy[0].nbytes, copy[0].seconds) == (24, 1)
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


def test_one_measurement_takes_the_place_of_another() -> None:
    session, first, second = Bench().init(), Heard(), Heard()
    a = np.zeros(4)
    session.measure(first)
    session.update(a.ctypes.data, 0, 4, 8, TO, "a")
    session.measure(second)
    session.update(a.ctypes.data, 0, 4, 8, TO, "a")
    session.finalize()
    assert (first.all, first.closed) == ([("to", "a")], 1)
    assert (second.all, second.closed) == ([("to", "a")], 1)


def test_many_operations_are_passed_on_half_by_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "PATIENCE", float("inf"))
    heard = Heard()
    made = Recorder(FakeDevice(bytearray()), heard)
    for _ in range(recorder.MOST_PENDING):
        made.run(region(), {}, lambda: None)
    assert [len(batch) for batch in heard.batches] == [recorder.MOST_PENDING // 2]
    made.stop()
    assert sum(len(batch) for batch in heard.batches) == recorder.MOST_PENDING


def test_regions_are_told_apart_by_all_that_they_are() -> None:
    heard = Heard()
    made = Recorder(FakeDevice(bytearray()), heard)
    dtypes = ("float32", "float64", "float32")
    for dtype in dtypes:
        n, a = region().params
        made.run(replace(region(), params=(n, replace(a, dtype=dtype))), {}, lambda: None)  # an object of its own
    made.stop()
    assert [found.params[1].dtype for found in heard.regions.values()] == ["float32", "float64"]
    assert [event.region for batch in heard.batches for event in batch] == [0, 1, 0]


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


def test_launches_are_not_left_to_c_while_they_are_measured() -> None:
    class Replays:
        kept = 0

        def start(self, native: Any) -> None: ...

        def keep(self, kernel: int, replay: Any) -> None:
            self.kept += 1

        def forget(self) -> None:
            self.kept = 0

        def stop(self) -> None:
            self.kept = 0

        def held_back(self) -> Any:
            raise AssertionError("nothing is left to C")

    bench = Bench()
    session = bench.init()
    session.replays, session._keeps = Replays(), True
    session.replays.kept = 1
    session.measure(Heard())
    assert session.replays.kept == 0
    a, n = np.zeros(4), ctypes.c_int(3)
    session.update(a.ctypes.data, 0, 4, 8, TO, "a")
    kernel = session.declare(region())
    for _ in range(3):
        session.run(kernel, [ctypes.addressof(n), a.ctypes.data])
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
