"""Example 09: two and four ranks have the serial answer, in Python, in C, and in C without nomp."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import commands
import doubles
import mpi
import pytest

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).parents[2] / "examples" / "09_mpi_stencil"
HEADER = ["6^3 points, 4 steps, in seconds; efficiency is that per rank, against one rank",
          "ranks    strong  efficiency      weak  efficiency"]  # fmt: skip


@pytest.fixture(scope="module", params=["python", "c", "plain c"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    mpi.require()
    if request.param == "python":
        return [sys.executable, FOLDER / "heat.py"]
    compiled = tmp_path_factory.mktemp("mpi") / ("plain" if request.param == "plain c" else "heat")
    compiler = ["mpicc", "-Wno-unknown-pragmas"] if request.param == "plain c" else [*commands.NOMP_CC, "--cc", "mpicc"]
    commands.succeed(*compiler, "-O2", "-Wall", "-Werror", FOLDER / "heat.c", "-o", compiled, "-lm")
    return [compiled]


@pytest.mark.parametrize("ranks", [2, 4])
def test_it_has_the_serial_answer_and_prints_scaling(program: list[str | Path], ranks: int) -> None:
    environment = os.environ | mpi.ENVIRONMENT
    done = commands.succeed("mpirun", "-n", str(ranks), *program, "6", "4", env=environment)
    first, *table = done.stdout.splitlines()
    assert first == f"{ranks} ranks: the same as the serial answer"
    assert table[:2] == HEADER
    assert [int(line.split()[0]) for line in table[2:]] == ([1, 2] if ranks == 2 else [1, 2, 4])
    assert all(re.fullmatch(r" +\d+( +\d+\.\d+){4}", line) for line in table[2:])


def test_messages_from_the_device(program: list[str | Path], tmp_path: Path) -> None:
    """MPI takes the "device's" memory of HIP's test double, which is the host's; C without nomp has none."""
    environment = doubles.environment(doubles.build(tmp_path)) | mpi.ENVIRONMENT
    environment |= {"NOMP_BACKEND": "hip", "GPU_AWARE": "1"}
    done = commands.succeed("mpirun", "-n", "2", *program, "check", env=environment)
    way = "" if Path(program[0]).name == "plain" else ", messages from the device's memory"
    assert done.stdout == f"2 ranks: the same as the serial answer{way}\n"


def test_one_rank_alone(program: list[str | Path]) -> None:
    done = commands.succeed(*program, "check", env=os.environ | mpi.ENVIRONMENT)
    assert done.stdout == "1 ranks: the same as the serial answer\n"
