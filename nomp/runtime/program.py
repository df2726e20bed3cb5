"""A compiled kernel on a device: the entry points of a `DeviceSource`, and their launches for given values.

In: a `DeviceSource` and an open device; then, whenever something has changed, the region's scalars and the buffers of
its parameters.  Out: launches that are ready to be enqueued, as often as nothing changes.  Made by `runtime.kernel`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from nomp import backend
from nomp.arithmetic import SIZES, Number, convert, evaluate
from nomp.backend import BackendError, Device
from nomp.cache import Cache, Subject
from nomp.clocks import timed
from nomp.device_source import Argument, DeviceSource, Launch, Value
from nomp.diagnostics import NompError, Note, Span, error
from nomp.region import Const, Expr, Var
from nomp.walks import walk_expr

Key = tuple[str, str]
"""Kind and name of an argument (`device_source.Argument`)."""


@dataclass(frozen=True, slots=True)
class Ready:
    """*launch* with everything evaluated."""

    launch: Launch
    kernel: backend.Kernel
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[Any, ...]

    def enqueue(self) -> None:
        """Enqueue it."""
        self.kernel.launch(self.grid, self.block, self.arguments, self.launch.group_bytes)


class Program:
    """The entry points of *source* and the scratch buffers that its launches share (the queue is in order).

    The region's scalars *loose* decide on nothing but values of elements, unless a script has changed that.  *finished*
    are the arguments that only the last of several launches has, which finishes a reduction.
    """

    def __init__(
        self, device: Device, source: DeviceSource, span: Span, cache: Cache, loose: Container[str] = ()
    ) -> None:
        """Compile *source*, unless *cache* has what comes out.

        Raises N521, at *span*, with the device compiler's log and the source it refused."""
        self._device = device
        self._source = source
        self._scratch: dict[str, list[tuple[int, Any]]] = {}
        self.loose_values = [v for v in source.values if v.expr is not None and _mentions(v.expr, loose)]
        names = {value.name for value in self.loose_values}
        sizes = [size for launch in source.launches for size in (*launch.grid, *launch.block)]
        sizes += [scratch.size for scratch in source.scratch]
        self.space = source.space
        used = [{argument.name for argument in launch.arguments} for launch in source.launches]
        self.finished = frozenset(used[-1].difference(*used[:-1])) if len(used) > 1 else frozenset()
        self.can_rebind = source.schedule is None and not any(_mentions(size, names) for size in sizes)
        try:
            self._kernels = timed("device compiler")(compiled)(device, source, cache, span)
        except BackendError as reason:
            raise refused(source, device.info.name, reason, span) from reason

    def bind(
        self, scalars: Mapping[str, Number], settled: Mapping[str, Number], buffers: Mapping[str, Any],
        offsets: Mapping[str, int],
    ) -> tuple[Ready, ...]:  # fmt: skip
        """The launches for the region's *scalars*, the *buffers* of its parameters and the element *offsets* of its
        arrays; those with an empty grid are left out.  *settled* are the values that `settled` gives for these scalars.
        ZeroDivisionError if an expression divides by zero."""
        values = {value.name: settled[value.name] if value.name in settled else _evaluate(value, scalars, offsets)
                  for value in self._source.values}  # fmt: skip
        arguments: dict[Key, Any] = {("buffer", name): buffer for name, buffer in buffers.items()}
        for value in self._source.values:
            arguments["value", value.name] = values[value.name]
        grids = [tuple(int(evaluate(extent, values)) for extent in launch.grid) for launch in self._source.launches]
        if all(min(grid) <= 0 for grid in grids):
            return ()
        for scratch in self._source.scratch:
            nbytes = int(evaluate(scratch.size, values)) * SIZES[scratch.dtype]
            arguments["scratch", scratch.name] = self._scratch_buffer(scratch.name, nbytes)
        pairs = zip(self._source.launches, grids, strict=True)
        return tuple(self._ready(launch, grid, values, arguments) for launch, grid in pairs if min(grid) > 0)

    def settled(self, scalars: Mapping[str, Number]) -> dict[str, Number]:
        """The values that depend neither on *scalars* that are loose nor on where arrays begin."""
        loose = {value.name for value in self.loose_values}
        settled = [v for v in self._source.values if v.offset_of is None and v.name not in loose]
        return {value.name: _evaluate(value, scalars, {}) for value in settled}

    def loose(self, scalars: Mapping[str, Number]) -> dict[Key, Any]:
        """The arguments that follow from *scalars* that are loose.

        Only if `can_rebind`: the grid and what is to be checked of the schedule do not depend on these.
        """
        return {("value", value.name): _evaluate(value, scalars, {}) for value in self.loose_values}

    def _ready(
        self, launch: Launch, grid: tuple[int, ...], values: Mapping[str, Number], arguments: Mapping[Key, Any]
    ) -> Ready:
        block = tuple(int(evaluate(extent, values)) for extent in launch.block)
        chosen = tuple(arguments[_key(argument)] for argument in launch.arguments)
        return Ready(launch, self._kernels[launch.entry], grid, block, chosen)

    def _scratch_buffer(self, name: str, nbytes: int) -> Any:
        """A buffer of at least *nbytes*.  One that is outgrown is kept, because earlier launches may be repeated; as
        the size at least doubles, the outgrown ones together are no larger than the newest."""
        sizes = self._scratch.setdefault(name, [])
        if not sizes or sizes[-1][0] < nbytes:
            size = max(nbytes, 2 * sizes[-1][0] if sizes else 1)
            sizes.append((size, self._device.alloc(size)))
        return sizes[-1][1]

    def release(self) -> None:
        """Free the scratch buffers."""
        for sizes in self._scratch.values():
            for _, buffer in sizes:
                self._device.free(buffer)
        self._scratch.clear()


def rebound(launches: tuple[Ready, ...], new: Mapping[Key, Any]) -> tuple[Ready, ...]:
    """*launches* with *new* ones among their arguments."""
    return tuple(replace(ready, arguments=tuple(map(new.get, map(_key, ready.launch.arguments), ready.arguments)))
                 for ready in launches)  # fmt: skip


def compiled(device: Device, source: DeviceSource, cache: Cache, span: Span) -> Mapping[str, backend.Kernel]:
    """The kernels of *source*, by way of *cache*.  Raises `BackendError`."""
    types = {value.name: value.dtype for value in source.values}
    signatures = {
        launch.entry: [types[a.name] if a.kind == "value" else None for a in launch.arguments]
        for launch in source.launches
    }
    blocks = {launch.entry: block for launch in source.launches if (block := _constant(launch.block)) is not None}
    if not cache.is_on:
        return device.compile(source.text, signatures)
    stored = Kept(source, cache, span)
    try:
        return device.compile(source.text, signatures, stored, blocks)
    except BackendError as reason:
        if not stored.dropped(str(reason)):
            raise
        return device.compile(source.text, signatures, stored, blocks)


class Kept:
    """See `backend.Stored`: by way of *cache*, for the compiler's work on *source*."""

    def __init__(self, source: DeviceSource, cache: Cache, span: Span) -> None:
        self._cache, self._subject = cache, Subject("binary", source.name, span)
        self._text = sha256(source.text.encode()).hexdigest()
        self._kept: dict[str, Any] | None = None

    def __call__(self, compiler: Mapping[str, str], build: Callable[[], bytes]) -> bytes:
        """What *compiler* makes of the source, by calling *build* or from the cache."""
        self._kept = inputs = {"kind": "binary", "source": self._text, **compiler}

        def make() -> dict[str, bytes]:
            self._kept = None
            binary = build()
            return {"binary": binary} if binary else {}

        return self._cache.obtain(self._subject, inputs, make).get("binary", b"")

    def dropped(self, reason: str) -> bool:
        """Forget what was kept, if it was used, since the driver refuses it for this *reason*."""
        if self._kept is None:
            return False
        self._cache.drop(self._subject, self._kept, f"the driver refuses it: {reason}")
        return True


def _constant(sizes: Sequence[Expr]) -> tuple[int, ...] | None:
    """*sizes*, if they do not depend on anything."""
    known = [int(size.value) for size in sizes if isinstance(size, Const)]
    return tuple(known) if len(known) == len(sizes) else None


def _key(argument: Argument) -> Key:
    return argument.kind, argument.name


def _mentions(expr: Expr, names: Container[str]) -> bool:
    return any(isinstance(node, Var) and node.name in names for node in walk_expr(expr))


def _evaluate(value: Value, scalars: Mapping[str, Number], offsets: Mapping[str, int]) -> Number:
    if value.offset_of is not None:
        return offsets.get(value.offset_of, 0)  # cells and scratch arrays start where their buffers do
    assert value.expr is not None
    return convert(evaluate(value.expr, scalars), value.dtype)


def refused(source: DeviceSource, device: str, reason: BackendError, span: Span) -> NompError:
    """N521: the compiler of *device* refuses *source*, which belongs to what stands at *span*."""
    message = f"the compiler of '{device}' refuses kernel '{source.name}': {reason}"
    step = "if a script gives instructions in the device's language, see whether they fit; else this is a fault of nomp"
    notes = (Note(f"the compiler says\n{reason.log.strip()}"), Note(f"the source is\n{_numbered(source.text)}"))
    return error("N521", message, span, notes=notes, help=step)


def _numbered(text: str) -> str:
    return "\n".join(f"{number:>5} | {line}" for number, line in enumerate(text.splitlines(), 1))
