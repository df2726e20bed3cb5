"""``nomp roofline``: how far a program's kernels are from what their device can do.

In: a command, or none, to measure a device only.  Out: the table of `nomp profile` with shares of the peaks; a plot and
a page if asked for.  Peaks are measured once for a device and kept.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing

from nomp import backend, config
from nomp.backend import Device
from nomp.config import Settings
from nomp.driver import profile, reports
from nomp.report import peaks, progress
from nomp.report.peaks import Peaks
from nomp.runtime.devices import open_device
from nomp.runtime.failure import driver_errors

_DESCRIPTION = """Measure what a device can do (copy, triad, multiply-add), run a program if one is named, and print how
near its kernels come to that. The device is that of the settings (NOMP_BACKEND, NOMP_DEVICE ...)."""
_STEPS = 4


def main(arguments: Sequence[str]) -> int:
    """Run ``nomp roofline``; the program's exit status, or 1 if it did well and a report cannot be made."""
    usage = "%(prog)s [OPTION ...] [--] [PROGRAM [ARGUMENT ...]]"
    parser = argparse.ArgumentParser(prog="nomp roofline", usage=usage, description=_DESCRIPTION)
    parser.add_argument("--again", action="store_true", help="measure the device again")
    profile.add_options(parser)
    parser.add_argument("--svg", metavar="FILE", help="draw the roofline (matplotlib)")
    parser.add_argument("--png", metavar="FILE", help="draw the roofline (matplotlib)")
    options = profile.parsed(parser, arguments)
    files = {options.svg: reports.as_svg, options.png: reports.as_png}
    reports.require_matplotlib([name for name in files if name])
    found = _peaks(config.load(), options.again)
    print(_shown(found), file=sys.stderr)
    if not options.command:
        return reports.write(files, reports.Measured((), found), "nothing else was measured")
    return profile.profiled(options, found, files)


def _peaks(settings: Settings, again: bool) -> Peaks:
    """Those of the device that *settings* name."""
    with closing(open_device(settings, backend.registered())) as device, driver_errors("measuring the device"):
        kept = None if again else peaks.known(settings, device.info.name, device.info.driver)
        return kept or _measured(device, settings)


def _measured(device: Device, settings: Settings) -> Peaks:
    with progress.shown(f"measuring {device.info.name}", _STEPS) as step:
        found = peaks.measure(device, step)
    peaks.keep(settings, found)
    return found


def _shown(found: Peaks) -> str:
    memory = f"copy {found.copy / 1e9:.1f} GB/s, triad {found.triad / 1e9:.1f} GB/s"
    arithmetic = f"single {found.single / 1e9:.0f} GFLOP/s, double {found.double / 1e9:.0f} GFLOP/s"
    return f"peaks of {found.device}: {memory}, {arithmetic}"
