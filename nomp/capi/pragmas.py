"""What `nomp cc` put in the place of the pragmas: the functions of ``nomp-pragma.h``.

In: calls from ``libnomp/src/pragma.c``, through `api.register`.  Out: calls of `runtime.session`; errors that have no
place of their own get the pragma's.  A region is told to the session at its first run in that session.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from nomp.diagnostics import Diagnostic, NompError, Span, error, register_source, source_line
from nomp.region import Region


@dataclass(frozen=True, slots=True)
class Known:
    """A region that this session knows: its kernel, and how many addresses it takes."""

    kernel: int
    params: int


_known: dict[int, Known] = {}
_serials = itertools.count(1)


def forget() -> None:
    """The session has ended: its kernels are gone, and regions must be declared again."""
    _known.clear()


def run(ffi: Any, region: Any, addresses: Any) -> None:
    """Run the ``struct nomp_region`` *region*."""
    from nomp.runtime import session

    with located(ffi.string(region.file), region.line):
        known = _known.get(region.id) or _declare(ffi, region)
        session.run(known.kernel, ffi.unpack(addresses, known.params) if known.params else ())


def _declare(ffi: Any, embedded: Any) -> Known:
    """Tell the session of *embedded*.  Its id is a number of its own, which no later session gives another region."""
    from nomp.runtime import session

    region = _read(ffi.string(embedded.json).decode())
    _show_source(region)
    known = Known(session.declare(region), len(region.params))
    if embedded.id <= 0:
        embedded.id = next(_serials)
    _known[embedded.id] = known
    return known


def _read(json: str) -> Region:
    try:
        return Region.from_json(json)
    except ValueError as problem:
        help = "build it again with this version's `nomp cc`"
        raise error("N655", f"the program was built by another version of nomp: {problem}", help=help) from None


def _show_source(region: Region) -> None:
    """Let messages quote the region as it was compiled, where its file is not there or has changed."""
    if any(source_line(region.file, region.first_line + i) != line for i, line in enumerate(region.text)):
        register_source(region.file, "\n" * (region.first_line - 1) + "\n".join(region.text))


@contextmanager
def located(file: bytes, line: int, name: str = "") -> Iterator[None]:
    """Give errors without a place that of the pragma in *line*: the word *name* in it, or all of it."""
    try:
        yield
    except NompError as problem:
        span = _span(file.decode("utf-8", "surrogateescape"), line, name)
        problem.diagnostics = tuple(_placed(diagnostic, span) for diagnostic in problem.diagnostics)
        raise


def _placed(diagnostic: Diagnostic, span: Span) -> Diagnostic:
    """*diagnostic* at *span*, unless it has a place, or is about options, which are not in the source."""
    return diagnostic if diagnostic.span or diagnostic.code.startswith("N8") else replace(diagnostic, span=span)


def _span(file: str, line: int, name: str) -> Span:
    text = source_line(file, line) or ""
    found = re.search(rf"\b{re.escape(name)}(?!\w)", text) if name else None
    start, end = found.span() if found else (len(text) - len(text.lstrip()), len(text.rstrip()))
    return Span(file, line, start + 1, max(1, end - start))
