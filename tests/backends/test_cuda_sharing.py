"""The CUDA backend beside others that use CUDA: the order of streams without a GPU, all else on one (with pycuda)."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import succeed
from doubles import no_cuda
from nomp_backends import cuda_sharing

from nomp.backend import BackendError

HERE = Path(__file__).parent


class Driver:
    """Says what the driver's functions say, and notes what they are called with."""

    def __init__(self, attributes: dict[int, int], status: int = 0) -> None:
        self.attributes, self.status = attributes, status
        self.calls: list[tuple[Any, ...]] = []

    def cuPointerGetAttributes(self, count: int, attributes: Any, answers: Any, memory: Any) -> int:
        """Memory that the driver does not know has attributes that are 0, or none (`status`)."""
        for attribute, answer in zip(attributes[:count], answers[:count], strict=True):
            ctypes.c_int.from_address(answer).value = self.attributes.get(attribute, 0)
        self.calls.append(("cuPointerGetAttributes", memory.value))
        return self.status

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> int:
            values = [argument.value for argument in arguments if isinstance(argument, ctypes.c_void_p)]
            if name == "cuEventCreate":
                arguments[0]._obj.value = 77
                return 0
            self.calls.append((name, *values))
            return self.status

        return call


def test_the_order_of_two_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver({})
    monkeypatch.setattr(cuda_sharing, "_library", lambda: driver)
    cuda_sharing.order(5, 6)
    assert driver.calls == [("cuEventRecord", 77, 5), ("cuStreamWaitEvent", 6, 77), ("cuEventDestroy_v2", 77)]
    driver.status = 400
    with pytest.raises(BackendError, match="400"):
        cuda_sharing.order(5, 6)
    assert driver.calls[-1][0] == "cuEventDestroy_v2"


@pytest.mark.parametrize(
    ("attributes", "status", "message"),
    [
        ({}, 0, "freed"), ({2: 2, 9: 0}, 201, "freed"), ({2: 1, 9: 0}, 0, "no memory of a GPU"),
        ({2: 2, 9: 1}, 0, "on device 1, and nomp uses device 0"),
    ],
)  # fmt: skip
def test_memory_that_the_device_does_not_have(
    monkeypatch: pytest.MonkeyPatch, attributes: dict[int, int], status: int, message: str
) -> None:
    monkeypatch.setattr(cuda_sharing, "_library", lambda: Driver(attributes, status))
    with pytest.raises(BackendError, match=message):
        cuda_sharing.found(4096, 0)


def test_memory_that_the_device_has_costs_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver({2: 2, 9: 3})
    monkeypatch.setattr(cuda_sharing, "_library", lambda: driver)
    assert cuda_sharing.found(4096, 3) == (4096, 0, 0, True)
    assert driver.calls == [("cuPointerGetAttributes", 4096)]


def test_on_a_gpu() -> None:
    if reason := no_cuda():
        pytest.skip(f"no NVIDIA GPU: {reason}")
    files = [HERE / "memory_of_others.py", HERE / "streams_of_others.py", HERE / "libraries_on_gpu.py"]
    words = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", *files]
    done = succeed(*words, cwd=HERE.parents[1], env=os.environ | {"NOMP_BACKEND": "cuda"})
    assert re.search(r"^\d+ passed", done.stdout, re.MULTILINE), done.stdout
