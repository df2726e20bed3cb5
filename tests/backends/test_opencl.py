"""What is particular to the OpenCL backend: the traps of PoCL, and of its loader."""

from __future__ import annotations

import ctypes
import os
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from conformance import first_device
from nomp_backends import opencl, opencl_devices
from nomp_backends.opencl import OpenCLBackend, OpenCLDevice

from nomp.backend import BackendError


def pocl_platform(backend: OpenCLBackend) -> int:
    for number, devices in enumerate(backend.devices()):
        if devices and devices[0].platform == opencl_devices.POCL:
            return number
    pytest.fail("PoCL, which comes with nomp, is not among the OpenCL platforms")


def test_a_missing_linker_is_found_before_pocl_dies_of_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    backend = OpenCLBackend()
    platform = pocl_platform(backend)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackendError, match="needs the linker 'ld', which is not on PATH: install binutils"):
        backend.open(platform, 0)


def test_a_processor_unknown_to_pocl_is_said_so() -> None:
    def refuse(text: str, signatures: object) -> None:
        raise BackendError("refused", "error: unknown target CPU 'generic'")

    with pytest.raises(BackendError, match="older than the processor") as caught:
        opencl._check_processor(SimpleNamespace(compile=refuse))  # type: ignore[arg-type]
    assert caught.value.log == "error: unknown target CPU 'generic'"


def test_compiler_chatter_is_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    opened = first_device(OpenCLBackend())
    assert isinstance(opened, OpenCLDevice)
    opened.compile("__kernel void f(__global int *a) { int unused; a[0] = 1; }", {"f": [None]})
    opened.close()
    assert capfd.readouterr() == ("", "")


SCRIPT = """
import os, sys
others = int(sys.argv[1])
os.cpu_count = lambda: len(os.sched_getaffinity(0)) + others
from nomp_backends.opencl import OpenCLBackend
OpenCLBackend().devices()
print(os.environ.get("POCL_AFFINITY"))
"""
_BINDING = [
    ({"OMP_PROC_BIND": "true"}, 1, "1"), ({}, 0, "1"), ({}, 1, "None"), ({"POCL_AFFINITY": "0"}, 0, "0"),
    ({"POCL_MAX_PTHREAD_COUNT": "1"}, 0, "None"),
    ({"OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}, 0, "None"),
    ({"OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_LOCAL_SIZE": "1"}, 0, "1"),
    ({"OMP_PROC_BIND": "true", "OMPI_COMM_WORLD_LOCAL_RANK": "1"}, 0, "1"),
]  # fmt: skip


@pytest.mark.parametrize(("extra", "others", "expected"), _BINDING)
def test_pocl_binds_its_threads(extra: dict[str, str], others: int, expected: str) -> None:
    """Where an OpenMP runtime would leave it one core, and where there are no *others* than the program's: processors
    that it may not use, and ranks."""
    names = ("OMP_PROC_BIND", "POCL_AFFINITY", "POCL_MAX_PTHREAD_COUNT")
    env = {k: v for k, v in os.environ.items() if k not in names} | extra
    command = [sys.executable, "-c", SCRIPT, str(others)]
    run = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert run.stdout.split() == [expected]


def test_without_pyopencl_the_reason_is_given() -> None:
    script = """
import sys
sys.modules["pyopencl"] = None
from nomp.backend import BackendError
from nomp_backends.opencl import OpenCLBackend
try:
    OpenCLBackend().devices()
except BackendError as reason:
    print(reason)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("pyopencl is not installed")


def _asked_for_large_pages() -> int:
    """The bytes of the process's memory for which Linux has been asked for large pages."""
    size, found = 0, 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if line.startswith("Size:"):
            size = int(line.split()[1]) << 10
        elif line.startswith("VmFlags:") and "hg" in line.split():
            found += size
    return found


def test_large_buffers_of_a_cpu_are_in_large_pages() -> None:
    """As NumPy's arrays are; small ones are not, which would take more memory than they have."""
    has_any = Path("/sys/kernel/mm/transparent_hugepage").is_dir()  # else Linux refuses, and nothing else changes
    backend = OpenCLBackend()
    opened = backend.open(pocl_platform(backend), 0)
    before, nbytes = _asked_for_large_pages(), 96 << 20
    opened.free(opened.alloc(1 << 20))
    assert _asked_for_large_pages() == before
    buffer = opened.alloc(nbytes)
    asked = _asked_for_large_pages() - before
    assert asked >= nbytes - (1 << 20) if has_any else asked == 0
    data, back = ctypes.create_string_buffer(b"\1" * nbytes, nbytes), ctypes.create_string_buffer(16)
    opened.copy_to(buffer, 0, ctypes.addressof(data), nbytes)
    opened.copy_from(buffer, nbytes - 16, ctypes.addressof(back), 16)
    assert back.raw == b"\1" * 16
    opened.free(buffer)
    opened.close()


@pytest.mark.parametrize(("changes", "tuned"), [
    ({}, True),
    ({"driver": "OpenCL 3.0 PoCL HSTR: cpu-x86_64-pc-linux-gnu-znver4"}, False),  # which the compiler knows
    ({"vendor": "GenuineIntel"}, False),
    ({"platform": "AMD Accelerated Parallel Processing"}, False),
    ({"arch": "aarch64"}, False),
])  # fmt: skip
def test_amd_processors_are_not_taken_for_those_of_intel(changes: dict[str, str], tuned: bool) -> None:
    (amd, *_) = OpenCLBackend().devices()[pocl_platform(OpenCLBackend())]
    driver = "OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-skylake-avx512"
    amd = replace(amd, vendor="AuthenticAMD", arch="x86_64", driver=driver)
    assert bool(opencl_devices.tuning(replace(amd, **changes))) == tuned


def test_nvidia_s_compiler_may_use_all_registers() -> None:
    opened = first_device(OpenCLBackend())
    assert isinstance(opened, OpenCLDevice)
    usual = opencl_devices.options(opened._device, opened.info)
    there = opencl_devices.options(opened._device, replace(opened.info, platform=opencl_devices.NVIDIA))
    opened.close()
    assert there == f"{usual} -cl-nv-maxrregcount=255" and usual.startswith("-w")


TUNED = """
inline double half_of(double x) { return 0.5 * x; }
__kernel void f(__global double *a) { for (int i = 0; i < 8; i++) a[i] = half_of(exp(a[i])) + fmin(sqrt(a[i]), 1.0); }
__kernel void g(__global double *a) { a[0] = a[1]; }
"""


@pytest.mark.slow
def test_what_is_tuned_for_a_processor_computes_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of the program, the driver's and the kernels, whatever this processor is."""
    results = []
    attribute = 'target("tune=znver3")' if platform.machine() in ("x86_64", "AMD64") else "noinline"
    for tuning in ("", attribute):
        monkeypatch.setattr(opencl_devices, "tuning", lambda info, tuning=tuning: tuning)
        device = first_device(OpenCLBackend())
        data = (ctypes.c_double * 8)(*range(8))
        buffer = device.alloc(64)
        device.copy_to(buffer, 0, ctypes.addressof(data), 64)
        kernels = device.compile(TUNED, {"f": [None], "g": [None]})
        for name in ("f", "g"):
            kernels[name].launch((1,), (1,), (buffer,))
        device.copy_from(buffer, 0, ctypes.addressof(data), 64)
        results.append([*data])
        with pytest.raises(BackendError) as refused:
            device.compile("\n__kernel void f(__global double *a) { a[0] = nothing; }", {"f": [None]})
        assert ":2:" in refused.value.log  # in the program's lines
        device.close()
    assert results[0] == results[1] and results[0][0] == results[0][1]
