"""OpenCL's C functions: the loader that pyopencl brings, called by ctypes.

Out: `call` for the functions, with errors as `BackendError`, and what they tell of platforms, devices and programs.
Used by the OpenCL backend.  pyopencl itself, with what it imports, would take longer than all else that a short program
does at its start; its loader finds the same platforms, PoCL of the package ``pyopencl[pocl]`` among them.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_ulong, c_void_p, create_string_buffer
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nomp.backend import BackendError

# Numbers of OpenCL's header.
ALL_DEVICES = 0xFFFFFFFF
TYPES = {1 << 1: "cpu", 1 << 2: "gpu", 1 << 3: "accelerator"}
READ_WRITE, OVERWRITE = 1, 1 << 2
NAME, VENDOR, DRIVER_VERSION, VERSION, PLATFORM = 0x102B, 0x102C, 0x102D, 0x102F, 0x1031
TYPE, COMPUTE_UNITS, GROUP_SIZE = 0x1000, 0x1002, 0x1004
FP32, GLOBAL_MEMORY, LOCAL_MEMORY = 0x101B, 0x101F, 0x1023
EXACT_DIVISION = 1 << 7
PLATFORM_VERSION, PLATFORM_NAME = 0x0901, 0x0902
PROFILING, START, END = 1 << 1, 0x1282, 0x1283
BINARY_SIZES, BINARIES, BUILD_LOG, KERNEL_ARGUMENTS = 0x1165, 0x1166, 0x1183, 0x1191
MEMORY_TYPE, MEMORY_FLAGS, MEMORY_SIZE, MEMORY_CONTEXT = 0x1100, 0x1101, 0x1102, 0x1106
PARENT, OFFSET, BUFFER, READ_ONLY = 0x1107, 0x1108, 0x10F0, 1 << 2
MAJOR_NV, MINOR_NV, WARP_NV, WAVEFRONT_AMD, GROUP_MULTIPLE = 0x4000, 0x4001, 0x4003, 0x4043, 0x1067

_BITS, _ADDRESS, _BYTES = c_ulong, c_void_p, c_size_t

_INFO = (_ADDRESS, c_uint, _BYTES, _ADDRESS, POINTER(_BYTES))
_WAIT = (c_uint, _ADDRESS, _ADDRESS)
_COPY = (_ADDRESS, _ADDRESS, c_uint, _BYTES, _BYTES, _ADDRESS, *_WAIT)

_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "clGetPlatformIDs": (c_uint, _ADDRESS, POINTER(c_uint)),
    "clGetPlatformInfo": _INFO,
    "clGetDeviceIDs": (_ADDRESS, _BITS, c_uint, _ADDRESS, POINTER(c_uint)),
    "clGetDeviceInfo": _INFO,
    "clReleaseContext": (_ADDRESS,),
    "clReleaseCommandQueue": (_ADDRESS,),
    "clReleaseMemObject": (_ADDRESS,),
    "clReleaseProgram": (_ADDRESS,),
    "clReleaseKernel": (_ADDRESS,),
    "clBuildProgram": (_ADDRESS, c_uint, _ADDRESS, c_char_p, _ADDRESS, _ADDRESS),
    "clGetProgramInfo": _INFO,
    "clGetProgramBuildInfo": (_ADDRESS, *_INFO),
    "clGetKernelInfo": _INFO,
    "clSetKernelArg": (_ADDRESS, c_uint, _BYTES, _ADDRESS),
    "clEnqueueNDRangeKernel": (_ADDRESS, _ADDRESS, c_uint, _ADDRESS, _ADDRESS, _ADDRESS, *_WAIT),
    "clEnqueueWriteBuffer": _COPY,
    "clEnqueueReadBuffer": _COPY,
    "clEnqueueCopyBuffer": (_ADDRESS, _ADDRESS, _ADDRESS, _BYTES, _BYTES, _BYTES, *_WAIT),
    "clEnqueueFillBuffer": (_ADDRESS, _ADDRESS, c_char_p, _BYTES, _BYTES, _BYTES, *_WAIT),
    "clEnqueueUnmapMemObject": (_ADDRESS, _ADDRESS, _ADDRESS, *_WAIT),
    "clFinish": (_ADDRESS,),
    "clEnqueueMarkerWithWaitList": (_ADDRESS, *_WAIT),
    "clWaitForEvents": (c_uint, _ADDRESS),
    "clGetEventProfilingInfo": _INFO,
    "clReleaseEvent": (_ADDRESS,),
    "clEnqueueBarrierWithWaitList": (_ADDRESS, *_WAIT),
    "clFlush": (_ADDRESS,),
    "clGetMemObjectInfo": _INFO,
}
"""Those that return a status."""

_MAKERS: dict[str, tuple[Any, ...]] = {
    "clCreateContext": (_ADDRESS, c_uint, _ADDRESS, _ADDRESS, _ADDRESS),
    "clCreateCommandQueue": (_ADDRESS, _ADDRESS, _BITS),
    "clCreateBuffer": (_ADDRESS, _BITS, _BYTES, _ADDRESS),
    "clEnqueueMapBuffer": (_ADDRESS, _ADDRESS, c_uint, _BITS, _BYTES, _BYTES, *_WAIT),
    "clCreateProgramWithSource": (_ADDRESS, c_uint, _ADDRESS, _ADDRESS),
    "clCreateProgramWithBinary": (_ADDRESS, c_uint, _ADDRESS, _ADDRESS, _ADDRESS, _ADDRESS),
    "clCreateKernel": (_ADDRESS, c_char_p),
}
"""Those that return a handle or an address, and have a status as their last argument."""

_NAMES = {
    -1: "DEVICE_NOT_FOUND", -2: "DEVICE_NOT_AVAILABLE", -3: "COMPILER_NOT_AVAILABLE",
    -4: "MEM_OBJECT_ALLOCATION_FAILURE", -5: "OUT_OF_RESOURCES", -6: "OUT_OF_HOST_MEMORY", -11: "BUILD_PROGRAM_FAILURE",
    -14: "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", -30: "INVALID_VALUE", -33: "INVALID_DEVICE",
    -34: "INVALID_CONTEXT", -36: "INVALID_COMMAND_QUEUE", -38: "INVALID_MEM_OBJECT", -42: "INVALID_BINARY",
    -43: "INVALID_BUILD_OPTIONS", -44: "INVALID_PROGRAM", -45: "INVALID_PROGRAM_EXECUTABLE",
    -46: "INVALID_KERNEL_NAME", -47: "INVALID_KERNEL_DEFINITION", -48: "INVALID_KERNEL", -49: "INVALID_ARG_INDEX",
    -50: "INVALID_ARG_VALUE", -51: "INVALID_ARG_SIZE", -52: "INVALID_KERNEL_ARGS", -53: "INVALID_WORK_DIMENSION",
    -54: "INVALID_WORK_GROUP_SIZE", -55: "INVALID_WORK_ITEM_SIZE", -56: "INVALID_GLOBAL_OFFSET",
    -59: "INVALID_OPERATION", -61: "INVALID_BUFFER_SIZE", -63: "INVALID_GLOBAL_WORK_SIZE",
    -1001: "PLATFORM_NOT_FOUND_KHR",
}  # fmt: skip
"""Statuses by their names in OpenCL's header, without CL_."""


@cache
def library() -> ctypes.CDLL:
    """The loader.  Raises `BackendError` where pyopencl is not installed."""
    spec = find_spec("pyopencl")
    folder = Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None
    files = [folder / f"_cl{suffix}" for suffix in EXTENSION_SUFFIXES] if folder else []
    file = next((file for file in files if file.is_file()), None)
    if folder is None or file is None:
        raise BackendError("pyopencl is not installed, whose OpenCL loader is used: pip install 'pyopencl[pocl]'")
    os.environ["PYOPENCL_HOME"] = str(folder)  # as pyopencl does: its loader looks there for PoCL
    try:
        loaded = ctypes.CDLL(str(file))  # an extension module, of which only the loader is used that it is linked to
    except OSError as reason:
        raise BackendError(f"pyopencl cannot be loaded: {reason}") from reason
    for name, arguments in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = arguments, c_int
    for name, arguments in _MAKERS.items():
        function = getattr(loaded, name)
        function.argtypes, function.restype = (*arguments, POINTER(c_int)), c_void_p
    return loaded


def check(status: int, doing: str, function: str) -> None:
    """Raises `BackendError` for a *status* that is not 0."""
    if status:
        raise BackendError(f"{doing}: {function} failed: {_NAMES.get(status, f'status {status}')}")


def call(doing: str, function: str, *arguments: Any) -> None:
    """Call *function*.  Raises `BackendError`."""
    check(getattr(library(), function)(*arguments), doing, function)


def make(doing: str, function: str, *arguments: Any) -> int:
    """The handle that *function* makes.  Raises `BackendError`."""
    status = c_int()
    handle = getattr(library(), function)(*arguments, byref(status))
    check(status.value, doing, function)
    return int(handle)


def handles(doing: str, function: str, *of: Any) -> list[int]:
    """The platforms, or the devices *of* a platform.  Raises `BackendError`."""
    count = c_uint()
    call(doing, function, *of, 0, None, byref(count))
    found = (c_void_p * count.value)()
    call(doing, function, *of, count, found, None)
    return [int(handle or 0) for handle in found]


def info(function: str, *of: Any) -> bytes:
    """What *function*, one that ends in ``Info``, tells.  Raises `BackendError`."""
    size = c_size_t()
    call("asking the driver", function, *of, 0, None, byref(size))
    answer = create_string_buffer(max(1, size.value))
    call("asking the driver", function, *of, size, answer, None)
    return answer.raw[: size.value]


def text(function: str, *of: Any) -> str:
    """The same for what is text."""
    return info(function, *of).rstrip(b"\0").decode("utf-8", "replace").strip()


def number(function: str, *of: Any) -> int:
    """The same for what is a number."""
    return int.from_bytes(info(function, *of), "little")


def sizes(values: Sequence[int]) -> Any:
    """*values* as an array of C's size_t."""
    return (c_size_t * len(values))(*values)
