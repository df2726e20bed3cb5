"""The time that the compiler's stages take: who wants to know it is told when one ends.

`timed` marks a function as a stage; `listening` has a listener told of the stages that end meanwhile, in the same
thread.  Without a listener a stage costs one look at a variable.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

Listener = Callable[[str, float, float], None]
"""Gets a stage's name, and when it began and ended: `time.perf_counter`'s seconds."""

P = ParamSpec("P")
T = TypeVar("T")

_listener: ContextVar[Listener | None] = ContextVar("nomp_stages", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have *listener* told of stages."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def timed(stage: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """The function is the *stage*."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            listener = _listener.get()
            if listener is None:
                return function(*args, **kwargs)
            begin = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                listener(stage, begin, time.perf_counter())

        return call

    return decorate
