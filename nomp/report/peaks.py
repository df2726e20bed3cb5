"""The limits of a device: how fast it copies and computes, measured once and kept in the user's cache.

In: an open device.  Out: `Peaks`, by small kernels of its own language: copy and triad of large arrays, and chains of
multiplications and additions that stay in registers.  Used by `nomp roofline`; tables show shares of what is known.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nomp import cache
from nomp.backend import Device
from nomp.config import Settings

_OPENCL = """
#define KERNEL __kernel void
#define GLOBAL __global
#define INDEX ((long)get_global_id(0))
#define ITEMS ((long)get_global_size(0))
"""
_C = f"""{_OPENCL}
typedef float float16 __attribute__((vector_size(64)));
typedef double double8 __attribute__((vector_size(64)));
"""
_CUDA = """
#define KERNEL extern "C" __global__ void
#define GLOBAL
#define INDEX ((long long)blockIdx.x * blockDim.x + threadIdx.x)
#define ITEMS ((long long)gridDim.x * blockDim.x)
"""
_DIALECTS = {"opencl": _OPENCL, "c": _C, "cuda": _CUDA, "hip": _CUDA}

# Items of a CPU get neighbouring elements, for its vector units; those of a GPU get every so many-th one.
_TEXT = """
#if CPU
#define AT(k) (first + k)
#define FIRST long first = INDEX * count;
#define FLOATS float16
#define DOUBLES double8
#else
#define AT(k) (first + k * stride)
#define FIRST long first = INDEX, stride = ITEMS;
#define FLOATS float
#define DOUBLES double
#endif

KERNEL copy(GLOBAL double *a, GLOBAL const double *b, int count) {
  FIRST
  for (long k = 0; k < count; k++) a[AT(k)] = b[AT(k)];
}

KERNEL triad(GLOBAL double *a, GLOBAL const double *b, GLOBAL const double *c, int count) {
  FIRST
  for (long k = 0; k < count; k++) a[AT(k)] = b[AT(k)] + 0.5 * c[AT(k)];
}

#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
#define DECLARE(w) x##w,
#define START(w) x##w = a[INDEX] + w;
#define STEP(w) x##w = x##w * y + z;
#define ADD(w) sum += x##w;

/* Compilers make one fused operation of a step where they do so in nomp's kernels; fma() itself PoCL does in software.
*/
#define FMA(name, TYPES, half)                                                                                    \\
  KERNEL name(GLOBAL TYPES *a, int count) {                                                                       \\
    TYPES EACH(DECLARE) sum = a[INDEX] - a[INDEX], y = sum + half, z = sum + 3 * half;                            \\
    EACH(START)                                                                                                   \\
    for (int i = 0; i < count; i++) { EACH(STEP) }                                                                \\
    EACH(ADD)                                                                                                     \\
    a[INDEX] = sum;                                                                                               \\
  }
FMA(fma_float, FLOATS, 0.5f)
FMA(fma_double, DOUBLES, 0.5)
"""

_CHAINS = 16
_REPETITIONS = 10


@dataclass(frozen=True, slots=True)
class Peaks:
    """What *device* reaches: bytes a second for copy and triad, operations a second in single and double precision."""

    device: str
    driver: str
    copy: float
    triad: float
    single: float
    double: float

    @property
    def bandwidth(self) -> float:
        """Bytes a second to and from memory, at most."""
        return max(self.copy, self.triad)


def measure(device: Device, step: Callable[[str], None] = lambda name: None, scale: float = 1.0) -> Peaks:
    """Measure *device*; *step* is told what comes next.  *scale*: for slow devices, do that part of the work only.

    Raises `BackendError`.
    """
    import numpy as np  # tables, which only look for peaks, do without

    cpu, info = device.info.type == "cpu", device.info
    floats, doubles = (16, 8) if cpu else (1, 1)
    text = f"#define CPU {int(cpu)}\n{_DIALECTS[info.dialect]}{_TEXT}"
    types: dict[str, list[str | None]] = {
        "copy": [None, None, "int32"], "triad": [None, None, None, "int32"], "fma_float": [None, "int32"],
        "fma_double": [None, "int32"],
    }  # fmt: skip
    kernels = device.compile(text, types)
    grid, block = ((4 * info.compute_units,), (1,)) if cpu else ((32 * info.compute_units,), (256,))
    items = grid[0] * block[0]
    most = min((1 << 23) if cpu else (1 << 26), info.global_mem_bytes // 64)
    count = max(1, int(most * scale) // items)
    length = max(1, int(200_000 * scale / (1 if cpu else 40)))
    with _buffers(device, 3, 8 * items * count) as buffers:

        def seconds(name: str, number: int, value: int) -> float:
            step(name)
            arguments = [*buffers[:number], np.int32(value)]
            times = [device.timed(lambda: kernels[name].launch(grid, block, arguments)) for _ in range(_REPETITIONS)]
            return min(timing.interval()[1] for timing in times)

        device.start_timing()
        try:
            nbytes = 8 * items * count
            return Peaks(
                info.name,
                info.driver,
                2 * nbytes / seconds("copy", 2, count),
                3 * nbytes / seconds("triad", 3, count),
                2 * _CHAINS * floats * length * items / seconds("fma_float", 1, length),
                2 * _CHAINS * doubles * length * items / seconds("fma_double", 1, length),
            )
        finally:
            device.stop_timing()


@contextmanager
def _buffers(device: Device, number: int, nbytes: int) -> Iterator[list[Any]]:
    """Device memory, filled with zeros."""
    buffers: list[Any] = []
    try:
        for _ in range(number):
            buffers.append(device.alloc(nbytes))
            device.zero(buffers[-1], 0, nbytes)
        yield buffers
    finally:
        for buffer in buffers:
            device.free(buffer)


# ------------------------------------------------------------------------------------------------------- the cache


def known(settings: Settings, device: str, driver: str) -> Peaks | None:
    """Those of a device that have been kept, unless its driver is another one by now."""
    path = _file(settings, device, driver)
    try:
        data = json.loads(path.read_text(encoding="utf-8")) if path else {}
        found = Peaks(str(data["device"]), str(data["driver"]), *(float(data[name]) for name in _NUMBERS))
    except (OSError, ValueError, KeyError, TypeError):  # none yet, or not ours: they can be had again
        return None
    right = (found.device, found.driver) == (device, driver) and all(getattr(found, name) > 0 for name in _NUMBERS)
    return found if right else None


def keep(settings: Settings, peaks: Peaks) -> None:
    """Keep *peaks*, if there is a place for that."""
    path = _file(settings, peaks.device, peaks.driver)
    if path is None:
        return
    with contextlib.suppress(OSError):
        cache.write_whole(path, json.dumps(asdict(peaks)))


_NUMBERS: Sequence[str] = ("copy", "triad", "single", "double")


def _file(settings: Settings, device: str, driver: str) -> Path | None:
    name, place = hashlib.sha256(f"{device}\n{driver}".encode()).hexdigest()[:32], cache.subfolder(settings, "peaks")
    return place / f"{name}.json" if place else None
