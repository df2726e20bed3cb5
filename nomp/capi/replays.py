"""Launches that ``libnomp.so`` repeats without Python (``libnomp/src/replay.c``): what it is told of them.

In: `runtime.replay.Replay`.  Out: C's structures, kept alive while C may use them: until newer ones take their place,
or the session has them forgotten.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nomp.backend import BackendError, Native
from nomp.runtime.markers import Markers
from nomp.runtime.replay import Action, Replay

if TYPE_CHECKING:
    from nomp.report.events import Span


class Replays:
    """See `runtime.replay.Replays`."""

    def __init__(self, ffi: Any, lib: Any) -> None:
        self._ffi, self._lib = ffi, lib
        self._native: Native | None = None
        self._kept: dict[int, deque[Any]] = {}
        room = lib.NOMP_MOST_TIMED
        self._times = ffi.new("int[]", room), ffi.new("int64_t[]", room), ffi.new("int64_t[]", room)
        self._kinds = {
            "set": lib.NOMP_SET, "launch": lib.NOMP_LAUNCH, "write": lib.NOMP_WRITE, "read": lib.NOMP_READ,
            "store": lib.NOMP_STORE,
        }  # fmt: skip

    def start(self, native: Native, markers: Markers) -> None:
        """See `runtime.replay.Replays.start`."""
        self._native = native
        handles = {"queue": native.queue, "context": native.context, "push_range": markers.push,
                   "pop_range": markers.pop, **native.functions}  # fmt: skip
        driver = {name: self._pointer(value) for name, value in handles.items()} | {"zero": native.zero}
        self._lib.nomp_replay_start(self._ffi.new("struct nomp_driver *", driver))

    def stop(self) -> None:
        """See `runtime.replay.Replays.stop`."""
        self._lib.nomp_replay_stop()
        self._kept.clear()

    def keep(self, kernel: int, replay: Replay, text: str) -> None:
        """See `runtime.replay.Replays.keep`."""
        made = self._ffi.new("struct nomp_replay *")
        arrays = list[Any]()

        def array(kind: str, values: Sequence[Any] | bytes) -> Any:
            arrays.append(self._ffi.new(kind, values))
            return arrays[-1]

        scalars = [(at, len(value), array("char[]", value)) for at, value in replay.scalars.items()]
        data = [array("char[]", action.data) if action.data else self._ffi.NULL for action in replay.actions]
        made.pointers, made.scalars, made.actions = len(replay.pointers), len(scalars), len(data)
        made.repeats = self._ffi.cast("long *", ctypes.addressof(replay.repeats))
        made.text = array("char[]", text.encode("utf-8", "surrogateescape"))
        made.pointer = array("struct nomp_pointer[]", list(replay.pointers.items()))
        made.scalar = array("struct nomp_scalar[]", scalars)
        made.action = array("struct nomp_action[]", list(map(self._action, replay.actions, data)))
        newest = self._kept.setdefault(kernel, deque(maxlen=self._lib.NOMP_MOST_REPLAYS))
        if self._lib.nomp_replay_keep(kernel, made):  # C does not use any more what `newest` now drops
            newest.append((replay, made, arrays))

    def forget(self) -> None:
        """See `runtime.replay.Replays.forget`."""
        self._lib.nomp_replay_forget()
        self._kept.clear()

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """See `runtime.replay.Replays.held_back`."""
        self._lib.nomp_replay_lock()
        try:
            yield
        finally:
            self._lib.nomp_replay_unlock()

    def rest(self, launches: int) -> None:
        """See `runtime.replay.Replays.rest`."""
        self._lib.nomp_replay_rest(launches)

    def count(self) -> int:
        """See `runtime.replay.Replays.count`."""
        return int(self._lib.nomp_replay_count())

    def is_due(self) -> bool:
        """See `runtime.replay.Replays.is_due`."""
        return bool(self._lib.nomp_replay_is_due())

    def times(self, everything: bool) -> list[tuple[int, Span]]:
        """See `runtime.replay.Replays.times`."""
        count = self._lib.nomp_replay_times(everything, *self._times)
        if count < 0:
            raise BackendError(f"the driver's status is {count} for the times of launches, which are lost")
        labels, begins, lasted = (self._ffi.unpack(array, count) if count else () for array in self._times)
        return list(zip(labels, zip(begins, lasted, strict=True), strict=True))

    def _action(self, action: Action, data: Any) -> dict[str, Any]:
        groups, items = ((*size, 1, 1)[:3] for size in (action.grid, action.block))
        return {
            "kind": self._kinds[action.kind], "position": action.position, "offset": action.offset, "bytes": data,
            "size": action.size, "object": self._pointer(action.object), "index": action.index,
            "dims": len(action.grid), "groups": groups, "items": items,
            "arguments": self._ffi.cast("void **", action.arguments), "stage": self._pointer(action.stage),
            "from": action.source, "label": action.label,
        }  # fmt: skip

    def _pointer(self, address: int) -> Any:
        return self._ffi.cast("void *", address)
