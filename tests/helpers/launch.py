"""Runs a hand-made region on the OpenCL device: the compiler's stages without the runtime above them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from nomp_backends.opencl import OpenCLBackend

from nomp import pipeline
from nomp.arithmetic import convert, evaluate
from nomp.backend import Kernel
from nomp.config import Settings
from nomp.device_source import DeviceSource, Variant
from nomp.diagnostics import Diagnostic
from nomp.region import Region

PLAIN = Variant()


@cache
def device() -> Any:
    """The first OpenCL device."""
    return OpenCLBackend().open(0, 0)


@cache
def compiled(
    region: Region, variant: Variant, jit: tuple[tuple[str, int | float], ...], kind: str, settings: Settings
) -> tuple[DeviceSource, Mapping[str, Kernel], tuple[Diagnostic, ...]]:
    """The source of *region* for a device of that *kind*, its kernels, and the warnings."""
    info = replace(device().info, type=kind)
    source, warnings = pipeline.compile(region, info, dict(jit), variant, settings)
    dtypes = {v.name: v.dtype for v in source.values}
    signatures = {entry.entry: [dtypes.get(a.name) for a in entry.arguments] for entry in source.launches}
    return source, device().compile(source.text, signatures), warnings


def run(
    region: Region,
    scalars: Mapping[str, int | float],
    arrays: Mapping[str, np.ndarray],
    variant: Variant = PLAIN,
    jit: Mapping[str, int | float] | None = None,
    kind: str = "cpu",
    settings: Settings = Settings(),  # noqa: B008
) -> None:
    """Run *region*; *arrays* (and cells, as arrays of one) are updated in place.  *kind* of device that it is made for.
    """
    source, program, _ = compiled(region, variant, tuple((jit or {}).items()), kind, settings)
    values = {
        v.name: np.dtype(v.dtype).type(convert(evaluate(v.expr, scalars), v.dtype))
        for v in source.values
        if v.expr is not None
    }
    env = {name: value.item() for name, value in values.items()}
    buffers = {name: device().alloc(array.nbytes) for name, array in arrays.items()}
    scratch = {s.name: device().alloc(int(evaluate(s.size, env)) * np.dtype(s.dtype).itemsize) for s in source.scratch}
    for name, array in arrays.items():
        device().copy_to(buffers[name], 0, array.ctypes.data, array.nbytes)
    tables: dict[str, Mapping[str, Any]] = {"buffer": buffers, "value": values, "scratch": scratch}
    for launch in source.launches:
        grid, block = ([int(evaluate(e, env)) for e in sizes] for sizes in (launch.grid, launch.block))
        if all(grid):
            arguments = [tables[a.kind][a.name] for a in launch.arguments]
            program[launch.entry].launch(grid, block, arguments)
    for name, array in arrays.items():
        device().copy_from(buffers[name], 0, array.ctypes.data, array.nbytes)
