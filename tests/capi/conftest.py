"""C programs compiled against libnomp.so and run from an empty environment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from capi_support import PROGRAMS, Run, bare_environment

from nomp.capi import INCLUDE, LIBRARY


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(
        name: str, *arguments: str, flags: tuple[str, ...] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        program = tmp_path / Path(name).stem
        libnomp = [f"-I{INCLUDE}", f"-L{LIBRARY}", f"-Wl,-rpath,{LIBRARY}", "-lnomp", "-pthread", "-ldl"]
        warnings = ["-std=gnu99", "-Wall", "-Wextra", "-Werror"]
        subprocess.run(["gcc", *warnings, PROGRAMS / name, "-o", program, *flags, *libnomp], check=True)
        return subprocess.run(
            [program, *arguments], cwd=tmp_path, env=bare_environment() | environment, capture_output=True, text=True
        )

    return run
