"""What the OpenCL backend asks the driver about buffers and queues that others in the process have made."""

from __future__ import annotations

import ctypes

from nomp.backend import BackendError, Foreign
from nomp_backends import opencl_driver as cl


def found(memory: int, context: int) -> Foreign:
    """The buffer *memory* of *context*; one that is a part of another is found as that part.  Raises `BackendError`."""
    asked = "clGetMemObjectInfo", memory
    if cl.number(*asked, cl.MEMORY_CONTEXT) != context:
        raise BackendError("it belongs to another OpenCL context")
    if cl.number(*asked, cl.MEMORY_TYPE) != cl.BUFFER:
        raise BackendError("it is no buffer")
    writeable = not cl.number(*asked, cl.MEMORY_FLAGS) & cl.READ_ONLY
    whole, offset = cl.number(*asked, cl.PARENT) or memory, cl.number(*asked, cl.OFFSET)
    return Foreign(whole, offset, cl.number("clGetMemObjectInfo", whole, cl.MEMORY_SIZE), writeable)


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
