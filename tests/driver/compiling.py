"""What the tests of ``nomp cc`` compile, the compilation, and what object files hold."""

from __future__ import annotations

import subprocess

from nomp.driver import cli

FOO = """\
#include "inc.h"
int foo(int *a, int n) {
#pragma nomp for
  for (int i = 0; i < n; i++)
    a[i] = 2 * i;
  return N;
}
"""
MAIN = """\
#include <stdio.h>
int foo(int *a, int n);
int main(void) { printf("%d\\n", foo(0, 0) * 0 + 7); return 0; }
"""


def nomp_cc(line: str) -> int:
    return cli.main(["cc", *line.split()])


def symbols(file: str) -> set[str]:
    lines = subprocess.run(["nm", file], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1] for line in lines}


def dynamic(file: str) -> str:
    """What *file* asks of the dynamic linker."""
    return subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
