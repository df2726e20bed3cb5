"""The kernels of choices that will be tried, compiled in processes of their own while others are measured.

In: a kernel and the choices to come.  Out: their sources in the kernel cache, where the search finds them.  Used by
`runtime.tuner`; the processes run `worker`.

While kernels run on a GPU, the processors are free to compile.  Those of a CPU are not: there some choices are
compiled first, as many as there are processes, and measured when all are done.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from typing import Any

from nomp import config, region_json
from nomp.arithmetic import Number
from nomp.backend import DeviceInfo
from nomp.config import Settings
from nomp.device_source import Variant
from nomp.region import Region
from nomp.tuning.database import Point

WORTH = 4.0
"""Seconds of compiling from which on processes are started, which takes about one."""
MOST = 4
"""Processes at most."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is compiled for each choice: *region* for *device*, with *jit* values; *variant* but for its choices."""

    region: Region
    device: DeviceInfo
    jit: Mapping[str, Number]
    variant: Variant

    def encoded(self) -> list[Any]:
        """As a worker reads it, from JSON."""
        region, variant = region_json.dumps(self.region), {**asdict(self.variant), "choices": []}
        return [region, asdict(self.device), dict(self.jit), variant]


@contextlib.contextmanager
def compiling(job: Job, points: Sequence[Point], seconds: float, settings: Settings) -> Iterator[Ahead]:
    """Compile *points*, each of which takes about so many *seconds*, while the block runs."""
    count = min(MOST, (os.cpu_count() or 1) - (job.device.type != "cpu"), len(points))
    worth = settings.cache and seconds * len(points) > WORTH
    ahead = Ahead(job, points if worth and count > 0 else (), max(1, count), settings)
    try:
        yield ahead
    finally:
        ahead.end()


class Ahead:
    """*count* processes that compile *points*."""

    def __init__(self, job: Job, points: Sequence[Point], count: int, settings: Settings) -> None:
        self._waits = job.device.type == "cpu"
        self._left = list(points)
        self._batch = count if self._waits else len(points)
        self._sent: list[Point] = []
        self._workers = [_started(job, settings) for _ in range(count if points else 0)]

    def before(self, point: Point) -> None:
        """Called before *point* is measured: see to it that what comes now is being compiled, or has been."""
        if not self._left or point in self._sent:
            return
        batch, self._left = self._left[: self._batch], self._left[self._batch :]
        self._sent += batch
        asked = [worker for item, worker in zip(batch, cycle(self._workers), strict=False) if _told(worker, item)]
        for worker in asked if self._waits else ():
            assert worker.stdout is not None
            worker.stdout.readline()  # nothing, if it has died

    def end(self) -> None:
        """End the processes, whatever they do."""
        for worker in self._workers:
            worker.kill()
        for worker in self._workers:
            worker.communicate()


def _started(job: Job, settings: Settings) -> subprocess.Popen[str]:
    """A process that is waiting for choices.  What scripts print in it is not the program's."""
    command = [sys.executable, "-P", "-m", "nomp.tuning.worker"]
    environment = os.environ | config.as_environment(settings)
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    worker = subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=nowhere, text=True)
    _told(worker, job.encoded())
    return worker


def _told(worker: subprocess.Popen[str], what: Any) -> bool:
    """Whether *worker* has been told *what*; one that has ended leaves its share to who measures."""
    assert worker.stdin is not None
    try:
        worker.stdin.write(f"{json.dumps(what)}\n")
        worker.stdin.flush()
    except OSError:
        return False
    return True
