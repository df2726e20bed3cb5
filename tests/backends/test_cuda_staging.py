"""Large copies to and from GPUs by way of page-locked memory, over a stream of this file, which does everything as late
as it may.  On a GPU the conformance test does the same."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nomp_backends.cuda_staging import _STAGE, Mover, Staging

AT_EXIT = """
import atexit
import ctypes
from nomp_backends.cuda_staging import Mover

mover = Mover(4)
def copied():
    source, target = bytes(range(256)) * 4096, ctypes.create_string_buffer(256 * 4096)
    at = ctypes.cast(ctypes.c_char_p(source), ctypes.c_void_p).value
    mover.move(ctypes.addressof(target), at, len(source))
    return target.raw == source
warm = WARM and copied()
atexit.register(lambda: print(copied()))
"""


class Late:
    """A stream, and pycuda's driver: a copy is made when an event recorded after it is waited for, not before."""

    def __init__(self) -> None:
        self.left: list[Callable[[], object]] = []

    def pagelocked_empty(self, nbytes: int, dtype: str) -> np.ndarray[Any, Any]:
        return np.zeros(nbytes, dtype)

    def Event(self) -> Any:
        recorded: list[int] = []
        return SimpleNamespace(
            record=lambda stream: recorded.append(len(stream.left)),
            synchronize=lambda: self.run(recorded.pop() if recorded else 0),
        )

    def memcpy_htod_async(self, device: int, memory: np.ndarray[Any, Any], stream: Late) -> None:
        stream.left.append(lambda: ctypes.memmove(device, memory.ctypes.data, memory.nbytes))

    def memcpy_dtoh_async(self, memory: np.ndarray[Any, Any], device: int, stream: Late) -> None:
        stream.left.append(lambda: ctypes.memmove(memory.ctypes.data, device, memory.nbytes))

    def run(self, count: int) -> None:
        for number in range(count):
            self.left[number]()
            self.left[number] = lambda: None


@pytest.mark.parametrize("nbytes", [1, _STAGE - 1, _STAGE, 2 * _STAGE, 5 * _STAGE + 3])
def test_pieces_arrive_although_the_device_is_late(nbytes: int) -> None:
    stream = Late()
    staging = Staging(stream, stream)  # type: ignore[arg-type]
    there = np.random.default_rng(nbytes).integers(0, 255, nbytes, dtype=np.uint8)
    device, back = np.zeros_like(there), np.zeros_like(there)
    staging.copy_to(device.ctypes.data, there.ctypes.data, nbytes)
    stream.run(len(stream.left))
    assert np.array_equal(device, there)
    staging.copy_from(device.ctypes.data, back.ctypes.data, nbytes)
    assert np.array_equal(back, there)
    staging.close()


@given(nbytes=st.integers(1, 4000), threads=st.integers(1, 5))
def test_all_bytes_and_no_others_are_moved_whatever_the_number_of_threads(nbytes: int, threads: int) -> None:
    mover = Mover(threads)
    source = np.arange(1, nbytes + 1, dtype=np.uint16)
    target = np.zeros(nbytes + 2, np.uint16)
    mover.move(target[1:].ctypes.data, source.ctypes.data, source.nbytes)
    mover.close()
    assert np.array_equal(target, [0, *source, 0])


@pytest.mark.parametrize("warm", [True, False])
def test_a_copy_at_the_end_of_a_program_starts_no_threads_and_is_made(warm: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT.replace("WARM", str(warm))], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)
