"""Arrays of others on a GPU whose memory has addresses: on the test double of HIP (`test_hip`), or on a GPU with CUDA
(`test_cuda_sharing`), whichever nomp's backend of the environment is."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from borrowing import OnGpu, Tensor

import nomp
from nomp.runtime import session

BACKEND = os.environ["NOMP_BACKEND"]


@nomp.jit
def add(a: Any, b: Any) -> None:
    #pragma nomp for
    for i in range(len(a)):
        a[i] = a[i] + b[i]


class Hip:
    """What others do with HIP; pyhip has the double's functions."""

    def __init__(self) -> None:
        from pyhip import hip

        self._hip = hip

    def devices(self) -> int:
        return int(self._hip.hipGetDeviceCount())

    def alloc(self, values: np.ndarray[Any, Any], device: int = 0) -> int:
        self._hip.hipSetDevice(device)
        memory = self._hip.hipMalloc(values.nbytes)
        self._hip.hipMemcpyAsync(memory, values.ctypes.data, values.nbytes, self._hip.hipMemcpyHostToDevice, None)
        self._hip.hipStreamSynchronize(None)
        self._hip.hipSetDevice(0)
        return int(memory.value)

    def read(self, memory: int, count: int) -> list[float]:
        found = np.zeros(count)
        self._hip.hipMemcpyAsync(found.ctypes.data, memory, found.nbytes, self._hip.hipMemcpyDeviceToHost, None)
        self._hip.hipStreamSynchronize(None)
        return found.tolist()

    def free(self, memory: int) -> None:
        self._hip.hipFree(memory)


class Cuda:
    """The same with CUDA, by the driver's own functions, in the primary context."""

    def __init__(self) -> None:
        self.driver = ctypes.CDLL("libcuda.so.1")
        assert self.driver.cuInit(0) == 0
        self.enter(0)

    def devices(self) -> int:
        count = ctypes.c_int()
        assert self.driver.cuDeviceGetCount(ctypes.byref(count)) == 0
        return count.value

    def enter(self, device: int) -> None:
        context = ctypes.c_void_p()
        assert self.driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
        assert self.driver.cuCtxSetCurrent(context) == 0

    def alloc(self, values: np.ndarray[Any, Any], device: int = 0) -> int:
        memory = ctypes.c_uint64()
        self.enter(device)
        assert self.driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(values.nbytes)) == 0
        source = ctypes.c_void_p(values.ctypes.data)
        assert self.driver.cuMemcpyHtoD_v2(memory, source, ctypes.c_size_t(values.nbytes)) == 0
        self.enter(0)
        return memory.value

    def read(self, memory: int, count: int) -> list[float]:
        found = np.zeros(count)
        target = ctypes.c_void_p(found.ctypes.data)
        assert self.driver.cuMemcpyDtoH_v2(target, ctypes.c_uint64(memory), ctypes.c_size_t(found.nbytes)) == 0
        return found.tolist()

    def free(self, memory: int) -> None:
        assert self.driver.cuMemFree_v2(ctypes.c_uint64(memory)) == 0


@pytest.fixture(autouse=True)
def started() -> Iterator[None]:
    nomp.init(backend=BACKEND)
    yield
    nomp.finalize()


@pytest.fixture
def others() -> Any:
    return {"hip": Hip, "cuda": Cuda}[BACKEND]()


def test_kernels_write_memory_of_others(others: Any) -> None:
    memory = others.alloc(np.arange(6.0))
    b = nomp.array(np.ones(6))
    for stream in ({}, {"stream": None}, {"stream": 1}):
        add(OnGpu(memory, (6,), **stream), b)
    assert others.read(memory, 6) == [3, 4, 5, 6, 7, 8]
    add(OnGpu(memory + 8, (2,), strides=(16,)), b[:2])
    assert others.read(memory, 6) == [3, 5, 5, 7, 7, 8]
    add(OnGpu(memory + 8, (5,)), OnGpu(memory, (5,)))  # in order, for the memory is the same
    assert others.read(memory, 6) == [3, 8, 13, 20, 27, 35]
    scale = nomp.kernel("void f(int n, double *a) { for (int i = 0; i < n; i++) a[i] *= 2; }")
    scale(6, OnGpu(memory, (6,)))
    assert nomp.asarray(OnGpu(memory, (6,))).get().tolist() == [6, 16, 26, 40, 54, 70]
    others.free(memory)


def test_what_cannot_be_used_is_refused(others: Any) -> None:
    memory, b = others.alloc(np.arange(6.0)), nomp.array(np.ones(6))
    with pytest.raises(nomp.NompError, match=r"read-only.*N234"):
        add(OnGpu(memory, (6,), read_only=True), b)
    add(b, OnGpu(memory, (6,), read_only=True))
    assert b.get().tolist() == [1, 2, 3, 4, 5, 6]
    with pytest.raises(nomp.NompError, match="complex64"):
        add(OnGpu(memory, (6,), "<c8"), b)
    with pytest.raises(nomp.NompError, match=r"no memory of .* GPU.*N633"):
        add(OnGpu(np.ones(6).ctypes.data, (6,)), b)
    others.free(memory)
    with pytest.raises(nomp.NompError, match=r"has been freed.*N633"):
        add(OnGpu(memory, (6,)), b)
    with pytest.raises(nomp.NompError, match="N633"):
        nomp.asarray(Tensor(FakeTensor()))


class FakeTensor:
    """One on a device that nobody has."""

    shape = (3,)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2 if BACKEND == "hip" else 10, 0


def test_memory_of_another_device(others: Any) -> None:
    if others.devices() < 2:
        pytest.skip("there is one GPU: test_cuda_sharing has the refusal without one, the double of HIP has two")
    memory = others.alloc(np.ones(6), device=1)
    with pytest.raises(nomp.NompError, match=r"on device 1, and nomp uses device 0.*N633"):
        add(OnGpu(memory, (6,)), nomp.zeros(6))


def test_what_we_export(others: Any) -> None:
    a = nomp.array(np.arange(12.0).reshape(3, 4))[:, 1]
    interface = a.__cuda_array_interface__
    assert (interface["version"], interface["shape"], interface["strides"]) == (3, (3,), (32,))
    assert interface["typestr"] == "<f8" and interface["stream"] not in (None, 0)
    address, read_only = interface["data"]
    nomp.sync()
    assert not read_only and others.read(address, 1) == [1]
    again = nomp.asarray(OnGpu(address, (3,), strides=(32,)))
    assert again.address == a.address
    add(again, a)
    assert a.get().tolist() == [2, 10, 18]
    assert nomp.empty(3)[:0].__cuda_array_interface__["data"][0] == 0


def test_dlpack(others: Any) -> None:
    a = nomp.array(np.arange(6.0))
    for old in (False, True):
        tensor = Tensor(a[1:], old)
        view = nomp.from_dlpack(tensor)
        assert view.address == a.address + 8
        assert tensor.streams == [a.handles.queue]
        add(view, view)
        del view
    gc.collect()
    nomp.empty(1)
    assert a.get().tolist() == [0, 4, 8, 12, 16, 20]


def test_views_of_mapped_arrays_are_the_arrays(others: Any) -> None:
    """A foreign view of the copy of a mapped array is known to be that: the order of the loop is kept."""
    u = np.arange(6.0)
    nomp.update(to=u)
    address = nomp.mapped(u).__cuda_array_interface__["data"][0]
    assert nomp.asarray(OnGpu(address, (6,))).address == u.ctypes.data
    add(OnGpu(address + 8, (5,)), u[:5])
    nomp.update(from_=u, free=u)
    assert u.tolist() == [0, 1, 3, 6, 10, 15]


def theirs(memory: int, host: np.ndarray[Any, Any], view: np.ndarray[Any, Any], **more: Any) -> OnGpu:
    """The part of *memory* that *view* is of *host*."""
    address = memory + view.ctypes.data - host.ctypes.data
    return OnGpu(address, view.shape, view.dtype.str, strides=view.strides, **more)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "place": lambda host: host[1:5], "shape": lambda host: host[:2], "order": lambda host: host[3::-1],
    "gaps": lambda host: host[:7:2], "type": lambda host: host[:4].view(np.int64),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_an_owner_changes_is_seen_by_the_next_launch(others: Any, change: str) -> None:
    """Launches are repeated where they are the same, and only there."""
    host = np.arange(1.0, 10.0)
    memory = others.alloc(host)
    for view in (host[:4], CHANGES[change](host), host[:4]):
        for _ in range(3):
            add(theirs(memory, host, view), theirs(memory, host, view))
            view += view
    assert others.read(memory, 9) == host.tolist()
    others.free(memory)


def test_a_repeated_launch_looks_at_whose_the_memory_is(others: Any) -> None:
    """The same array is refused when it says that it is read-only, is mapped as well, or has been freed."""
    memory, b = others.alloc(np.ones(6)), nomp.array(np.ones(6))

    def launch(**more: Any) -> None:
        add(OnGpu(memory, (6,), **more), b)

    for _ in range(3):
        launch()
    with pytest.raises(nomp.NompError, match=r"read-only.*N234"):
        launch(read_only=True)
    launch()
    assert others.read(memory, 6) == [5] * 6
    there = np.ctypeslib.as_array((ctypes.c_double * 7).from_address(memory))  # of which no element is read
    nomp.update(alloc=there)
    with pytest.raises(nomp.NompError, match="N630"):
        launch()
    nomp.update(free=there)
    launch()
    others.free(memory)
    with pytest.raises(nomp.NompError, match=r"freed.*N633"):
        launch()


def test_memory_of_others_that_becomes_ours_and_theirs_again(others: Any) -> None:
    """A driver gives the same address to each in turn; what is ours is known by its own entry in the map."""
    device, memory = session.opened().device, others.alloc(np.ones(6))
    b, alloc = nomp.array(np.ones(6)), device.alloc
    for _ in range(3):
        add(OnGpu(memory, (6,)), b)
    device.alloc = lambda nbytes: memory  # as a driver may after they have freed it
    device.free, free = lambda buffer: None, device.free
    ours = nomp.empty(6)
    device.alloc = alloc
    ours.set(np.zeros(6))
    for _ in range(3):
        add(OnGpu(memory, (6,)), b)
    assert ours.get().tolist() == [3] * 6
    del ours
    gc.collect()
    nomp.empty(1)
    for _ in range(3):
        add(OnGpu(memory, (6,)), b)
    assert others.read(memory, 6) == [6] * 6
    device.free = free
    others.free(memory)


def test_memory_comes_and_goes(others: Any) -> None:
    b = nomp.array(np.ones(100))
    before = len(list(session.opened().memory))
    for size in range(1, 90):
        memory = others.alloc(np.zeros(size))
        add(OnGpu(memory, (size,)), b[:size])
        assert others.read(memory, size) == [1] * size
        others.free(memory)
    assert len(list(session.opened().memory)) <= before + 65
