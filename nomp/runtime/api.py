"""The functions of ``import nomp``: what Python programs call.

In: NumPy arrays and settings.  Out: their effects on the process's session (`runtime.session`).  `nomp` itself has
these names and imports this module when one is used.

Errors: `NompError` N6xx, as for the pragmas of the same names.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

import numpy as np

from nomp import backend, config
from nomp.backend import BackendError, DeviceInfo
from nomp.diagnostics import NompError, Span, did_you_mean, error
from nomp.runtime import arrays, lent, memory, session

Arrays = Any
"""An array, or a sequence of arrays."""
_OPERATIONS = {"to": memory.TO, "from": memory.FROM, "alloc": memory.ALLOC, "free": memory.FREE}
_held: dict[tuple[int, int], Any] = {}
"""The arrays on the device, which must not be collected while their addresses stand for them."""


def start(**settings: Any) -> None:
    """Open a device: *settings* are those of ``nomp config``, and win over the environment.  Errors: N802."""
    found = config.load(sys.argv if len(sys.argv) > 1 else ())
    given = {name: value for name, value in settings.items() if value is not None}
    session.init(replace(found, **{name: config.given(name, value, "nomp.init") for name, value in given.items()}))


def ensure_started() -> None:
    """Start nomp, if the program has not."""
    if not session.started():
        start()


@contextmanager
def _finalizing() -> Iterator[None]:
    try:
        yield
    finally:
        finalize()


def init(
    backend: str | None = None, platform: int | None = None, device: int | str | None = None, **settings: Any
) -> Any:
    """Open the device that *backend*, *platform* and *device* name; ``with nomp.init(): ...`` finalizes at the end.

    *device* ``"local"`` is that of the program's MPI rank.
    What is not given comes from ``NOMP_*``, the command line's ``--nomp-*`` and pyproject.toml.  Errors: N601, N611,
    N613 to N615, N802.
    """
    unknown = settings.keys() - config.names()
    if unknown:
        name = sorted(unknown)[0]
        help = did_you_mean(name, config.names()) or "nomp config shows all settings"
        raise error("N803", f"Unknown setting: {name}.", help=help)
    start(backend=backend, platform=platform, device=device, **settings)
    return _finalizing()


def finalize() -> None:
    """Wait for the device, then release all that is on it; `init` may follow.  N602 before `init`."""
    with session.lock:
        session.finalize()
        _held.clear()


def sync() -> None:
    """Wait for all kernels and copies.  Without a device there is nothing to wait for."""
    if session.started():
        session.sync()


def devices() -> list[DeviceInfo]:
    """The devices of all installed backends, those of one backend after the other."""
    found = []
    for _, make in sorted(backend.registered().items()):
        try:
            found += [info for platform in make().devices() for info in platform]
        except BackendError:
            continue  # `nomp devices` says why; a list of what there is has nothing to say of it
    return found


def update(to: Arrays = (), from_: Arrays = (), alloc: Arrays = (), free: Arrays = ()) -> Any:
    """Put arrays on the device (*to*, or *alloc* without their contents), bring them back (*from_*), or *free* them.

    ``with nomp.update(to=a): ...`` frees at the end what it has put there, and brings it back before if *from_* names
    it as well: that is then left for the end.  Errors: N604 for what is not there, N234.
    """
    names = _names(sys._getframe(1), (*_each(to), *_each(from_), *_each(alloc), *_each(free)))
    placed = (*_each(alloc), *_each(to))
    waiting = [array for array in _each(from_) if any(array is other for other in placed)]
    for direction, chosen in (("alloc", alloc), ("to", to), ("from", from_), ("free", free)):
        for array in _each(chosen):
            if direction != "from" or not any(array is other for other in waiting):
                move(direction, array, names[id(array)])
    return _Placed(placed, waiting, names)


class _Placed:
    """What ``with nomp.update(...)`` does at its end."""

    def __init__(self, placed: Sequence[Any], waiting: Sequence[Any], names: Mapping[int, str]) -> None:
        self._placed, self._waiting, self._names = placed, waiting, names

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        for array in self._waiting:
            move("from", array, self._names[id(array)])
        for array in self._placed:
            move("free", array, self._names[id(array)])


def _names(caller: FrameType, chosen: Sequence[Any]) -> dict[int, str]:
    """What the *caller* calls each array, by its `id`, in messages and profiles: a variable that it is, or that it is a
    part of (``u[...]``); else ""."""
    variables = [*caller.f_locals.items(), *caller.f_globals.items()]

    def name(array: Any) -> str:
        return next((name for name, value in variables if value is array), "")

    def part(array: Any) -> str:
        whole = getattr(array, "base", None)
        return f"{known}[...]" if whole is not None and (known := name(whole)) else ""

    return {id(array): name(array) or part(array) for array in chosen}


def _each(chosen: Arrays) -> tuple[Any, ...]:
    return tuple(chosen) if isinstance(chosen, list | tuple) else (chosen,)


@contextmanager
def _in_words_of_python(name: str, span: Span | None) -> Iterator[None]:
    """N604 for the array *name* says what to call, where no pragma has asked, which had a *span*."""
    try:
        yield
    except NompError as reason:
        if reason.code != "N604" or span is not None:
            raise
        step = "put it there with nomp.update(to=...) or alloc=..., all of it, before it is fetched or freed"
        raise error("N604", f"'{name}' is not on the device, or not all of it", help=step) from None


def move(direction: str, array: Any, name: str = "", span: Span | None = None) -> None:
    """``update(direction : array)``; *name* and *span* are for messages."""
    shown = name or "the array"
    if not isinstance(array, np.ndarray):
        from nomp.runtime import interop  # which needs this module

        (array,) = interop.adapted([array], span)
    if not isinstance(array, np.ndarray):
        step = "update takes NumPy arrays; what is on the device already needs none"
        raise error("N234", f"{shown} is {type(array).__name__}, no array", span, help=step)
    if direction == "from" and not array.flags.writeable:
        raise error("N234", f"{shown} is read-only", span, help="update the array that it is a view of")
    low, high = arrays.stretch(array, arrays.address_of(array))
    if low == high:
        return
    shown = name or f"{low:#x}"
    with session.lock:
        ensure_started()
        with session.marked(f"update {shown}", span), _in_words_of_python(shown, span):
            if direction == "from" and not arrays.is_dense(array, low, high):
                session.fetch(lent.HostArray(shown, low, high, False, True, array), span)
                return
            session.update(low, 0, high - low, 1, _OPERATIONS[direction], shown, span)
        if direction == "free":
            for key in [key for key in _held if key[0] < high and low < key[1]]:
                del _held[key]
        else:
            _held[low, high] = array
