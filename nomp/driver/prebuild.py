"""``nomp cc --prebuild BACKEND[:ARCH]``: the kernels of a program, compiled when it is linked.

In: the program, and for which devices.  Out: a kernel cache beside it (``PROGRAM.nomp``), in which the program looks
first when it runs, and the warnings of scripts.  Called by `cc`.

The regions are read from the program itself, where each is a text: so it does not matter when its parts were compiled.
Without an architecture the kernels are for the device of the backend that programs started here would use; with one,
the device need not be there.  Kernels with jit values are compiled when they run.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from nomp import backend, config, region_json, source_cache
from nomp.backend import BackendError, Compiler, Device
from nomp.cache import PREBUILT, Cache
from nomp.cache_entries import Entries
from nomp.config import Settings
from nomp.device_source import DeviceSource
from nomp.diagnostics import Diagnostic, did_you_mean, error
from nomp.region import Region
from nomp.runtime.devices import open_device
from nomp.runtime.failure import driver_errors
from nomp.runtime.kernel import Kernel
from nomp.runtime.program import Kept, compiled, refused

_REGION = re.compile(rb'\{"version":\d+,"region":[^\0]*\0')


def build(program: Path, target: str) -> list[Diagnostic]:
    """Fill the cache beside *program* for *target*; warnings.

    Errors: N502 for a backend that is not installed, N534 for a folder that cannot be written, N611 for devices that
    are not there, N521 and those of `pipeline.compile`.
    """
    name, _, arch = target.partition(":")
    _require(name)
    folder = program.with_name(program.name + PREBUILT)
    shutil.rmtree(folder, ignore_errors=True)  # it belonged to another program
    told: list[Diagnostic] = []
    cache = Cache(Entries(folder, frozenset({os.geteuid()}), mode=0o755), tell=told.append)
    settings = config.load()
    if arch:
        with driver_errors(f"compiling for {target}"):
            compiler = backend.registered()[name]().compiler(arch)
        warnings = list(_built(program, compiler, cache, settings))
    else:
        with closing(open_device(replace(settings, backend=name), backend.registered())) as device:
            warnings = list(_built(program, device, cache, settings))
    if lost := next((remark for remark in told if remark.code == "N532"), None):
        raise error("N534", f"--prebuild: {lost.message}", help=f"remove '{folder}', or make room")
    return warnings


def _require(name: str) -> None:
    known = backend.registered()
    if name not in known:
        step = did_you_mean(name, known) or f"installed are {', '.join(sorted(known))}"
        raise error("N502", f"--prebuild: there is no backend '{name}'", help=step)


def _built(program: Path, target: Compiler | Device, cache: Cache, settings: Settings) -> Iterator[Diagnostic]:
    for region in _regions(program):
        if region.clauses.jit:
            continue
        source, diagnostics = source_cache.compile(region, target.info, {}, Kernel(region).usual, settings, cache)
        yield from (found for found in diagnostics if found.severity != "remark" or settings.verbose > 2)
        _compile(region, source, target, cache)


def _compile(region: Region, source: DeviceSource, target: Compiler | Device, cache: Cache) -> None:
    span = region.span(region.place)
    try:
        if isinstance(target, Compiler):
            Kept(source, cache, span)(target.identity, lambda: target.build(source.text))
        else:
            compiled(target, source, cache, span)
    except BackendError as reason:
        raise refused(source, target.info.name or target.info.arch, reason, span) from reason


def _regions(program: Path) -> Iterator[Region]:
    """Those that *program* holds, each once."""
    for text in dict.fromkeys(_REGION.findall(program.read_bytes())):
        try:
            yield region_json.loads(text[:-1].decode())
        except ValueError:  # another version's, which this one's library refuses when it runs
            continue
