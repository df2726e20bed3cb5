"""A run as a table: what each kernel, each array's copies and each stage of the compiler took, and how fast that was.

In: events, as a `Sink` or from files.  Out: a `Profile`, plain data.  Made for ``NOMP_PROFILE=1`` and
`nomp.profile` while a program runs, and by `nomp profile` and `nomp roofline` afterwards.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from nomp import region_json
from nomp.arithmetic import Number
from nomp.region import Region
from nomp.report.events import Event, Run, Span
from nomp.work import Work

Sizes = tuple[tuple[str, Number], ...]


@dataclass(frozen=True, slots=True)
class Times:
    """How often something happened, and the seconds that it took: all together, at least and at most."""

    calls: int = 0
    total: float = 0.0
    least: float = float("inf")
    most: float = 0.0

    def and_(self, spans: Sequence[Span]) -> Times:
        """As often again as there are *spans*."""
        lasted = [nanoseconds for _, nanoseconds in spans]
        return self.together(Times(len(lasted), sum(lasted) / 1e9, min(lasted) / 1e9, max(lasted) / 1e9))

    def together(self, other: Times) -> Times:
        """Both together."""
        least, most = min(self.least, other.least), max(self.most, other.most)
        return Times(self.calls + other.calls, self.total + other.total, least, most)

    @property
    def mean(self) -> float:
        """Seconds of one on average."""
        return self.total / self.calls if self.calls else 0.0

    def rate(self, amount: int) -> float | None:
        """*amount* a second, of all together; None if that took no time."""
        return amount / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class KernelRow:
    """A kernel: where its loop is, its times on the device, and its work, if that does not depend on data."""

    name: str
    file: str
    line: int
    times: Times
    work: Work | None = None

    @property
    def mark(self) -> str:
        """What stands before its numbers: ``<`` where they are upper bounds."""
        return "<" if self.work and not self.work.exact else ""

    @property
    def bandwidth(self) -> float | None:
        """Bytes of the footprint a second."""
        return self.times.rate(self.work.footprint) if self.work else None

    @property
    def speed(self) -> float | None:
        """Operations a second."""
        return self.times.rate(self.work.operations) if self.work else None

    @property
    def intensity(self) -> float | None:
        """Operations for each byte of the footprint."""
        return self.work.operations / self.work.footprint if self.work and self.work.footprint else None


@dataclass(frozen=True, slots=True)
class CopyRow:
    """The copies of an *array*; *direction* is to, from or on the device."""

    array: str
    direction: str
    nbytes: int
    times: Times


@dataclass(frozen=True, slots=True)
class StageRow:
    """A *stage* of the compiler; stages may contain others."""

    stage: str
    times: Times


@dataclass(frozen=True, slots=True)
class Profile:
    """A run, or several of them together, on *device*; the rows that took longest come first."""

    device: str
    kernels: tuple[KernelRow, ...]
    copies: tuple[CopyRow, ...]
    stages: tuple[StageRow, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data: seconds, bytes and operations."""
        return asdict(self)


@dataclass(slots=True)
class Summary:
    """A `Sink` that keeps sums only, however long the program runs.  *done* gets the profile in the end."""

    device: str
    done: Callable[[Profile], None] | None = None
    _regions: dict[int, Region] = field(default_factory=dict)
    _kernels: dict[tuple[int, Sizes], Times] = field(default_factory=dict)
    _copies: dict[tuple[str, str], tuple[int, Times]] = field(default_factory=dict)
    _stages: dict[str, Times] = field(default_factory=dict)

    def region(self, number: int, region: Region) -> None:
        """See `Sink.region`."""
        self._regions[number] = region

    def source(self, number: int, text: str) -> None:
        """See `Sink.source`."""

    def events(self, events: Iterable[Event]) -> None:
        """See `Sink.events`."""
        for event in events:
            if event.kind == "kernel":
                key = event.region, tuple(event.sizes.items())
                self._kernels[key] = self._kernels.get(key, Times()).and_(event.spans)
            elif event.kind == "stage":
                self._stages[event.name] = self._stages.get(event.name, Times()).and_(event.spans)
            else:
                nbytes, times = self._copies.get((event.kind, event.name), (0, Times()))
                nbytes += event.nbytes * len(event.spans)
                self._copies[event.kind, event.name] = nbytes, times.and_(event.spans)

    def close(self) -> None:
        """See `Sink.close`."""
        if self.done:
            self.done(self.profile())

    def profile(self) -> Profile:
        """What there has been so far."""
        by_region: dict[int, dict[Sizes, Times]] = {}
        for (number, sizes), times in self._kernels.items():
            by_region.setdefault(number, {})[sizes] = times
        kernels = [_kernel_row(self._regions[number], found) for number, found in by_region.items()]
        copies = [CopyRow(name, kind, nbytes, times) for (kind, name), (nbytes, times) in self._copies.items()]
        stages = [StageRow(name, times) for name, times in self._stages.items()]
        return Profile(self.device, _longest_first(kernels), _longest_first(copies), _longest_first(stages))


def profile(runs: Sequence[Run]) -> Profile:
    """That of all *runs* together: a kernel of several processes is one row."""
    summary = Summary(", ".join(dict.fromkeys(run.header.device for run in runs)))
    numbers: dict[str, int] = {}  # by text, in which all is equal that is, NaN too
    for run in runs:
        own = {}
        for number, region in run.regions.items():
            own[number] = numbers.setdefault(region_json.dumps(region), len(numbers))
            summary.region(own[number], region)
        summary.events(replace(event, region=own.get(event.region, -1)) for event in run.events)
    return summary.profile()


def _longest_first(rows: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(sorted(rows, key=lambda row: row.times.total, reverse=True))


def _kernel_row(region: Region, found: Mapping[Sizes, Times]) -> KernelRow:
    times = functools.reduce(Times.together, found.values())
    return KernelRow(region.name, region.file, region.place.line or region.line, times, _work(region, found))


def _work(region: Region, found: Mapping[Sizes, Times]) -> Work | None:
    """All that was done; None if it is not known of some sizes."""
    from nomp.counts import Counter  # loopy

    counter, whole = Counter(region), Work()
    for sizes, times in found.items():
        counts = counter.at(dict(sizes))
        if counts is None:
            return None
        whole += counts.times(times.calls)
    return whole
