"""Large copies to and from GPUs by way of page-locked memory, over a stream of this file, which does everything as late
as it may.  On a GPU the conformance test does the same."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, get_ident
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from nomp_backends.cuda_staging import _STAGE, Staging

AT_EXIT = """
import atexit
from test_cuda_staging import went_and_came
if WARM:
    went_and_came(9_000_000, 4)
atexit.register(lambda: print(went_and_came(9_000_000, 4)))
"""


class Late:
    """A stream, and pycuda's driver: a copy is made when an event recorded after it is waited for, not before."""

    def __init__(self) -> None:
        self.left: list[Callable[[], object]] = []
        self.lock = Lock()
        self.threads: set[int] = set()
        self.refusing = False

    def pagelocked_empty(self, nbytes: int, dtype: str) -> np.ndarray[Any, Any]:
        return np.zeros(nbytes, dtype)

    def Event(self) -> Any:
        recorded: list[int] = []
        return SimpleNamespace(
            record=lambda stream: recorded.append(len(stream.left)),
            synchronize=lambda: self.run(recorded.pop() if recorded else 0),
        )

    def memcpy_htod_async(self, device: int, memory: np.ndarray[Any, Any], stream: Late) -> None:
        if self.refusing and len(stream.left) > 2:
            raise ValueError("out of memory")
        stream.left.append(lambda: ctypes.memmove(device, memory.ctypes.data, memory.nbytes))

    def memcpy_dtoh_async(self, memory: np.ndarray[Any, Any], device: int, stream: Late) -> None:
        stream.left.append(lambda: ctypes.memmove(memory.ctypes.data, device, memory.nbytes))

    def run(self, count: int) -> None:
        with self.lock:
            for number in range(count):
                self.left[number]()
                self.left[number] = lambda: None

    @contextmanager
    def current(self, doing: str) -> Iterator[None]:
        self.threads.add(get_ident())
        yield


def went_and_came(nbytes: int, threads: int) -> bool:
    stream = Late()
    staging = Staging(stream, stream, stream.current, threads)  # type: ignore[arg-type]
    there = np.random.default_rng(nbytes).integers(1, 255, nbytes, dtype=np.uint8)
    device, back = (np.zeros(nbytes + 2, np.uint8) for _ in range(2))
    staging.copy_to(device[1:].ctypes.data, there.ctypes.data, nbytes)
    stream.run(len(stream.left))
    staging.copy_from(device[1:].ctypes.data, back[1:].ctypes.data, nbytes)
    staging.close()
    arrived = all(np.array_equal(found, np.pad(there, 1)) for found in (device, back))
    return arrived and get_ident() not in stream.threads


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
@pytest.mark.parametrize("nbytes", [1, _STAGE, 4 * _STAGE + 1, 9 * _STAGE + 3])
def test_all_bytes_and_no_others_arrive_although_the_device_is_late(nbytes: int, threads: int) -> None:
    assert went_and_came(nbytes, threads)


def test_errors_of_threads_are_told_when_all_have_ended() -> None:
    stream = Late()
    staging = Staging(stream, stream, stream.current, 4)  # type: ignore[arg-type]
    stream.refusing = True
    memory = np.zeros(20 * _STAGE, np.uint8)
    with pytest.raises(ValueError, match="out of memory"):
        staging.copy_to(memory.ctypes.data, memory.ctypes.data, memory.nbytes)
    assert not staging._pool._work_queue.qsize()
    staging.close()


@pytest.mark.parametrize("warm", [True, False])
def test_a_copy_at_the_end_of_a_program_starts_no_threads_and_is_made(warm: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT.replace("WARM", str(warm))],
        cwd=Path(__file__).parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr, done.returncode) == ("True\n", "", 0)
