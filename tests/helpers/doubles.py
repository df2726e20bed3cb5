"""The test double of HIP: libraries with the names of AMD's, which compile kernels with g++ and run them on the CPU."""

from __future__ import annotations

import os
from pathlib import Path

from commands import succeed

_SOURCES = Path(__file__).parents[1] / "doubles"


def build(folder: Path) -> Path:
    """Build the libraries in *folder*, and return it."""
    options = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    options += [f'-DDEVICE_H="{_SOURCES / "device.h"}"', '-DCOMPILER="g++"']
    for name in ("amdhip64", "hiprtc"):
        library = folder / f"lib{name}.so"
        succeed("g++", *options, _SOURCES / f"{name}.cc", "-o", library, "-ldl")
    return folder


def environment(folder: Path) -> dict[str, str]:
    """The environment of a program that is to find the libraries in *folder* before AMD's."""
    path = [str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return os.environ | {"LD_LIBRARY_PATH": ":".join(path)}
