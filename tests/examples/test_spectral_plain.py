"""Example 02 as plain C, pragmas ignored: what nomp's builds are compared with is itself right."""

from __future__ import annotations

import itertools
import re
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "02_spectral_cg"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plain") / "spectral_cg"
    sources = sorted(str(source) for source in FOLDER.glob("*.c"))
    flags = ["-O2", "-Wall", "-Wno-unknown-pragmas", "-Werror"]
    subprocess.run(["cc", *flags, *sources, "-o", str(path), "-lm"], check=True)
    return path


def run(program: Path, *arguments: int) -> str:
    command = [str(program), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def error(program: Path, order: int, elements: int) -> float:
    match = re.search(r"^error (\S+)$", run(program, order, elements, 400), re.MULTILINE)
    assert match
    return float(match[1])


def test_error_falls_spectrally(program: Path) -> None:
    errors = [error(program, order, 2) for order in range(3, 10)]
    assert all(finer < coarser / 2.5 for coarser, finer in itertools.pairwise(errors))
    assert errors[0] < 2e-3
    assert errors[-1] < 1e-8


def test_error_falls_with_the_order_in_h(program: Path) -> None:
    coarse, fine = error(program, 3, 2), error(program, 3, 4)
    assert fine < coarse / 2**3


def test_residual_is_printed_every_ten_iterations(program: Path) -> None:
    lines = run(program, 3, 2, 25).splitlines()
    assert lines[0] == "order 3, 8 elements, 512 nodes"
    assert [line.split()[0] for line in lines[1:-1]] == ["iteration", "0", "10", "20"]


def test_usage(program: Path) -> None:
    done = subprocess.run([str(program), "0"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")
