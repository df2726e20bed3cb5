"""benchmarks/gpu.py and portability.py where there is no GPU: gcc in the place of nvcc, PoCL in that of the GPU."""

from __future__ import annotations

from pathlib import Path

import gpu
import portability
import pytest

NVCC = """#!/bin/sh
# Compiles the C program that belongs to a CUDA program.
for word; do
  case $word in
    *.cu) set -- "$@" "${word%.cu}.c" -lm -w ;;
    -arch=* | -O3 | -ldl) ;;
    *) set -- "$@" "$word" ;;
  esac
  shift
done
exec gcc -O1 "$@"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("nvcc", NVCC), ("nvidia-smi", "#!/bin/sh\necho a GPU, 1.0\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(gpu, "CASES", {"libraries": [("banded", "500"), ("power", "300")], "attention": [("4",)]})
    return tmp_path


def words(folder: Path, *more: str) -> list[str]:
    return ["--backend", "opencl", "--rounds", "1", "--build", str(folder / "build"), *more]


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]


@pytest.mark.slow
def test_tables(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu.main(words(folder, "--only", "libraries", "--only", "attention")) == 0
    found = rows(capsys.readouterr().out)
    names = ["libraries", "banded", "power", "attention", "attention"]
    assert [row[0] for row in found][:5] == names and found[5][0].startswith("4 by PyTorch: left out (")
    assert all(float(cell) > 0 for row in (found[1], found[2], found[4]) for cell in row[1:])


@pytest.mark.slow
def test_a_program_that_is_tuned_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gpu.main(words(folder, "--only", "libraries", "--tuned")) == 0
    assert "nomp tune: 'multiply' (i:256 mean:27): 4 tried; best" in capsys.readouterr().out


@pytest.mark.slow
def test_a_program_that_fails_while_it_is_tuned(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "CASES", {"libraries": [("banded",)]})
    with pytest.raises(SystemExit, match=r"driver tune .* ends with status 2:\nusage: "):
        gpu.main(words(folder, "--only", "libraries", "--tuned"))


@pytest.mark.slow
def test_results_that_differ(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """All do, for want of another program than the same by gcc."""
    monkeypatch.setattr(gpu, "TOLERANCE", -1)
    assert gpu.main(words(folder, "--only", "libraries")) == 1
    assert "libraries banded 500 results: checksums [" in capsys.readouterr().out


@pytest.mark.slow
def test_portability(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = portability.main(["--only", "attention", "--cpu-scale", "1", "--build", str(folder / "build")])
    out = capsys.readouterr().out
    assert status == 0, out
    titles, row = rows(out)
    assert titles == ["program", "CPU", "PoCL", "harmonic mean"] and row[0] == "attention attention"
    *shares, mean = map(float, row[1:])
    assert 0 < min(shares) <= mean <= max(shares) <= 1
    assert "CUDA: no such device" in out and "NVIDIA OpenCL: no such device" in out
