"""What GPUs of NVIDIA's are, and what the fastest one of an architecture is.  Used by the CUDA backend."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from nomp.backend import BackendError, DeviceInfo

_FASTEST = {
    "sm_70": (80, 96), "sm_75": (72, 64), "sm_80": (108, 163), "sm_86": (84, 99), "sm_89": (142, 99),
    "sm_90": (132, 227), "sm_100": (148, 227),
}  # fmt: skip
"""The multiprocessors, and KB of a group's memory, of the fastest GPU of an architecture, for who compiles where there
is none.  Source: CUDA C++ Programming Guide, compute capabilities."""


def fastest(arch: str) -> DeviceInfo:
    """The fastest GPU of *arch*.  Raises `BackendError` for one that is not known."""
    if arch not in _FASTEST:
        raise BackendError(f"unknown architecture '{arch}'; known are {', '.join(_FASTEST)}")
    units, group_kilobytes = _FASTEST[arch]
    words = "cuda", "cuda", "", "", "", "", "gpu", arch
    return DeviceInfo(*words, 1024, group_kilobytes << 10, 0, units, 32, pointer_arithmetic=True)


def info(driver: ModuleType, device: Any) -> DeviceInfo:
    """What *device* of pycuda's *driver* is."""
    attributes = device.get_attributes()
    keys = driver.device_attribute
    major, minor = device.compute_capability()
    version = driver.get_driver_version()
    return DeviceInfo(
        backend="cuda",
        dialect="cuda",
        platform="NVIDIA CUDA",
        name=device.name(),
        vendor="NVIDIA Corporation",
        driver=f"CUDA {version // 1000}.{version % 1000 // 10}",
        type="gpu",
        arch=f"sm_{major}{minor}",
        max_threads_per_block=attributes[keys.MAX_THREADS_PER_BLOCK],
        local_mem_bytes=attributes[keys.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN],
        global_mem_bytes=device.total_memory(),
        compute_units=attributes[keys.MULTIPROCESSOR_COUNT],
        warp_size=attributes[keys.WARP_SIZE],
        pointer_arithmetic=True,
    )
