"""What a kernel is given for its parameters, of the addresses that a launch gets.

In: a region, the host addresses of a launch, what is mapped.  Out: what the device's kernel takes, or why it cannot be
launched with these.  Used by `runtime.kernel`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nomp.arithmetic import SIZES
from nomp.backend import Device
from nomp.diagnostics import NompError, Span, error
from nomp.region import Param, Region
from nomp.runtime.memory import Entry
from nomp.runtime.spelling import update


def check(region: Region, required: Iterable[tuple[int, Param]], addresses: Sequence[int], span: Span) -> None:
    """Raise N610 unless there is an address for each parameter, and for those *required* (by position) not NULL."""
    if len(addresses) != len(region.params):
        message = f"kernel '{region.name}' takes {len(region.params)} addresses, not {len(addresses)}"
        raise error("N610", message, span, help="give one address for each parameter, in their order")
    for position, param in required:
        if not addresses[position]:
            message = f"kernel '{region.name}' gets a null pointer for '{shown(param)}'"
            step = "give the address of the value, not the value"
            raise error("N610", message, region.span(param.place), help=step)


def located(region: Region, param: Param, pointer: int, entry: Entry | None, device: Device) -> tuple[Any, int]:
    """What the kernel is given for array *param*, and the element of it that is the host's element 0.

    Raises N603 where no element is at *pointer*, N607 where nothing is mapped there.
    """
    if not (param.reads or param.writes):
        return None, 0
    if entry is None:
        raise _unmapped(region, param, pointer)
    nbytes = entry.offset(pointer)
    if nbytes % SIZES[param.dtype]:
        message = f"'{shown(param)}' is mapped from {abs(nbytes)} bytes away, which is no whole number of elements"
        step = f"map '{shown(param)}' from an element of its own on"
        raise error("N603", message, region.span(param.place), help=step)
    if device.info.pointer_arithmetic:
        return entry.buffer + nbytes, 0
    return entry.buffer, nbytes // SIZES[param.dtype]


def shown(param: Param) -> str:
    """How the program spells *param*."""
    return param.variable or param.name


def _unmapped(region: Region, param: Param, pointer: int) -> NompError:
    message = f"Map pointer {pointer:#x} was not found on device. It is '{shown(param)}' of kernel '{region.name}'"
    step = f"map it before the loop: {update(param, 'start', 'end')}"
    return error("N607", message, region.span(param.place), help=step)
