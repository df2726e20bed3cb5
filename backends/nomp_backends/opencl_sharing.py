"""What the OpenCL backend asks the driver about buffers and queues that others in the process have made."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from nomp.backend import BackendError, Foreign
from nomp_backends import opencl_driver as cl

_BUFFERS = cl.MEMORY_CONTEXT, cl.MEMORY_TYPE, cl.MEMORY_FLAGS, cl.MEMORY_SIZE, cl.PARENT


def found(memory: int, context: int) -> Foreign:
    """The buffer *memory* of *context*; one that is a part of another is found as that part.  Raises `BackendError`."""
    whose, kind, flags, nbytes, whole = _asked(memory, _BUFFERS)
    if whose != context:
        raise BackendError("it belongs to another OpenCL context")
    if kind != cl.BUFFER:
        raise BackendError("it is no buffer")
    if not whole:
        return Foreign(memory, 0, nbytes, not flags & cl.READ_ONLY)
    (offset,), (nbytes,) = _asked(memory, (cl.OFFSET,)), _asked(whole, (cl.MEMORY_SIZE,))
    return Foreign(whole, offset, nbytes, not flags & cl.READ_ONLY)


def _asked(memory: int, numbers: Sequence[int]) -> list[int]:
    """What the driver says of *memory* for each of *numbers*; this is done for each array of a launch."""
    ask, answers = cl.library().clGetMemObjectInfo, (ctypes.c_uint64 * len(numbers))()
    for k, number in enumerate(numbers):
        cl.check(ask(memory, number, 8, ctypes.byref(answers, 8 * k), None), "looking at memory", "clGetMemObjectInfo")
    return list(answers)


def order(first: int, second: int) -> None:
    """Have the queue *second* wait for what is in *first* now."""
    if first == second:
        return
    doing, event = "waiting for another queue", ctypes.c_void_p()
    cl.call(doing, "clEnqueueMarkerWithWaitList", first, 0, None, ctypes.byref(event))
    try:
        cl.call(doing, "clFlush", first)
        cl.call(doing, "clEnqueueBarrierWithWaitList", second, 1, ctypes.byref(event), None)
    finally:
        cl.call(doing, "clReleaseEvent", event)
