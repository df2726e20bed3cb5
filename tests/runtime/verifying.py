"""A session that verifies, on a device whose kernels are Python functions, and can be wrong.

The regions are what the front end reads; the program's loop, which would run between `run` and `confirm`, is done here.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from fake import FakeBackend

from nomp.config import Settings
from nomp.device_source import Argument, DeviceSource, Launch
from nomp.diagnostics import NompError
from nomp.region import Const, Region
from nomp.runtime.session import Session

ONE = Const(1, "int64")
AXPY = "void f(int n, double *a) {\n#pragma nomp for name(\"k\")\n  for (int i = 0; i < n; i++) a[i] += 1;\n}\n"
SUM = """double f(int n, double *a) {
  double sum = 1;
  int i;
#pragma nomp for name("k") reduce("sum", "+")
  for (i = 0; i < n; i++) sum += a[i];
  return sum;
}
"""
N = ctypes.c_int(10)
Loop = Callable[[], None]


class Bench:
    """A session in which the kernel of *made* is the function *kernel* of the buffers of its arrays and cells."""

    def __init__(self, made: Region, kernel: Callable[..., None]) -> None:
        names = [param.name for param in made.params if param.kind in ("array", "cell")]
        launch = Launch("k", tuple(Argument("buffer", name) for name in names), (ONE,), (ONE,))
        source = DeviceSource("k", "opencl", "text", (), (), (launch,))
        backend = FakeBackend("opencl", [["cpu"]])
        self.session = Session(lambda *_: (source, ()), lambda: {"opencl": lambda: backend})
        self.session.init(Settings(verify=True))
        backend.opened[-1].kernels = {"k": lambda grid, block, *buffers: kernel(*buffers)}
        self.made = made
        self.kernel = self.session.declare(made)

    def update(self, array: Any, op: int, first: int = 0, last: int | None = None) -> None:
        self.session.update(array.ctypes.data, first, len(array) if last is None else last, array.strides[0], op)

    def run(self, loop: Loop, **values: Any) -> None:
        """Launch with *values* for the variables, and do what the program would: the loop, if that is asked for."""
        addresses = [_address(values[param.variable]) for param in self.made.params]
        if self.session.run(self.kernel, addresses, has_loop=True):
            loop()
            self.session.confirm()

    def difference(self, loop: Loop, **values: Any) -> list[str]:
        """What N618 says, and its notes."""
        with pytest.raises(NompError) as caught:
            self.run(loop, **values)
        (found,) = caught.value.diagnostics
        head = "kernel 'k' and its loop come to different results: "
        assert found.code == "N618" and found.message.startswith(head) and found.span
        return [found.message.removeprefix(head), *(note.message for note in found.notes)]


def _address(value: Any) -> int:
    if isinstance(value, int):
        return value
    return int(value.ctypes.data) if isinstance(value, np.ndarray) else ctypes.addressof(value)


def of(buffer: bytearray, dtype: Any) -> Any:
    return np.frombuffer(buffer, dtype)


def plus_one(buffer: bytearray) -> None:
    of(buffer, "float64")[:] += 1


def nothing() -> None:
    """A loop that does nothing."""
