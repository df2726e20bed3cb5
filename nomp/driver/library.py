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


def link_words(before: str = "", after: str = "") -> list[str]:
    """Link with libnomp, here and where the program runs, and with libm, whose functions the loops may call.

    *before* and *after* are a word to put before and after the libraries.
    """
    libraries = [word for word in (before, "-lnomp", "-lm", after) if word]
    return [f"-L{capi.LIBRARY}", *libraries, f"-Wl,-rpath,{capi.LIBRARY}"]
