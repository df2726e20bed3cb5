"""The devices of OpenCL's platforms, and what they say they are.

In: the driver.  Out: handles, and a `DeviceInfo` for each.  Used by the OpenCL backend.
"""

from __future__ import annotations

import os
import platform as host

from nomp.backend import BackendError, DeviceInfo
from nomp.launchers import is_alone
from nomp_backends import opencl_driver as cl

POCL, NVIDIA = "Portable Computing Language", "NVIDIA CUDA"


def platforms() -> list[list[int]]:
    """The devices of each platform."""
    os.environ.setdefault("POCL_SIGFPE_HANDLER", "0")  # PoCL's would hide the program's own divisions by zero
    if "OMP_PROC_BIND" in os.environ or _has_all_processors():
        # An OpenMP runtime that binds the main thread makes PoCL's threads inherit its one core; PoCL can bind its own.
        # Threads that it does not bind begin on one processor, all of them, and are only moved after milliseconds.
        os.environ.setdefault("POCL_AFFINITY", "1")
    cl.library()
    try:
        found = cl.handles("looking for platforms", "clGetPlatformIDs")
        return [_devices(platform) for platform in found]
    except BackendError as reason:
        raise BackendError(f"no OpenCL platform: {reason}; 'pip install pyopencl[pocl]' brings one") from reason


def _has_all_processors() -> bool:
    """Whether nobody has given the process, or PoCL, a part of the processors, which binding does not know of, and no
    other rank of an MPI program is there: each would bind its first thread to the first processor, and so on."""
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    is_whole = len(allowed) == os.cpu_count() and "POCL_MAX_PTHREAD_COUNT" not in os.environ
    return is_whole and is_alone(os.environ)


def _devices(platform: int) -> list[int]:
    try:
        return cl.handles("looking for devices", "clGetDeviceIDs", platform, cl.ALL_DEVICES)
    except BackendError as reason:
        if "DEVICE_NOT_FOUND" in str(reason):
            return []
        raise


def info(device: int) -> DeviceInfo:
    """What *device* is."""
    kind = next((name for bit, name in cl.TYPES.items() if _number(device, cl.TYPE) & bit), "default")
    return DeviceInfo(
        backend="opencl",
        dialect="opencl",
        platform=cl.text("clGetPlatformInfo", _number(device, cl.PLATFORM), cl.PLATFORM_NAME),
        name=_text(device, cl.NAME),
        vendor=_text(device, cl.VENDOR),
        driver=_text(device, cl.VERSION),
        type=kind,
        arch=_arch(device, kind),
        max_threads_per_block=_number(device, cl.GROUP_SIZE),
        local_mem_bytes=_number(device, cl.LOCAL_MEMORY),
        global_mem_bytes=_number(device, cl.GLOBAL_MEMORY),
        compute_units=_number(device, cl.COMPUTE_UNITS),
        warp_size=_warp_size(device, kind),
    )


def options(device: int, info: DeviceInfo) -> str:
    """What the device's compiler is told."""
    found = "-w"  # PoCL counts warnings on the program's stderr
    # Division and square root in single precision are off by some units in the last place unless asked for.
    if _number(device, cl.FP32) & cl.EXACT_DIVISION:
        found += " -cl-fp32-correctly-rounded-divide-sqrt"
    # As many registers as an item can have; kernels that say how large their groups are have as few as ever.
    return f"{found} -cl-nv-maxrregcount=255" if info.platform == NVIDIA else found


def tuning(info: DeviceInfo) -> str:
    """The attribute of functions that has them compiled for the processor *info*; empty where that is done anyway.

    Debian's PoCL takes a processor for the Intel one that has the same instructions.  Of those with AVX-512 some are
    faster with half of a vector, so that compilers use no more; AMD's EPYC of family 26 is not: products of matrices
    take 1.6 times as long.  Other processors of AMD's have not been measured.
    """
    amd = info.platform == POCL and "AMD" in info.vendor and info.arch in ("x86_64", "AMD64")
    return 'target("tune=znver3")' if amd and "znver" not in info.driver else ""


def _text(device: int, what: int) -> str:
    return cl.text("clGetDeviceInfo", device, what)


def _number(device: int, what: int) -> int:
    return cl.number("clGetDeviceInfo", device, what)


def _arch(device: int, kind: str) -> str:
    """``sm_90`` on NVIDIA, the machine's name for a CPU, else the device's name (``gfx90a`` on AMD)."""
    if kind == "cpu":
        return host.machine()
    try:
        return f"sm_{_number(device, cl.MAJOR_NV)}{_number(device, cl.MINOR_NV)}"
    except BackendError:
        return _text(device, cl.NAME).split(":")[0]


def _warp_size(device: int, kind: str) -> int:
    """How many items run in lockstep; a CPU has one (its vector lanes are the compiler's business)."""
    if kind == "cpu":
        return 1
    for what in (cl.WARP_NV, cl.WAVEFRONT_AMD, cl.GROUP_MULTIPLE):
        try:
            return _number(device, what)
        except BackendError:
            continue
    return 1
