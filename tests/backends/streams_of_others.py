"""Streams and arrays of pycuda's on a GPU, beside nomp's; run by `test_cuda_sharing`."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pycuda.driver
import pytest
from borrowing import OnGpu
from memory_of_others import add
from pycuda import gpuarray

import nomp


@pytest.fixture(autouse=True)
def context() -> Iterator[None]:
    """The primary context, which nomp uses, is current for pycuda."""
    pycuda.driver.init()
    shared = pycuda.driver.Device(0).retain_primary_context()
    shared.push()
    nomp.init(backend="cuda")
    yield
    nomp.finalize()
    gc.collect()  # pycuda's arrays, while their context is current
    shared.pop()
    shared.detach()


def test_arrays_of_pycuda() -> None:
    a = gpuarray.to_gpu(np.arange(1000.0))
    add(a, nomp.array(np.ones(1000)))
    add(a[10:20], a[5:15])
    want = np.arange(1000.0) + 1
    for k in range(10, 20):
        want[k] += want[k - 5]
    np.testing.assert_array_equal(a.get(), want)  # the default stream waits for nomp's
    ours = nomp.array(np.full(5, 2.0))
    theirs = gpuarray.GPUArray((5,), np.float64, gpudata=ours.__cuda_array_interface__["data"][0])
    np.testing.assert_array_equal(theirs.get(), np.full(5, 2.0))


def test_kernels_wait_for_streams_and_streams_for_kernels() -> None:
    """Copies of a quarter of a GB keep a stream that does not wait for others busy."""
    stream = own_stream()
    count = 1 << 25
    first, second = gpuarray.to_gpu(np.zeros(count)), gpuarray.to_gpu(np.ones(count))
    pycuda.driver.Context.synchronize()
    ones = nomp.array(np.ones(count))
    nomp.sync()
    for turn in range(1, 4):
        for _ in range(20):  # first is right only after the last of these
            pycuda.driver.memcpy_dtod_async(first.gpudata, second.gpudata, first.nbytes, stream)
        add(OnGpu(int(first.gpudata), (count,), stream=stream.handle), ones)
        pycuda.driver.memcpy_dtod_async(second.gpudata, first.gpudata, first.nbytes, stream)
        stream.synchronize()
        got = second.get()
        assert (got.min(), got.max()) == (turn + 1, turn + 1)


def own_stream() -> Any:
    """A stream that does not wait for the default stream."""
    return pycuda.driver.Stream(1)  # CU_STREAM_NON_BLOCKING
