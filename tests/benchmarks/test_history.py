"""What `make bench` keeps, and the picture of it."""

from __future__ import annotations

import json
import runpy
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

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


def test_the_picture(tmp_path: Path) -> None:
    drawn = runpy.run_path(str(ROOT / "docs" / "ratios.py"))
    lines = [{"commit": c, "kernel": k, "size": "small", "ratios": {"omp": r, "serial": 2 * r}, "machine": m}
             for c, k, r, m in (("old", "gemm", 9, "another"), ("a", "gemm", 2, "this"), ("a", "dot", 0.5, "this"),
                                ("b", "gemm", 8, "this"), ("b", "dot", 0.5, "this"))]  # fmt: skip
    (tmp_path / "h").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    text = drawn["history"](tmp_path / "h")
    ElementTree.fromstring(text)
    assert ">2.00 small<" in text and ">4.00 small<" in text
    assert ">old<" not in text and ">a<" in text and ">b<" in text
    assert text.count("<title>gemm small</title>") == 2
