"""Arrays of CuPy and PyTorch on a GPU with CUDA, beside nomp's; run by `test_cuda_sharing` where they are installed."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from memory_of_others import add

import nomp


@pytest.fixture(autouse=True)
def started() -> Iterator[None]:
    nomp.init(backend="cuda")
    yield
    gc.collect()  # the libraries' views of our arrays
    nomp.finalize()


def test_arrays_of_cupy() -> None:
    cupy = pytest.importorskip("cupy")
    a, b = cupy.arange(1000.0), cupy.ones(1000)
    with nomp.profile() as measured:
        add(a, b)
        add(a[10:20], a[5:15])
    assert not measured.copies
    want = in_order(np.arange(1000.0) + 1, 10, 5, 10)
    np.testing.assert_array_equal(a.get(), want)
    add(a[::-2], nomp.array(np.ones(500)))
    want[::-2] += 1
    np.testing.assert_array_equal(cupy.asnumpy(a), want)
    ours = nomp.array(np.arange(6.0).reshape(2, 3))
    for theirs in (cupy.asarray(ours), cupy.from_dlpack(ours)):
        assert theirs.data.ptr == ours.__cuda_array_interface__["data"][0] and theirs.shape == (2, 3)
        theirs *= 2
    assert ours.get().tolist() == [[0, 4, 8], [12, 16, 20]]


def test_streams_of_cupy() -> None:
    """CuPy names the stream that is current: kernels wait for it, and it for them."""
    cupy = pytest.importorskip("cupy")
    with cupy.cuda.Stream(non_blocking=True):
        a, ones = cupy.zeros(1 << 25), cupy.ones(1 << 25)
        for turn in range(1, 4):
            for _ in range(20):
                cupy.copyto(a, ones)
            add(a, ones)
            ones = a.copy()
            assert (float(ones.min()), float(ones.max())) == (2**turn, 2**turn)


def test_tensors_of_pytorch() -> None:
    torch = pytest.importorskip("torch")
    a = torch.arange(1000, dtype=torch.float64, device="cuda")
    with nomp.profile() as measured:
        add(a, torch.ones(1000, dtype=torch.float64, device="cuda"))
        add(a[10:20], a[5:15])
    assert not measured.copies
    np.testing.assert_array_equal(a.cpu().numpy(), in_order(np.arange(1000.0) + 1, 10, 5, 10))
    on_the_host = torch.zeros(4, dtype=torch.float64)
    add(on_the_host, torch.ones(4, dtype=torch.float64))
    assert on_the_host.tolist() == [1, 1, 1, 1]
    ours = nomp.array(np.arange(6.0).reshape(2, 3))
    for theirs in (torch.as_tensor(ours, device="cuda"), torch.from_dlpack(ours)):
        assert theirs.data_ptr() == ours.__cuda_array_interface__["data"][0] and theirs.shape == (2, 3)
        theirs *= 2
    torch.cuda.synchronize()
    assert ours.get().tolist() == [[0, 4, 8], [12, 16, 20]]
    halves = torch.ones(7, dtype=torch.float16, device="cuda")
    add(halves, halves)
    assert halves.tolist() == [2] * 7


def test_a_tensor_that_wants_gradients_is_refused() -> None:
    torch = pytest.importorskip("torch")
    a = torch.ones(3, dtype=torch.float64, device="cuda", requires_grad=True)
    with pytest.raises(nomp.NompError, match=r"gradient.*N234"):
        add(a, a)


def in_order(values: np.ndarray[Any, Any], to: int, source: int, count: int) -> np.ndarray[Any, Any]:
    """What the loop of `add` gives for two parts of *values* that overlap."""
    for k in range(count):
        values[to + k] += values[source + k]
    return values
