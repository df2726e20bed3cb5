"""DLPack: arrays that libraries hand each other as capsules, without copies.

In: a `DeviceArray`; or an object with ``__dlpack__``.  Out: a capsule; or what is in one.  Used by
`runtime.device_array` and `runtime.interop`.  The structures are those of dlpack.h, of version 1 and of what was before
that.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nomp.backend import Device
from nomp.runtime.device_memory import retired

if TYPE_CHECKING:
    from nomp.runtime.device_array import DeviceArray

KINDS = {"c": 1, "cuda": 2, "hip": 10, "opencl": 4}
"""DLPack's numbers of devices, by the dialect of their kernels."""
HOSTS = (1, 3, 11)
"""Those of the host's memory: the usual one, and that which CUDA and ROCm have page-locked."""
MANAGED = 13
"""CUDA's memory that moves between host and device."""

_VERSION = (1, 0)
_READ_ONLY = 1
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
_TYPES = {(code, 8 * size): np.dtype(f"{kind}{size}") for kind, code in _CODES.items() for size in (1, 2, 4, 8)
          if (kind, size) != ("f", 1) and (kind != "b" or size == 1)}  # fmt: skip


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("number", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


_Sizes = ctypes.POINTER(ctypes.c_int64)
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Tensor(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("device", _Device), ("ndim", ctypes.c_int32), ("type", _Type),
                ("shape", _Sizes), ("strides", _Sizes), ("offset", ctypes.c_uint64))  # fmt: skip


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))


class _Versioned(ctypes.Structure):
    _fields_ = (("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", _Deleter), ("flags", ctypes.c_uint64), ("tensor", _Tensor))  # fmt: skip


_STRUCTURES: dict[bytes, Any] = {b"dltensor": _Managed, b"dltensor_versioned": _Versioned}
_USED = {b"dltensor": b"used_dltensor", b"dltensor_versioned": b"used_dltensor_versioned"}

_Destructor = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, _Destructor]
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
_rename = ctypes.pythonapi.PyCapsule_SetName
_rename.restype, _rename.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]

_exports: dict[int, Any] = {}
"""What is in the hands of others, by the address of its structure."""


def _give_back(address: int) -> None:
    _exports.pop(address, None)


def _forget(capsule: int) -> None:
    """A *capsule* goes; perhaps nobody has taken the array from it."""
    for name in _STRUCTURES:
        if _is_valid(capsule, name):
            _give_back(_pointer(capsule, name))


_given_back = _Deleter(_give_back)
_forgotten = _Destructor(_forget)


def exported(array: DeviceArray, versioned: bool) -> Any:
    """A capsule with *array*.  BufferError where what is exported could not be told to be read-only."""
    if not versioned and not array.flags.writeable:
        raise BufferError("the array is read-only, which DLPack before version 1 cannot say")
    name = b"dltensor_versioned" if versioned else b"dltensor"
    made = _STRUCTURES[name]()
    if versioned:
        made.major, made.minor = _VERSION
        made.flags = 0 if array.flags.writeable else _READ_ONLY
    made.deleter = _given_back
    tensor, sizes = made.tensor, ctypes.c_int64 * max(1, array.ndim)
    if array.size:
        tensor.data, tensor.offset = array.buffer, array.offset
    tensor.device = _Device(*array.__dlpack_device__())
    tensor.ndim = array.ndim
    tensor.type = _Type(_CODES[array.dtype.kind], 8 * array.itemsize, 1)
    tensor.shape = sizes(*array.shape)
    tensor.strides = sizes(*(stride // array.itemsize for stride in array.strides))
    if tensor.device.kind != KINDS["opencl"]:  # there the data is no address
        tensor.data, tensor.offset = (tensor.data or 0) + tensor.offset, 0
    address = ctypes.addressof(made)
    _exports[address] = made, array
    return _new(address, name, _forgotten)


def hand_over(device: Device, stream: Any) -> None:
    """Have what comes in *stream*, as the consumer of an array names it, wait for what the device has been given.

    BufferError for what is no stream of such a device.
    """
    dialect = device.info.dialect
    if dialect in ("c", "opencl"):
        if stream is not None:
            raise BufferError("arrays on such a device are exported without a stream")
        device.sync()
        return
    if stream == -1:
        return
    if dialect == "cuda" and stream == 0:
        raise BufferError("0 is no stream of CUDA: the default stream is 1")
    device.hold_up(stream if stream is not None else 1 if dialect == "cuda" else 0)


@dataclass(frozen=True, slots=True)
class Imported:
    """An array: *data* is the address of its memory, or OpenCL's handle, and element 0 is *offset* bytes behind that.
    *strides* are in bytes (None: the array is in C order).  *owner* keeps it alive."""

    data: int
    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    writeable: bool
    owner: Any


class Owner:
    """Has what is in a capsule: gives it back at its end, or, if that is *deferred*, when the device is done."""

    def __init__(self, address: int, deleter: Callable[[int], object], deferred: bool) -> None:
        self._address, self._deleter, self._deferred = address, deleter, deferred

    def __del__(self) -> None:
        address, deleter = self._address, self._deleter
        if self._deferred:
            retired.append(lambda: deleter(address))
        else:
            deleter(address)


def imported(found: Any, stream: Any) -> Imported:
    """The array of *found*, which has ``__dlpack__``; its producer has *stream* wait for it (None: there is none).

    BufferError, or whatever the producer raises, if it cannot be had; TypeError for elements of other types.
    """
    more = {} if stream is None else {"stream": stream}
    try:
        capsule = found.__dlpack__(**more, max_version=_VERSION)
    except TypeError:  # from before version 1
        capsule = found.__dlpack__(**more)
    name = next((name for name in _STRUCTURES if _is_valid(id(capsule), name)), None)
    if name is None:
        raise BufferError("__dlpack__ returned no capsule of DLPack that is new")
    address = _pointer(id(capsule), name)
    held = _STRUCTURES[name].from_address(address)
    _rename(capsule, _USED[name])
    deleter: Any = held.deleter
    owner = Owner(address, deleter if deleter else lambda _: None, held.tensor.device.kind not in HOSTS)
    if name == b"dltensor_versioned" and held.major != _VERSION[0]:
        raise BufferError(f"version {held.major} of DLPack is not known")
    read_only = name == b"dltensor_versioned" and held.flags & _READ_ONLY
    return _read(held.tensor, not read_only, owner)


def _read(tensor: Any, writeable: bool, owner: Owner) -> Imported:
    kind = tensor.type
    dtype = _TYPES.get((kind.code, kind.bits)) if kind.lanes == 1 else None
    if dtype is None:
        raise TypeError(f"elements of DLPack's type {kind.code} with {kind.lanes} times {kind.bits} bits")
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    strides = tuple(tensor.strides[axis] * dtype.itemsize for axis in range(tensor.ndim)) if tensor.strides else None
    return Imported(tensor.data or 0, tensor.offset, dtype, shape, strides, writeable, owner)
