"""Memory of the host in large pages: a program that walks through it looks up far fewer addresses then.

In: memory that has just been allocated.  Out: Linux is asked for large pages where it gives them to those who ask, as
NumPy asks it for its arrays.  Used by the backends whose devices are the host's processors.
"""

from __future__ import annotations

import ctypes
import mmap

SMALLEST = 4 << 20
"""From how many bytes on: two of the pages that processors have besides small ones."""


def advise(start: int, nbytes: int) -> None:
    """Have the *nbytes* from address *start* on in large pages, if that is possible."""
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if nbytes < SMALLEST or advice is None:
        return
    first, end = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE, (start + nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
    ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), advice)
