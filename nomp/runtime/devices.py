"""Choosing and opening the device that a program runs on.

In: the settings ``backend``, ``platform`` and ``device``, and the installed backends.  Out: an open device.  Called by
`runtime.session`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from nomp.backend import Backend, BackendError, Device, DeviceInfo, NoSuchDevice
from nomp.config import LOCAL, Settings
from nomp.diagnostics import Note, did_you_mean, error
from nomp.launchers import local_rank
from nomp.runtime.failure import driver_errors

Backends = Mapping[str, Callable[[], Backend]]
Candidate = tuple[Backend, int, int, DeviceInfo]
"""A device: its backend, the numbers of its platform and its own."""

_PREFERENCE = (("cuda", True), ("hip", True), ("opencl", True), ("cpu", False), ("opencl", False))
"""The order of ``auto``: backends, and whether a GPU is meant."""

_LISTED = "nomp devices lists the platforms and devices"


def open_device(settings: Settings, backends: Backends) -> Device:
    """The device that *settings* name.

    Errors: N613 unknown backend, N614 no such platform or device, N611 it cannot be used, N615 ``auto`` found none.
    """
    if settings.backend == "auto":
        return _first_usable(settings, backends)
    if settings.backend not in backends:
        step = did_you_mean(settings.backend, backends) or f"installed are {', '.join(sorted(backends))}, or give auto"
        raise error("N613", f"Invalid backend: {settings.backend}.", help=step)
    shown = "local" if settings.device == LOCAL else settings.device
    with driver_errors(f"opening device {shown} of platform {settings.platform} with {settings.backend}"):
        try:
            backend = backends[settings.backend]()
            return backend.open(settings.platform, _number(settings, backend))
        except NoSuchDevice as reason:
            raise error("N614", str(reason), help=_LISTED) from reason


def _number(settings: Settings, backend: Backend) -> int:
    """Which device of the platform is meant."""
    if settings.device != LOCAL:
        return settings.device
    platforms = backend.devices()
    known = len(platforms[settings.platform]) if settings.platform < len(platforms) else 0
    return local_rank(os.environ) % max(1, known)


def _first_usable(settings: Settings, backends: Backends) -> Device:
    reasons: list[str] = []
    for backend, platform, number, info in _candidates(settings, backends, reasons):
        try:
            return backend.open(platform, number)
        except BackendError as reason:
            reasons.append(f"{backend.name}, {info.name}: {reason}")
    device = 0 if settings.device == LOCAL else settings.device
    if not reasons and (settings.platform, device) != (0, 0):
        wrong = f"Device id {device} passed into" if device else f"Platform id {settings.platform} provided to"
        raise error("N614", f"{wrong} libnomp is not valid.", help=_LISTED)
    notes = tuple(Note(reason) for reason in reasons)
    step = "install a GPU's driver, or Debian's gcc, for which the CPU is a device; nomp devices lists all"
    raise error("N615", "no backend has a device that can be used", notes=notes, help=step)


def _candidates(settings: Settings, backends: Backends, reasons: list[str]) -> Iterator[Candidate]:
    """The devices in the order of preference; what cannot even be listed goes to *reasons*.

    Platform and device count if they are not left at 0, which may just as well mean that nothing was said.
    """
    listed: dict[str, list[Candidate]] = {}
    others = [(name, gpu) for name in sorted(backends) for gpu in (True, False)]
    for name, gpu in dict.fromkeys((*_PREFERENCE, *others)):
        if name not in backends:
            continue
        if name not in listed:
            listed[name] = _devices(name, backends[name], reasons)
        yield from _chosen(settings, [found for found in listed[name] if (found[3].type == "gpu") == gpu])


def _chosen(settings: Settings, found: list[Candidate]) -> Iterator[Candidate]:
    """Those of a backend's devices of one type that *settings* allow."""
    for candidate in found:
        _, platform, number, _ = candidate
        if settings.device == LOCAL:
            same = [n for _, p, n, _ in found if p == platform]
            mine = same[local_rank(os.environ) % len(same)]
            chosen = settings.platform in (0, platform) and number == mine
        else:
            chosen = (settings.platform, settings.device) in ((0, 0), (platform, number))
        if chosen:
            yield candidate


def _devices(name: str, make: Callable[[], Backend], reasons: list[str]) -> list[Candidate]:
    try:
        backend = make()
        platforms = backend.devices()
    except BackendError as reason:
        reasons.append(f"{name}: {reason}")
        return []
    return [(backend, p, d, info) for p, devices in enumerate(platforms) for d, info in enumerate(devices)]
