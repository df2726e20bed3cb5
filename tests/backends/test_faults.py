"""A kernel that faults: what the program is told.  Needs an NVIDIA GPU; kernels of PoCL fault in the program itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commands import NOMP_CC, run, succeed
from doubles import no_cuda

PROGRAM = r"""#include <stdio.h>
int main(int argc, char **argv) {
  double a[4] = {0};
  long far[1] = {1L << 40};
#pragma nomp init(argc, argv)
#pragma nomp update(to : a[0, 4], far[0, 1])
#pragma nomp for
  for (int i = 0; i < 1; i++)
    a[far[i]] = 1;
#pragma nomp update(from : a[0, 4])
  puts("not reached");
#pragma nomp finalize
  return 0;
}
"""


def test_a_fault_is_told_at_the_next_wait_and_ends_the_program(tmp_path: Path) -> None:
    if reason := no_cuda():
        pytest.skip(f"no NVIDIA GPU: {reason}")
    source, program = tmp_path / "fault.c", tmp_path / "fault"
    source.write_text(PROGRAM)
    succeed(*NOMP_CC, source, "-o", program)
    done = run(program, env=os.environ | {"NOMP_BACKEND": "cuda"})
    assert (done.returncode, done.stdout) == (1, "")
    first, code, caret, *_ = done.stderr.splitlines()
    assert first.startswith(f"{source}:10:28: error: updating 'a' on the device failed")
    assert "illegal memory access" in first and first.endswith("[N611]")
    assert (code, caret) == ("   10 | #pragma nomp update(from : a[0, 4])", "      | " + " " * 27 + "^")
    assert "Traceback" not in done.stderr
