"""Where libnomp is, as words for compilers and linkers.  Used by `cc` and `config`."""

from __future__ import annotations

from nomp import capi
from nomp.diagnostics import error


def built() -> bool:
    """Whether libnomp.so is there."""
    return (capi.LIBRARY / "libnomp.so").is_file()


def require() -> None:
    """Raise N504 where libnomp.so has not been built."""
    if not built():
        raise error("N504", f"libnomp.so is not in {capi.LIBRARY}", help="build it: python -m nomp.capi.build")


def link_words(*name: str) -> list[str]:
    """Link with libnomp, here and where the program runs; *name* may say it in more words than ``-lnomp``."""
    return [f"-L{capi.LIBRARY}", *(name or ("-lnomp",)), f"-Wl,-rpath,{capi.LIBRARY}"]
