"""Whether a kernel does what the program's own loop does: NOMP_VERIFY=1.

In: a launch, as the stretches of memory that it may touch; then the same loop, which the program runs itself.  Out:
N618 for the first differences, or nothing.  Made by `runtime.kernel`, kept by `runtime.trials` while the loop runs.

    Trial.begin      keeps what the loop is to start from: what the device holds, and the variables' values
    (the launch)
    Trial.swap       keeps what the launch made; the program's memory becomes what the loop is to start from
    (the program's loop)
    Trial.confirm    compares, and gives the program's memory back as the launch had left it

So the program notices nothing, and arrays that are stale on the host, because their data live on the device, do not
matter.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from nomp.arithmetic import Number
from nomp.backend import Device
from nomp.diagnostics import Note, error
from nomp.region import Region
from nomp.runtime.comparison import Made, differences
from nomp.runtime.elements import Bytes, Stretch


class Unverifiable(Exception):
    """The loop cannot run on the host; the text says why."""


class Trial:
    """A launch of *region* with these *scalars*, which the program's loop is to confirm."""

    def __init__(self, region: Region, scalars: Mapping[str, Number], stretches: Sequence[Stretch]) -> None:
        self._region = region
        self._scalars = scalars
        self._stretches = stretches
        self._fixed: set[Stretch] = set()  # what the host cannot write, and so need not
        self._initial: dict[Stretch, Bytes] = {}
        self._result: dict[Stretch, Bytes] = {}
        self._left: dict[Stretch, Bytes] = {}

    def begin(self, device: Device) -> None:
        """Keep what the loop is to start from.  Raises `Unverifiable`; nothing has changed then."""
        for stretch in self._stretches:
            allowed = _rights(stretch.start, stretch.end)
            if not allowed:
                raise Unverifiable(f"the host has no memory of its own where '{stretch.name}' is mapped")
            self._initial[stretch] = initial = current(stretch, device)
            if allowed == "r":
                self._fixed.add(stretch)
                same = np.array_equal(initial[stretch.touched], _on_host(stretch)[stretch.touched])
                if not same or any(elements.param.writes for elements in stretch.elements):
                    why = "written by the loop" if same else "not the same on the device"
                    raise Unverifiable(f"'{stretch.name}' is read-only on the host, and {why}")

    def swap(self, device: Device) -> None:
        """Keep what the launch made, and let the program's memory be what the loop is to start from."""
        device.sync()
        for stretch in self._stretches:
            self._left[stretch], self._result[stretch] = _on_host(stretch), current(stretch, device)
        for stretch in self._stretches:
            # Variables that stand in what is mapped are the host's: only what the region reaches becomes the device's.
            self._write(stretch, np.where(stretch.touched, self._initial[stretch], self._left[stretch]))

    def confirm(self, stopped: BaseException | None = None) -> None:
        """Raise N618 if the loop has made something else.  The program's memory is as the launch left it.

        *stopped*: the exception that has ended the loop, which a kernel does not raise; others are passed on.
        """
        made = [Made(s, self._initial[s], self._result[s], _on_host(s)) for s in self._stretches]
        for stretch, data in self._left.items():
            self._write(stretch, data)
        if isinstance(stopped, Exception):
            message = f"the loop of kernel '{self._region.name}' ends with {type(stopped).__name__}: {stopped}"
            step = "kernels raise no exceptions: see to it that the loop raises none"
            raise error("N618", message, self._region.span(self._region.place), help=step) from stopped
        if stopped:
            raise stopped
        found = differences(self._region, self._scalars, made)
        if found:
            first, *others = found
            message = f"kernel '{self._region.name}' and its loop come to different results: {first}"
            notes = [Note(f"{first.count} of {first.total} elements differ")] if first.total > 1 else []
            notes += [Note(str(other)) for other in others]
            step = "look at the kernel's script first; 'nomp explain N618' says what else it can be"
            raise error("N618", message, self._region.span(self._region.place), notes=tuple(notes), help=step)

    def _write(self, stretch: Stretch, data: Bytes) -> None:
        if stretch not in self._fixed:
            ctypes.memmove(stretch.start, data.ctypes.data, data.size)


def _on_host(stretch: Stretch) -> Bytes:
    """A copy of the host's bytes."""
    copy = np.empty(stretch.end - stretch.start, np.uint8)
    ctypes.memmove(copy.ctypes.data, stretch.start, copy.size)
    return copy


def current(stretch: Stretch, device: Device) -> Bytes:
    """A copy of what kernels work with: the device's bytes, or the host's where the device has none."""
    if stretch.buffer is None:
        return _on_host(stretch)
    copy = np.empty(stretch.end - stretch.start, np.uint8)
    device.copy_from(stretch.buffer, stretch.offset, copy.ctypes.data, copy.size)
    return copy


def _rights(start: int, end: int) -> str:
    """What the process may do with all of its memory in [*start*, *end*): ``rw``, ``r``, or nothing."""
    allowed, reached = "rw", start
    for low, high, flags in _mappings():
        if low <= reached < high:
            allowed = "".join(right for right in allowed if right in flags)
            reached = high
            if reached >= end or "r" not in allowed:
                break
    return allowed if reached >= end and "r" in allowed else ""


def _mappings() -> Iterator[tuple[int, int, str]]:
    """The process's mappings, by address, with their flags."""
    try:
        text = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
    except OSError as reason:
        raise Unverifiable(f"what memory the host has cannot be told: {reason}") from None
    for line in text.splitlines():
        where, flags = line.split(maxsplit=2)[:2]
        low, high = where.split("-")
        yield int(low, 16), int(high, 16), flags
