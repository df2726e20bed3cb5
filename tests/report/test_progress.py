"""What a terminal shows of a long wait, and what pipes do not."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

WAIT = """
import sys, time
from nomp.report import progress
progress.PATIENCE = 0.05
with progress.shown("measuring", 2) as step:
    step("copy")
    time.sleep(0.6)
    step("triad")
    time.sleep(0.4)
print("done", file=sys.stderr)
"""


def on_a_terminal(code: str, **environment: str) -> str:
    """What *code* writes on a terminal that is its stderr."""
    ours, theirs = pty.openpty()
    plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-c", code], stderr=theirs, env=plain | {"TERM": "xterm"} | environment
    ) as it:
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    assert it.returncode == 0
    return text.decode()


def test_a_line_comes_and_goes() -> None:
    text = on_a_terminal(WAIT)
    assert "measuring: copy" in text and "measuring: triad" in text
    assert text.endswith("\x1b[2Kdone\r\n")  # the line has been erased


def test_colours_are_left_out_where_no_one_wants_them() -> None:
    colour = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m")
    assert colour.search(on_a_terminal(WAIT))
    assert not colour.search(on_a_terminal(WAIT, NO_COLOR="1"))


def test_short_waits_show_nothing() -> None:
    assert on_a_terminal(WAIT.replace("0.05", "30").replace("sleep", "perf_counter_ns") .replace("(0.6)", "()")
                         .replace("(0.4)", "()")) == "done\r\n"  # fmt: skip


def test_pipes_get_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", WAIT], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "done\n")


@pytest.mark.parametrize(
    "before", ["import sys; sys.modules['rich'] = None", "import sys; sys.modules['rich.console'] = None"]
)
def test_without_rich_nothing_is_shown(before: str) -> None:
    assert on_a_terminal(f"{before}\n{WAIT}") == "done\r\n"
