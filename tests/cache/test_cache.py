"""The kernel cache as the runtime uses it: hits, misses and their reasons, folders that cannot be used."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from disks import nearly_full

from nomp import cache
from nomp.cache import Cache, Subject
from nomp.cache_entries import Entries, digest
from nomp.config import Settings
from nomp.diagnostics import Diagnostic, Span, register_source

ME = frozenset({os.geteuid()})
SPAN = Span("k.c", 2, 1, 3)
SUBJECT = Subject("source", "k", SPAN)
INPUTS = {"kind": "source", "device": {"name": "a", "driver": "1"}, "jit": {"n": "5"}}


class Bench:
    """A cache in a folder, and what it has said."""

    def __init__(self, folder: Path, prebuilt: Path | None = None) -> None:
        register_source("k.c", "#pragma nomp for\nfor (;;)\n")
        self.said: list[Diagnostic] = []
        before = Entries(prebuilt, ME) if prebuilt else None
        self.cache = Cache(Entries(folder, ME), before, 0, self.said.append)
        self.made = 0

    def obtain(self, inputs: dict[str, object] = INPUTS) -> bytes:
        return self.cache.obtain(SUBJECT, inputs, self._make)["file"]

    def _make(self) -> dict[str, bytes]:
        self.made += 1
        return {"file": b"made"}

    def texts(self) -> list[str]:
        return [found.message for found in self.said]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "cache")


def test_what_was_made_once_is_found(bench: Bench, tmp_path: Path) -> None:
    assert [bench.obtain(), bench.obtain(), Bench(tmp_path / "cache").obtain()] == [b"made"] * 3
    assert bench.made == 1


def test_hits_and_misses_are_counted_with_reasons(bench: Bench) -> None:
    before = cache.statistics().get("source", {})
    bench.obtain()
    bench.obtain()
    after = cache.statistics()["source"]
    assert [after[key] - before.get(key, 0) for key in ("hit", "miss")] == [1, 1]
    miss, hit = cache.events()[-2:]
    assert (miss.outcome, miss.reason) == ("miss", "nothing is kept for a kernel of this name")
    assert (hit.outcome, hit.reason) == ("hit", f"entry {digest(INPUTS)[:12]}")


def test_a_miss_says_what_is_different(bench: Bench) -> None:
    bench.obtain()
    bench.obtain({**INPUTS, "jit": {"n": "6"}})
    bench.obtain({**INPUTS, "jit": {"n": "6"}, "device": {"name": "a", "driver": "2"}})
    reasons = [text.rpartition(": ")[2] for text in bench.texts()[1:]]
    assert reasons == ["what is kept differs in jit.n", "what is kept differs in device.driver"]


def test_texts(bench: Bench, golden: Callable[[str, str], None]) -> None:
    bench.obtain()
    bench.obtain()
    (entry,) = Entries(bench.cache._own.folder, ME)  # type: ignore[union-attr]
    (entry.folder / "file").write_bytes(b"made?")
    assert bench.obtain() == b"made"
    assert bench.made == 2
    golden("cache/N530-N531.txt", "\n".join(found.render() for found in bench.said))
    assert {found.severity for found in bench.said} == {"remark"}


def test_a_damaged_entry_is_made_again_and_kept(bench: Bench) -> None:
    bench.obtain()
    for _ in range(2):
        (entry,) = Entries(bench.cache._own.folder, ME)  # type: ignore[union-attr]
        (entry.folder / "meta.json").write_text("{}")
        assert bench.obtain() == b"made"
    bench.obtain()
    assert bench.made == 3


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    bench = Bench(tmp_path / "file" / "cache")
    assert [bench.obtain(), bench.obtain()] == [b"made"] * 2
    assert bench.made == 2
    (problem,) = (found for found in bench.said if found.code == "N532")
    assert problem.message.startswith("the kernel cache is not used: ")


def test_a_full_disk_is_told_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    for number in range(3):
        assert bench.obtain({"number": number}) == b"made"
    told = [found.message for found in bench.said if found.code == "N532"]
    assert told == ["nothing more is kept in the kernel cache: [Errno 28] No space left on device"]
    assert list((bench.cache._places[0].folder / "v1" / "new").iterdir()) == []


def test_what_was_built_with_the_program_comes_first(tmp_path: Path) -> None:
    Bench(tmp_path / "built").obtain()
    bench = Bench(tmp_path / "own", tmp_path / "built")
    assert bench.obtain() == b"made"
    assert bench.made == 0 and not (tmp_path / "own").exists()


def spoil(folder: Path) -> None:
    """Damage the entries in *folder*, which cannot be removed from there."""
    for file in folder.rglob("file"):
        file.write_bytes(b"spoilt")


@pytest.mark.parametrize("removed", [True, False])
def test_damage_beside_the_program_leaves_the_users_own_entry(
    tmp_path: Path, removed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    Bench(tmp_path / "built").obtain()
    spoil(tmp_path / "built")
    if not removed:
        monkeypatch.setattr(Entries, "remove", lambda *_: None)
    first, second = (Bench(tmp_path / "own", tmp_path / "built") for _ in range(2))
    assert first.obtain() == second.obtain() == b"made"
    assert (first.made, second.made) == (1, 0)


def test_what_is_of_no_use_and_cannot_be_removed_is_not_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Bench(tmp_path / "built").obtain()
    monkeypatch.setattr(Entries, "remove", lambda *_: None)
    bench = Bench(tmp_path / "own", tmp_path / "built")
    bench.cache.drop(SUBJECT, INPUTS, "the driver refuses it")
    assert bench.cache.find(SUBJECT, INPUTS) is None
    assert bench.obtain() == b"made" and bench.made == 1


def test_nothing_is_kept_where_it_is_off(tmp_path: Path) -> None:
    settings = Settings(cache=False, cache_dir=tmp_path / "c")
    off = cache.opened(settings, lambda _: None)
    assert not off.is_on and off.find(SUBJECT, INPUTS) is None
    off.keep(SUBJECT, INPUTS, {"file": b""})
    assert not (tmp_path / "c").exists()
    on = cache.opened(replace(settings, cache=True), lambda _: None)
    on.keep(SUBJECT, INPUTS, {"file": b""})
    assert on.find(SUBJECT, INPUTS) == {"file": b""}


def test_where_the_folder_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache.folder_of(Settings(cache_dir=Path("/c"))) == Path("/c")
    assert cache.folder_of(Settings()) == Path("/x/nomp")
    for useless in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", useless)
        assert cache.folder_of(Settings()) == tmp_path / ".cache" / "nomp"


def test_other_things_in_the_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache.subfolder(Settings(cache_dir=tmp_path), "peaks") == tmp_path / "peaks"
    monkeypatch.setattr(cache, "folder_of", lambda settings: None)
    assert cache.subfolder(Settings(), "peaks") is None


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_what_is_made_first_by_something_else_is_a_cache(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        cache.write_whole(tmp_path / "above" / "nomp" / "tuned" / "k.json", "{}\n")
    finally:
        os.umask(before)
    folder = tmp_path / "above" / "nomp"
    assert Entries(folder, ME).refusal() is None
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "tuned")] == [0o700] * 2


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "tuned" / "k.json"
    for text in ("old\n", "new \u00e9\n"):
        cache.write_whole(file, text)
        assert file.read_text(encoding="utf-8") == text
    with nearly_full(), pytest.raises(OSError):
        cache.write_whole(file, "longer than the room\n")
    assert file.read_text(encoding="utf-8") == "new \u00e9\n" and list(file.parent.iterdir()) == [file]


def test_text_of_a_folder_that_others_may_write_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[[str, str], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("open").mkdir()
    Path("open").chmod(0o777)
    bench = Bench(Path("open"))
    assert bench.obtain() == b"made" and not bench.cache.is_on
    golden("cache/N532.txt", "\n".join(found.render() for found in bench.said))
