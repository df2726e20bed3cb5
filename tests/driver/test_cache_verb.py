"""``nomp cache``."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nomp.cache_entries import Entries, digest
from nomp.diagnostics import NompError
from nomp.driver import cache

INPUTS = {"kind": "source", "region": "long", "jit": {"n": "5"}}


@pytest.fixture
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Entries:
    monkeypatch.setenv("NOMP_CACHE_DIR", str(tmp_path / "cache"))
    made = Entries(tmp_path / "cache", frozenset({os.geteuid()}))
    for number in range(2):
        files = {"kernel.opencl": b"__kernel void k() {}", "source.json": b"{}"}
        made.write({**INPUTS, "number": number}, {"kind": "source", "kernel": "k"}, files)
    return made


def test_path_of_what_is_not_there_yet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NOMP_CACHE_DIR", "/no/such/folder")
    assert [cache.main([verb]) for verb in ("path", "ls", "clear")] == [0, 0, 0]
    assert capsys.readouterr().out == "/no/such/folder\n"


def test_listing(entries: Entries, capsys: pytest.CaptureFixture[str]) -> None:
    cache.main(["ls"])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert sorted(row[0] for row in rows) == sorted(digest({**INPUTS, "number": n})[:12] for n in range(2))
    assert all((row[1], row[3], row[4]) == ("source", "now", "k") for row in rows)


def test_showing(entries: Entries, capsys: pytest.CaptureFixture[str]) -> None:
    cache.main(["show", digest({**INPUTS, "number": 1})[:12]])
    shown = capsys.readouterr().out
    assert '"n": "5"' in shown and '"number": 1' in shown and "long" not in shown
    assert shown.endswith("__kernel void k() {}\n")


def test_clearing(entries: Entries, capsys: pytest.CaptureFixture[str]) -> None:
    cache.main(["clear"])
    cache.main(["ls"])
    assert capsys.readouterr().out == ""


def test_what_is_wrong(entries: Entries, monkeypatch: pytest.MonkeyPatch, golden: Callable[[str, str], None]) -> None:
    texts = []

    def nowhere() -> Path:
        raise RuntimeError

    for words in (["show", "no"], ["show", ""], ["ls"]):
        if words == ["ls"]:
            monkeypatch.delenv("NOMP_CACHE_DIR")
            monkeypatch.delenv("XDG_CACHE_HOME")
            monkeypatch.setattr(Path, "home", nowhere)
        with pytest.raises(NompError) as caught:
            cache.main(words)
        texts.append(str(caught.value))
    golden("cache/N533.txt", "\n".join(texts))
