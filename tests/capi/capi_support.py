"""Where the C programs of these tests are, and what they run with."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

PROGRAMS = Path(__file__).with_name("programs")

Run = Callable[..., subprocess.CompletedProcess[str]]
"""``run(name, *arguments, flags=(), **environment)``: compile ``programs/name`` and run it in a folder of its own."""


def bare_environment() -> dict[str, str]:
    """What a program must have to run: a home and places for caches; no PATH, no word of Python."""
    kept = ("HOME", "NOMP_CACHE_DIR", "POCL_CACHE_DIR", "XDG_CACHE_HOME")
    return {name: os.environ[name] for name in kept}
