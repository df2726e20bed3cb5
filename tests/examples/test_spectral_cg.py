"""Example 02: right as plain C, pragmas ignored, and the same under `nomp cc`."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import commands
import pytest
from sharing import Shared

FOLDER = Path(__file__).parents[2] / "examples" / "02_spectral_cg"


def build(compiler: Sequence[str], program: Path, folder: Path = FOLDER) -> Path:
    flags = ["-O2", "-Wall", "-Wno-unknown-pragmas", "-Werror"]
    commands.succeed(*compiler, *flags, *sorted(folder.glob("*.c")), "-o", program, "-lm")
    return program


@pytest.fixture(scope="session")
def plain(shared: Shared) -> Path:
    return shared("plain-spectral-cg", lambda folder: build(["cc"], folder / "spectral_cg")) / "spectral_cg"


@pytest.fixture(scope="session")
def compiled(shared: Shared) -> Path:
    return shared("spectral-cg", lambda folder: build(commands.NOMP_CC, folder / "spectral_cg")) / "spectral_cg"


def run(program: Path, *arguments: int, **variables: str) -> str:
    """The program's output; it must not say anything else, at the highest verbosity, but for what the cache had."""
    nomp = {"NOMP_CACHE_DIR": str(program.parent / "cache"), "NOMP_VERBOSE": "3", "NOMP_ANNOTATIONS_SCRIPT": "sem"}
    environment = os.environ | nomp | variables
    done = commands.succeed(program, *map(str, arguments), env=environment)
    assert re.sub(r".*\[N530\]\n(.* \| .*\n)*", "", done.stderr) == ""
    return done.stdout


def error(program: Path, order: int, elements: int) -> float:
    match = re.search(r"^error (\S+)$", run(program, order, elements, 400), re.MULTILINE)
    assert match
    return float(match[1])


def compare(a: str, b: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "a").write_text(a)
    (folder / "b").write_text(b)
    return commands.run(sys.executable, FOLDER.parent / "compare.py", "a", "b", cwd=folder)


@pytest.mark.slow
def test_error_falls_spectrally(plain: Path) -> None:
    errors = [error(plain, order, 2) for order in range(3, 10)]
    assert all(finer < coarser / 2.5 for coarser, finer in itertools.pairwise(errors))
    assert errors[0] < 2e-3
    assert errors[-1] < 1e-8


@pytest.mark.slow
def test_error_falls_with_the_mesh(plain: Path) -> None:
    assert error(plain, 3, 4) < error(plain, 3, 2) / 2**3


@pytest.mark.slow
def test_residual_is_printed_every_ten_iterations(plain: Path) -> None:
    lines = run(plain, 3, 2, 25).splitlines()
    assert lines[0] == "order 3, 8 elements, 512 nodes"
    assert [line.split()[0] for line in lines[1:-1]] == ["iteration", "0", "10", "20"]


def test_usage(plain: Path) -> None:
    done = commands.run(plain, "0")
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")


@pytest.mark.slow
@pytest.mark.parametrize(("order", "elements", "iterations"), [(4, 3, 40), (7, 8, 100)])
def test_nomp_prints_the_same_residuals(
    plain: Path, compiled: Path, tmp_path: Path, order: int, elements: int, iterations: int
) -> None:
    outputs = [run(program, order, elements, iterations) for program in (plain, compiled)]
    comparison = compare(*outputs, tmp_path)
    assert comparison.returncode == 0, comparison.stdout


GPU = """from nomp_transforms import sem

WORDS = sem.WORDS


def annotate(knl, annotations, context):
    context["device::type"] = "gpu"
    return sem.annotate(knl, annotations, context)
"""


@pytest.mark.slow
@pytest.mark.parametrize("order", [3, 4])
def test_the_schedule_for_gpus_is_right(plain: Path, compiled: Path, tmp_path: Path, order: int) -> None:
    (tmp_path / "as_on_a_gpu.py").write_text(GPU)
    scripts = {"NOMP_ANNOTATIONS_SCRIPT": "as_on_a_gpu", "NOMP_SCRIPTS_DIR": str(tmp_path)}
    outputs = [run(plain, order, 3, 40), run(compiled, order, 3, 40, **scripts)]
    comparison = compare(*outputs, tmp_path)
    assert comparison.returncode == 0, comparison.stdout


@pytest.mark.parametrize(
    ("a", "b", "status"),
    [
        ("  0  1.0\n 10  0.5\n", "  0  1.0\n 10  0.50000000001\n", 0),
        ("  0  1.0\n 10  0.5\n", "  0  1.0\n 10  0.5000000001\n", 1),
        ("  0  1.0\n 10  0.5\n", "  0  1.0\n", 1),
        ("  0  nan\n", "  0  nan\n", 1),
        ("", "", 1),
    ],
)
def test_compare(tmp_path: Path, a: str, b: str, status: int) -> None:
    assert compare(a, b, tmp_path).returncode == status
