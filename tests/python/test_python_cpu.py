"""Arrays on the CPU's own device: others have their memory as the host's."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
from borrowing import ADD

import nomp

Load = Callable[[str], ModuleType]


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOMP_BACKEND", "cpu")


def test_numpy_has_a_device_array_without_a_copy(load: Load) -> None:
    add, a = load(ADD).add, nomp.array(np.arange(12.0).reshape(3, 4))[:, 1]
    seen = np.from_dlpack(a)
    add(a, a)
    assert seen.tolist() == [2, 10, 18]
    seen[0] = 5
    assert a.get().tolist() == [5, 10, 18]


def test_what_numpy_has_of_it_can_be_an_argument_itself(load: Load) -> None:
    """As any array of the host's: it is copied there and back."""
    add, a = load(ADD).add, nomp.array(np.ones(5))
    add(np.from_dlpack(a), a)
    assert a.get().tolist() == [2] * 5


def test_it_has_no_address_on_a_gpu_and_no_stream() -> None:
    a = nomp.array(np.ones(3))
    assert a.__dlpack_device__() == (1, 0)
    assert not hasattr(a, "__cuda_array_interface__")
    with pytest.raises(BufferError):
        a.__dlpack__(stream=3)


def test_its_address_is_one_of_the_host_s() -> None:
    """MPI, for example, can send from there."""
    a = np.arange(5.0)
    nomp.update(to=a)
    there = nomp.mapped(a)
    assert ctypes.c_double.from_address(there.buffer + there.offset + 24).value == 3
