"""Arrays of other libraries, taken as they are: without copies, and without importing the libraries.

In: whatever a program gives to a kernel.  Out: a NumPy array for what is in the host's memory, a `DeviceArray` for what
is on the device in use.  An array on a GPU is known by ``__cuda_array_interface__`` (CuPy, Numba, PyTorch, pycuda) or
DLPack, one of pyopencl by its class, one on the host by ``__array_interface__``, DLPack (PyTorch) or Python's buffers.

Errors: N633 for memory of another device; N234 for what is no array that kernels can use.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nomp.backend import BackendError, Foreign
from nomp.diagnostics import NompError, Span, error
from nomp.frontend.python_context import Unset
from nomp.frontend.python_types import TYPES
from nomp.runtime import api, arrays, session
from nomp.runtime.device_array import DeviceArray, empty, like
from nomp.runtime.device_memory import DeviceMemory, View
from nomp.runtime.failure import driver_errors
from nomp.runtime.kernel import Context
from nomp.runtime.memory import AddressMap

if TYPE_CHECKING:
    from nomp.runtime import dlpack

PLAIN = frozenset(
    (bool, int, float, np.ndarray, np.memmap, DeviceArray, FunctionType, type(len), ModuleType, type, np.ufunc, Unset)
) | {np.dtype(name).type for name in TYPES}
"""The types of what is nothing of another library's."""

_NO_ARRAYS = (np.ndarray, np.generic, str, bytes, list, tuple, dict)


class Told(NamedTuple):
    """What the owner of an array says of it: its memory's *handle*, by which the driver knows it (or an address), which
    byte of that element 0 is, how the elements lie, and the *queue* that may be using them."""

    handle: int
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...] | None
    writeable: bool
    queue: int


def adapted(objects: Sequence[Any], span: Span | None) -> Sequence[Any]:
    """*objects*, for one launch, with arrays in the place of those of other libraries.

    An array of which its owner says the same as before is the same as before, for launches that repeat.
    """
    return [found if type(found) in PLAIN else _adapted(found, span, for_launch=True) for found in objects]


def _adapted(found: Any, span: Span | None, for_launch: bool = False) -> Any:
    """*found* itself, or an array in its place, which keeps *found* unless it is *for_launch*: the caller does that."""
    if type(found) in PLAIN or isinstance(found, _NO_ARRAYS):
        return found
    try:
        interface = getattr(found, "__cuda_array_interface__", None)
    except RuntimeError as reason:  # of PyTorch, for a tensor that wants gradients
        raise _refused(found, reason, span) from reason
    owner = None if for_launch else found
    if isinstance(interface, dict):
        return _of_cuda_interface(found, interface, owner, span)
    opencl = sys.modules.get("pyopencl.array")
    if opencl is not None and isinstance(found, opencl.Array):
        return _of_pyopencl(found, owner, span)
    if hasattr(found, "__array_interface__"):
        return np.asarray(found)
    if hasattr(found, "__dlpack__") and hasattr(found, "__dlpack_device__"):
        return _of_dlpack(found, span)
    return _of_buffer(found)


def asarray(found: Any) -> DeviceArray:
    """A view, without a copy, of an array of another library on the device in use.  Errors: N633, N234."""
    made = found if isinstance(found, DeviceArray) else _adapted(found, None)
    if not isinstance(made, DeviceArray):
        what = f"{articled(type(found).__name__)} is no array on the device"
        raise error("N234", what, help="nomp.array(...) copies an array to the device")
    return made


def from_dlpack(found: Any) -> DeviceArray:
    """A view, without a copy, of an array on the device in use, by DLPack.  Errors: N633, N234."""
    made = found if isinstance(found, DeviceArray) else _of_dlpack(found, None)
    if not isinstance(made, DeviceArray):
        step = "np.from_dlpack takes it, nomp.array(...) copies it to the device"
        raise error("N633", "the array is in the host's memory", help=step)
    return made


def array(values: Any, dtype: Any = None) -> DeviceArray:
    """A new array on the device, with a copy of *values*: anything that `numpy.array` takes, or an array on the device.

    Starts nomp if the program has not.  Errors: N234 for types that kernels do not know, N611.
    """
    found = _adapted(values, None)
    if isinstance(found, DeviceArray) and dtype in (None, found.dtype):
        return found.copy()
    given = np.asarray(found, dtype)
    made = empty(given.shape, given.dtype)
    made.set(given)
    return made


def zeros(shape: Any, dtype: Any = np.float64) -> DeviceArray:
    """A new array on the device whose elements are zero.  Errors: those of `empty`."""
    made = empty(shape, dtype)
    if made.size:
        with session.lock, driver_errors(f"filling an array of {made.nbytes} bytes"):
            session.opened().device.zero(made.buffer, made.offset, made.nbytes)
    return made


def mapped(found: np.ndarray[Any, Any]) -> DeviceArray:
    """The device's copy of a NumPy array that an ``update`` has put there, as an array; it lives as long as that does.

    Errors: N604 if not all of the array is there.
    """
    if not isinstance(found, np.ndarray):
        what = articled(type(found).__name__)
        raise error("N234", f"{what} is no NumPy array", help="give what update has been given")
    address = arrays.address_of(found)
    low, high = arrays.stretch(found, address)
    map = session.mapped(low, high)
    if map.containing(low, max(high, low + 1)) is None:
        raise error("N604", "the array is not on the device", help="put it there: nomp.update(to=a)")
    form = like(found.shape, found.dtype, found.strides, found.flags.writeable)
    return DeviceArray(DeviceMemory(map, low, high), address, form)


# ---------------------------------------------------------------------------------------------- from other libraries


def _of_cuda_interface(found: Any, interface: dict[str, Any], owner: Any, span: Span | None) -> DeviceArray:
    if interface.get("mask") is not None:
        raise error("N234", "an array with a mask cannot be used", span, help="apply the mask before")
    try:
        address, read_only = interface["data"]
        shape, strides = tuple(map(int, interface["shape"])), interface.get("strides")
        strides = None if strides is None else tuple(map(int, strides))
        queue = interface.get("stream") or 0
        queue = 0 if queue == 1 else queue  # ours waits for the default stream, 1, and the default stream for it
        told = Told(address or 0, 0, shape, np.dtype(interface["typestr"]), strides, not read_only, queue)
        if told not in session.borrowed.views:  # of which it was made
            like(shape, told.dtype, strides)  # raises where these do not fit
    except (KeyError, TypeError, ValueError) as reason:
        what = f"the __cuda_array_interface__ of {articled(type(found).__name__)} is wrong: {reason!r}"
        raise error("N234", what, span, help="see Numba's documentation of the interface") from reason
    return _of_memory(_opened(("cuda", "hip"), "a GPU", span), told, owner, span)


def _of_pyopencl(found: Any, owner: Any, span: Span | None) -> DeviceArray:
    context = _opened(("opencl",), "OpenCL", span)
    handle = found.base_data.int_ptr if found.size else 0
    queue = found.queue.int_ptr if found.queue is not None else 0
    for event in found.events:
        event.wait()
    queue = 0 if queue == context.device.handles().queue else queue
    form = tuple(map(int, found.shape)), found.dtype, tuple(map(int, found.strides))
    return _of_memory(context, Told(handle, found.offset, *form, True, queue), owner, span)


def _of_dlpack(found: Any, span: Span | None) -> np.ndarray[Any, Any] | DeviceArray:
    from nomp.runtime import dlpack  # not for programs without such arrays

    try:
        kind, number = (int(part) for part in found.__dlpack_device__())
        if kind in dlpack.HOSTS:
            return _on_host(dlpack.imported(found, None))
        plain = dlpack.KINDS["cuda"] if kind == dlpack.MANAGED else kind
        names = [name for name, known in dlpack.KINDS.items() if known == plain]
        context = _opened(names, f"DLPack's device {kind}", span)
        handles = context.device.handles()
        if "opencl" not in names and number != handles.number:
            raise _elsewhere(f"it is on device {number}, and nomp uses device {handles.number}", span)
        made = dlpack.imported(found, None if "opencl" in names else handles.queue)
    except (AttributeError, BufferError, TypeError, ValueError, RuntimeError) as reason:
        raise _refused(found, reason, span) from reason
    told = Told(made.data, made.offset, made.shape, np.dtype(made.dtype), made.strides, made.writeable, 0)
    return _of_memory(context, told, made.owner, span)


def _on_host(made: dlpack.Imported) -> np.ndarray[Any, Any]:
    form = like(made.shape, made.dtype, made.strides)
    if not form.size:
        return np.empty(made.shape, made.dtype)
    first = made.data + made.offset
    low, high = arrays.stretch(form, first)
    raw: Any = (ctypes.c_char * (high - low)).from_address(low)
    raw.owner = made.owner
    found = np.ndarray(made.shape, made.dtype, raw, first - low, made.strides)
    found.flags.writeable = made.writeable
    return found


def _of_buffer(found: Any) -> Any:
    """An array of what has a buffer of numbers that Python computes with as NumPy does; else *found* itself."""
    try:
        view = memoryview(found)
    except TypeError:
        return found
    return np.asarray(view) if view.format in ("d", "q", "l") and view.itemsize == 8 else found


def _of_memory(context: Context, told: Told, owner: Any, span: Span | None) -> DeviceArray:
    """The array of which its owner has *told*.  Without *owner*, which it keeps, it is the same as long as that holds:
    the driver is asked each time whose the memory is."""
    with session.lock:
        map, borrowed = context.memory, session.borrowed
        known = None if owner is not None else borrowed.views.get(told)
        try:
            there = context.device.foreign(told.handle) if 0 not in told.shape else None
        except BackendError as reason:
            raise _elsewhere(str(reason), span) from reason
        if known is not None and known.is_right(map, there):
            same: DeviceArray = known.array
            return same
        array = _made(map, told, there, owner)
        if owner is None:
            borrowed.keep(told, View(array, there, map.own_version))
        return array


def _made(map: AddressMap, told: Told, there: Foreign | None, owner: Any) -> DeviceArray:
    writeable = told.writeable and (there is None or there.writeable)
    form = like(told.shape, told.dtype, told.strides, writeable)
    if there is None:
        return DeviceArray(DeviceMemory(map, 0, 0, 0), 0, form)
    offset = told.offset + there.offset
    if own := map.holding(there.buffer):  # the array is one of ours, or in the copy of a mapped one
        start = own.start - own.offset(own.start) + there.buffer - own.buffer
        return DeviceArray(DeviceMemory(map, own.start, own.end, None, told.queue, owner), start + offset, form)
    if there.nbytes:
        used = session.borrowed.whole(map, there.buffer, there.nbytes, told.queue, owner)
        return DeviceArray(used, used.start + offset, form)
    first = there.buffer + offset
    low, high = arrays.stretch(form, first)
    return DeviceArray(DeviceMemory(map, low, high, low, told.queue, owner), first, form)


def _opened(dialects: Sequence[str], what: str, span: Span | None) -> Context:
    """The device in use, one whose kernels are in one of *dialects*, and its address map."""
    api.ensure_started()
    context = session.opened()
    info = context.device.info
    if info.dialect not in dialects:
        raise _elsewhere(f"it is on {what}, and nomp uses {info.backend}", span)
    return context


def _refused(found: Any, reason: Exception, span: Span | None) -> NompError:
    what = f"the array of type {type(found).__name__} cannot be used: {reason}"
    return error("N234", what, span, help="convert it to one that exports DLPack")


def _elsewhere(reason: str, span: Span | None) -> NompError:
    step = "have nomp use the device of the array: nomp.init(backend=..., device=...); or copy it: nomp.array(...)"
    return error("N633", f"an array cannot be used by kernels: {reason}", span, help=step)


def articled(name: str) -> str:
    """*name* after the article that it takes."""
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
