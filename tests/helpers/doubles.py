"""The test doubles of HIP: libraries with the names of AMD's, which compile kernels with g++ and run them on the CPU,
or with NVRTC and run them on an NVIDIA GPU."""

from __future__ import annotations

import ctypes
import os
import shutil
from pathlib import Path

from commands import succeed

_SOURCES = Path(__file__).parents[1] / "doubles"


def build(folder: Path) -> Path:
    """Build the libraries for the CPU in *folder*, and return it; the fixture ``hip_double`` has one for all tests."""
    return _build(folder, {"amdhip64": "amdhip64", "hiprtc": "hiprtc"}, "-ldl")


def build_on_cuda(folder: Path) -> Path:
    """Build the libraries for an NVIDIA GPU in *folder*, and return it; CUDA's toolkit must be there."""
    toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    options = ["-DON_CUDA", f"-I{toolkit}/include", f"-L{toolkit}/lib64", f"-Wl,-rpath,{toolkit}/lib64", "-lnvrtc"]
    options += [_loaded("libcuda.so")]
    return _build(folder, {"amdhip64": "amdhip64_on_cuda", "hiprtc": "hiprtc"}, *options)


def _build(folder: Path, sources: dict[str, str], *more: str) -> Path:
    header = Path(shutil.copy(_SOURCES / "device.h", folder))
    # Compiled with the options of kernels, or g++ would read the text of it each time.
    for_kernels = ["-std=c++17", "-fwrapv", "-O1", "-ffp-contract=off", "-fvisibility=hidden", "-fPIC"]
    succeed("g++", "-x", "c++-header", *for_kernels, header, "-o", folder / "device.h.gch")
    options = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    options += [f'-DDEVICE_H="{header}"', '-DCOMPILER="g++"']
    for name, source in sources.items():
        succeed("g++", *options, _SOURCES / f"{source}.cc", "-o", folder / f"lib{name}.so", *more)
    return folder


def no_cuda() -> str:
    """Why there is no NVIDIA GPU here; "" where there is one."""
    try:
        status = ctypes.CDLL("libcuda.so.1").cuInit(0)
    except OSError as reason:
        return f"no driver: {reason}"
    return f"cuInit's status is {status}" if status else ""


def _loaded(name: str) -> str:
    """The file of a library that this process has loaded: drivers are at places of their own."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split()[-1] for line in lines if Path(line.split()[-1]).name.startswith(name))


def environment(folder: Path) -> dict[str, str]:
    """The environment of a program that is to find the libraries in *folder* before AMD's."""
    path = [str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    return os.environ | {"LD_LIBRARY_PATH": ":".join(path)}
