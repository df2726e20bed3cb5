"""``nomp profile`` and ``NOMP_PROFILE``: what is told of programs, however they end."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from commands import NOMP, NOMP_CC, run, succeed

from nomp import backend, config
from nomp.runtime.devices import open_device

pytestmark = pytest.mark.slow

PROGRAM = r"""#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#define N 1000
static double a[N], b[N];
int main(int argc, char **argv) {
  int runs = argc > 1 ? atoi(argv[1]) : 3, crash = argc > 2;
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, b)
  for (int r = 0; r < runs; r++) {
#pragma nomp for name("add")
    for (int i = 0; i < N; i++)
      a[i] += b[i] + r;
  }
  double sum = 0;
#pragma nomp for reduce("sum", "+")
  for (int i = 0; i < N; i++)
    sum += a[i];
#pragma nomp update(from : a)
  printf("%.1f %.1f\n", a[1], sum);
  fflush(stdout);
  if (crash) raise(SIGKILL);
#pragma nomp finalize
  return 5;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("program")
    (folder / "p.c").write_text(PROGRAM)
    succeed(*NOMP_CC, "-O1", "p.c", "-o", "p", cwd=folder)
    return folder / "p"


@pytest.fixture(scope="module")
def copied_scalars() -> set[str]:
    """The program's variables that are copied for a kernel: none where the host and kernels share memory (GPUs)."""
    with closing(open_device(config.load(), backend.registered())) as device:
        native = device.native()
        return set() if native and native.stage(8)[0] else {"sum"}


def test_a_table_on_stderr_and_the_programs_status(program: Path, tmp_path: Path, copied_scalars: set[str]) -> None:
    files = ("--json", tmp_path / "p.json", "--trace", tmp_path / "t.json")
    done = run(*NOMP, "profile", *files, "--", program, "3000", cwd=program.parent)
    assert (done.returncode, done.stdout) == (5, "4498500.0 4498500000.0\n"), done.stderr
    assert re.search(r"^add +p.c:12 +3000 ", done.stderr, re.MULTILINE)
    data = json.loads((tmp_path / "p.json").read_text())
    add = next(row for row in data["kernels"] if row["name"] == "add")
    assert add["times"]["calls"] == 3000  # most of them C's, in several batches
    assert (add["work"]["double"], add["work"]["footprint"]) == (3000 * 2000, 3000 * 24000)
    assert 0 < add["times"]["least"] <= add["times"]["total"] / 3000 <= add["times"]["most"]
    launches = [event for event in json.loads((tmp_path / "t.json").read_text())["traceEvents"]
                if (event["name"], event.get("cat")) == ("add", "kernel")]  # fmt: skip
    assert len(launches) == 3000
    ends = [event["ts"] + event["dur"] for event in launches]
    assert all(end <= after["ts"] + 1 for end, after in zip(ends, launches[1:], strict=False))
    copies = {(row["array"], row["direction"]): (row["nbytes"], row["times"]["calls"]) for row in data["copies"]}
    arrays = {("a", "to"): (8000, 1), ("b", "to"): (8000, 1), ("a", "from"): (8000, 1)}
    assert copies == arrays | {(name, way): (8, 1) for name in copied_scalars for way in ("to", "from")}
    assert {"lower", "generate code", "device compiler"} <= {row["stage"] for row in data["stages"]}


def test_the_trace_has_kernels_copies_a_compiler_and_arrows(program: Path, tmp_path: Path) -> None:
    run(*NOMP, "profile", "--trace", tmp_path / "t.json", program, cwd=program.parent)
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert tracks[1].startswith("kernels on ") and {2: "copies", 3: "compiler"}.items() < tracks.items()
    slices = [event for event in events if event["ph"] == "X"]
    own = {"kernel": 1, "to": 2, "from": 2, "on": 2, "stage": 3}
    assert all(event["tid"] == own[event["cat"]] for event in slices)
    assert all(event["ts"] >= 0 and event["dur"] >= 0 for event in slices)
    kernels = [event for event in slices if event["cat"] == "kernel"]
    assert [event["name"] for event in kernels].count("add") == 3
    assert kernels[0]["args"]["source"].endswith("p.c:12")
    ends = [event["ts"] + event["dur"] for event in kernels]
    assert all(end <= after["ts"] + 1 for end, after in zip(ends, kernels[1:], strict=False))  # one queue, in order
    starts = [event for event in events if event["ph"] == "s"]
    assert [event["id"] for event in starts] == [event["id"] for event in events if event["ph"] == "f"]
    assert len(starts) == 2  # a kernel each


def test_a_crash_keeps_what_was_measured(program: Path, tmp_path: Path) -> None:
    done = run(*NOMP, "profile", "--json", tmp_path / "p.json", program, "4", "crash")
    assert done.returncode == 128 + 9
    assert "was ended by signal 9; this was measured before:" in done.stderr
    data = json.loads((tmp_path / "p.json").read_text())
    assert {row["name"]: row["times"]["calls"] for row in data["kernels"]}["add"] == 4


def test_processes_are_merged(program: Path, tmp_path: Path) -> None:
    both = "for r in 0 1; do OMPI_COMM_WORLD_RANK=$r $0 2 & done; wait"
    done = run(*NOMP, "profile", "--trace", tmp_path / "t.json", "--", "sh", "-c", both, program)
    assert done.returncode == 0
    assert re.search(r"^add .* 4 ", done.stderr, re.MULTILINE)
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert [name.split(":")[0] for name in names] == ["rank 0", "rank 1"]


def test_ranks_that_may_write_the_same_files_are_warned(program: Path, tmp_path: Path) -> None:
    ranks = os.environ | {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "1"}
    warning = (
        f"nomp: warning: each of 4 processes writes {tmp_path}/x: if it is one file, it will be the last one's [N622]\n"
        f"help: 'nomp profile ... mpirun -n 4 {program}' makes one report of all processes\n"
    )
    file, alone = ("--json", tmp_path / "x"), ranks | {"OMPI_COMM_WORLD_SIZE": "1"}
    for environment, options, expected in ((ranks, file, warning), (ranks, (), ""), (alone, file, "")):
        done = run(*NOMP, "profile", *options, program, env=environment)
        assert done.returncode == 5 and re.search(r"^add .* 3 ", done.stderr, re.MULTILINE)
        assert done.stderr.startswith(expected + "\nprofile on ")


def test_files_that_break_off_in_their_first_line_cost_nothing_else(program: Path) -> None:
    command = '"$0" 4; for n in 1 2; do printf "{" > "$NOMP_PROFILE_DIR/00000-$n.jsonl"; done'
    done = run(*NOMP, "profile", "--", "sh", "-c", command, program)
    assert done.returncode == 0
    assert done.stderr.startswith("nomp: 2 of 3 processes could write nothing of what they measured\n")
    assert re.search(r"^add .* 4 ", done.stderr, re.MULTILINE)


def test_measurements_of_another_version(program: Path, tmp_path: Path) -> None:
    command = "$0; echo '{\"nomp\": 0}' > $NOMP_PROFILE_DIR/00000.jsonl"
    done = run(*NOMP, "profile", "--dir", tmp_path, "--", "sh", "-c", command, program)
    assert done.returncode == 1
    assert done.stderr == (
        f"nomp: error: what 'sh' has measured cannot be read: {tmp_path}/00000.jsonl holds no measurements of this "
        "version of nomp [N621]\n"
        f"help: compile the program with the nomp that profiles it; what was measured is kept in {tmp_path}\n"
    )


def test_without_the_command_the_table_comes_at_finalize(program: Path) -> None:
    done = run(program, env={**os.environ, "NOMP_PROFILE": "1"})
    assert done.stdout == "3.0 3000.0\n"
    assert re.search(r"^add .* 3 ", done.stderr, re.MULTILINE)
    assert "stage of the compiler" in done.stderr


def test_a_folder_that_is_not_there_gives_a_table_instead(program: Path, tmp_path: Path) -> None:
    done = run(program, env={**os.environ, "NOMP_PROFILE": "1", "NOMP_PROFILE_DIR": str(tmp_path / "no")})
    assert done.stderr.startswith(f"nomp: warning: the measurements cannot be written to {tmp_path}/no: "
                                  "No such file or directory [N620]\nhelp: give profile-dir a folder")  # fmt: skip
    assert re.search(r"^add .* 3 ", done.stderr, re.MULTILINE)


def test_a_table_that_cannot_be_printed_does_not_end_the_program(program: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([program], env={**os.environ, "NOMP_PROFILE": "1"}, stdout=subprocess.PIPE, stderr=full,
                              text=True)  # fmt: skip
    assert (done.returncode, done.stdout) == (5, "3.0 3000.0\n")


def test_reports_that_cannot_be_written(program: Path, tmp_path: Path) -> None:
    kept, good = tmp_path / "kept", tmp_path / "p.json"
    files = ("--trace", tmp_path / "no" / "t.json", "--json", good, "--dir", kept)
    done = run(*NOMP, "profile", *files, "sh", "-c", '"$0"; true', program)
    assert done.returncode == 1
    assert f"nomp: error: {tmp_path}/no/t.json cannot be written: No such file or directory [N622]\n" in done.stderr
    assert f"help: what was measured is kept in {kept}\n" in done.stderr
    assert good.exists() and len(list(kept.glob("*.jsonl"))) == 1
    again = run(*NOMP, "profile", "--dir", kept, program)
    assert (again.returncode, again.stderr.splitlines()[0]) == (
        1, f"nomp: error: {kept} holds measurements already [N622]")  # fmt: skip


def test_programs_that_measure_nothing() -> None:
    done = run(*NOMP, "profile", sys.executable, "-c", "raise SystemExit(3)")
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == (
        f"nomp: error: '{sys.executable}' has measured nothing (it ended with status 3) [N621]")  # fmt: skip
    done = run(*NOMP, "profile", "./no-such-program")
    assert done.stderr.splitlines()[0] == (
        "nomp: error: './no-such-program' cannot be started: No such file or directory [N621]")  # fmt: skip
