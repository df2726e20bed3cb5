"""Buffers of CPU devices in large pages: a program that walks through memory looks up far fewer addresses then.

In: a buffer that has just been made.  Out: Linux is asked for large pages where it gives them to those who ask, as
NumPy asks it for its arrays.  Used by the OpenCL backend.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap

from nomp.backend import BackendError
from nomp_backends import opencl_driver as cl

_SMALLEST = 4 << 20
"""From how many bytes on: two of the pages that processors have besides small ones."""


def advise(queue: int, buffer: int, nbytes: int) -> None:
    """Have *buffer*, of *nbytes* in the memory of a CPU, in large pages, if that is possible."""
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if nbytes < _SMALLEST or advice is None:
        return
    with contextlib.suppress(BackendError):  # a buffer in small pages is one, too
        doing = "looking where a buffer is"
        start = cl.make(doing, "clEnqueueMapBuffer", queue, buffer, 0, cl.OVERWRITE, 0, nbytes, 0, None, None)
        cl.call(doing, "clEnqueueUnmapMemObject", queue, buffer, start, 0, None, None)
        first, end = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE, (start + nbytes) // mmap.PAGESIZE * mmap.PAGESIZE
        ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(end - first), advice)
