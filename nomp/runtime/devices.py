"""Choosing and opening the device that a program runs on.

In: the settings ``backend``, ``platform`` and ``device``, and the installed backends.  Out: an open device.  Called by
`runtime.session`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from nomp.backend import Backend, BackendError, Device, DeviceInfo, NoSuchDevice
from nomp.config import Settings
from nomp.diagnostics import Note, did_you_mean, error
from nomp.runtime.failure import driver_errors

Backends = Mapping[str, Callable[[], Backend]]

_PREFERENCE = (("cuda", True), ("hip", True), ("opencl", True), ("opencl", False))
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
    with driver_errors(f"opening device {settings.device} of platform {settings.platform} with {settings.backend}"):
        try:
            return backends[settings.backend]().open(settings.platform, settings.device)
        except NoSuchDevice as reason:
            raise error("N614", str(reason), help=_LISTED) from reason


def _first_usable(settings: Settings, backends: Backends) -> Device:
    reasons: list[str] = []
    for backend, platform, number, info in _candidates(settings, backends, reasons):
        try:
            return backend.open(platform, number)
        except BackendError as reason:
            reasons.append(f"{backend.name}, {info.name}: {reason}")
    if not reasons and (settings.platform, settings.device) != (0, 0):
        platform, device = settings.platform, settings.device
        wrong = f"Device id {device} passed into" if device else f"Platform id {platform} provided to"
        raise error("N614", f"{wrong} libnomp is not valid.", help=_LISTED)
    notes = tuple(Note(reason) for reason in reasons)
    step = "install a driver, or a CPU device with 'pip install pyopencl[pocl]'; nomp devices shows what there is"
    raise error("N615", "no backend has a device that can be used", notes=notes, help=step)


def _candidates(
    settings: Settings, backends: Backends, reasons: list[str]
) -> Iterator[tuple[Backend, int, int, DeviceInfo]]:
    """Backend, platform and device numbers in the order of preference; what cannot even be listed goes to *reasons*.

    Platform and device count if they are not left at 0, which may just as well mean that nothing was said.
    """
    listed: dict[str, list[tuple[Backend, int, int, DeviceInfo]]] = {}
    others = [(name, gpu) for name in sorted(backends) for gpu in (True, False)]
    for name, gpu in dict.fromkeys((*_PREFERENCE, *others)):
        if name not in backends:
            continue
        if name not in listed:
            listed[name] = _devices(name, backends[name], reasons)
        for candidate in listed[name]:
            _, platform, number, info = candidate
            chosen = (settings.platform, settings.device) in ((0, 0), (platform, number))
            if chosen and (info.type == "gpu") == gpu:
                yield candidate


def _devices(name: str, make: Callable[[], Backend], reasons: list[str]) -> list[tuple[Backend, int, int, DeviceInfo]]:
    try:
        backend = make()
        platforms = backend.devices()
    except BackendError as reason:
        reasons.append(f"{name}: {reason}")
        return []
    return [(backend, p, d, info) for p, devices in enumerate(platforms) for d, info in enumerate(devices)]
