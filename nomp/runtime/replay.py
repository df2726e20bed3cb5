"""What repeats a launch without Python: the conditions for it, and the calls of the driver that it consists of.

In: a plan of `runtime.kernel` that has been carried out.  Out: a `Replay`, plain data, for a program's C side
(`capi.replays`), or None where a launch does more than the driver's functions can: copies of variables that are mapped,
tables, values that are computed from several scalars.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from nomp.affine import preserves_value
from nomp.arithmetic import SIZES, is_float, is_signed
from nomp.backend import Bound, Device, Native
from nomp.region import Cast, Var
from nomp.runtime.cells import Cell
from nomp.runtime.memory import AddressMap
from nomp.runtime.scalars import Scalar, Scalars

if TYPE_CHECKING:
    from nomp.report.events import Span
    from nomp.runtime.markers import Markers
    from nomp.runtime.plan import Plan
    from nomp.runtime.program import Ready


@dataclass(frozen=True, slots=True)
class Action:
    """A call of the driver, or (``store``) bytes for the program's memory.

    *object* is the driver's handle: of a kernel whose argument *index* to ``set`` or that to ``launch`` (with
    *arguments*, see `backend.Bound`), of a buffer to ``write`` or ``read`` (which waits); or the address of an argument
    to ``set``.  The host's side is *data*, or the *size* bytes *offset* bytes behind the address at *position*; what is
    copied goes by way of *stage*, unless that is 0, and no further if that is the buffer.  *source*, if not 0, says
    that the host's value is an integer of so many bytes, a signed one if that is negative, and the argument one of
    *size* bytes.  A launch asks for *size* bytes of each group's memory.  What has a *label* is timed; below 0:
    together with what was timed before it.
    """

    kind: Literal["set", "launch", "write", "read", "store"]
    object: int = 0
    position: int = 0
    offset: int = 0
    size: int = 0
    data: bytes = b""
    index: int = 0
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    arguments: int = 0
    stage: int = 0
    source: int = 0
    label: int = 0

    @property
    def stays(self) -> bool:
        """Whether nothing is copied, because host and kernels share the memory."""
        return bool(self.stage) and self.stage == self.object


@dataclass(frozen=True, slots=True)
class Replay:
    """*actions*, where certain arguments of the launch are these *pointers*, and others point to the bytes of *scalars*
    (both by position).  *kept* must live as long as it may be used.  *repeats* counts how often it has been."""

    pointers: dict[int, int]
    scalars: dict[int, bytes]
    actions: tuple[Action, ...]
    kept: tuple[Any, ...]
    repeats: ctypes.c_long = field(default_factory=ctypes.c_long)


class Replays(Protocol):
    """Who repeats launches without Python."""

    def start(self, native: Native, markers: Markers) -> None:
        """The device's driver is *native*; *markers* say what ranges are to be made around launches."""

    def stop(self) -> None:
        """It is about to be closed."""

    def keep(self, kernel: int, replay: Replay, text: str) -> None:
        """From now on *kernel* may be launched by *replay*; *text* is for a range around that."""

    def forget(self) -> None:
        """None may be used any more."""

    def held_back(self) -> AbstractContextManager[None]:
        """None is carried out meanwhile; `forget` may be called."""

    def rest(self, launches: int) -> None:
        """Leave so many launches to Python that might be repeated, from now on."""

    def count(self) -> int:
        """How many there have been."""

    def is_due(self) -> bool:
        """Whether times should be read."""

    def times(self, everything: bool) -> list[tuple[int, Span]]:
        """The labels and times of actions, all or the older half, which are waited for.  `BackendError`."""


@contextmanager
def restarted(replays: Replays | None, device: Device, markers: Markers) -> Iterator[None]:
    """The queue of *device*, and its driver's functions, become others meanwhile; then *replays* use these."""
    native = device.native()
    try:
        yield
    finally:
        if replays and native:
            replays.start(native, markers)


def replay(
    plan: Plan, addresses: Sequence[int], fixed: Set[int], scalars: Scalars, cells: Sequence[Cell], device: Device,
    memory: AddressMap,
) -> Replay | None:  # fmt: skip
    """How to repeat what *plan* did for *addresses*, those at the positions *fixed* being the same."""
    native, program = device.native(), plan.program
    if native is None or program is None or not plan.launches or plan.tables:
        return None
    elements = [(cell, addresses[cell.position] + offset) for cell, offset in zip(cells, plan.cells, strict=True)]
    if any(cell.mapped(memory, element) for cell, element in elements):
        return None
    free = {scalar.name: scalar for scalar in scalars if program.can_rebind and scalar.name in scalars.loose}
    open_values = program.loose_values if program.can_rebind else ()
    launches, kept = list[Action](), list[Any]()
    for ready in plan.launches:
        bound = native.bound(ready.kernel, ready.arguments, ready.launch.group_bytes)
        settings = _settings(ready, bound, open_values, free)
        if settings is None:
            return None
        kept.append(bound)
        launch = Action("launch", bound.handle, size=ready.launch.group_bytes, grid=ready.grid, block=ready.block,
                        arguments=bound.arguments)  # fmt: skip
        launches += [*settings, launch]
    before, after = _cells(cells, plan, native, device, kept)
    stores = [Action("store", position=position, size=len(value), data=value) for position, value in plan.counters]
    pointers = {position: addresses[position] for position in fixed | {cell.position for cell in cells}}
    same = {s.position: ctypes.string_at(addresses[s.position], s.size) for s in scalars if s.name not in free}
    made = Replay(pointers, same, (*before, *launches, *after, *stores), (plan, native, *kept))
    plan.repeats = made.repeats
    return made


def _settings(ready: Ready, bound: Bound, values: Sequence[Any], free: dict[str, Scalar]) -> list[Action] | None:
    """Arguments of *ready* that come from scalars that may change; None if one has to be computed from these."""
    made = []
    for index, argument in enumerate(ready.launch.arguments):
        value = next((v for v in values if argument.kind == "value" and v.name == argument.name), None)
        if value is None:
            continue
        expr = value.expr.operand if isinstance(value.expr, Cast) else value.expr
        scalar = free.get(expr.name) if isinstance(expr, Var) else None
        if scalar is None or (widened := _widened(scalar.dtype, value.expr.dtype, value.dtype)) is None:
            return None
        place = bound.slots[index] if bound.slots else bound.handle
        size = SIZES[value.dtype]
        made.append(Action("set", place, scalar.position, size=size, index=index, source=widened))
    return made


def _widened(scalar: str, middle: str, argument: str) -> int | None:
    """What `Action.source` is for a *scalar*'s type that becomes *middle* and then the *argument*'s; None if C computes
    more for that than an integer of more bytes."""
    if scalar == middle == argument:
        return 0
    if is_float(scalar) or not (preserves_value(scalar, middle) and preserves_value(middle, argument)):
        return None
    return -SIZES[scalar] if is_signed(scalar) else SIZES[scalar]


def _cells(
    cells: Sequence[Cell], plan: Plan, native: Native, device: Device, kept: list[Any]
) -> tuple[list[Action], list[Action]]:
    """What fills the buffers of *cells*, and what brings the results to the program's variables."""
    before, after = list[Action](), list[Action]()
    for cell, offset in zip(cells, plan.cells, strict=True):
        handle, (stage, keep) = native.handle(cell.buffer(device)), cell.stage(native)
        kept.append(keep)
        result = Action("read", handle, cell.position, offset, cell.size, stage=stage)
        start = cell.start.raw if cell.start is not None else b""
        before.append(replace(result, kind="write", data=start))
        after.append(result)
    return before, after
