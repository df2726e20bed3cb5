"""Which versions of its packages nomp runs with, told without importing them.

Out: a version a package, with a digest of what belongs to it: of its files, where it is used from a working copy, which
may change at any time.  Called by `source_cache` and `runtime.program`.
"""

from __future__ import annotations

import os
import re
import sys
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

PACKAGES = {
    "nomp": "nomp", "nomp_backends": "nomp", "nomp_transforms": "nomp", "loopy": "loopy", "islpy": "islpy",
    "pymbolic": "pymbolic", "pytools": "pytools", "clang": "libclang",
}  # fmt: skip
"""What decides on the source of kernels: import packages, and what they are installed as."""


@cache
def versions() -> dict[str, str]:
    """The version of Python and of each of `PACKAGES`."""
    found = {package: _version(package, name) for package, name in PACKAGES.items()}
    return {"python": f"{sys.version_info.major}.{sys.version_info.minor}", **found}


def _version(package: str, name: str) -> str:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return "none"
    folder = Path(spec.submodule_search_locations[0])
    pattern = re.compile(rf"{re.escape(name)}-(.+)\.dist-info", re.IGNORECASE)
    for match in filter(None, map(pattern.fullmatch, os.listdir(folder.parent))):
        return f"{match[1]} {_recorded(folder.with_name(match[0]) / 'RECORD', package)}".rstrip()
    return f"files {_digest(folder)}"


def _recorded(record: Path, package: str) -> str:
    """The digest of the installer's notes on the files of *package*, if it has made some: a version may be built twice.
    """
    try:
        lines = record.read_bytes().splitlines()
    except OSError:
        return ""
    return sha256(b"\n".join(sorted(line for line in lines if line.startswith(f"{package}/".encode())))).hexdigest()


def _digest(folder: Path) -> str:
    """That of all Python files below *folder*."""
    total = sha256()
    for file in sorted(folder.rglob("*.py")):
        total.update(f"{file.relative_to(folder)}\0".encode() + sha256(file.read_bytes()).digest())
    return total.hexdigest()
