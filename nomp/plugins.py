"""What other packages register with nomp: their entry points, found without reading anything else of them.

In: a group (``nomp.backends``).  Out: for each name, ``module:attribute`` or ``module``.  Used by `backend` and
`script_files`.  importlib.metadata, which does the same, takes longer to import than a warm program to start; it is
asked where there are no installed packages in folders.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from os import scandir
from pathlib import Path


def registered(group: str) -> dict[str, str]:
    """The entry points of *group*; of two with one name the one that Python finds first."""
    found: dict[str, str] = {}
    some = False
    for text in _texts():
        some = True
        for name, value in _section(text, group):
            found.setdefault(name, value)
    if some:
        return found
    from importlib.metadata import entry_points

    return {entry.name: entry.value for entry in entry_points(group=group)}


def _texts() -> Iterator[str]:
    """The file of each installed package that has one."""
    for folder in dict.fromkeys(sys.path):
        try:
            with scandir(folder or ".") as entries:
                names = sorted(entry.name for entry in entries if entry.name.endswith((".dist-info", ".egg-info")))
        except OSError:
            continue
        for name in names:
            try:
                yield Path(folder, name, "entry_points.txt").read_text(encoding="utf-8")
            except (OSError, ValueError):
                continue


def _section(text: str, group: str) -> Iterator[tuple[str, str]]:
    """Names and values of *group* in *text*, which is an INI file."""
    if f"[{group}]" not in text:
        return
    inside = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield name.strip(), value.partition("[")[0].strip()  # extras do not matter
