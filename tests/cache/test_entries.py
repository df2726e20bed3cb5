"""The folder of the kernel cache: what is written is read again, or not at all."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from nomp.cache_entries import Damaged, Entries, digest

INPUTS = {"kind": "source", "region": {"a": [1, 2.5, "x"]}, "jit": {}}
FILES = {"source.json": b"{}", "kernel.opencl": bytes(range(256))}
WORDS = {"kind": "source", "kernel": "k"}
KEY = digest(INPUTS)
ME = frozenset({os.geteuid()})


@pytest.fixture
def entries(tmp_path: Path) -> Entries:
    made = Entries(tmp_path / "cache", ME)
    assert made.read(KEY) is None
    made.write(INPUTS, WORDS, FILES)
    return made


def folder_of(entries: Entries) -> Path:
    (entry,) = entries
    return entry.folder


def test_what_is_written_is_read(entries: Entries) -> None:
    assert entries.read(KEY) == FILES
    assert Entries(entries.folder, ME).read(KEY) == FILES


def test_a_key_is_of_the_inputs_whatever_their_order() -> None:
    assert digest({"a": 1, "b": {"c": 2, "d": 3}}) == digest({"b": {"d": 3, "c": 2}, "a": 1})
    assert digest({"a": 1}) != digest({"a": 1.0}) != digest({"a": "1"})


def test_people_can_read_what_an_entry_was_made_from(entries: Entries) -> None:
    meta = json.loads((folder_of(entries) / "meta.json").read_text())
    assert (meta["inputs"], meta["words"]) == (INPUTS, WORDS)
    (entry,) = entries
    assert (entry.inputs, entry.words, entry.key) == (INPUTS, WORDS, KEY)


def test_nobody_else_can_read_or_write_it(entries: Entries) -> None:
    modes = [stat.S_IMODE(path.stat().st_mode) for path in entries.folder.rglob("*") if path.is_dir()]
    assert set(modes) == {0o700}


def test_writing_twice_keeps_the_first(entries: Entries) -> None:
    entries.write(INPUTS, WORDS, {"other": b""})
    assert entries.read(KEY) == FILES
    assert list((entries.folder / "v1" / "new").iterdir()) == []


NAMES = ("meta.json", *FILES)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_was_cut_off_is_noticed(entries: Entries, name: str) -> None:
    file = folder_of(entries) / name
    whole = file.read_bytes()
    for size in {0, 1, len(whole) // 2, len(whole) - 2}:
        file.write_bytes(whole[:size])
        with pytest.raises(Damaged):
            entries.read(KEY)


@pytest.mark.parametrize("name", NAMES)
def test_any_bit_that_flips_is_noticed_or_does_not_matter(entries: Entries, name: str) -> None:
    file = folder_of(entries) / name
    whole = file.read_bytes()
    for place in range(0, len(whole), 3):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        file.write_bytes(changed)
        try:
            assert entries.read(KEY) == FILES  # a blank of meta.json has become another one
            assert json.loads(changed) == json.loads(whole)
        except Damaged:
            pass


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_gone_is_noticed(entries: Entries, name: str) -> None:
    (folder_of(entries) / name).unlink()
    with pytest.raises(Damaged, match=f"{name} is missing"):
        entries.read(KEY)


def test_the_entry_of_other_inputs_is_not_taken(entries: Entries) -> None:
    other = {**INPUTS, "jit": {"n": "5"}}
    place = folder_of(entries)
    target = place.parents[1] / digest(other)[:2] / digest(other)
    target.parent.mkdir(exist_ok=True)
    place.rename(target)
    with pytest.raises(Damaged, match="another entry"):
        entries.read(digest(other))


def test_removing_and_clearing(entries: Entries) -> None:
    entries.remove(KEY)
    entries.remove(KEY)
    assert entries.read(KEY) is None and list(entries) == []
    entries.write(INPUTS, WORDS, FILES)
    (entries.folder / "mine").write_text("not nomp's")
    entries.clear()
    entries.clear()
    assert [path.name for path in entries.folder.iterdir()] == ["mine"]


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    entries = Entries(tmp_path, ME)
    keys = []
    for number in range(6):
        inputs = {"number": number}
        entries.write(inputs, WORDS, {"binary": bytes(10_000)})
        keys.append(digest(inputs))
        (meta,) = tmp_path.glob(f"v1/entries/??/{keys[-1]}/meta.json")
        past = time.time() - 100_000 + 10_000 * number
        os.utime(meta, (past, past))
    assert entries.read(keys[0]) is not None  # it is the one used last now
    entries.shrink(35_000)
    assert {entry.key for entry in entries} == {keys[0], keys[5], keys[4]}
    entries.shrink(1)
    assert list(entries) == []


def test_old_rubbish_is_thrown_away_and_new_is_left_to_who_makes_it(entries: Entries) -> None:
    new = entries.folder / "v1" / "new"
    for name, age in (("old", 100_000), ("young", 10)):
        (new / name).mkdir()
        os.utime(new / name, (time.time() - age,) * 2)
    entries.shrink(1 << 30)
    assert [path.name for path in new.iterdir()] == ["young"]


def test_folders_that_others_can_write_to_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    assert Entries(folder, ME).refusal() is None
    folder.mkdir()
    folder.chmod(0o777)
    assert Entries(folder, ME).refusal() == f"other users may write to {folder}"
    folder.chmod(0o700)
    (folder / "v1").mkdir()
    (folder / "v1").chmod(0o770)
    assert Entries(folder, ME).refusal() == f"other users may write to {folder / 'v1'}"


def test_folders_of_others_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").mkdir(mode=0o700)
    owner = tmp_path.stat().st_uid
    if owner == 0:  # root may be trusted: see what would be if the folder were somebody's
        os.chown(tmp_path / "cache", 12345, -1)
    assert Entries(tmp_path / "cache", frozenset({54321})).refusal() == f"{tmp_path / 'cache'} belongs to another user"


def _inside(folder: Path, key: str, log: str, seconds: float) -> None:
    with Entries(folder, ME).locked(key), open(log, "a") as file:
        file.write("in\n")
        file.flush()
        time.sleep(seconds)
        file.write("out\n")


def _holding(folder: Path) -> BaseProcess:
    """A process that holds the lock of `KEY`."""
    log = folder / "log"
    log.touch()
    process = multiprocessing.get_context("spawn").Process(target=_inside, args=(folder / "c", KEY, str(log), 1000))
    process.start()
    while "in" not in log.read_text():
        time.sleep(0.01)
    return process


@pytest.mark.slow
def test_one_process_at_a_time_makes_an_entry(tmp_path: Path) -> None:
    log = tmp_path / "log"
    context = multiprocessing.get_context("spawn")
    running = [context.Process(target=_inside, args=(tmp_path / "c", KEY, str(log), 0.05)) for _ in range(4)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert log.read_text().split() == ["in", "out"] * 4


def test_nobody_waits_for_a_process_that_was_killed(tmp_path: Path) -> None:
    process = _holding(tmp_path)
    process.kill()
    process.join()
    start = time.monotonic()
    with Entries(tmp_path / "c", ME).locked(KEY):
        assert time.monotonic() - start < 30


def test_other_entries_are_not_waited_for(tmp_path: Path) -> None:
    process = _holding(tmp_path)
    with Entries(tmp_path / "c", ME).locked(digest({"other": 1})):
        assert process.is_alive()
    process.kill()
    process.join()
