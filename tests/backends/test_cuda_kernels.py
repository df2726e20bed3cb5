"""Launches of the CUDA backend over a driver of this file: what is called with what.

The conformance test launches on a GPU.
"""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from nomp_backends import cuda_kernels
from nomp_backends.cuda_kernels import Module

from nomp.backend import BackendError

TYPES = [None, "int32", "float64", "bool"]


class Driver:
    """Contexts are numbers, of which 0 is none; launches read their arguments as the driver does."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.contexts: list[int] = []
        self.refusing = ""

    def __getattr__(self, name: str) -> Any:
        found = getattr(type(self), f"_{name}", lambda *_: 0)
        return lambda *arguments: 700 if name == self.refusing else found(self, *arguments)

    def _cuModuleLoadData(self, module: Any, cubin: bytes) -> int:
        self.calls.append(("load", cubin))
        ctypes.cast(module, ctypes.POINTER(ctypes.c_void_p))[0] = 70
        return 0

    def _cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        ctypes.cast(function, ctypes.POINTER(ctypes.c_void_p))[0] = module.value + len(name)
        return 0

    def _cuModuleUnload(self, module: Any) -> int:
        self.calls.append(("unload", module.value))
        return 0

    def _cuFuncSetAttribute(self, function: Any, attribute: int, value: int) -> int:
        self.calls.append(("attribute", function.value, attribute, value))
        return 0

    def _cuCtxPushCurrent_v2(self, context: int) -> int:
        self.contexts.append(context)
        return 0 if context else 201

    def _cuCtxPopCurrent_v2(self, context: Any) -> int:
        self.contexts.pop()
        return 0

    def _cuLaunchKernel(self, function: int, *rest: Any) -> int:
        *shape, shared, stream, arguments, _ = rest
        places = ctypes.cast(arguments, ctypes.POINTER(ctypes.c_void_p))
        kinds = ctypes.c_uint64, ctypes.c_int32, ctypes.c_double, ctypes.c_uint8
        values = [kind.from_address(places[k] or 0).value for k, kind in enumerate(kinds)]
        assert self.contexts == [5]
        self.calls.append((function, shape, shared, stream, values))
        return 0

    def _cuGetErrorString(self, status: int, text: Any) -> int:
        ctypes.cast(text, ctypes.POINTER(ctypes.c_char_p))[0] = b"an illegal address"
        return 0


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver()
    monkeypatch.setattr(cuda_kernels, "_library", lambda: made)
    return made


def kernel() -> tuple[Module, Any]:
    module = Module(b"cubin")
    return module, module.kernel(SimpleNamespace(context=5, queue=9), "fill", TYPES)  # type: ignore[arg-type]


def test_arguments_arrive_and_the_context_is_left(driver: Driver) -> None:
    module, fill = kernel()
    first = (4096, np.int32(-3), np.float64(0.5), True)
    fill.launch((2,), (64,), first)
    fill.launch((2, 3, 4), (8, 4), first)
    fill.launch((1,), (1,), (None, 7, -0.0, False), 50000)
    fill.launch((1,), (1,), (0, 8, 1.0, False), 100)
    module.unload()
    assert driver.calls == [
        ("load", b"cubin"),
        (74, [2, 1, 1, 64, 1, 1], 0, 9, [4096, -3, 0.5, 1]),
        (74, [2, 3, 4, 8, 4, 1], 0, 9, [4096, -3, 0.5, 1]),
        ("attribute", 74, 8, 50000),
        (74, [1, 1, 1, 1, 1, 1], 50000, 9, [0, 7, 0, 0]),
        (74, [1, 1, 1, 1, 1, 1], 100, 9, [0, 8, 1, 0]),
        ("unload", 70),
    ]
    assert not driver.contexts


def test_what_c_repeats_has_its_own_arguments(driver: Driver) -> None:
    _, fill = kernel()
    filled = fill.filled((1, 2, 3.0, True), 0)
    fill.launch((1,), (1,), (4, 5, 6.0, False))
    places = ctypes.cast(filled.address, ctypes.POINTER(ctypes.c_void_p))
    assert [places[k] for k in range(4)] == list(filled.slots)
    assert ctypes.c_int32.from_address(filled.slots[1]).value == 2


@pytest.mark.parametrize(
    "function", ["cuModuleLoadData", "cuModuleGetFunction", "cuFuncSetAttribute", "cuLaunchKernel"]
)
def test_what_the_driver_refuses_is_an_error_that_leaves_the_context(driver: Driver, function: str) -> None:
    driver.refusing = function
    with pytest.raises(BackendError, match=f"{function} failed: an illegal address"):
        kernel()[1].launch((1,), (1,), (1, 2, 3.0, True), 50000)
    assert not driver.contexts


def test_more_groups_than_the_driver_can_count_are_an_error(driver: Driver) -> None:
    with pytest.raises(BackendError, match=r"fill in \(4294967297,\) groups: there can be 2147483647"):
        kernel()[1].launch((2**32 + 1,), (1,), (1, 2, 3.0, True))


def test_a_device_that_is_closed_launches_nothing(driver: Driver) -> None:
    closed = Module(b"").kernel(SimpleNamespace(context=0, queue=0), "fill", TYPES)  # type: ignore[arg-type]
    with pytest.raises(BackendError, match="launching fill: cuCtxPushCurrent"):
        closed.launch((1,), (1,), (1, 2, 3.0, True))
