"""Arrays on the device: nomp's own, and views of those of other libraries and of mapped NumPy arrays.

In: memory of the device, and how elements lie in it.  Out: what kernels take, and the protocols by which other
libraries use the same memory: ``__cuda_array_interface__`` (version 3) on GPUs of NVIDIA and AMD, DLPack on all
devices.  Made by `runtime.interop`.

Nothing is copied but by `DeviceArray.get`, `set` and `copy`.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from nomp.backend import Device, Handles
from nomp.diagnostics import error
from nomp.frontend.python_types import TYPES
from nomp.runtime import api, arrays, session
from nomp.runtime.device_memory import DeviceMemory, allocate, gone
from nomp.runtime.failure import driver_errors
from nomp.runtime.kernel import Context

if TYPE_CHECKING:
    from collections.abc import Iterator

Shape = tuple[int, ...]


class Flags(NamedTuple):
    """Those of NumPy's flags that kernels depend on."""

    num: int
    writeable: bool
    aligned: bool
    c_contiguous: bool


class DeviceArray:
    """An array whose elements are on the device.

    It has NumPy's ``dtype``, ``shape``, ``strides`` (bytes), ``ndim``, ``size``, ``itemsize`` and ``nbytes``.
    Integers, slices and ``...`` as subscripts give views, or the number of an element.  Errors: N634 where its memory
    is gone.
    """

    __slots__ = ("__weakref__", "_like", "address", "flags", "memory")

    def __init__(self, memory: DeviceMemory, address: int, like: np.ndarray[Any, Any]) -> None:
        """*like* has the type, the shape and the strides; its elements are never looked at."""
        self.memory = memory
        self.address = address
        self._like = like
        flags = like.flags
        aligned = flags.aligned and address % like.dtype.alignment == 0
        self.flags = Flags(flags.num if aligned else flags.num & ~arrays.ALIGNED, flags.writeable, aligned,
                           flags.c_contiguous)  # fmt: skip

    @property
    def dtype(self) -> Any:
        """The type of the elements."""
        return self._like.dtype

    @property
    def shape(self) -> Shape:
        """The number of elements along each axis."""
        return tuple(self._like.shape)

    @property
    def strides(self) -> Shape:
        """The distance of neighbours along each axis, in bytes."""
        return self._like.strides

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._like.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._like.size

    @property
    def itemsize(self) -> int:
        """The bytes of an element."""
        return self._like.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self._like.nbytes

    @property
    def buffer(self) -> int:
        """The driver's handle of the memory: an address, or OpenCL's ``cl_mem``; element 0 is `offset` bytes in it."""
        return self._place()[0]

    @property
    def offset(self) -> int:
        """How many bytes of `buffer` are before element 0."""
        return self._place()[1]

    def _place(self) -> tuple[int, int]:
        low, high = arrays.stretch(self, self.address)
        self._context()
        buffer, offset = self.memory.place(low, max(high, low + 1))
        return buffer, offset + self.address - low

    def _context(self) -> Context:
        context = session.opened()
        if context.memory is not self.memory.map:
            raise gone("the array")
        return context

    def __len__(self) -> int:
        return len(self._like)

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        return f"<nomp array on the device: {self.dtype}, shape {self.shape}>"

    def __getitem__(self, key: Any) -> Any:
        part = self._part(key)
        return part.get()[()] if part.ndim == 0 else part

    def __setitem__(self, key: Any, value: Any) -> None:
        self._part(key).set(value)

    def _part(self, key: Any) -> DeviceArray:
        keys = key if isinstance(key, tuple) else (key,)
        for each in keys:
            if isinstance(each, bool | np.bool_) or not isinstance(each, int | np.integer | slice | type(...)):
                raise TypeError("subscripts of an array on the device are integers, slices and ...")
        return self._view(self._like[(*keys, ...) if ... not in keys else keys])

    def _view(self, like: np.ndarray[Any, Any]) -> DeviceArray:
        moved = like.__array_interface__["data"][0] - self._like.__array_interface__["data"][0]
        return DeviceArray(self.memory, self.address + moved, like)

    @property
    def T(self) -> DeviceArray:
        """The array with its axes in reverse order."""
        return self._view(self._like.T)

    def reshape(self, *shape: Any) -> DeviceArray:
        """The array with another shape.  ValueError if its elements lie so that this needs a copy."""
        view = self._like.view()
        view.shape = shape[0] if len(shape) == 1 else shape  # which does not copy
        return self._view(view)

    def get(self) -> np.ndarray[Any, Any]:
        """The elements, as a NumPy array on the host.  Waits for the device."""
        if not self.size:
            return np.empty(self.shape, self.dtype)
        low, high = arrays.stretch(self, self.address)
        held = np.empty(high - low, np.uint8)
        with self._in_order("copying an array from the device") as device:
            device.copy_from(*self.memory.place(low, high), held.ctypes.data, held.nbytes)
        return np.ndarray(self.shape, self.dtype, held, self.address - low, self.strides)

    def set(self, values: Any) -> None:
        """Copy *values*, anything that NumPy can make an array of this shape of, to the elements."""
        if not self.flags.writeable:
            raise error("N234", "the array on the device is read-only", help="copy it: a.copy()")
        if not self.size:
            return
        low, high = arrays.stretch(self, self.address)
        given = values.get() if isinstance(values, DeviceArray) else values
        held = np.empty(high - low, np.uint8)
        with self._in_order("copying an array to the device") as device:
            place = self.memory.place(low, high)
            if not arrays.is_dense(self, low, high):
                device.copy_from(*place, held.ctypes.data, held.nbytes)
            np.ndarray(self.shape, self.dtype, held, self.address - low, self.strides)[...] = given
            device.copy_to(*place, held.ctypes.data, held.nbytes)

    @contextmanager
    def _in_order(self, doing: str) -> Iterator[Device]:
        """The device, which waits for those who may be using the memory; they wait for what it is given in a block."""
        with session.lock, driver_errors(doing):
            device, queue = self._context().device, self.memory.queue
            if queue:
                device.wait_for(queue)
            yield device
            if queue:
                device.hold_up(queue)

    def copy(self) -> DeviceArray:
        """A new array on the device, in C order."""
        made = empty(self.shape, self.dtype)
        low, high = arrays.stretch(self, self.address)
        if not self.flags.c_contiguous:
            made.set(self.get())
        elif self.size:
            with self._in_order("copying an array on the device") as device:
                target = made.memory.place(made.address, made.address + self.nbytes)
                device.copy(*target, *self.memory.place(low, high), self.nbytes)
        return made

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("the array is on the device: NumPy needs a copy")
        found = self.get()
        return found if dtype is None else found.astype(dtype, copy=False)

    # -------------------------------------------------------------------------------------------------- protocols

    @property
    def handles(self) -> Handles:
        """What the driver calls the device, and its queue."""
        return self._context().device.handles()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """See Numba's documentation of version 3; whoever uses it waits for ``stream``."""
        context = self._context()
        if context.device.info.dialect not in ("cuda", "hip"):
            raise AttributeError(f"memory of {context.device.info.backend} has no address on a GPU")
        buffer, offset = self._place() if self.size else (0, 0)
        return {
            "version": 3, "shape": self.shape, "typestr": self.dtype.str,
            "strides": None if self.flags.c_contiguous else self.strides,
            "data": (buffer + offset, not self.flags.writeable),
            "stream": context.device.handles().queue or 1,  # the null stream is called 1
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        from nomp.runtime import dlpack

        context = self._context()
        return dlpack.KINDS[context.device.info.dialect], context.device.handles().number

    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None, copy: bool | None = None,
    ) -> Any:  # fmt: skip
        from nomp.runtime import dlpack

        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError("an array on the device is exported as that; get() copies it to the host")
        if copy:
            return self.copy().__dlpack__(stream=stream, max_version=max_version)
        with self._in_order("exporting an array") as device:
            dlpack.hand_over(device, stream)
            return dlpack.exported(self, versioned=max_version is not None and max_version[0] >= 1)


def like(shape: Any, dtype: Any, strides: Shape | None = None, writeable: bool = True) -> np.ndarray[Any, Any]:
    """What `DeviceArray` is to have; no memory belongs to it.  ValueError for what no array is like."""
    sizes: Shape = (int(shape),) if isinstance(shape, int | np.integer) else tuple(map(int, shape))
    return _like(sizes, np.dtype(dtype), strides, writeable)


@lru_cache(256)
def _like(sizes: Shape, kind: np.dtype[Any], strides: Shape | None, writeable: bool) -> np.ndarray[Any, Any]:
    if strides is None:
        step, strides = kind.itemsize, ()
        for size in reversed(sizes):
            strides = (step, *strides)
            step *= max(1, size)
    base = np.empty(1, kind)
    return np.lib.stride_tricks.as_strided(base, sizes, strides, writeable=writeable)


def empty(shape: Any, dtype: Any = np.float64) -> DeviceArray:
    """A new array on the device, in C order; what it holds is undefined.  Starts nomp if the program has not.

    Errors: N234 for types that kernels do not know, N611 where there is no memory.
    """
    form = like(shape, dtype)
    if form.dtype.name not in TYPES or not form.dtype.isnative:
        step = "the types are bool, integers, float16, float32 and float64, in the machine's byte order"
        raise error("N234", f"there can be no array of {form.dtype} on the device", help=step)
    with session.lock, driver_errors(f"making an array of {form.nbytes} bytes"):
        api.ensure_started()
        memory = allocate(session.opened().memory, form.nbytes)
    return DeviceArray(memory, memory.start, form)
