"""benchmarks/cpu.py: what it counts as agreement, on small sizes.  Times are not looked at, but for being there."""

from __future__ import annotations

import json
from pathlib import Path

import cpu
import pytest


def options(folder: Path, *kernels: str) -> list[str]:
    chosen = [word for kernel in kernels for word in ("--kernel", kernel)]
    return [*chosen, "--size", "small", "--rounds", "1", "--build", str(folder), "--json", str(folder / "figures.json")]


@pytest.mark.slow
def test_the_three_programs_of_a_kernel_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = cpu.main(options(tmp_path, "dot", "jacobi-1d"))
    assert status == 0, capsys.readouterr().err
    cases = json.loads((tmp_path / "figures.json").read_text())["cases"]
    assert [(case["kernel"], set(case["seconds"])) for case in cases] == [
        ("dot", {"serial", "omp", "nomp"}),
        ("jacobi-1d", {"serial", "omp", "nomp"}),
    ]
    assert all(seconds > 0 for case in cases for seconds in case["seconds"].values())


@pytest.mark.slow
def test_a_kernel_with_a_domain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cpu.main([*options(tmp_path, "spmv", "dot"), "--domains"]) == 0
    said = capsys.readouterr()
    assert "'_nomp_kernel_l7' (i:4096): 4 tried; best" in said.err
    cases = json.loads((tmp_path / "figures.json").read_text())["cases"]
    seconds = {case["kernel"]: set(case["seconds"]) for case in cases}
    assert seconds == {"spmv": {"serial", "omp", "nomp", "tuned"}, "dot": {"serial", "omp", "nomp"}}
    rows = [line.count("|") for line in said.out.splitlines() if line.startswith("| ")]
    assert len(rows) == 3 and len(set(rows)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("omp parallel for", "omp parallel for private(nothing)", "omp does not compile: "),
        ("0.4,", "1e-6 * (argc + (getenv(\"OMP_PROC_BIND\") != 0)),", "omp computes "),
        ("return 0;", "return getenv(\"OMP_PROC_BIND\") ? 3 : 0;", "omp ends with status 3"),
    ],
)  # fmt: skip
def test_a_program_that_fails_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    old: str, new: str, message: str,
) -> None:  # fmt: skip
    text = cpu.SOURCES["triad"].read_text()
    assert old in text
    (tmp_path / "triad.c").write_text(text.replace(old, new))
    (tmp_path / "bench.h").write_text((cpu.SOURCES["triad"].parent / "bench.h").read_text())
    monkeypatch.setitem(cpu.SOURCES, "triad", tmp_path / "triad.c")
    assert cpu.main(options(tmp_path, "triad")) == 1
    assert f"triad small: {message}" in capsys.readouterr().err
