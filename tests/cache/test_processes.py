"""C programs and the kernel cache: what a warm start imports, and what many, killed and unlucky processes do to it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from commands import NOMP_CC, run, succeed
from sharing import Shared

from nomp.cache_entries import Entries

PROGRAMS = Path(__file__).with_name("programs")
ANSWER = "250750.0\n"
ROWS = """
import loopy as lp
from widths import times

def tile(knl, context, size):
    return lp.split_iname(knl, "i", times * size, outer_tag="g.0")
"""


BACKEND = {"NOMP_BACKEND": "cpu"}


class Program:
    """The program ``two`` in a folder, with its script, and caches of its own, PoCL's too."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        own = {"NOMP_CACHE_DIR": str(self.cache), "POCL_CACHE_DIR": str(folder / "pocl"), "NOMP_VERBOSE": "3"}
        self.environment = os.environ | BACKEND | own

    def start(self, **environment: str) -> subprocess.Popen[str]:
        env, pipe = self.environment | environment, subprocess.PIPE
        return subprocess.Popen([self.folder / "two"], cwd=self.folder, env=env, stdout=pipe, stderr=pipe, text=True)

    def run(self, **environment: str) -> str:
        """Run it to its end, with the right answer; what it says on stderr."""
        return answered(self.start(**environment))


def answered(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (0, ANSWER), err
    return err


def outcomes(said: str) -> dict[str, int]:
    """How often each ``hit: source`` and the like is in what a program *said*."""
    return dict(Counter(re.findall(r"remark: cache (\w+: \w+)", said)))


IMPORTED = "imported"
"""The file with what the cold run has imported."""


def _run_once(folder: Path) -> None:
    """Make what the fixtures copy."""
    shutil.copy(PROGRAMS / "two.c", folder)
    (folder / "rows.py").write_text(ROWS)
    (folder / "widths.py").write_text("times = 2\n")
    succeed(*NOMP_CC, "-O1", "two.c", "-o", "two", cwd=folder)
    (folder / IMPORTED).write_text(Program(folder).run(**IMPORTS))


@pytest.fixture
def warm(shared: Shared, tmp_path: Path) -> Program:
    """The program after its first run."""
    return Program(shutil.copytree(shared("two", _run_once), tmp_path, dirs_exist_ok=True))


@pytest.fixture
def program(warm: Program) -> Program:
    """The program before that."""
    shutil.rmtree(warm.cache)
    return warm


MISSES, HITS = {"miss: source": 2, "miss: binary": 2}, {"hit: source": 2, "hit: binary": 2}


@pytest.mark.slow
def test_the_second_run_compiles_nothing(program: Program) -> None:
    assert outcomes(program.run()) == MISSES
    assert outcomes(program.run()) == HITS


IMPORTS = {"PYTHONPROFILEIMPORTTIME": "1", "NOMP_VERBOSE": "2"} | BACKEND
HEAVY = {"loopy", "islpy", "pymbolic", "pytools", "pyopencl", "numpy", "lark", "clang", "mako", "importlib.metadata"}
HEAVY |= {"nomp.tuning"}  # only where something is, or has been, tuned


def imported(said: str) -> set[str]:
    """The modules that a program with the settings `IMPORTS` *said* it has imported."""
    return set(re.findall(r"^import time:.*\| +(\S+)$", said, re.MULTILINE))


@pytest.mark.slow
def test_a_warm_start_imports_nothing_heavy(warm: Program) -> None:
    found = imported(warm.run(**IMPORTS))
    assert "nomp.runtime.session" in found
    assert found & HEAVY == set()
    assert not [name for name in found if name.startswith("nomp.pipeline")]


@pytest.mark.slow
def test_a_cold_start_imports_no_more_than_it_needs(warm: Program) -> None:
    found = imported((warm.folder / IMPORTED).read_text())
    assert "loopy" in found
    assert found & {"clang", "jinja2", "lark", "mako", "nomp.tuning", "pygments"} == set()


BACKWARDS = """#include <stdlib.h>
int main(int argc, char **argv) {
  static double a[100];
  int n = atoi(argv[1]);
#pragma nomp init(argc, argv)
#pragma nomp update(to : a)
#pragma nomp for transform("rows", "tile", size = 4)
  for (int i = 0; i < n; i++)
    a[i] = a[i + 1];
#pragma nomp finalize
  return 0;
}
"""


@pytest.mark.slow
def test_launches_are_judged_without_isl_unless_they_are_refused(warm: Program) -> None:
    """Groups have eight iterations: one group is in order, two are not."""
    (warm.folder / "back.c").write_text(BACKWARDS)
    succeed(*NOMP_CC, "back.c", "-o", "back", cwd=warm.folder)
    done = [run(warm.folder / "back", n, env=warm.environment | IMPORTS) for n in ("7", "7", "9")]
    assert [one.returncode for one in done] == [0, 0, 1]
    assert [imported(one.stderr) & {"loopy", "islpy"} for one in done] == [{"loopy", "islpy"}, set(), {"islpy"}]
    assert "[N403]" in done[2].stderr


@pytest.mark.slow
def test_a_warm_start_compiles_nothing_by_pocl_either(warm: Program) -> None:
    warm.run(NOMP_BACKEND="opencl")
    made = list((warm.folder / "pocl").rglob("*.so"))
    before = {path.stat().st_mtime for path in made}
    assert made and warm.run(NOMP_BACKEND="opencl") and {path.stat().st_mtime for path in made} == before
    kept = {path.parent.name for path in made}
    assert any(name.startswith("1-1-1") for name in kept), kept


@pytest.mark.slow
def test_a_helper_of_a_script_counts(warm: Program) -> None:
    succeed(*NOMP_CC, "-O1", "two.c", "-o", "two", cwd=warm.folder)  # scripts are looked for beside the source
    (warm.folder / "widths.py").write_text("times = 3\n")
    said = warm.run()
    assert outcomes(said) == {"miss: source": 1, "miss: binary": 1, "hit: source": 1, "hit: binary": 1}
    (warm.folder / "widths.py").write_text("times = 2\n")
    assert outcomes(warm.run()) == HITS


@pytest.mark.slow
def test_off_means_off(program: Program) -> None:
    assert "cache" not in program.run(NOMP_CACHE="off")
    assert not program.cache.exists()


@pytest.mark.slow
@pytest.mark.parametrize("place", ["/proc/nomp", "/dev/null/nomp"])
def test_a_folder_that_cannot_be_written_to(program: Program, place: str) -> None:
    said = program.run(NOMP_CACHE_DIR=place)
    assert len(re.findall(r"\[N532\]", said)) == 1
    assert "[N532]" not in program.run(NOMP_CACHE_DIR=place, NOMP_VERBOSE="2")


@pytest.mark.slow
def test_damage_is_repaired(warm: Program) -> None:
    files = sorted(path for path in warm.cache.rglob("*") if path.is_file() and path.name != "lock")
    for number, file in enumerate(files):
        data = file.read_bytes()
        file.write_bytes(data[: len(data) // 2] if number % 2 else bytes([data[0] ^ 4]) + data[1:])
    said = warm.run()
    assert "[N531]" in said and outcomes(said) == MISSES
    assert outcomes(warm.run()) == HITS


@pytest.mark.slow
def test_a_binary_that_the_driver_refuses_is_made_again(warm: Program) -> None:
    entries = Entries(warm.cache, frozenset({os.geteuid()}))
    for entry in list(entries):
        if entry.words["kind"] == "binary":
            entries.remove(entry.key)
            entries.write(entry.inputs, entry.words, {"binary": b"what another driver made"})
    said = warm.run()
    assert said.count("the driver refuses it") == 2
    assert outcomes(warm.run()) == HITS


@pytest.mark.slow
def test_sixteen_processes_that_start_cold_at_once(program: Program) -> None:
    said = [answered(process) for process in [program.start() for _ in range(16)]]
    total: Counter[str] = Counter()
    for text in said:
        total.update(outcomes(text))
    assert total["miss: source"] == total["miss: binary"] == 2, total
    assert total["hit: source"] == total["hit: binary"] == 30, total


@pytest.mark.slow
def test_processes_that_are_killed_leave_no_harm(program: Program) -> None:
    """At any time of a cold run: while it compiles, while it writes, while others wait for it."""
    start = time.monotonic()
    program.run()
    cold = time.monotonic() - start
    for number in range(12):
        if number % 4 == 0:
            shutil.rmtree(program.cache)
        first, second = program.start(), program.start()
        time.sleep(cold * (number + 1) / 12)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        answered(second)
        assert "[N531]" not in program.run()
    assert outcomes(program.run()) == HITS


@pytest.mark.slow
def test_two_versions_share_a_folder(warm: Program, tmp_path: Path) -> None:
    """Of nomp, here the one under test and a copy with one more comment."""
    import nomp

    package = Path(nomp.__file__).parent
    copy = tmp_path / "other"
    for name, source in (("nomp", package), ("nomp_backends", package.parent / "backends" / "nomp_backends")):
        shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    with (copy / "nomp" / "pipeline.py").open("a") as file:
        file.write("# another version\n")
    said = warm.run(PYTHONPATH=str(copy))
    assert outcomes(said)["miss: source"] == 2 and "versions.nomp" in said
    assert outcomes(warm.run()) == outcomes(warm.run(PYTHONPATH=str(copy))) == HITS


@pytest.fixture(scope="session")
def built(shared: Shared) -> Path:
    def build(folder: Path) -> None:
        succeed(*NOMP_CC, "-O1", "-Wall", "-Werror", PROGRAMS / "limits.c", "-o", folder / "limits")

    return shared("limits", build) / "limits"


@pytest.mark.slow
def test_what_is_built_with_the_program_needs_no_compiler(program: Program) -> None:
    words = (*NOMP_CC, "-O1", "-c", "two.c"), (*NOMP_CC, "--prebuild", "cpu", "two.o", "-o", "two")
    for command in words:
        assert succeed(*command, cwd=program.folder).stderr == ""
    assert outcomes(program.run()) == HITS
    assert list(Entries(program.cache, frozenset())) == []
    succeed(*NOMP_CC, "-O1", "two.c", "-o", "two", cwd=program.folder)  # the folder stays: the kernels are the same
    assert outcomes(program.run()) == HITS
    (program.folder / "widths.py").write_text("times = 5\n")
    said = program.run()
    assert outcomes(said) == {"miss: source": 1, "miss: binary": 1, "hit: source": 1, "hit: binary": 1}


@pytest.mark.slow
def test_everybody_may_read_what_is_built_with_a_program(program: Program) -> None:
    succeed(*NOMP_CC, "--prebuild=cpu", "two.c", "-o", "two", cwd=program.folder)
    paths = [program.folder / "two.nomp", *(program.folder / "two.nomp").rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in paths if path.is_dir()} == {0o755}
    assert all(path.stat().st_mode & 0o044 == 0o044 for path in paths if path.is_file())


@pytest.mark.slow
def test_a_gpu_need_not_be_there_to_compile_for_it(program: Program) -> None:
    succeed(*NOMP_CC, "--prebuild=cuda:sm_90", "two.c", "-o", "two", cwd=program.folder)
    entries = list(Entries(program.folder / "two.nomp", frozenset({os.geteuid()})))
    binaries = [entry.folder / "binary" for entry in entries if entry.words["kind"] == "binary"]
    assert len(binaries) == 2 and all(file.read_bytes().startswith(b"\x7fELF") for file in binaries)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "message"),
    [("abacus", "--prebuild: there is no backend 'abacus' [N502]"),
     ("cuda:sm_1", "compiling for cuda:sm_1 failed: unknown architecture 'sm_1'; known are sm_70"),
     ("opencl:x", "compiling for opencl:x failed: OpenCL's compilers belong to devices"),
     ("cpu:x", "compiling for cpu:x failed: kernels are compiled for the processor that is here")],
)  # fmt: skip
def test_targets_that_cannot_be_built_for(program: Program, target: str, message: str) -> None:
    done = run(*NOMP_CC, f"--prebuild={target}", "two.c", "-o", "two", cwd=program.folder)
    assert done.returncode == 1 and message in done.stderr


@pytest.mark.slow
def test_what_cannot_be_kept_beside_the_program_is_told(program: Program) -> None:
    (program.folder / "two.nomp").write_text("not a folder")
    done = run(*NOMP_CC, "--prebuild=cpu", "two.c", "-o", "two", cwd=program.folder)
    assert done.returncode == 1
    assert "error: --prebuild: the kernel cache is not used: " in done.stderr and "[N534]" in done.stderr
    assert (program.folder / "two.nomp").read_text() == "not a folder"


def limits(program: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    done = succeed(program, *words, env=os.environ | environment)
    assert done.stdout == "done\n"
    return done


@pytest.mark.slow
def test_after_fork_the_child_gets_errors_and_the_parent_goes_on(built: Path) -> None:
    said = limits(built, "fork").stderr
    assert said.count("nomp was initialized by the parent process [N602]") == 3


@pytest.mark.slow
def test_signals_do_not_disturb_launches(built: Path) -> None:
    limits(built, "signals")


@pytest.mark.slow
def test_a_warm_nomp_jit_parses_nothing(built: Path, tmp_path: Path) -> None:
    own = {"NOMP_CACHE_DIR": str(tmp_path), "NOMP_VERBOSE": "3"} | BACKEND
    first, second = (outcomes(limits(built, "fork", **own).stderr) for _ in range(2))
    assert first == {"miss: region": 1, "miss: source": 1, "miss: binary": 1}
    assert second == {"hit: region": 1, "hit: source": 1, "hit: binary": 1}
    assert imported(limits(built, "signals", **own | IMPORTS).stderr) & HEAVY == set()


@pytest.mark.slow
def test_ten_thousand_maps(built: Path) -> None:
    limits(built, "maps")


@pytest.mark.slow
def test_a_thousand_kernels(built: Path) -> None:
    limits(built, "kernels")


@pytest.mark.slow
def test_a_million_launches_take_no_more_memory(built: Path) -> None:
    """NOMP_TEST_SECONDS=600 makes it as long as one likes."""
    limits(built, "launches", os.environ.get("NOMP_TEST_SECONDS", "60"))
