"""The threads of the CPU's backend, which are a library of C's (``cpu_text/threads.c``).

In: how many are wanted.  Out: the address of the function that kernels have their work shared out by, and copies.  The
CPU backend makes them before its first launch or large copy.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from nomp.backend import BackendError

_MAKING = Lock()
_LIBRARY = Path(__file__).with_name("lib") / "libnomp_threads.so"


class Threads:
    """*threads* that share work out among themselves; they are made when a process asks first, and stay.

    Those that have nothing to do look for *patience* seconds for something before they sleep.  *bound*: each has a
    processor of its own, if there are as many.  Raises `BackendError` if there is no library, or no memory.
    """

    def __init__(self, threads: int, patience: float, bound: bool) -> None:
        try:
            library = ctypes.CDLL(str(_LIBRARY))
        except OSError as failure:
            raise BackendError(f"{failure}: build it with python -m nomp.capi.build") from failure
        library.nomp_make_threads.argtypes = [ctypes.c_size_t, ctypes.c_long, ctypes.POINTER(ctypes.c_int)]
        with _MAKING, _on_all_processors():
            if library.nomp_make_threads(threads, round(patience * 1e9), _processors(threads) if bound else None):
                raise BackendError("there is no memory for threads")
        self.share_out = ctypes.cast(library.nomp_share_out, ctypes.c_void_p).value or 0
        """The address of the function by which kernels have their work shared out."""
        self._copy = library.nomp_copy
        self._copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]

    def copy(self, target: int, source: int | None, nbytes: int) -> None:
        """Copy to the address *target* from *source*, which is elsewhere, or set the bytes to zero."""
        self._copy(target, source, nbytes)


def _processors(threads: int) -> Any:
    """The numbers of the processors that *threads* are bound to; None if they are not."""
    found = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else ()
    return (ctypes.c_int * len(found))(*found) if len(found) == threads else None


@contextmanager
def _on_all_processors() -> Iterator[None]:
    """A block whose threads may run everywhere, if OpenMP has bound the one that makes them to a processor."""
    if "OMP_PROC_BIND" not in os.environ or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
