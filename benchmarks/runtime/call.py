"""Prints what a launch costs from Python, and a look-up of the address map with one entry and with 10000, in us."""

from __future__ import annotations

import ctypes
import json
import timeit
from collections.abc import Callable

from nomp_backends import opencl_driver
from nomp_backends.opencl import OpenCLBackend

from nomp import config
from nomp.frontend import clang
from nomp.runtime import session
from nomp.runtime.memory import TO, AddressMap

TEXT = """void work(double *a, double *b, double *c, double *d, double x, int n) {
  for (int i = 0; i < n; i++) a[i] = x * b[i] + c[i] * d[i]; }"""

SOURCE = """__kernel void work(__global double *a, __global double *b, __global double *c, __global double *d, double x,
  int n) { for (int i = 0; i < n; i++) a[i] = x * b[i] + c[i] * d[i]; }"""


class NoDevice:
    """Memory that is never used."""

    def alloc(self, nbytes: int) -> object:
        """Something to tell apart."""
        return object()

    def copy_to(self, *_: object) -> None:
        """Nothing."""

    def zero(self, *_: object) -> None:
        """Nothing."""


def launch() -> dict[str, float]:
    """Microseconds of `session.run`, of the driver's function by ctypes, and between: of the shortest of 41 rounds.

    Others take longer where PoCL's threads get in the way.
    """
    session.init(config.load())
    kernel = session.declare(clang.parse_function(TEXT, clang.ForClauses(), "<call>"))
    arrays = [ctypes.c_double(1) for _ in range(4)]
    values = [*arrays, ctypes.c_double(0.5), ctypes.c_int(1)]
    addresses = [ctypes.addressof(value) for value in values]
    for address in addresses[:4]:
        session.update(address, 0, 1, 8, TO)
    session.run(kernel, addresses)
    device = OpenCLBackend().open(0, 0)
    made = device.compile(SOURCE, {"work": [*[None] * 4, "float64", "int32"]})["work"]
    bound = device.native().bound(made, (*(device.alloc(8) for _ in range(4)), 0.5, 1))
    raw, one = opencl_driver.library().clEnqueueNDRangeKernel, opencl_driver.sizes([1])
    given = device.native().queue, bound.handle, 1, None, one, one, 0, None, None
    calls, raws = [], []
    for _ in range(41):
        calls.append(_timed(lambda: session.run(kernel, addresses), session.sync))
        raws.append(_timed(lambda: raw(*given), device.sync))
    session.finalize()
    device.close()
    return {"call": min(calls), "raw": min(raws), "more": min(calls) - min(raws)}


def _timed(function: Callable[[], object], end: Callable[[], None]) -> float:
    """Microseconds a call."""
    seconds = timeit.timeit(function, number=300) / 300
    end()
    return seconds * 1e6


def look_up(entries: int) -> float:
    """Microseconds to find what an interior pointer points into."""
    memory = AddressMap(NoDevice())  # type: ignore[arg-type]
    for number in range(entries):
        memory.update(0x10000 + 4096 * number, 0, 8, 8, TO)
    address = 0x10000 + 4096 * (entries // 2) + 8
    return min(timeit.repeat(lambda: memory.find(address), number=20000, repeat=7)) / 20000 * 1e6


print(json.dumps({**launch(), "few": look_up(1), "10000": look_up(10000)}))
