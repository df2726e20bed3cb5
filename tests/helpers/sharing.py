"""What is made once a run, whichever of its processes needs it first; the fixture ``shared`` says where."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

Make = Callable[[Path], object]
Shared = Callable[[str, Make], Path]
"""``shared(name, make)`` is a folder that ``make(folder)`` has filled; nobody may change it."""


def once(root: Path, name: str, make: Make) -> Path:
    """The folder *name* in *root*, after *make* has filled it in this process or in another one."""
    folder, done = root / name, root / f"{name}.done"
    with open(root / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            done.touch()
    return folder
