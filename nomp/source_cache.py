"""Sources of kernels, from the cache where one was made before: then no compiler is even imported.

In: what `pipeline.compile` gets, and a cache.  Out: what it returns.  Called by `runtime.session`.

What decides on a source: the region without its places in files, the jit values, the variant, the device, the settings
that the compiler reads, the versions of the packages that take part, and the scripts.  Which helper modules a script
imports is known only after it has run: the sets of files that were seen are kept under the key of all the rest (entry
``imports``), and the digests of the files of a set are part of a source's key.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from nomp import script_files, source_json
from nomp.arithmetic import Number
from nomp.backend import DeviceInfo
from nomp.cache import Cache, Subject
from nomp.config import Settings
from nomp.device_source import DeviceSource, Variant
from nomp.diagnostics import Diagnostic
from nomp.region import Region
from nomp.source_json import Places, Unplaced
from nomp.versions import versions

Compiled = tuple[DeviceSource, tuple[Diagnostic, ...]]
Compile = Callable[[Region, DeviceInfo, Mapping[str, Number], Variant, Settings], Compiled]
"""The form of `pipeline.compile`."""

_FILE = "source.json"
_SETS = "imports.json"
_MOST_SETS = 8
"""How many sets of helper modules are remembered for a script: programs in different folders may share its text."""


@dataclass(frozen=True, slots=True)
class _Key:
    """*inputs* are all but the helpers of *scripts*, which are where `script_files.locate` says."""

    inputs: dict[str, Any]
    scripts: tuple[Path | str, ...]
    places: Places

    def with_helpers(self, helpers: list[dict[str, str]]) -> dict[str, Any]:
        return {**self.inputs, "helpers": helpers}

    @property
    def of_sets(self) -> dict[str, Any]:
        return {**self.inputs, "kind": "imports"}


def compile(
    region: Region, device: DeviceInfo, jit: Mapping[str, Number], variant: Variant, settings: Settings, cache: Cache
) -> Compiled:
    """See `pipeline.compile`, which is called where *cache* has nothing."""
    device = _seen(device, bool(script_files.modules(region, settings)))
    key = _key(region, device, jit, variant, settings) if cache.is_on else None
    if key is None:
        return _pipeline()(region, device, jit, variant, settings)
    subject = Subject("source", region.name, region.span(region.place))
    found = _found(cache, subject, key)
    if found is not None:
        return found
    with cache.making(key.inputs):
        found = _found(cache, subject, key)  # another process may have made it meanwhile
        if found is not None:
            return found
        cache.missed(subject, next(_inputs(cache, key), key.inputs))
        compiled = _pipeline()(region, device, jit, variant, settings)
        _keep(cache, subject, key, compiled)
    return compiled


def _seen(device: DeviceInfo, scripted: bool) -> DeviceInfo:
    """What scripts can see of *device*; without them, what all devices of its make share, also those not here.

    The memory of a PoCL device is what was free on the host when the program started.
    """
    device = replace(device, platform="", global_mem_bytes=0)
    return device if scripted else replace(device, backend="", name="", vendor="", driver="")


def _pipeline() -> Compile:
    """The compiler, imported when the first kernel needs it."""
    with _uncollected():
        from nomp import pipeline

        import_module("nomp.codegen")  # and with it loopy, which each kernel needs
    return pipeline.compile


@contextmanager
def _uncollected() -> Iterator[None]:
    """A block in which no garbage is looked for: modules make none, and looking is a tenth of their import."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _key(
    region: Region, device: DeviceInfo, jit: Mapping[str, Number], variant: Variant, settings: Settings
) -> _Key | None:
    """None for regions whose scripts are not there, or not in files."""
    modules = script_files.modules(region, settings)
    scripts = [script_files.locate(module, region.file, settings) for module in modules]
    roots = [script_files.root(script) if script else None for script in scripts]
    files = [script_files.source_of(script) if script else None for script in scripts]
    if not (all(scripts) and all(roots) and all(files)):
        return None
    plain, places = source_json.located(region, tuple(root for root in roots if root))
    inputs = {
        "kind": "source", "region": plain, "jit": {name: repr(value) for name, value in jit.items()},
        "variant": asdict(variant), "device": asdict(device), "legality": settings.legality, "versions": versions(),
        "scripts": [[module, _digest(file)] for module, file in zip(modules, files, strict=True) if file],
    }  # fmt: skip
    return _Key(inputs, tuple(script for script in scripts if script), places)


def _found(cache: Cache, subject: Subject, key: _Key) -> Compiled | None:
    for inputs in _inputs(cache, key):
        found = cache.find(subject, inputs)
        if found is not None:
            try:
                return source_json.loads(found[_FILE], key.places)
            except Unplaced as reason:
                cache.drop(subject, inputs, str(reason))
    return None


def _inputs(cache: Cache, key: _Key) -> Iterator[dict[str, Any]]:
    """All inputs, with each set of helpers, that which was seen last first."""
    for files in _sets(cache, key):
        yield key.with_helpers([_digests(root, names) for root, names in zip(key.places.scripts, files, strict=True)])


def _sets(cache: Cache, key: _Key) -> list[list[list[str]]]:
    """The sets of helpers: for each script, the names of files below its root."""
    if not key.scripts:
        return [[]]
    kept = cache.look(Subject("imports", key.places.region.name), key.of_sets)
    return list(json.loads(kept[_SETS])) if kept else []


def _digests(root: Path, names: list[str]) -> dict[str, str]:
    return {name: _digest(root / name) for name in names}


def _digest(file: Path) -> str:
    try:
        return sha256(file.read_bytes()).hexdigest()
    except OSError:
        return "not there"


def _keep(cache: Cache, subject: Subject, key: _Key, compiled: Compiled) -> None:
    source, diagnostics = compiled
    try:
        text = source_json.dumps(source, diagnostics, key.places)
    except Unplaced as reason:
        cache.unkept(subject, str(reason))
        return
    helpers = [script_files.imported(script) for script in key.scripts]
    files = {_FILE: text.encode(), f"kernel.{source.dialect}": source.text.encode()}
    # There may be one that was not found because it, or the sets, are damaged.
    cache.keep(subject, key.with_helpers(helpers), files, replace=True)
    if key.scripts:
        sets = [sorted(names) for names in helpers]
        known = [found for found in _sets(cache, key) if found != sets]
        data = json.dumps([sets, *known][:_MOST_SETS]).encode()
        cache.keep(Subject("imports", subject.name), key.of_sets, {_SETS: data}, replace=True)
