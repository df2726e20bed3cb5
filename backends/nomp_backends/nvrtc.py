"""CUDA C++ to machine code of a GPU, by NVRTC, which needs neither a GPU nor a driver; by nvcc where there is none.

In: source text and an architecture (``sm_90``).  Out: a cubin: PTX of an NVRTC that is newer than the driver would be
refused by it.  Used by the CUDA backend.  NVRTC comes with the package nvidia-cuda-nvrtc, or with CUDA itself; nvcc
takes ten times as long.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nomp.backend import BackendError

_OPTIONS = ("--std=c++17", "-w")
_TEXT = "nomp.cu"
"""What messages call the text."""


@cache
def library() -> ctypes.CDLL:
    """NVRTC.  Raises `BackendError` where there is none."""
    reasons = []
    for name in _names():
        try:
            for part in Path(name).parent.glob("libnvrtc-builtins.so.*") if "/" in name else ():
                ctypes.CDLL(str(part))  # NVRTC looks for it by its name alone
            return ctypes.CDLL(name)
        except OSError as reason:
            reasons.append(str(reason))
    found = f": {reasons[0]}" if reasons else ""
    raise BackendError(f"NVRTC is not installed: pip install 'nomp[cuda]'{found}")


def _names() -> Iterator[str]:
    """Where NVRTC may be: the packages of NVIDIA first, which fit to nomp, then the system's."""
    spec = find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for path in sorted(Path(folder).glob("*/lib/libnvrtc.so.*")):
            yield str(path)
    for name in (ctypes.util.find_library("nvrtc"), "libnvrtc.so.13", "libnvrtc.so.12"):
        if name:
            yield name


def architectures() -> list[str]:
    """The architectures that this NVRTC compiles for."""
    count = ctypes.c_int()
    _check(library().nvrtcGetNumSupportedArchs(ctypes.byref(count)), "asking NVRTC for architectures")
    numbers = (ctypes.c_int * count.value)()
    _check(library().nvrtcGetSupportedArchs(numbers), "asking NVRTC for architectures")
    return [f"sm_{number}" for number in numbers]


def require() -> None:
    """Raises `BackendError` where there is no compiler."""
    if not shutil.which("nvcc"):
        library()


def identity(arch: str) -> dict[str, str]:
    """All that decides, besides the text, on what `compiled` makes.  Loads no compiler where a package has one."""
    file = Path(next(_names(), ""))
    compiler = f"{file.name} of {file.stat().st_size} bytes" if file.is_absolute() else _asked()
    return {"compiler": compiler, "options": " ".join(_OPTIONS), "arch": arch}


def _asked() -> str:
    """The version that NVRTC, or else nvcc, gives when it is asked."""
    try:
        nvrtc = library()
    except BackendError:
        if nvcc := shutil.which("nvcc"):
            return subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False).stdout.strip()
        raise
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), "asking NVRTC for its version")
    return f"NVRTC {major.value}.{minor.value}"


def compiled(text: str, arch: str) -> bytes:
    """The cubin of *text* for *arch*.  Raises `BackendError` with the compiler's log."""
    try:
        nvrtc = library()
    except BackendError:
        if nvcc := shutil.which("nvcc"):
            return _by_nvcc(nvcc, text, arch)
        raise
    program = ctypes.c_void_p()
    name = _TEXT.encode()
    _check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name, 0, None, None), "starting NVRTC")
    try:
        words = [option.encode() for option in (*_OPTIONS, f"--gpu-architecture={arch}")]
        status = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
        if status:
            raise BackendError(_reason(status), _text(program, "nvrtcGetProgramLogSize", "nvrtcGetProgramLog"))
        return _bytes(program, "nvrtcGetCUBINSize", "nvrtcGetCUBIN")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _by_nvcc(nvcc: str, text: str, arch: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, _TEXT).write_text(text)
        command = [nvcc, *_OPTIONS, f"-arch={arch}", "-cubin", _TEXT, "-o", "nomp.cubin"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BackendError(f"nvcc ends with status {done.returncode}", (done.stderr or done.stdout).strip())
        return Path(folder, "nomp.cubin").read_bytes()


def _bytes(program: ctypes.c_void_p, size_of: str, read: str) -> bytes:
    size = ctypes.c_size_t()
    _check(getattr(library(), size_of)(program, ctypes.byref(size)), size_of)
    buffer = ctypes.create_string_buffer(max(1, size.value))
    _check(getattr(library(), read)(program, buffer), read)
    return buffer.raw[: size.value]


def _text(program: ctypes.c_void_p, size_of: str, read: str) -> str:
    return _bytes(program, size_of, read).rstrip(b"\0").decode("utf-8", "replace").strip()


def _check(status: int, doing: str) -> None:
    if status:
        raise BackendError(f"{doing}: {_reason(status)}")


def _reason(status: int) -> str:
    spell: Any = library().nvrtcGetErrorString
    spell.restype = ctypes.c_char_p
    return str(spell(status).decode())
