"""What the CUDA backend asks the driver about memory and streams that others in the process have made.

In: addresses and handles.  Out: whether memory can be used, whatever context is current; the order of two streams of
the current one.  These are the driver's own functions, by ctypes: pycuda has none for what it has not made.
"""

from __future__ import annotations

import ctypes
from functools import cache

from nomp.backend import BackendError, Foreign

# Numbers of cuda.h.
_MEMORY_TYPE, _ORDINAL, _ON_DEVICE = 2, 9, 2
_ASKED = (ctypes.c_int * 2)(_MEMORY_TYPE, _ORDINAL)
_WITHOUT_TIMING = 2


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def found(memory: int, number: int) -> Foreign:
    """The memory at an address, which is that of device *number*.  Raises `BackendError` if it is not."""
    kind, where = ctypes.c_int(), ctypes.c_int()  # which stay 0 if the driver does not know the memory
    answers = (ctypes.c_void_p * 2)(ctypes.addressof(kind), ctypes.addressof(where))
    status = _library().cuPointerGetAttributes(2, _ASKED, answers, ctypes.c_void_p(memory))
    if status or kind.value != _ON_DEVICE:
        raise BackendError("it is no memory of a GPU, or has been freed")
    if where.value != number:
        raise BackendError(f"it is on device {where.value}, and nomp uses device {number}")
    return Foreign(memory)


def order(first: int, second: int) -> None:
    """Have stream *second* wait for what is in stream *first* now."""
    library, event = _library(), ctypes.c_void_p()
    _check(library.cuEventCreate(ctypes.byref(event), _WITHOUT_TIMING))
    try:
        _check(library.cuEventRecord(event, ctypes.c_void_p(first)))
        _check(library.cuStreamWaitEvent(ctypes.c_void_p(second), event, 0))
    finally:
        library.cuEventDestroy_v2(event)  # the driver keeps it until it has happened


def _check(status: int) -> None:
    if status:
        raise BackendError(f"waiting for another stream: CUDA's status is {status}")
