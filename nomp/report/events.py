"""What a run was measured to do: events, and the file that holds them, a JSON object a line.

In: events of `runtime.recorder`, batch by batch.  Out: a file for each process, complete up to its last line however
the process ends; `read` gives it back.  Used by `nomp profile` and by the runtime.

The file begins with a header line.  Then there is a line for each region before its first event (``region``), one for
each kernel that is compiled (``source``), and one for each batch of events (``events``), lists of `Event`'s fields.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from nomp import region_json
from nomp.arithmetic import Number
from nomp.backend import DeviceInfo
from nomp.region import Region

FORMAT = 2
Kind = Literal["kernel", "to", "from", "on", "stage"]
Span = tuple[int, int]
"""When something began, counted from when the measurement began, and how long it took, in nanoseconds."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, as often as there are *spans*.

    *kind*: a launch of a ``kernel``, a copy ``to``, ``from`` or ``on`` the device, or a ``stage`` of the compiler.
    *name*: of the stage, or of the array that is copied.  *region*: number of the kernel's region, also for stages.
    *sizes*: the launch's scalars that decide what it does.
    """

    kind: Kind
    name: str
    spans: Sequence[Span]
    nbytes: int = 0
    region: int = -1
    sizes: Mapping[str, Number] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Header:
    """Whose events these are.  *started*: seconds since 1970; *rank*: of MPI, 0 without it."""

    device: str
    backend: str
    driver: str
    program: str
    host: str
    pid: int
    rank: int
    started: float


def header(device: DeviceInfo, started: float) -> Header:
    """This process's, on *device*."""
    ranks = (os.environ.get(name, "") for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"))
    rank = next((int(text) for text in ranks if text.isdigit()), 0)
    return Header(device.name, device.backend, device.driver, _program(), socket.gethostname(), os.getpid(), rank,
                  started)  # fmt: skip


def _program() -> str:
    try:
        return Path("/proc/self/exe").readlink().name
    except OSError:
        return Path(sys.argv[0] if sys.argv else "").name


@dataclass(slots=True)
class Run:
    """All that was measured of one process.  *sources*: the device's code of regions."""

    header: Header
    regions: dict[int, Region] = field(default_factory=dict)
    sources: dict[int, str] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)


class Sink(Protocol):
    """Who is told of events."""

    def region(self, number: int, region: Region) -> None:
        """Events may now mention *region* by its *number*."""

    def source(self, number: int, text: str) -> None:
        """The device's code for region *number*, in the variant that is launched next."""

    def events(self, events: Sequence[Event]) -> None:
        """A batch of them, not in order of time."""

    def close(self) -> None:
        """There are no more."""


class Log:
    """Writes events to *path*, which is new.  OSError if it cannot be made.

    *failed* is told when no more can be written (the disk is full); what comes after that is left out.
    """

    def __init__(self, path: Path, header: Header, failed: Callable[[OSError], None]) -> None:
        self._file = path.open("x", encoding="utf-8")
        self._failed: Callable[[OSError], None] | None = failed
        self._write({"nomp": FORMAT, "header": list(astuple(header))})

    def region(self, number: int, region: Region) -> None:
        """See `Sink.region`."""
        self._write({"region": number, "json": region_json.dumps(region)})

    def source(self, number: int, text: str) -> None:
        """See `Sink.source`."""
        self._write({"source": number, "text": text})

    def events(self, events: Sequence[Event]) -> None:
        """See `Sink.events`."""
        self._write({"events": [(e.kind, e.name, e.spans, e.nbytes, e.region, dict(e.sizes)) for e in events]})

    def close(self) -> None:
        """See `Sink.close`."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _write(self, data: Any) -> None:
        if self._failed is None:
            return
        try:
            self._file.write(json.dumps(data, separators=(",", ":")) + "\n")
            self._file.flush()
        except OSError as reason:
            failed, self._failed = self._failed, None
            failed(reason)


def log_path(folder: Path, header: Header) -> Path:
    """Where the process of *header* writes its events, if that is *folder*; a process may measure several times."""
    return folder / f"{header.rank:05}-{header.host}-{header.pid}-{time.monotonic_ns()}.jsonl"


def read(path: Path) -> Run:
    """What a `Log` wrote to *path*; a last line that is not whole is left out.  ValueError if it is no such file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    first = json.loads(lines[0]) if len(lines) > 1 else {}
    if first.get("nomp") != FORMAT:
        raise ValueError(f"{path} holds no measurements of this version of nomp")
    run = Run(Header(*first["header"]))
    for line in lines[1:-1]:
        data = json.loads(line)
        if "region" in data:
            run.regions[data["region"]] = region_json.loads(data["json"])
        if "source" in data:
            run.sources[data["source"]] = data["text"]
        run.events += (Event(kind, name, tuple(map(tuple, spans)), *more) for kind, name, spans, *more
                       in data.get("events", ()))  # fmt: skip
    return run


def read_folder(folder: Path) -> tuple[list[Run], int]:
    """The runs of all processes that wrote to *folder*, by rank, and how many others have not written a whole line.

    ValueError if a file is not of this version.
    """
    paths = sorted(folder.glob("*.jsonl"))
    begun = [path for path in paths if _has_line(path)]
    return [read(path) for path in begun], len(paths) - len(begun)


def _has_line(path: Path) -> bool:
    with path.open("rb") as file:
        return file.readline().endswith(b"\n")


def in_order(events: Iterable[Event]) -> list[tuple[Span, Event]]:
    """Each time that one of *events* happened, by when it began."""
    return sorted(((span, event) for event in events for span in event.spans), key=lambda pair: pair[0])
