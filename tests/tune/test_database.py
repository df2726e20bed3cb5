"""What is measured is found again: for the same loop wherever it stands, the same device, and sizes alike."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import reading
from kernels import gpu

from nomp.cache import tuning_folder
from nomp.config import Settings
from nomp.diagnostics import Diagnostic
from nomp.tuning.database import Database, Key, Result, Trial, described, digest, size_class

LOOP = """void f(int n, int m, const int *start, double *a) {
#pragma nomp for name("k") jit(m)
  for (int i = 0; i < n; i++)
    for (int j = 1; j <= m; j++)
      for (int c = start[i]; c < start[i + 1]; c++)
        a[c] += %s;
}
"""
KEY = Key("k", "0123456789abcdef", "cuda: one", "i:64")


@pytest.fixture
def said() -> list[Diagnostic]:
    return []


def test_a_digest_is_that_of_the_loop(tmp_path: Path) -> None:
    region = reading.region(tmp_path, LOOP % "j")
    moved = reading.region(tmp_path, "\n\n/* text */" + LOOP % "j")
    assert digest(region, "sem") == digest(moved, "sem") == digest(replace(region, file="other.c"), "sem")
    others = [digest(region, ""), digest(reading.region(tmp_path, LOOP % "i"), "sem")]
    assert len({digest(region, "sem"), *others}) == 3


def test_sizes(tmp_path: Path) -> None:
    region = reading.region(tmp_path, LOOP % "j")
    assert size_class(region, {"n": 100, "m": 8}) == "i:64 j:8"
    assert size_class(region, {"n": 127, "m": 15}) == "i:64 j:15"
    assert size_class(region, {"n": 128, "m": 0}) == "i:128 j:0"
    assert size_class(region, {"n": 63, "m": 64}) == "i:63 j:64"


def test_values_that_no_loop_tells(tmp_path: Path) -> None:
    text = (LOOP % "j").replace("int m,", "int m, int mean, double f,").replace("jit(m)", "jit(m, mean, f)")
    region = reading.region(tmp_path, text)
    assert size_class(region, {"n": 100, "m": 8, "mean": 27, "f": 0.5}) == "i:64 j:8 mean:27 f:0.5"


def test_devices() -> None:
    assert described(gpu("cuda", "sm_90", 32)) == "cuda: a GPU, driver 1.0"


def test_results_are_kept(tmp_path: Path, said: list[Diagnostic]) -> None:
    place = tmp_path / "new" / "folder"
    slow, fast, bad = Trial({"b": 1}, 20.0), Trial({"b": 2, "a": "x"}, 10.0), Trial({"b": 3}, skipped="N320: no")
    Database(place, said.append).keep(KEY, Result(KEY.device, KEY.sizes, (slow, fast, bad)))
    other = replace(KEY, sizes="i:128")
    Database(place, said.append).keep(other, Result(other.device, other.sizes, (slow,)))
    again = Database(place, said.append)
    assert again.result(KEY).trials == (slow, fast, bad)
    assert again.best(KEY) == (("a", "x"), ("b", 2)) and again.best(other) == (("b", 1),)
    (file,) = place.iterdir()
    data = json.loads(file.read_text())
    assert (file.name, data["kernel"]) == ("k-0123456789abcdef.json", "k")
    assert data["results"][0]["best"] == {"a": "x", "b": 2} and place.stat().st_mode & 0o777 == 0o700
    assert said == []


def test_what_was_measured_for_something_else_is_not_used(tmp_path: Path, said: list[Diagnostic]) -> None:
    database = Database(tmp_path, said.append)
    database.keep(KEY, Result(KEY.device, KEY.sizes, (Trial({"b": 1}, 2.0),)))
    assert database.best(replace(KEY, device="cuda: two")) == () == database.best(replace(KEY, digest="f" * 16))
    assert [(d.code, d.severity, d.message) for d in said] == [
        ("N702", "remark", "kernel 'k' has not been tuned for i:64 on cuda: two, but for i:64 on cuda: one"),
        ("N702", "remark", "kernel 'k' has not been tuned as it is now, but with another loop, annotation script or"
                           " version of nomp"),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"format": 0, "results": []}', "its format is 0, and this nomp's is 1"),
        ("{", "Expecting property name"),
        ("3", "TypeError"),
        ('{"format": 1}', "KeyError: 'results'"),
        ('{"format": 1, "results": [{"device": "d", "sizes": "s", "trials": [{}]}]}', "KeyError: 'choices'"),
        (b"\xff", "can't decode byte"),
    ],
)
def test_files_that_cannot_be_read_are_left_alone(
    text: str | bytes, why: str, tmp_path: Path, said: list[Diagnostic]
) -> None:
    (tmp_path / "k-0123456789abcdef.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    database = Database(tmp_path, said.append)
    assert database.best(KEY) == () == database.best(KEY)
    assert [(d.code, d.severity) for d in said] == [("N701", "warning")]
    assert why in said[0].message and said[0].help == "delete the file, and run 'nomp tune' again"


def test_where_the_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert tuning_folder(Settings()) == tmp_path / "nomp" / "tuned"
    assert tuning_folder(Settings(cache_dir=tmp_path)) == tmp_path / "tuned"
    assert tuning_folder(Settings(cache_dir=tmp_path, tuning_dir=tmp_path / "here")) == tmp_path / "here"
