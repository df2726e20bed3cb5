"""Which of the last launches a copy has to wait for: those that touch the same bytes.

In: what each launch uses of arrays, and the stretch of the host's memory that is about to be copied.  Out: a point in
the device's queue, which the copy then waits for instead of for all that is enqueued.  `runtime.kernel` and
`runtime.launched` tell of launches, `runtime.memory` asks for copies; all of them know arrays by their addresses on the
host.

A program that exchanges the planes at the edge of a grid copies them while a kernel computes what lies between them.
Other programs pay nothing: launches are looked at only after the program has copied a part of an array, and for some
launches from then on, which Python carries out itself, even those that C could repeat; and no more for a while once
copies have waited for the last launch time after time.
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
VAIN = 8
"""After how many copies in a row that had to wait for the last launch launches are not looked at for `PAUSE` copies."""
PAUSE = 256


class _Past(NamedTuple):
    """A launch, or several: what they *used* (None: anything), and the *point* behind them in the queue."""

    used: Sequence[Used] | None
    point: Any


class Overtaking:
    """The last launches on a device, the oldest first.  That one stands for all that was enqueued before it, too.

    *state* changes whenever something else than a launch may have been enqueued: what is remembered is then void.
    *rest* is called with the number of launches that nobody but Python is to carry out from now on.
    """

    def __init__(self, state: Callable[[], object], rest: Callable[[int], None] = lambda launches: None) -> None:
        self._state, self._rest = state, rest
        self._then: object = None
        self._past: deque[_Past] = deque()
        self._patience = self._vain = self._pause = 0
        self._has_points = True

    @property
    def is_watching(self) -> bool:
        """Whether launches are to be told of."""
        return self._patience > 0

    def watch(self) -> None:
        """A part of an array is about to be copied, and so may others be."""
        if self._pause:
            self._pause -= 1
        elif self._has_points:
            self._patience = PATIENCE
            self._rest(PATIENCE)

    def launched(self, device: Device, used: Sequence[Used] | None) -> None:
        """A launch has been enqueued that touches no more than what it *used*."""
        if not self.is_watching:
            return
        self._patience -= 1
        point = device.point() if self._patience else None
        if point is None:
            self._has_points = not self._patience
            self._stop()
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
                self._vain = 0 if number else self._vain + 1
                if self._vain == VAIN:
                    self._vain, self._pause = 0, PAUSE
                    self._stop()
                return point if number else None
        raise AssertionError("the oldest one stands for everything")

    def _stop(self) -> None:
        """Look at no more launches."""
        self._past.clear()
        self._patience = 0
        self._rest(0)
