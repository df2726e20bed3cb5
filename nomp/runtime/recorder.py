"""Measuring a run: launches and copies by the device's clock, the compiler's stages by the host's.

In: what is to be carried out.  Out: events, in batches, for each `report.events.Sink`: those that are done, whenever
the program waits for the device anyway, or many have gathered.  `runtime.session` makes it for the first sink.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from nomp import clocks, region_json
from nomp.arithmetic import Number
from nomp.backend import Device, Timing
from nomp.region import Region
from nomp.report.events import Event, Kind, Sink, Span
from nomp.runtime.replay import Replay, Replays

MOST_PENDING = 1024
"""How many operations may be under way before the older half of them is waited for."""
PATIENCE = 0.25
"""Seconds after which events are passed on: a program may crash before it waits."""


class Recorder:
    """Tells *sink*, and those that `join`, of what *device* does, until `stop`.  `BackendError` where it has no clock.

    *replays*: who repeats launches without Python, and times those that are `labelled`.
    """

    def __init__(self, device: Device, sink: Sink, replays: Replays | None = None) -> None:
        self._device = device
        self._sinks = [sink]
        self._replays = replays
        self._pending: deque[tuple[int, Timing]] = deque()
        self._labels: dict[tuple[Any, ...], int] = {}
        self._known: list[Event] = []  # by label, of which the first one is 1
        self._regions: dict[int, tuple[Region, int]] = {}  # by identity; they are kept, so that it stays theirs
        self._numbers: dict[str, int] = {}
        self._stages: list[Event] = []
        device.start_timing()
        self._zero = self._passed_on = time.perf_counter()

    def join(self, sink: Sink) -> None:
        """From now on tell *sink* too; of code that was made before it is not told."""
        self.pass_on()
        for region, number in {number: (region, number) for region, number in self._regions.values()}.values():
            sink.region(number, region)
        self._sinks.append(sink)

    def leave(self, sink: Sink) -> bool:
        """Tell *sink* the rest and nothing more; others go on.  True: there are none, and `stop` is what is left."""
        others = [other for other in self._sinks if other is not sink]
        if len(others) == len(self._sinks) or not others:
            return not others
        try:
            self.pass_on()
        finally:
            self._sinks = others
            sink.close()
        return False

    def run(self, region: Region, sizes: Mapping[str, Number], work: Callable[[], None]) -> None:
        """Carry out *work*, the launches of *region* for *sizes*."""
        self._add(self._launch(region, sizes), work)

    def copy(self, kind: Kind, name: str, nbytes: int, work: Callable[[], None], after: Any = None) -> None:
        """Carry out *work*, which copies *nbytes* bytes of the array *name*, *after* a point in the queue."""
        self._add(self._label(kind, name, nbytes), work, after)
        if kind == "from" and after is None:  # all that came before is done
            self.pass_on()

    def labelled(self, replay: Replay, region: Region, sizes: Mapping[str, Number]) -> Replay:
        """*replay*, of a launch of *region* for *sizes*, with its launches and copies to be timed."""
        launch, actions = self._launch(region, sizes), []
        for action in replay.actions:
            if action.kind == "launch":
                actions.append(replace(action, label=launch))
                launch = -abs(launch)
            elif action.kind in ("write", "read") and not action.stays:
                kind: Kind = "to" if action.kind == "write" else "from"
                label = self._label(kind, region.params[action.position].name, action.size)
                actions.append(replace(action, label=label))
            else:
                actions.append(action)
        return replace(replay, actions=tuple(actions))

    def of_array(self, name: str) -> Device:
        """The device, its copies recorded as those of the array *name*."""
        watched: Any = _Watched(self, self._device, name)
        return watched  # type: ignore[no-any-return]  # the rest of a device is the device's own

    @contextmanager
    def compiling(self, region: Region) -> Iterator[None]:
        """What happens meanwhile are stages of the compiler, for *region*."""

        def ended(stage: str, begin: float, end: float) -> None:
            span = _nanoseconds(begin - self._zero), _nanoseconds(end - begin)
            self._stages.append(Event("stage", stage, (span,), region=self._number(region)))

        with clocks.listening(ended):
            yield

    def compiled(self, region: Region, text: str) -> None:
        """The device's code for *region* is *text*."""
        number = self._number(region)
        for sink in self._sinks:
            sink.source(number, text)

    def pass_on(self, everything: bool = True) -> None:
        """Wait for all operations, or the older half, and tell of them and of stages."""
        done, self._stages = self._stages, []
        spans = defaultdict[int, list[Span]](list)
        for _ in range(len(self._pending) if everything else (len(self._pending) + 1) // 2):
            label, timing = self._pending.popleft()
            begin, lasted = timing.interval()
            spans[label].append((_nanoseconds(begin), _nanoseconds(lasted)))
        for label, span in self._replays.times(everything) if self._replays else ():
            spans[label].append(span)
        done += (replace(self._known[label - 1], spans=found) for label, found in spans.items())
        for sink in self._sinks if done else ():
            sink.events(done)
        self._passed_on = time.perf_counter()

    def stop(self) -> None:
        """Tell the rest, and measure nothing more."""
        try:
            self.pass_on()
        finally:
            if self._replays:
                self._replays.stop()  # other threads may launch by them, into the queue that ends now
            self._device.stop_timing()
            for sink in self._sinks:
                sink.close()

    def _add(self, label: int, work: Callable[[], None], after: Any = None) -> None:
        self._pending.append((label, self._device.timed(work, after)))
        late = time.perf_counter() - self._passed_on > PATIENCE
        if late or len(self._pending) >= MOST_PENDING or (self._replays and self._replays.is_due()):
            self.pass_on(everything=False)

    def _launch(self, region: Region, sizes: Mapping[str, Number]) -> int:
        return self._label("kernel", region.name, 0, self._number(region), sizes)

    def _label(
        self, kind: Kind, name: str, nbytes: int, region: int = -1, sizes: Mapping[str, Number] | None = None
    ) -> int:
        """The number, above 0, of events that are the same but for their times."""
        sizes = sizes or {}
        key = kind, name, nbytes, region, tuple(sizes.items())
        if key not in self._labels:
            self._known.append(Event(kind, name, (), nbytes, region, sizes))
            self._labels[key] = len(self._known)
        return self._labels[key]

    def _number(self, region: Region) -> int:
        """That of *region* and of all that are equal to it; of a new one is told."""
        found = self._regions.get(id(region))  # each launch asks
        return found[1] if found else self._number_of_new(region)

    def _number_of_new(self, region: Region) -> int:
        key = region_json.dumps(region)
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers)
            for sink in self._sinks:
                sink.region(self._numbers[key], region)
        self._regions[id(region)] = region, self._numbers[key]
        return self._numbers[key]


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


class _Watched:
    """A device whose copies are recorded as those of array *name*."""

    def __init__(self, recorder: Recorder, device: Device, name: str) -> None:
        self._recorder, self._device, self._name = recorder, device, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._device, name)

    def copy_to(self, buffer: Any, offset: int, address: int, nbytes: int, after: Any = None) -> None:
        """See `nomp.backend.Device.copy_to`."""
        work = partial(self._device.copy_to, buffer, offset, address, nbytes, after)
        self._recorder.copy("to", self._name, nbytes, work, after)

    def copy_from(self, buffer: Any, offset: int, address: int, nbytes: int, after: Any = None) -> None:
        """See `nomp.backend.Device.copy_from`."""
        work = partial(self._device.copy_from, buffer, offset, address, nbytes, after)
        self._recorder.copy("from", self._name, nbytes, work, after)

    def copy(self, target: Any, target_offset: int, source: Any, source_offset: int, nbytes: int) -> None:
        """See `nomp.backend.Device.copy`."""
        work = partial(self._device.copy, target, target_offset, source, source_offset, nbytes)
        self._recorder.copy("on", self._name, nbytes, work)
