"""OpenCL C to machine code of the host's processor, by the host's C compiler, and that loaded.

In: source text, and the types of the kernels' arguments.  Out: a shared library with a function for each kernel, which
carries out a launch (``cpu_text/launch.h``).  Used by the CPU backend.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from nomp.backend import BackendError

_COMPILERS = ("gcc", "cc", "clang")
_OPTIONS = (
    "-std=gnu11", "-fgnu89-inline", "-D_GNU_SOURCE", "-U_FORTIFY_SOURCE", "-w", "-O3", "-pthread", "-fPIC", "-shared",
    "-fvisibility=hidden", "-fsigned-char", "-fwrapv", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math",
)  # fmt: skip
"""Without contraction, results are those of the program's own loops to the last bit.  Unsigned counters of the program
are signed ones in kernels, and go past their end where it lets them.  Nobody looks at errno, or has traps.  A fortified
longjmp does not leave a stack for another one."""
_HEADERS = ("opencl.h", "work.h", "launch.h")
_TYPES = {
    "bool": "char", "int8": "char", "int16": "short", "int32": "int", "int64": "long", "uint8": "uchar",
    "uint16": "ushort", "uint32": "uint", "uint64": "ulong", "float32": "float", "float64": "double", None: "void *",
}  # fmt: skip
_BARRIER = re.compile(r"\bbarrier\s*\(")

Signatures = Mapping[str, Sequence[str | None]]
Blocks = Mapping[str, Sequence[int]]


@cache
def compiler() -> str:
    """The path of the C compiler.  Raises `BackendError` where there is none."""
    os.environ.setdefault("PATH", os.defpath)  # a host program may run without one
    found = next(filter(None, map(shutil.which, _COMPILERS)), None)
    if found is None:
        raise BackendError(f"there is no C compiler on PATH ({', '.join(_COMPILERS)}): install Debian's gcc")
    return str(Path(found).resolve())


@cache
def version() -> str:
    """What the compiler is: ``gcc 12.2.0``."""
    command = [compiler(), "--version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as failure:
        raise BackendError(f"{command[0]} cannot be started: {failure}") from failure
    numbers = re.search(r"\d+\.\d+(\.\d+)?", done.stdout.partition("\n")[0].rpartition(")")[2])
    name = "clang" if "clang" in done.stdout else "gcc"
    return f"{name} {numbers[0] if numbers else 'of an unknown version'}"


@cache
def processor() -> Mapping[str, str]:
    """What Linux says of the first processor, or a bit of that elsewhere: ``model name``, ``vendor_id``, ``flags``."""
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    except OSError:
        return {"model name": platform.processor() or platform.machine()}
    pairs = (line.partition(":")[::2] for line in first.splitlines())
    return {name.strip(): value.strip() for name, value in pairs}


def identity(blocks: Blocks) -> dict[str, str]:
    """All that decides, besides the text, on what `compiled` makes."""
    known = processor()
    file = os.stat(compiler())
    return {
        "compiler": f"{version()}, {file.st_size} bytes of {file.st_mtime_ns}",
        "options": " ".join((*_OPTIONS, *_for_this_processor())),
        "arch": " ".join(known.get(name, "") for name in ("model name", "flags", "Features", "CPU part")).strip(),
        "launcher": hashlib.sha256("".join(map(_text, _HEADERS)).encode()).hexdigest(),
        "one item": ", ".join(name for name in blocks if _is_one(name, blocks)),
    }


def _for_this_processor() -> tuple[str, ...]:
    return ("-mcpu=native",) if platform.machine() in ("aarch64", "arm64") else ("-march=native",)


def compiled(text: str, signatures: Signatures, blocks: Blocks) -> bytes:
    """The shared library of the kernels *signatures* in *text*, whose groups have the items *blocks* where that is
    known.  Raises `BackendError` with the compiler's log."""
    with tempfile.TemporaryDirectory(prefix="nomp-") as folder:
        made, whole = Path(folder, "kernels.so"), _whole(text, signatures, blocks)
        command = [compiler(), *_OPTIONS, *_for_this_processor(), "-x", "c", "-", "-o", str(made), "-lm"]
        try:
            done = subprocess.run(command, input=whole.encode(), capture_output=True, check=False)
        except OSError as failure:
            raise BackendError(f"{command[0]} cannot be started: {failure}") from failure
        if done.returncode:
            log = done.stderr.decode("utf-8", "replace").strip()
            raise BackendError(f"{Path(command[0]).name} ends with status {done.returncode}", log)
        return made.read_bytes()


def _whole(text: str, signatures: Signatures, blocks: Blocks) -> str:
    """*text* between what it takes for granted and what calls its kernels, whose names C's library may have, too.

    A kernel is inlined where a loop goes over the items of a group; where there is only one, it is not, for compilers
    forget then that its arrays are apart.
    """
    meet = bool(_BARRIER.search(text))
    kinds = {name: "noinline" if meet or _is_one(name, blocks) else "always_inline" for name in signatures}
    renamed = "".join(f"#define {name} __attribute__(({kind})) nomp_kernel_{name}\n" for name, kind in kinds.items())
    back = "".join(f"#undef {name}\n" for name in signatures) + "#define NOMP_MEET\n" * meet
    entries = "".join(_entry(name, types, meet, _is_one(name, blocks)) for name, types in signatures.items())
    before, *behind = map(_text, _HEADERS)
    return f'{before}{renamed}#line 1 "kernels.cl"\n{text}\n{back}{"".join(behind)}{entries}'


def _is_one(name: str, blocks: Blocks) -> bool:
    """Whether the groups of the kernel *name* have only one item."""
    return name in blocks and set(blocks[name]) == {1}


def _entry(name: str, types: Sequence[str | None], meet: bool, one: bool) -> str:
    given = "".join(f"  {_TYPES[dtype]} x{k} = *({_TYPES[dtype]} *)arguments[{k}];\n" for k, dtype in enumerate(types))
    call = f"nomp_kernel_{name}({', '.join(f'x{k}' for k in range(len(types)))});"
    if meet:
        item = f"static void nomp_item_{name}(void *const *arguments) {{\n{given}  {call}\n}}\n"
        return f"{item}NOMP_ENTRY({name}, nomp_enter_with_stacks, nomp_meet, nomp_item_{name})\n"
    body = f"  void *const *arguments = launch->arguments;\n{given}  {call if one else f'NOMP_EACH_ITEM({call})'}\n"
    group = f"static void nomp_group_{name}(const struct nomp_launch *launch) {{\n{body}}}\n"
    return f"{group}NOMP_ENTRY({name}, nomp_enter, nomp_group_{name}, 0)\n"


@cache
def _text(name: str) -> str:
    return Path(__file__).with_name("cpu_text").joinpath(name).read_text(encoding="utf-8")


def loaded(library: bytes, share_out: int) -> ctypes.CDLL:
    """What `compiled` made, for launches by what is at the address *share_out* (`cpu_threads.Threads`); it stays in the
    process.

    From memory: a folder for temporary files may be one that nothing may be executed from.
    """
    with tempfile.TemporaryDirectory(prefix="nomp-") as folder:
        file = Path(folder, "kernels.so")  # the loader takes two files of one name for the same
        if hasattr(os, "memfd_create"):
            memory = os.memfd_create("nomp-kernels")
            with os.fdopen(memory, "wb", buffering=0) as stream:
                stream.write(library)
                file.symlink_to(f"/proc/self/fd/{memory}")
                made = _opened(file)
        else:
            file.write_bytes(library)
            made = _opened(file)
    ctypes.c_void_p.in_dll(made, "nomp_share_out").value = share_out
    return made


def _opened(file: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(file))
    except OSError as failure:
        raise BackendError(f"what the C compiler made cannot be loaded: {failure}") from failure
