"""Launches that ``libnomp.so`` repeats without Python (``libnomp/src/replay.c``): what it is told of them.

In: `runtime.replay.Replay`.  Out: C's structures, kept alive until the session has them forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from nomp.backend import Native
from nomp.runtime.replay import Action, Replay


class Replays:
    """See `runtime.session.Replays`."""

    def __init__(self, ffi: Any, lib: Any) -> None:
        self._ffi, self._lib = ffi, lib
        self._kept: list[Any] = []
        self._kinds = {
            "set": lib.NOMP_SET, "launch": lib.NOMP_LAUNCH, "write": lib.NOMP_WRITE, "read": lib.NOMP_READ,
            "store": lib.NOMP_STORE,
        }  # fmt: skip

    def start(self, native: Native) -> None:
        """See `runtime.session.Replays.start`."""
        self._kept = [native]
        handles = {"queue": native.queue, "context": native.context, **native.functions}
        driver = {name: self._pointer(value) for name, value in handles.items()}
        self._lib.nomp_replay_start(self._ffi.new("struct nomp_driver *", driver))

    def keep(self, kernel: int, replay: Replay) -> None:
        """See `runtime.session.Replays.keep`."""
        self._kept.append(replay)
        pointers = [(position, address) for position, address in replay.pointers.items()]
        scalars = [(position, len(value), self._bytes(value)) for position, value in replay.scalars.items()]
        actions = [self._action(action) for action in replay.actions]
        made = self._ffi.new("struct nomp_replay *")
        made.pointers, made.scalars, made.actions = len(pointers), len(scalars), len(actions)
        made.pointer = self._array("struct nomp_pointer[]", pointers)
        made.scalar = self._array("struct nomp_scalar[]", scalars)
        made.action = self._array("struct nomp_action[]", actions)
        self._kept.append(made)
        self._lib.nomp_replay_keep(kernel, made)

    def forget(self) -> None:
        """See `runtime.session.Replays.forget`."""
        self._lib.nomp_replay_forget()
        self._kept.clear()

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """See `runtime.session.Replays.held_back`."""
        self._lib.nomp_replay_lock()
        try:
            yield
        finally:
            self._lib.nomp_replay_unlock()

    def _action(self, action: Action) -> dict[str, Any]:
        groups, items = ((*size, 1, 1)[:3] for size in (action.grid, action.block))
        return {
            "kind": self._kinds[action.kind], "position": action.position, "offset": action.offset,
            "bytes": self._bytes(action.data) if action.data else self._ffi.NULL,
            "size": action.size, "object": self._pointer(action.object), "index": action.index,
            "dims": len(action.grid), "groups": groups, "items": items,
            "arguments": self._ffi.cast("void **", action.arguments), "stage": self._pointer(action.stage),
            "from": action.source,
        }  # fmt: skip

    def _array(self, kind: str, values: Sequence[Any]) -> Any:
        made = self._ffi.new(kind, values)
        self._kept.append(made)
        return made

    def _bytes(self, value: bytes) -> Any:
        return self._array("char[]", value)

    def _pointer(self, address: int) -> Any:
        return self._ffi.cast("void *", address)
