"""What `nomp cc` put in the place of the pragmas: the functions of ``nomp-pragma.h``.

In: calls from ``libnomp/src/pragma.c``, through `api.register`.  Out: calls of `runtime.session`; errors that have no
place of their own get the pragma's.  A region is told to the session at its first run; the session keeps it
even beyond `finalize`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from nomp import region_json
from nomp.diagnostics import Diagnostic, NompError, Span, error, register_source, source_line
from nomp.region import Region

_params: dict[int, int] = {}


def update(file: bytes, line: int, name: bytes, section: tuple[int, int, int, int, int]) -> None:
    """Carry out an ``update`` of the array *name*; *section* is address, start, end, unit and operation."""
    from nomp.runtime import session

    text = name.decode("utf-8", "replace")
    place = Span(file.decode("utf-8", "surrogateescape"), line)
    with located(file, line, text), session.marked(f"update {text}", place):
        session.update(*section, name=text)


def run(ffi: Any, region: Any, addresses: Any) -> bool:
    """Run the ``struct nomp_region`` *region*; its id is -1 until the session knows it.

    True: the program is to run the loop too, and then to call `confirm`.
    """
    from nomp.runtime import session

    with located(ffi.string(region.file), region.line):
        if region.id < 0:
            _declare(ffi, region)
        count = _params[region.id]
        return session.run(region.id, ffi.unpack(addresses, count) if count else (), has_loop=True)


def confirm() -> None:
    """The program has run the loop of the region that it ran last."""
    from nomp.runtime import session

    session.confirm()


def _declare(ffi: Any, embedded: Any) -> None:
    """Tell the session of *embedded*, once, even if several threads come to it at the same time."""
    from nomp.runtime import session

    with session.lock:
        if embedded.id >= 0:
            return
        region = _read(ffi.string(embedded.json).decode())
        _show_source(region)
        kernel = session.declare(region)
        _params[kernel] = len(region.params)
        embedded.id = kernel


def _read(json: str) -> Region:
    try:
        return region_json.loads(json)
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
