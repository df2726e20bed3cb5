"""Programs that verbs of nomp run: Ctrl-C is theirs, and so is the status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from commands import NOMP

PROGRAM = """import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: (time.sleep(1), print("in order", flush=True), sys.exit(7)))
print("runs", flush=True)
while True:
    time.sleep(0.1)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "status", "told"), [("tune", 7, ""), ("profile", 1, "measured nothing (it ended with status 7)")]
)
def test_a_program_has_time_to_end_after_ctrl_c(verb: str, status: int, told: str) -> None:
    """The terminal interrupts the whole group; Python's own subprocess.run would kill the program soon afterwards."""
    command = [*NOMP, verb, "--", sys.executable, "-c", PROGRAM]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "runs\n"
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out) == (status, "in order\n"), err
    assert told in err
