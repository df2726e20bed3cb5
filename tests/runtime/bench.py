"""A bench for kernels: a device of bytearrays, sources and regions written by hand, host memory that stays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from fake import DeviceOverRealMemory

from nomp.arithmetic import Number
from nomp.device_source import Argument, DeviceSource, Launch, Value, Variant
from nomp.diagnostics import Diagnostic, register_source
from nomp.region import Const, Expr, For, Param, Place, Region, Stmt, Var
from nomp.runtime.kernel import Context
from nomp.runtime.memory import AddressMap

ONE = Const(1, "int64")
N = Var("n", "int32")
SOURCE = "int n; double a[9], s;\n#pragma nomp for\nfor (int i = 0; i < n; i++) a[i] = 0;\n"
LOOP = Place(3, 1, 37)


def region(
    *params: Param, upper: Expr = N, final: str | None = None, body: tuple[Stmt, ...] = (), **more: Any
) -> Region:
    """``for (int i = 0; i < upper; i++)``, whatever the parameters; what its kernel does is written by hand."""
    register_source("k.c", SOURCE)
    loop = For("i", "int32", Const(0, "int32"), "<", upper, Const(1, "int32"), body, final, LOOP)
    return Region("k", "k.c", 2, params, (loop,), **more)


SCALAR_N = Param("n", "int32", "scalar", "n")
ARRAY_A = Param("a", "float64", "array", "a", (None,), writes=True, place=Place(3, 29, 1))
CELL_S = Param("s", "float64", "cell", "s", writes=True)


def source(*arguments: Argument, text: str = "text", grid: Expr = ONE, **more: Any) -> DeviceSource:
    values = more.pop("values", (Value("n", "int32", N),))
    scratch = more.pop("scratch", ())
    launches = (Launch("k", arguments, (grid,), (Const(4, "int64"),)),)
    return DeviceSource("k", "opencl", text, values, scratch, more.pop("launches", launches))


@dataclass
class Bench:
    """A fake device, what was compiled for it, and what its kernels were launched with."""

    made: DeviceSource
    function: Callable[..., None] = lambda *_: None
    compiled: list[tuple[Mapping[str, Number], Variant]] = field(default_factory=list)
    launched: list[tuple[Any, ...]] = field(default_factory=list)
    illegal: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.device = DeviceOverRealMemory({"k": self._kernel, "second": self._kernel})
        self.memory = AddressMap(self.device)
        self.context = Context(self.device, self.memory, self._compile, self.illegal.append)

    def _compile(self, region: Region, jit: Mapping[str, Number], variant: Variant) -> DeviceSource:
        self.compiled.append((dict(jit), variant))
        return self.made

    def _kernel(self, grid: Any, block: Any, *arguments: Any) -> None:
        self.launched.append((grid, block, *arguments))
        self.function(*arguments)


_kept: list[Any] = []


def address(value: Any) -> int:
    """The address of *value*, which lives as long as the tests do."""
    _kept.append(value)
    return int(value.ctypes.data) if isinstance(value, np.ndarray) else ctypes.addressof(value)


def floats(buffer: bytearray) -> list[float]:
    return list(np.frombuffer(buffer, "float64"))
