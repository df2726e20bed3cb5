"""The regions of ``tests/programs/c``, for compilers that need no device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from nomp.backend import DeviceInfo
from nomp.frontend.clang import parse
from nomp.region import Region

PROGRAMS = sorted((Path(__file__).parents[1] / "programs" / "c").glob("*.c"))
EXTENTS_OF_LAUNCHES = {("clauses", 13), ("conditions", 17)}
"""Regions with a local array whose size only the launch knows, which CUDA and HIP do not have."""


def gpu(dialect: str, arch: str, warp_size: int) -> DeviceInfo:
    """A GPU that is not there."""
    words = (dialect, dialect, "nowhere", "a GPU", "its maker", "1.0", "gpu", arch)
    return DeviceInfo(*words, 1024, 49152, 1 << 34, 100, warp_size, True)


def regions(program: Path) -> Iterator[Region]:
    """Those of *program*, without scripts."""
    for file in parse(str(program), ()):
        for directive in file.directives:
            if directive.region:
                region = directive.region
                yield replace(region, clauses=replace(region.clauses, transforms=(), annotations=()))
