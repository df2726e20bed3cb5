"""The languages of devices: what is spelled differently in each.

One class a dialect, looked up by `DIALECTS` with the name that `backend.DeviceInfo.dialect` gives.  What loopy prints
is its `targets`' affair; the rest is for the C text that `ctext` writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from nomp.lower import cuda_target, target


class OpenCL:
    """OpenCL C."""

    types: ClassVar[Mapping[str, str]] = {
        "bool": "char", "int8": "char", "int16": "short", "int32": "int", "int64": "long", "uint8": "uchar",
        "uint16": "ushort", "uint32": "uint", "uint64": "ulong", "float32": "float", "float64": "double",
    }  # fmt: skip
    qualifier: ClassVar[str] = "static"
    """What stands before a function."""
    prelude: ClassVar[str] = ""
    """What stands before everything."""
    open_extents: ClassVar[bool] = True
    """Whether some device may have local arrays whose size only a launch tells (OpenCL's compilers decide)."""
    declared_group_bytes: ClassVar[int | None] = None
    """How many bytes of a group's memory declarations may have; the rest is asked for by launches.  None: all."""
    has_matrix_units: ClassVar[bool] = False
    """Whether units may make sums of products (`matrix_units`)."""
    has_streams: ClassVar[bool] = False
    """Whether loads can say that caches need not keep an element (`target.ReadOnce`)."""
    targets: ClassVar[tuple[Any, Any]] = (target.NompOpenCLTarget, target.ApartOpenCLTarget)
    """loopy's targets, for arrays that may overlap and for those that are apart."""
    spelled = staticmethod(target.spelled)
    """What a function of ``<math.h>``, or of bits, is called for a type."""


class C(OpenCL):
    """OpenCL C as the host's C compiler takes it, after what the CPU backend puts before it."""

    targets = (target.NompCTarget, target.ApartCTarget)


class Cuda(OpenCL):
    """CUDA C++, of NVRTC and nvcc."""

    types: ClassVar[Mapping[str, str]] = {
        "bool": "signed char", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
        "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int",
        "uint64": "unsigned long long", "float32": "float", "float64": "double",
    }  # fmt: skip
    qualifier = "static __device__"
    prelude = """#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef HUGE_VAL
#define HUGE_VAL ((double)INFINITY)
#endif
"""
    open_extents = False
    declared_group_bytes: ClassVar[int | None] = 48 << 10
    has_matrix_units = True
    has_streams = True
    targets = (cuda_target.NompCudaTarget, cuda_target.ApartCudaTarget)
    spelled = staticmethod(cuda_target.spelled)


class Hip(Cuda):
    """HIP C++, which takes CUDA's text."""

    declared_group_bytes = None
    has_matrix_units = False
    has_streams = False


DIALECTS: Mapping[str, type[OpenCL]] = {"opencl": OpenCL, "c": C, "cuda": Cuda, "hip": Hip}
