"""HIP C++ of whole programs, compiled by AMD's hiprtc: no GPU is needed, and none of it is run."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
from commands import cannot_run, succeed
from kernels import EXTENTS_OF_LAUNCHES, PROGRAMS, gpu, regions
from nomp_backends import code_object, hip, hiprtc

from nomp import pipeline
from nomp.backend import BackendError
from nomp.config import Settings
from nomp.device_source import DeviceSource, Variant
from nomp.diagnostics import NompError

ARCHITECTURES = ("gfx906", "gfx908", "gfx90a", "gfx1030")


def amd_is_missing() -> str:
    """Why there is no AMD compiler; what is wrong with one that is there, the tests say."""
    try:
        ctypes.CDLL("libamdhip64.so")
    except OSError as reason:
        return f"ROCm is not installed: {reason}; .ci/missing --ci names Debian's packages"
    return ""


@pytest.fixture(scope="module", autouse=True)
def compiler() -> None:
    """AMD's, without which there is nothing to test; where all tests must run (.ci/run), that is a failure."""
    if reason := amd_is_missing():
        cannot_run(reason)


def compiled(sources: list[DeviceSource], arch: str) -> dict[str, code_object.Kernel]:
    """The kernels of *sources*, compiled together: each has its own namespace for its functions and macros' names."""
    texts = (f"namespace source{number} {{\n{source.text}\n}}\n" for number, source in enumerate(sources))
    return code_object.kernels(hiprtc.compiled("".join(texts), arch))


def check_arguments(sources: list[DeviceSource], kernels: dict[str, code_object.Kernel]) -> None:
    """Each kernel takes its arguments from where the backend packs them."""
    launches = [(source, launch) for source in sources for launch in source.launches]
    assert len({launch.entry for _, launch in launches}) == len(launches) == len(kernels)
    for source, launch in launches:
        types = {value.name: value.dtype for value in source.values}
        signature = [types[a.name] if a.kind == "value" else None for a in launch.arguments]
        assert hip.packer(kernels[launch.entry], signature)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "program"), list(enumerate(PROGRAMS)), ids=[p.stem for p in PROGRAMS])
def test_programs_compile(number: int, program: Path) -> None:
    arch = ARCHITECTURES[number % len(ARCHITECTURES)]
    device = gpu("hip", arch, 64)
    sources = []
    for region in regions(program):
        if (program.stem, region.line) in EXTENTS_OF_LAUNCHES:
            with pytest.raises(NompError, match="has a size that only a launch tells, which hip does not have: name"):
                pipeline.emit_source(region, device, Settings())
            continue
        source, _ = pipeline.compile(region, device, {}, Variant(no_wrap=True, apart=True), Settings())
        sources.append(source)
    check_arguments(sources, compiled(sources, arch))


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_arguments_of_all_types_are_where_the_backend_packs_them(arch: str) -> None:
    types = {"int8": "signed char", "float64": "double", "int16": "short", "uint8": "unsigned char", "int32": "int",
             "uint16": "unsigned short", "int64": "long", "float32": "float", "uint64": "unsigned long"}  # fmt: skip
    names = [*types, *reversed(types)]
    words = ", ".join(f"{types[name]} x{number}" for number, name in enumerate(names))
    text = f'extern "C" __global__ void __launch_bounds__(96) f({words}, double *a) {{ a[0] = x0 + x9; }}'
    kernel = code_object.kernels(hiprtc.compiled(text, arch))["f"]
    assert kernel.max_items == 96
    assert hip.packer(kernel, [*names, None]).size == kernel.parameters[-1].offset + 8
    with pytest.raises(BackendError, match="kernel 'f' takes 1 bytes at 0, 8 bytes at 8, "):
        hip.packer(kernel, ["int32", *names[1:], None])


def test_an_error_comes_with_the_log() -> None:
    with pytest.raises(BackendError, match="hiprtcErrorCompilation") as caught:
        hiprtc.compiled('extern "C" __global__ void f(int *a) { a[0] = b; }', "gfx90a")
    assert "error: use of undeclared identifier 'b'" in caught.value.log


def test_an_architecture_that_hiprtc_does_not_know_is_an_error() -> None:
    with pytest.raises(BackendError, match=r"^hiprtc(Error| ended (by|with) )"):
        hiprtc.compiled('extern "C" __global__ void f(int *a) { a[0] = 1; }', "gfx1")


def test_properties_of_devices_are_where_pyhip_reads_them(tmp_path: Path) -> None:
    members = {"name": "_name", "totalGlobalMem": "totalGlobalMem", "sharedMemPerBlock": "sharedMemPerBlock",
               "warpSize": "warpSize", "maxThreadsPerBlock": "maxThreadsPerBlock", "gcnArchName": "_gcnArchName",
               "multiProcessorCount": "multiProcessorCount"}  # fmt: skip
    headers = "".join(f"#include <{name}>\n" for name in ("hip/hip_runtime_api.h", "stddef.h", "stdio.h"))
    prints = "".join(f'printf("%zu ", offsetof(hipDeviceProp_t, {member}));' for member in members)
    source = tmp_path / "properties.c"
    source.write_text(f'{headers}int main(void) {{ {prints} printf("%zu", sizeof(hipDeviceProp_t)); return 0; }}\n')
    succeed("gcc", "-D__HIP_PLATFORM_AMD__=1", source, "-o", tmp_path / "properties")
    from pyhip import hip as driver

    found = [getattr(driver.hipDeviceProperties, member).offset for member in members.values()]
    expected = [int(word) for word in succeed(tmp_path / "properties").stdout.split()]
    assert [*found, ctypes.sizeof(driver.hipDeviceProperties)] == expected
