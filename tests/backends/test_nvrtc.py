"""CUDA C++ of whole programs, compiled by NVRTC: no GPU is needed, and none of it is run."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from kernels import EXTENTS_OF_LAUNCHES, PROGRAMS, gpu, regions
from nomp_backends import nvrtc

from nomp import pipeline
from nomp.backend import BackendError
from nomp.config import Settings
from nomp.device_source import Variant
from nomp.diagnostics import NompError
from nomp.frontend.clang import parse

GPU = gpu("cuda", "sm_80", 32)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_programs_compile(program: Path) -> None:
    for number, region in enumerate(regions(program)):
        if (program.stem, region.line) in EXTENTS_OF_LAUNCHES:
            with pytest.raises(NompError, match="has a size that only a launch tells, which cuda does not have: name"):
                pipeline.emit_source(region, GPU, Settings())
            continue
        text, _ = pipeline.emit_source(region, GPU, Settings())
        assert nvrtc.compiled(text, ("sm_75", "sm_80", "sm_90")[number % 3]).startswith(b"\x7fELF")


def test_what_declarations_cannot_have_is_asked_for() -> None:
    (program,) = (program for program in PROGRAMS if program.stem == "group_memory")
    (file,) = parse(str(program), ())
    (region,) = (directive.region for directive in file.directives if directive.region)
    source, _ = pipeline.compile(region, GPU, {}, Variant(no_wrap=True, apart=True), Settings())
    assert [launch.group_bytes for launch in source.launches] == [8 * 6144 + 4 * 64]
    assert "extern __shared__ signed char group_memory[]" in source.text
    assert nvrtc.compiled(source.text, GPU.arch).startswith(b"\x7fELF")
    source, _ = pipeline.compile(region, gpu("hip", "gfx90a", 64), {}, Variant(no_wrap=True, apart=True), Settings())
    assert [launch.group_bytes for launch in source.launches] == [0]
    assert "__shared__ double s[6144]" in source.text


def test_an_error_comes_with_the_log() -> None:
    with pytest.raises(BackendError) as caught:
        nvrtc.compiled('extern "C" __global__ void f(int *a) { a[0] = b; }', "sm_90")
    assert 'nomp.cu(1): error: identifier "b" is undefined' in caught.value.log


STAND_IN = """#!/bin/sh
# nvcc, as it is called here: writes what is no cubin but begins like one, or refuses the text that names 'b'.
[ "$*" = "--std=c++17 -w -arch=sm_90 -cubin nomp.cu -o nomp.cubin" ] || exit 7
! grep -q "= b" nomp.cu || { echo 'nomp.cu(1): error: identifier "b" is undefined' >&2; exit 2; }
printf '\\177ELF' >nomp.cubin
"""


@pytest.mark.parametrize("stand_in", [True, False], ids=["stand-in", "nvcc"])
def test_nvcc_takes_the_place_of_nvrtc(stand_in: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise BackendError("NVRTC is not installed")

    if stand_in:
        (tmp_path / "nvcc").write_text(STAND_IN)
        (tmp_path / "nvcc").chmod(0o700)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    elif not shutil.which("nvcc"):
        pytest.skip("nvcc itself is not here: CUDA's toolkit is no package of Python's; its stand-in is tested")
    monkeypatch.setattr(nvrtc, "library", none)
    nvrtc.require()
    assert nvrtc.compiled('extern "C" __global__ void f(int *a) { a[0] = 1; }', "sm_90").startswith(b"\x7fELF")
    with pytest.raises(BackendError, match="nvcc ends with status") as caught:
        nvrtc.compiled('extern "C" __global__ void f(int *a) { a[0] = b; }', "sm_90")
    assert 'identifier "b" is undefined' in caught.value.log


def test_without_a_compiler_it_is_said_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "_names", lambda: iter(["/no/such/libnvrtc.so"]))
    monkeypatch.setenv("PATH", "")
    nvrtc.library.cache_clear()
    for attempt in (nvrtc.require, lambda: nvrtc.compiled("", "sm_90")):
        with pytest.raises(BackendError, match=r"NVRTC is not installed: pip install 'nomp\[cuda\]'"):
            attempt()
    monkeypatch.undo()
    nvrtc.library.cache_clear()


def test_architectures() -> None:
    assert {"sm_75", "sm_80", "sm_90"} <= set(nvrtc.architectures())
