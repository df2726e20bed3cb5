"""Which of the last launches a copy has to wait for: those that touch the same bytes.

In: what each launch uses of arrays, and the stretch of the host's memory that is about to be copied.  Out: a point in
the device's queue, which the copy then waits for instead of for all that is enqueued.  `runtime.kernel` and
`runtime.launched` tell of launches, `runtime.memory` asks for copies; all of them know arrays by their addresses on the
host.

A program that exchanges the planes at the edge of a grid copies them while a kernel computes what lies between them.
Other programs pay nothing: launches are looked at only after the program has copied a part of an array, and for some
launches from then on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nomp.backend import Device
from nomp.runtime.aliasing import Used

PATIENCE = 64
"""After how many launches without a copy of a part of an array they are not looked at any more."""
MOST = 32
"""How many launches are remembered."""


class _Past(NamedTuple):
    """A launch, or several: what they *used* (None: anything), and the *point* behind them in the queue."""

    used: Sequence[Used] | None
    point: Any


class Overtaking:
    """The last launches on a device, the oldest first.  That one stands for all that was enqueued before it, too.

    *state* changes whenever something else than a launch may have been enqueued: what is remembered is then void.
    """

    def __init__(self, state: Callable[[], object]) -> None:
        self._state = state
        self._then: object = None
        self._past: deque[_Past] = deque()
        self._patience = 0

    @property
    def is_watching(self) -> bool:
        """Whether launches are to be told of."""
        return self._patience > 0

    def watch(self) -> None:
        """A part of an array is about to be copied, and so may others be."""
        self._patience = PATIENCE

    def launched(self, device: Device, used: Sequence[Used] | None) -> None:
        """A launch has been enqueued that touches no more than what it *used*."""
        if not self.is_watching:
            return
        self._patience -= 1
        point = device.point() if self._patience else None
        if point is None:
            self._past.clear()
            return
        if self._state() != self._then:
            self._past.clear()
            self._then = self._state()
        self._past.append(_Past(used if self._past else None, point))
        if len(self._past) > MOST:
            self._past.popleft()
            self._past[0] = self._past[0]._replace(used=None)

    def point(self, low: int, high: int, writes: bool) -> Any:
        """The point in the queue that a copy of the bytes [*low*, *high*) has to wait for, one that *writes* them on
        the device or only reads them there; None: for everything."""
        if not self._past or self._state() != self._then:
            return None
        for number, (used, point) in enumerate(reversed(self._past)):
            if used is None or any((writes or one.param.writes) and one.touches(low, high) for one in used):
                return point if number else None
        raise AssertionError("the oldest one stands for everything")
