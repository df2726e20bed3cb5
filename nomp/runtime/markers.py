"""Ranges on the time lines of vendors' profilers (Nsight Systems, rocprof): which launch or update it is.

In: the setting ``ranges``.  Out: `Markers`.  Used by `runtime.session`; C begins and ends the ranges of launches that
it repeats itself (`runtime.replay`).
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from nomp.diagnostics import Span, error

_LIBRARIES = {
    "nvtx": ("libnvtx3interop.so.1", "libnvToolsExt.so.1"),
    "roctx": ("librocprofiler-sdk-roctx.so.1", "librocprofiler-sdk-roctx.so.0", "libroctx64.so.4", "libroctx64.so"),
}
"""The first one that is there is taken."""
_HELP = {"nvtx": "pip install 'nomp[nvtx]'", "roctx": "install ROCm's roctracer or rocprofiler-sdk"}


@dataclass(frozen=True, slots=True)
class Markers:
    """The vendor's functions that begin and end a range, by their addresses; 0 where no ranges are asked for."""

    push: int = 0
    pop: int = 0

    def around(self, what: str, span: Span | None) -> AbstractContextManager[None]:
        """A range for a block: *what*, and the line of *span*."""
        return self._range(text(what, span)) if self.push else nullcontext()

    @contextmanager
    def _range(self, text: str) -> Iterator[None]:
        push: Callable[[bytes], int] = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(self.push)
        push(text.encode("utf-8", "surrogateescape"))
        try:
            yield
        finally:
            ctypes.CFUNCTYPE(ctypes.c_int)(self.pop)()


def text(what: str, span: Span | None) -> str:
    """What a range says."""
    return f"{what} {span.file}:{span.line}" if span else what


def opened(kind: str) -> Markers:
    """Those of *kind*, a value of the setting.  Raises N624 if the vendor's library is not there."""
    if kind == "off":
        return Markers()
    for name in (*_LIBRARIES[kind], *_installed(_LIBRARIES[kind])):
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(name)  # which is never unloaded
            functions = (getattr(library, f"{kind}Range{end}") for end in ("PushA", "Pop"))
            return Markers(*(ctypes.cast(function, ctypes.c_void_p).value or 0 for function in functions))
    names = ", ".join(_LIBRARIES[kind])
    raise error("N624", f"ranges of {kind} need a library that is not there: {names}", help=_HELP[kind])


def _installed(names: tuple[str, ...]) -> Iterator[str]:
    """Those of *names* that NVIDIA's packages have brought."""
    spec = find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for name in names:
            yield from map(str, sorted(Path(folder).glob(f"*/lib/{name}")))
