"""What `make bench` keeps, and the picture of it."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import cpu
import history
import pytest

ROOT = Path(__file__).parents[2]
MEASURED = {
    "machine": {"processor": "a processor", "threads": "2 threads", "date": "2030-01-01"},
    "cases": [
        {"kernel": "gemm", "size": "small", "seconds": {"serial": 0.4, "omp": 0.3, "nomp": 0.2}, "wrong": []},
        {"kernel": "dot", "size": "small", "seconds": {"serial": 0.4}, "wrong": ["nomp does not compile"]},
    ],
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One with a commit, in the place of this one."""
    (tmp_path / "measured.json").write_text(json.dumps(MEASURED))
    (tmp_path / "code").write_text("1")
    monkeypatch.setattr(history, "ROOT", tmp_path)
    monkeypatch.setattr(history, "HISTORY", tmp_path / "history.jsonl")
    monkeypatch.setattr(history, "OURS", (tmp_path / "history.jsonl",))
    git("init", "-q", folder=tmp_path)
    commit(tmp_path)
    return tmp_path


def git(*words: str, folder: Path) -> None:
    own = ("-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null")
    subprocess.run(("git", *own, "-C", folder, *words), check=True, capture_output=True)


def commit(folder: Path) -> None:
    git("add", "-A", folder=folder)
    git("commit", "-q", "-m", "m", folder=folder)


def test_a_line_for_each_case_that_went_well(repository: Path) -> None:
    assert history.main([str(repository / "measured.json")]) == 0
    (line,) = history.read(repository / "history.jsonl")
    assert (line["kernel"], line["ratios"], line["machine"]) == ("gemm", {"serial": 2.0, "omp": 1.5},
                                                                 "a processor, 2 threads")  # fmt: skip


def test_commits_follow_each_other_and_measuring_again_replaces(repository: Path) -> None:
    for change in ("2", "3"):
        history.main([str(repository / "measured.json")])
        history.main([str(repository / "measured.json")])
        (repository / "code").write_text(change)
        commit(repository)
    commits = [line["commit"] for line in history.read(repository / "history.jsonl")]
    assert len(commits) == len(set(commits)) == 2


def test_times_of_no_commit_are_refused(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "code").write_text("2")
    assert history.main([str(repository / "measured.json")]) == 1
    assert capsys.readouterr().err == "commit first, the times are those of a commit: code\n"
    assert not (repository / "history.jsonl").exists()


def test_the_lines_that_are_kept_here_have_one_form() -> None:
    lines = history.read(ROOT / "benchmarks" / "history.jsonl")
    assert {tuple(line) for line in lines} == {("commit", "date", "kernel", "size", "seconds", "ratios", "machine")}
    assert history.merged(lines, []) == lines


def drawn(folder: Path, *measured: tuple[str, str, str, float]) -> str:
    """The picture of commits' ratios of kernels to OpenMP, on machines."""
    lines = [{"commit": commit, "date": "2030-01-01", "kernel": kernel, "size": "small", "machine": machine,
              "ratios": {"omp": ratio, "serial": 2 * ratio}}
             for machine, commit, kernel, ratio in measured]  # fmt: skip
    (folder / "h").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    text: str = runpy.run_path(str(ROOT / "docs" / "ratios.py"))["history"](folder / "h")
    ElementTree.fromstring(text)
    return text


def curves(text: str, name: str) -> list[int]:
    """How many points each line called *name* has."""
    return [len(points.split()) for points in re.findall(f'<title>{name}</title><polyline points="([^"]*)"', text)]


def test_the_picture(tmp_path: Path) -> None:
    text = drawn(tmp_path, ("this", "a", "gemm", 2), ("this", "a", "dot", 0.5), ("this", "b", "gemm", 8),
                 ("this", "b", "dot", 0.5))  # fmt: skip
    assert ">2.00 small<" in text and ">4.00 small<" in text
    assert text.count(">a<") == text.count(">b<") == 2
    assert curves(text, "gemm small") == curves(text, "small: geometric mean") == [2, 2]


def test_machines_have_lines_of_their_own(tmp_path: Path) -> None:
    """Also for the same kernel and commit, and with that machine first that has measured last."""
    old, new = "an <old> one", "a new one"
    measured = (old, "a"), (new, "a"), (old, "b"), (old, "c"), (new, "c"), (new, "d")
    text = drawn(tmp_path, *((machine, commit, "gemm", 2) for machine, commit in measured))
    assert curves(text, "gemm small") == curves(text, "small: geometric mean") == [3, 3, 3, 3]
    assert re.findall(r">(an? \S+ one)<", text) == ["a new one"] * 2 + ["an &lt;old&gt; one"] * 2
    assert [half.count(">b<") for half in text.split("an &lt;old&gt; one", 1)] == [0, 2]


def test_commits_of_which_some_kernels_have_been_measured_have_no_means(tmp_path: Path) -> None:
    text = drawn(tmp_path, ("this", "a", "gemm", 2), ("this", "a", "dot", 0.5), ("this", "b", "gemm", 8),
                 ("this", "c", "gemm", 4), ("this", "c", "dot", 4), ("this", "c", "new", 4))  # fmt: skip
    assert curves(text, "gemm small") == [3, 3]
    assert curves(text, "small: geometric mean") == [2, 2] and ">4.00 small<" in text


def test_names_of_many_commits_do_not_overlap(tmp_path: Path) -> None:
    text = drawn(tmp_path, *(("this", f"c{number:06}", "gemm", 2) for number in range(100)))
    assert curves(text, "gemm small") == [100, 100]
    places = [float(x) for x in re.findall(r'<text x="([\d.]+)" y="296" text-anchor="middle">c', text)]
    places.sort()
    assert ">c000099<" in text and all(b - a >= 60 for a, b in pairwise(places))
    assert 5 < len(places) < 20


def test_lines_tell_processors_of_one_name_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    named = {"processor": "a name", "cpuinfo": "model\t\t: 2\nmodel name\t: AMD EPYC\ncpu family\t: 26\n"}
    monkeypatch.setattr(cpu.Path, "exists", lambda path: True)
    monkeypatch.setattr(cpu.Path, "read_text", lambda path: named["cpuinfo"])
    assert cpu._processor() == "AMD EPYC (family 26, model 2)"
    named["cpuinfo"] = "processor\t: 0\nBogoMIPS\t: 2000\n"
    monkeypatch.setattr(cpu.platform, "processor", lambda: "")
    monkeypatch.setattr(cpu.platform, "machine", lambda: "aarch64")
    assert cpu._processor() == "aarch64"
