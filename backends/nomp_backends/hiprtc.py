"""HIP C++ to a code object of an AMD GPU, by hiprtc, which needs no GPU.

In: source text and an architecture (``gfx90a``).  Out: an ELF file, whose notes `code_object` reads.  Used by the HIP
backend.  hiprtc comes with ROCm and is reached by pyhip-interface.

hiprtc runs in a process of its own: an architecture that it does not know ends the process that it is in.  So this
module is also that process's program: ``python -m nomp_backends.hiprtc ARCH OPTION...`` reads the source from its
standard input, and writes the code object, or why there is none, to its standard output.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from nomp.backend import BackendError

_OPTIONS = ("-std=c++17", "-w", "-fwrapv")
"""-fwrapv: unsigned counters of the program are signed ones in kernels, and go past their end where it lets them."""
_REFUSED = 3
"""The exit status when standard output has the reason, and below it hiprtc's log."""


def identity(arch: str, driver: str) -> dict[str, str]:
    """All that decides, besides the text, on what `compiled` makes; *driver* is HIP's version, and hiprtc's."""
    return {"compiler": driver, "options": " ".join(_OPTIONS), "arch": arch}


def compiled(text: str, arch: str, options: Sequence[str] = ()) -> bytes:
    """The code object of *text* for *arch*.  Raises `BackendError` with hiprtc's log."""
    # -P: with -m alone, modules in the folder where the user happens to be would go before the standard library's.
    command = [sys.executable, "-P", "-m", __name__, arch, *_OPTIONS, *options]
    try:
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    except OSError as failure:
        raise BackendError(f"hiprtc cannot be started: {failure}") from failure
    if done.returncode == _REFUSED:
        reason, _, log = done.stdout.decode("utf-8", "replace").partition("\n")
        raise BackendError(reason, log.strip())
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise BackendError(f"{_ended(done.returncode)}, as it does for architectures it does not know: {arch}", said)
    return done.stdout


def _ended(status: int) -> str:
    return f"hiprtc ended by {signal.Signals(-status).name}" if status < 0 else f"hiprtc ended with status {status}"


def _compile(hiprtc: Any, text: str, options: list[str]) -> tuple[bytes, str]:
    """The code object, or none and the reason with the log below.

    pyhip has the log and the code written into bytes objects of Python's, where one-byte ones are shared by the whole
    interpreter; so these four functions are called with buffers of our own.
    """
    library = hiprtc._libhiprtc

    def read(size_of: Any, write: Any) -> bytes:
        size = ctypes.c_size_t()
        hiprtc.hiprtcCheckStatus(size_of(program, ctypes.byref(size)))
        buffer = ctypes.create_string_buffer(max(1, size.value))
        hiprtc.hiprtcCheckStatus(write(program, buffer))
        return buffer.raw[: size.value]

    program = hiprtc.hiprtcCreateProgram(text, "nomp.hip", [], [])
    try:
        hiprtc.hiprtcCompileProgram(program, options)
    except hiprtc.hiprtcError as failure:
        log = read(library.hiprtcGetProgramLogSize, library.hiprtcGetProgramLog)
        return b"", f"{_named(failure)}\n{log.rstrip(bytes(1)).decode('utf-8', 'replace')}"
    return read(library.hiprtcGetCodeSize, library.hiprtcGetCode), ""


def _named(failure: Exception) -> str:
    """pyhip raises hiprtc's errors without a message."""
    return str(failure) or type(failure).__name__


def _main(arch: str, options: list[str]) -> int:
    """The program of the compiler's process; what libraries print does not mix with what it writes."""
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)
        text = sys.stdin.buffer.read().decode()
        try:
            from pyhip import hiprtc

            code, reason = _compile(hiprtc, text, [f"--offload-arch={arch}", *options])
        except Exception as failure:
            code, reason = b"", f"hiprtc cannot be used: {_named(failure)}"
        output.write(code or reason.encode())
    return 0 if code else _REFUSED


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1], sys.argv[2:]))
