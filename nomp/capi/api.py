"""The C API, as far as it is written in Python: thin functions between ``libnomp.so`` and `runtime.session`.

In: calls from ``libnomp/src`` (``bridge.cdef`` lists them).  Out: 0, or the id of an entry in C's error log; the
functions of the pragmas print their diagnostic and return 1 if the program is to end.  No exception and no traceback
leaves this module, unless NOMP_DEBUG=1 asks for it; a fault of ours becomes an error with one line of text.

``libnomp.so`` imports this module and calls `register` once, when the interpreter has started.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nomp.capi import errors, pragmas
from nomp.diagnostics import NompError, register_source

if TYPE_CHECKING:
    from nomp.config import Settings

_ffi: Any = None
_lib: Any = None
_settings: Settings | None = None
_sources = itertools.count(1)


def register(ffi: Any, lib: Any) -> None:
    """Let C call the functions of this module."""
    global _ffi, _lib
    _ffi, _lib = ffi, lib
    if sys.stderr is None:  # closed by whoever started the program; print() would take stdout instead, which is its own
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    api = (_init, _update, _mapped, _jit, _run, _failed, _sync, _finalize)
    of_pragmas = (_pragma_init, _pragma_update, _pragma_run, _pragma_failed, _pragma_confirm, _pragma_sync,
                  _pragma_finalize)  # fmt: skip
    for function, report in [*((f, _record) for f in api), *((f, _print) for f in of_pragmas)]:
        ffi.def_extern(name=f"nomp_py{function.__name__}", error=1)(_guarded(function, report))


def require(bridge: str) -> None:
    """Raises ImportError, if the library was built with another *bridge* between C and Python than this version's."""
    if bridge != (Path(__file__).with_name("libnomp") / "src" / "bridge.cdef").read_text():
        raise ImportError("libnomp.so was built with another version of nomp than it finds in Python: install it again")


def _guarded(function: Callable[..., None], report: Callable[[errors.Entry], int]) -> Callable[..., int]:
    """*function* as C calls it: 0, or what *report* makes of its error."""

    @functools.wraps(function)
    def call(*args: Any) -> int:
        try:
            function(*args)
        except BaseException as problem:  # a script may raise anything, SystemExit too, and nothing may reach C
            if _settings.debug if _settings else _debugging():
                traceback.print_exception(problem)
            return report(errors.entry(problem, _backend()))
        return 0

    return call


def _debugging() -> bool:
    from nomp import config

    return config.debugging()


def _record(entry: errors.Entry) -> int:
    """Put *entry* into C's error log; its id."""
    return int(_lib.nomp_log_error(entry.number, entry.file.encode(), 0, _bytes(entry.text)))


def _print(entry: errors.Entry) -> int:
    """Show the diagnostic of a pragma; 1 if the program is to end."""
    _lib.nomp_log_print(_bytes(entry.diagnostic))
    return 0 if _settings is not None and _settings.on_error == "continue" else 1


def _backend() -> str:
    """The name of the backend in use, or that was to be used.  Imports nothing, for it serves to report failures."""
    session = sys.modules.get("nomp.runtime.session")
    device = session.device() if session else None
    return device.backend if device else _settings.backend if _settings else ""


def _bytes(text: str) -> bytes:
    return text.replace("\0", "\\0").encode("utf-8", "surrogateescape")


# ----------------------------------------------------------------------------------------------------- nomp.h


def _init(argc: int, argv: Any) -> None:
    from nomp import config
    from nomp.capi import replays
    from nomp.runtime import session

    global _settings
    if not session.started():  # else `init` says so, and the program's settings stay
        _read_environment()
        _settings = config.load(_strings(argc, argv))
        session.repeat_by(replays.Replays(_ffi, _lib))
    settings = _settings or config.Settings()
    session.init(settings)
    _lib.nomp_log_verbose(settings.verbose)
    _lib.nomp_set_started(1)


def _read_environment() -> None:
    """Make ``os.environ``, which is a copy, what C's environment is now: the program may have changed it."""
    entries = itertools.takewhile(lambda entry: entry != _ffi.NULL, (_lib.environ[i] for i in itertools.count()))
    now = dict(_ffi.string(entry).split(b"=", 1) for entry in entries if b"=" in _ffi.string(entry))
    for name in os.environb.keys() - now.keys():
        del os.environb[name]
    for name, value in now.items():
        if os.environb.get(name) != value:
            os.environb[name] = value


def _strings(argc: int, argv: Any) -> list[str]:
    """The strings of C's *argv*, up to a NULL."""
    if argv == _ffi.NULL:
        return []
    pointers = itertools.takewhile(lambda pointer: pointer != _ffi.NULL, (argv[i] for i in range(argc)))
    return [_ffi.string(pointer).decode("utf-8", "surrogateescape") for pointer in pointers]


def _update(address: int, start: int, end: int, unit: int, op: int) -> None:
    from nomp.runtime import session

    with session.marked("nomp_update", None):
        session.update(address, start, end, unit, op)


def _mapped(address: int, found: Any) -> None:
    from nomp.runtime import session

    with session.lock:
        map = session.mapped(address, address + 1)
        entry = map.find(address) if address else None
        if entry and map.device.info.pointer_arithmetic:
            found[0] = entry.buffer + entry.offset(address)


def _jit(source: Any, clauses: Any, nargs: int, arguments: Any, kernel: Any) -> None:
    from nomp.capi import jit
    from nomp.runtime import session
    from nomp.walks import fixed

    declared = jit.read_arguments(_ffi, nargs, arguments)
    asked = jit.clauses_of(jit.read_clauses(_ffi, clauses), declared)
    text = _ffi.string(source).decode("utf-8", "replace")
    file = f"<nomp_jit {next(_sources)}>"
    register_source(file, text)
    region = jit.region_of(text, asked, file, session.kept())
    values = jit.jit_values(region, declared)
    region = replace(fixed(region, values), overwrite=True)
    try:
        kernel.id = session.declare(region, eager=True)
    except NompError as problem:
        raise errors.InKernel(problem.diagnostics, region) from problem
    kernel.nargs = len(region.params)


def _run(kernel: int, nargs: int, addresses: Any) -> None:
    from nomp.runtime import session

    session.run(kernel, _ffi.unpack(addresses, nargs) if nargs else ())


def _failed(kernel: int, status: int) -> None:
    from nomp.runtime import session

    session.failed(kernel, status)


def _sync() -> None:
    from nomp.runtime import session

    session.sync()


def _finalize() -> None:
    from nomp.runtime import session

    try:
        session.finalize()
    finally:
        if not session.started():
            _lib.nomp_set_started(0)


# ---------------------------------------------------------------------------------------------- nomp-pragma.h


def _pragma_init(argc: int, argv: Any, file: Any, line: int) -> None:
    with pragmas.located(_ffi.string(file), line):
        _init(argc, argv)


def _pragma_update(address: int, start: int, end: int, unit: int, op: int, name: Any, file: Any, line: int) -> None:
    pragmas.update(_ffi.string(file), line, _ffi.string(name), (address, start, end, unit, op))


def _pragma_run(region: Any, addresses: Any, verify: Any) -> None:
    verify[0] = pragmas.run(_ffi, region, addresses)


def _pragma_failed(kernel: int, status: int) -> None:
    _failed(kernel, status)


def _pragma_confirm() -> None:
    pragmas.confirm()


def _pragma_sync(file: Any, line: int) -> None:
    with pragmas.located(_ffi.string(file), line):
        _sync()


def _pragma_finalize(file: Any, line: int) -> None:
    with pragmas.located(_ffi.string(file), line):
        _finalize()
