"""From events to tables and files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from reading import regions

from nomp.driver import reports
from nomp.region import Const, Region
from nomp.report import profile as profiles
from nomp.report.events import Event, Header, Log, read, read_folder
from nomp.report.profile import Summary, Times
from nomp.report.tables import table

HEADER = Header("a device", "opencl", "1.0", "program", "host", 1, 0, 1e9)
LOOP = """void f(int n, double *a, double *b, int *row) {
#pragma nomp for name("scale")
  for (int i = 0; i < n; i++)
    a[i] = 2 * b[i];
#pragma nomp for name("rows")
  for (int i = 0; i < n; i++)
    for (int j = row[i]; j < row[i + 1]; j++)
      a[i] += b[j];
}
"""
EVENTS = (
    Event("stage", "lower", ((0, 250_000_000),), region=0),
    Event("to", "b", ((10**9, 2_000_000),), 8_000_000),
    Event("kernel", "scale", ((2 * 10**9, 4_000_000),), region=0, sizes={"n": 1_000_000}),
    Event("kernel", "scale", ((3 * 10**9, 1_000_000),), region=0, sizes={"n": 100_000}),
    Event("kernel", "rows", ((4 * 10**9, 500_000_000),), region=1, sizes={"n": 10}),
    Event("from", "a", ((5 * 10**9, 1_000_000),), 8_000_000),
)


@pytest.fixture
def two(tmp_path: Path) -> list[Region]:
    return [replace(found, file="t.c") for found in regions(tmp_path, LOOP)]


def summary(two: list[Region]) -> Summary:
    made = Summary("a device")
    for number, found in enumerate(two):
        made.region(number, found)
    made.events(EVENTS)
    return made


def test_table(two: list[Region], golden: Callable[[str, str], None]) -> None:
    golden("report/table.txt", table(summary(two).profile()))


def test_sums_of_launches_of_several_sizes(two: list[Region]) -> None:
    rows, scale = summary(two).profile().kernels  # the longest first
    assert (rows.name, rows.work) == ("rows", None)
    assert (scale.file, scale.line, scale.times) == ("t.c", 3, Times(2, 0.005, 0.001, 0.004))
    assert scale.work is not None
    assert (scale.work.double, scale.work.footprint, scale.work.exact) == (1_100_000, 16 * 1_100_000, True)


def test_what_happens_several_times_is_one_event(two: list[Region]) -> None:
    made = Summary("a device")
    made.region(0, two[0])
    copies = Event("to", "b", ((0, 5_000_000), (9_000_000, 1_000_000)), 800)
    made.events([copies, Event("kernel", "scale", ((10_000_000, 3), (20_000_000, 1), (30_000_000, 2)), region=0,
                               sizes={"n": 10})])  # fmt: skip
    found = made.profile()
    assert found.kernels[0].times == Times(3, 6e-9, 1e-9, 3e-9)
    assert found.kernels[0].work is not None and found.kernels[0].work.footprint == 3 * 160
    assert (found.copies[0].nbytes, found.copies[0].times) == (1600, Times(2, 0.006, 0.001, 0.005))


def test_data_are_plain(two: list[Region]) -> None:
    found = json.loads(json.dumps(summary(two).profile().to_json()))
    assert found["copies"][0] == {"array": "b", "direction": "to", "nbytes": 8_000_000,
                                  "times": {"calls": 1, "total": 0.002, "least": 0.002, "most": 0.002}}  # fmt: skip


def test_nothing_happened() -> None:
    assert table(Summary("a device").profile()) == "profile on a device\n"


def refuse(reason: OSError) -> None:
    raise reason


def log(path: Path, two: list[Region], header: Header = HEADER) -> None:
    made = Log(path, header, refuse)
    for number, found in enumerate(two):
        made.region(number, found)
    made.source(0, "kernel text")
    made.events(EVENTS[:2])
    made.events(EVENTS[2:])
    made.close()


def test_files_hold_all(tmp_path: Path, two: list[Region]) -> None:
    log(tmp_path / "x.jsonl", two)
    run = read(tmp_path / "x.jsonl")
    assert (run.header, run.events, list(run.regions.values())) == (HEADER, list(EVENTS), two)
    assert run.sources == {0: "kernel text"}
    assert profiles.profile([run]) == summary(two).profile()


def test_a_file_that_breaks_off_is_read_up_to_there(tmp_path: Path, two: list[Region]) -> None:
    path = tmp_path / "x.jsonl"
    log(path, two)
    path.write_text(path.read_text()[:-5])
    assert read(path).events == list(EVENTS[:2])


def test_files_that_break_off_in_their_first_line_are_counted(tmp_path: Path, two: list[Region]) -> None:
    for rank in range(4):
        log(tmp_path / f"{rank}.jsonl", two, replace(HEADER, rank=rank))
    whole = (tmp_path / "1.jsonl").read_text().partition("\n")[0]
    for rank, text in enumerate(("", whole[:-5], whole)):
        (tmp_path / f"{rank}.jsonl").write_text(text)
    runs, cut = read_folder(tmp_path)
    assert ([run.header.rank for run in runs], cut) == ([3], 3)


def test_a_full_disk_is_told_once_and_the_program_goes_on(tmp_path: Path) -> None:
    told: list[str | None] = []
    made = Log(tmp_path / "x.jsonl", HEADER, lambda reason: told.append(reason.strerror))
    made._file = open("/dev/full", "w")  # noqa: SIM115
    for _ in range(3):
        made.events(EVENTS)
    made.close()
    assert told == ["No space left on device"]


def test_processes_are_added_up_by_kernel(tmp_path: Path, two: list[Region]) -> None:
    for rank in (1, 0):
        log(tmp_path / f"{rank}.jsonl", two[::-1] if rank else two, replace(HEADER, rank=rank))
    runs, cut = read_folder(tmp_path)
    assert ([run.header.rank for run in runs], cut) == ([0, 1], 0)
    calls = {row.name: row.times.calls for row in profiles.profile(runs).kernels}
    assert calls == {"scale": 3, "rows": 3}  # the second process counts its regions the other way round


def test_kernels_that_stand_at_one_place_are_told_apart(tmp_path: Path, two: list[Region]) -> None:
    """Those that types, or values that are not even equal to themselves, make of one loop."""
    first = two[0]
    single = replace(first, params=tuple(replace(p, dtype="float32") if p.shape else p for p in first.params))
    loop, nan = first.body[0], Const(float("nan"), "float64")
    unequal = replace(first, body=(replace(loop, body=(replace(loop.body[0], value=nan),)),))
    three = [first, single, unequal]
    for rank in range(3):
        log(tmp_path / f"{rank}.jsonl", three[rank:] + three[:rank], replace(HEADER, rank=rank))
    runs, _ = read_folder(tmp_path)
    assert [row.times.calls for row in profiles.profile(runs).kernels] == [3, 3, 3]  # 2 of one rank, 1 of another
    assert len(list(reports._codes(runs))) == 3


def test_other_files_are_refused(tmp_path: Path) -> None:
    for text in ("", "{}", "{}\n", '{"nomp": 0}\n'):
        (tmp_path / "x").write_text(text)
        with pytest.raises(ValueError, match="holds no measurements of this version of nomp"):
            read(tmp_path / "x")
