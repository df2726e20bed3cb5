"""HIP's host path on the test double, which `test_hip` has in this process; nothing of this runs on an AMD GPU."""

from __future__ import annotations

import ctypes
import weakref

import numpy as np
import pytest
from nomp_backends import hiprtc
from nomp_backends.hip import HipBackend, HipDevice

from nomp.backend import BackendError
from nomp.report import peaks

KERNEL = 'extern "C" __global__ void __launch_bounds__(64) f(double *a, int n) { a[0] = n; }'


def number_at(device: HipDevice, buffer: int) -> float:
    host = np.zeros(1)
    device.copy_from(buffer, 0, host.ctypes.data, 8)
    return float(host[0])


def test_devices_say_what_they_are() -> None:
    for info in HipBackend().devices()[0]:
        assert "test double" in info.name
        assert info.arch == "gfx90a"  # without the features that the driver adds


def test_two_devices_take_turns_and_the_current_one_stays() -> None:
    from pyhip import hip

    hip.hipSetDevice(1)
    devices = [HipBackend().open(0, number) for number in (0, 1)]
    kernels = [device.compile(KERNEL, {"f": [None, "int32"]})["f"] for device in devices]
    buffers = [device.alloc(8) for device in devices]
    for number in (0, 1, 1, 0):
        kernels[number].launch((1,), (1,), [buffers[number], np.int32(number + 5)])
        assert hip.hipGetDevice() == 1
    assert [number_at(device, buffer) for device, buffer in zip(devices, buffers, strict=True)] == [5, 6]
    devices[0].close()
    assert number_at(devices[1], buffers[1]) == 6
    devices[1].close()


@pytest.fixture
def device() -> HipDevice:
    return HipBackend().open(0, 0)


def test_items_of_a_group_meet_at_barriers(device: HipDevice) -> None:
    text = """extern "C" __global__ void __launch_bounds__(96) turn(int *a, int n)
    {
      __shared__ int t[96];
      for (int k = 0; k < n; k++) {
        t[95 - threadIdx.x] = a[blockIdx.x * 96 + threadIdx.x] + k;
        __syncthreads();
        a[blockIdx.x * 96 + threadIdx.x] = t[threadIdx.x];
        __syncthreads();
      }
    }"""
    kernel = device.compile(text, {"turn": [None, "int32"]})["turn"]
    host = np.arange(3 * 96, dtype=np.int32)
    buffer = device.alloc(host.nbytes)
    device.copy_to(buffer, 0, host.ctypes.data, host.nbytes)
    kernel.launch((3,), (96,), [buffer, np.int32(5)])
    got = np.zeros_like(host)
    device.copy_from(buffer, 0, got.ctypes.data, got.nbytes)
    assert np.array_equal(got, host.reshape(3, 96)[:, ::-1].ravel() + 10)


def test_what_it_can_do_is_measured(device: HipDevice) -> None:
    found = peaks.measure(device, scale=1e-4)
    assert min(found.copy, found.triad, found.single, found.double) > 0


def test_page_locked_memory_is_the_kernels_and_given_back(device: HipDevice) -> None:
    address, keep = device.native().stage(8)
    kernel = device.compile(KERNEL, {"f": [None, "int32"]})["f"]
    kernel.launch((1,), (1,), [address, np.int32(7)])
    device.sync()
    assert np.frombuffer(keep)[0] == 7
    given_back = weakref.ref(keep)
    del keep
    assert given_back() is None


def test_arguments_are_packed_for_c_as_the_kernel_takes_them(device: HipDevice) -> None:
    types = ["int8", None, "int16", "float64", "int8", "float32"]
    text = """extern "C" __global__ void g(signed char a, double *to, short b, double c, signed char d, float e)
    { to[0] = a + 10 * b + 100 * c + 1000 * d + 10000 * e; }"""
    kernel = device.compile(text, {"g": types})["g"]
    buffer = device.alloc(8)
    arguments = [np.int8(1), buffer, np.int16(2), np.float64(3), np.int8(4), np.float32(5)]
    bound = device.native().bound(kernel, arguments)
    kernel.launch((1,), (1,), arguments)
    assert number_at(device, buffer) == 54321
    extra = (ctypes.c_void_p * 5).from_address(bound.arguments)
    assert (extra[0], extra[2], extra[4]) == (1, 2, 3)
    assert bound.slots[3] - extra[1] == 24 and ctypes.c_double.from_address(bound.slots[3]).value == 3
    launch = ctypes.CDLL("libamdhip64.so").hipModuleLaunchKernel
    ctypes.c_float.from_address(bound.slots[5]).value = 7
    with device.current("launching"):
        assert launch(ctypes.c_void_p(bound.handle), *(1,) * 6, 0, None, None, ctypes.c_void_p(bound.arguments)) == 0
    assert number_at(device, buffer) == 74321


def test_what_is_asked_too_much_of(device: HipDevice) -> None:
    kernel = device.compile(KERNEL, {"f": [None, "int32"]})["f"]
    buffer = device.alloc(8)
    arguments = [buffer, np.int32(1)]
    with pytest.raises(BackendError, match=r"^f in \(1,\) groups of \(65,\): the kernel is compiled for groups of 64$"):
        kernel.launch((1,), (65,), arguments)
    with pytest.raises(BackendError, match=r"^f in \(67108864,\) groups of \(64,\): HIP counts items in 32 bits$"):
        kernel.launch((1 << 26,), (64,), arguments)
    with pytest.raises(BackendError, match=r"^allocating 2147483648 bytes: hipErrorOutOfMemory$"):
        device.alloc(1 << 31)
    with pytest.raises(BackendError, match=r"^there is no kernel 'g' in what hiprtc made$"):
        device.compile(KERNEL, {"g": [None]})
    with pytest.raises(BackendError, match=r"^kernel 'f' takes 8 bytes at 0, 4 bytes at 8; to be passed: 8 bytes at 0"):
        device.compile(KERNEL, {"f": [None]})
    kernel.launch((1,), (64,), arguments)
    assert number_at(device, buffer) == 1


def test_a_compiler_that_ends_its_process_is_an_error() -> None:
    with pytest.raises(BackendError, match=r"^hiprtc ended by SIGABRT, .*: gfx942$") as caught:
        hiprtc.compiled(KERNEL, "gfx942")
    assert caught.value.log == "test double of hiprtc: unknown architecture"


def test_a_log_has_the_line(device: HipDevice) -> None:
    with pytest.raises(BackendError, match=r"^hiprtcErrorCompilation$") as caught:
        device.compile("\n" + KERNEL.replace("n;", "m;"), {"f": [None, "int32"]})
    assert "nomp.hip:2:" in caught.value.log
