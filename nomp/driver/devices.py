"""``nomp devices``: every registered backend and each of its devices, with PASS or the reason it cannot be used.

In: the installed backends.  Out: a line a device; exit status 0 if one device passes.  A device passes when a kernel
that it compiled and ran left the right numbers in host memory.
"""

from __future__ import annotations

import argparse
import ctypes
from collections.abc import Callable, Iterator, Sequence

from nomp.backend import Backend, BackendError, Device, DeviceInfo, registered

_DESCRIPTION = "List every backend and each of its devices, with PASS or the reason it cannot be used."

_COUNT = 4

# The entry point of each dialect: a[i] = 3 * i, one item a group.
_KERNELS = {
    "opencl": "__kernel void nomp_probe(__global int *a) { a[get_group_id(0)] = 3 * (int)get_group_id(0); }",
    "cuda": 'extern "C" __global__ void nomp_probe(int *a) { a[blockIdx.x] = 3 * (int)blockIdx.x; }',
}
_KERNELS |= {"c": _KERNELS["opencl"], "hip": _KERNELS["cuda"]}


def main(arguments: Sequence[str]) -> int:
    """Run ``nomp devices``; 0 if a device passes, else 1."""
    parser = argparse.ArgumentParser(prog="nomp devices", description=_DESCRIPTION)
    parser.parse_args(arguments)
    passed = False
    for name, make in sorted(registered().items()):
        for line, good in _backend_lines(name, make):
            print(line)
            passed = passed or good
    return 0 if passed else 1


def _backend_lines(name: str, make: Callable[[], Backend]) -> Iterator[tuple[str, bool]]:
    """A line for each device of a backend, and whether it passes; one line where the backend itself cannot be used."""
    try:
        backend = make()
        platforms = backend.devices()
    except BackendError as refusal:
        yield f"{name}: cannot be used: {refusal}", False
        return
    for number, devices in enumerate(platforms):
        for index, info in enumerate(devices):
            reason = _reason(backend, number, index)
            verdict = "PASS" if reason is None else f"cannot be used: {reason}"
            yield f"{name} platform {number} device {index}: {_described(info)}: {verdict}", reason is None


def _described(info: DeviceInfo) -> str:
    return f"{info.name} ({info.type}, {info.compute_units} units, {info.global_mem_bytes >> 20} MiB, {info.platform})"


def _reason(backend: Backend, platform: int, index: int) -> str | None:
    """Why a device cannot be used; None if it can."""
    try:
        device = backend.open(platform, index)
        try:
            return _probe(device)
        finally:
            device.close()
    except BackendError as refusal:
        return str(refusal)


def _probe(device: Device) -> str | None:
    """Compile and run a kernel, and look at what it wrote."""
    host = (ctypes.c_int32 * _COUNT)()
    nbytes = ctypes.sizeof(host)
    kernel = device.compile(_KERNELS[device.info.dialect], {"nomp_probe": [None]})["nomp_probe"]
    buffer = device.alloc(nbytes)
    kernel.launch([_COUNT], [1], [buffer])
    device.copy_from(buffer, 0, ctypes.addressof(host), nbytes)
    device.free(buffer)
    return None if list(host) == [3 * i for i in range(_COUNT)] else f"a kernel wrote {list(host)}, not 0, 3, 6, 9"
