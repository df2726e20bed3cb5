"""The HIP backend on the test doubles of ``tests/doubles``: all of it runs on the CPU, or on an NVIDIA GPU."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from commands import NOMP, NOMP_CC, run, succeed
from doubles import build_on_cuda, environment, no_cuda

HERE = Path(__file__).parent
PROGRAMS = HERE.parent / "programs" / "c"
SAMPLE = (
    "bits", "floats", "functions", "nests", "reductions",
    "rows", "rowsums", "scripted", "structs", "updates", "wraparound",
)  # fmt: skip


@pytest.fixture(scope="module", params=["cpu", "cuda"])
def double(request: pytest.FixtureRequest, hip_double: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if request.param == "cpu":
        return hip_double
    if reason := no_cuda():
        pytest.skip(f"no NVIDIA GPU for the double on the CUDA driver: {reason}")
    return build_on_cuda(tmp_path_factory.mktemp("double"))


def all_pass(double: Path, *words: str) -> None:
    """The tests that *words* name pass in a process that has the double, and none is skipped."""
    options = ["-n", "0", "-p", "no:cacheprovider"]
    done = succeed(sys.executable, "-m", "pytest", *options, *words, cwd=HERE.parents[1], env=environment(double))
    assert re.search(r"^\d+ passed", done.stdout, re.MULTILINE), done.stdout
    assert "skipped" not in done.stdout, done.stdout


@pytest.mark.slow
def test_conformance_on_the_test_double(double: Path) -> None:
    all_pass(double, "-k", "hip", "tests/backends/test_conformance.py")


@pytest.mark.slow
def test_host_path_on_the_test_double(double: Path) -> None:
    all_pass(double, "tests/backends/hip_on_double.py")


@pytest.mark.slow
def test_memory_of_others_on_the_test_double(double: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOMP_BACKEND", "hip")
    all_pass(double, "tests/backends/memory_of_others.py")


@pytest.mark.slow
def test_profiles_and_rooflines_on_the_test_double(double: Path) -> None:
    """On it, which `auto` chooses."""
    chosen = "table_on_stderr or crash_keeps or all_files"
    all_pass(double, "-k", chosen, "tests/driver/test_profile.py", "tests/driver/test_roofline.py")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alone", "axpy", "threads"])
def test_programs_launch_by_the_test_double_s_own_functions(double: Path, name: str, tmp_path: Path) -> None:
    """In ``alone.c`` nothing but that can launch: another thread has Python's lock."""
    source, program = HERE.parent / "capi" / "programs" / f"{name}.c", tmp_path / name
    succeed(*NOMP_CC, source, "-o", program, "-pthread", "-ldl")
    assert succeed(program, env=environment(double) | {"NOMP_BACKEND": "hip"}).stdout == "done\n"


@pytest.mark.slow
def test_programs_learn_where_the_device_has_an_array(
    double: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """The host can read what the double on the CPU calls the device's memory."""
    source, program = HERE.parent / "capi" / "programs" / "mapped.c", tmp_path / "mapped"
    succeed(*NOMP_CC, source, "-o", program)
    kind = "readable" if request.node.callspec.params["double"] == "cpu" else "address"
    assert succeed(program, kind, env=environment(double) | {"NOMP_BACKEND": "hip"}).stdout == "done\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_programs_print_the_same_on_the_test_double(double: Path, name: str, tmp_path: Path) -> None:
    source, plain, ours = PROGRAMS / f"{name}.c", tmp_path / "plain", tmp_path / "ours"
    flags = ("-O1", "-ffp-contract=off", "-std=gnu99", "-w")
    succeed("gcc", *flags, source, "-o", plain, "-lm")
    succeed(*NOMP_CC, *flags, source, "-o", ours, "-lm")
    done = succeed(ours, env=environment(double) | {"NOMP_BACKEND": "hip"})
    assert done.stdout == succeed(plain).stdout


@pytest.mark.slow
def test_nomp_devices_names_the_test_double(double: Path) -> None:
    lines = succeed(*NOMP, "devices", env=environment(double)).stdout.splitlines()
    hip = [line for line in lines if line.startswith("hip")]
    assert len(hip) == 2
    assert all("test double" in line and line.endswith("PASS") for line in hip)


@pytest.mark.slow
def test_nomp_devices_says_why_hip_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "libamdhip64.so").write_text("no library")
    done = run(*NOMP, "devices", env=environment(tmp_path) | {"HIP_VISIBLE_DEVICES": "-1"})
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("hip"))
    assert re.match(r"hip: cannot be used: (no HIP driver|HIP finds no AMD GPU): \S", line)
