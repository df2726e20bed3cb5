"""A C function with one annotated loop: what gcc makes of it, and what a domain or a transform does on both kinds of
device, with PoCL in the place of a GPU; and the CUDA C++ that NVRTC is given."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import launch
import numpy as np
import reading
from commands import succeed
from kernels import gpu
from nomp_backends import nvrtc

from nomp import pipeline
from nomp.arithmetic import evaluate
from nomp.config import Settings
from nomp.device_source import Variant
from nomp.legality import Watch
from nomp.region import Region

GPU, OPENCL = gpu("cuda", "sm_90", 32), gpu("opencl", "sm_90", 32)
USUAL = Variant(no_wrap=True, apart=True)
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Loop:
    """*text* is a function ``f`` with one region, *values* its arguments in their order; *settings* name a domain."""

    folder: Path
    text: str
    values: Values
    settings: Settings = field(default_factory=Settings)
    choices: tuple[tuple[str, int | float | str], ...] = ()

    @property
    def region(self) -> Region:
        return reading.region(self.folder, self.text)

    @property
    def variant(self) -> Variant:
        return replace(USUAL, choices=self.choices)

    @property
    def scalars(self) -> dict[str, int | float]:
        return {name: value for name, value in self.values.items() if not isinstance(value, np.ndarray)}

    def jit(self) -> dict[str, int | float]:
        return {name: self.scalars[name] for name in self.region.clauses.jit}

    def by_gcc(self) -> dict[str, np.ndarray]:
        """The arrays after the function as gcc compiles it."""
        (self.folder / "plain.c").write_text(self.text)
        flags = ["-O1", "-shared", "-fPIC", "-Wno-unknown-pragmas", "-ffp-contract=off"]
        succeed("cc", *flags, self.folder / "plain.c", "-o", self.folder / "plain.so", "-lm")
        arrays = self._copies()
        kinds = {int: ctypes.c_int, float: ctypes.c_double}
        arguments = [arrays[name].ctypes.data_as(ctypes.c_void_p) if name in arrays else kinds[type(value)](value)
                     for name, value in self.values.items()]  # fmt: skip
        ctypes.CDLL(str(self.folder / "plain.so")).f(*arguments)
        return arrays

    def by_nomp(self, kind: str) -> dict[str, np.ndarray]:
        """The same after its kernel for a device of that *kind*."""
        arrays = self._copies()
        launch.run(self.region, self.scalars, arrays, self.variant, self.jit(), kind, self.settings)
        return arrays

    def agree(self, kinds: Sequence[str] = ("cpu", "gpu")) -> None:
        """All *kinds* of kernels do what gcc's function does, and are proven to."""
        wanted = self.by_gcc()
        for kind in kinds:
            found = self.by_nomp(kind)
            for name, array in wanted.items():
                np.testing.assert_allclose(found[name], array, rtol=1e-13, atol=1e-13, err_msg=f"{name} on a {kind}")
            assert self.said(kind) == []

    def said(self, kind: str) -> list[str]:
        """What is said of the kernel for a device of that *kind*, and of a launch with these values."""
        jit = tuple(self.jit().items())
        source, _, warnings = launch.compiled(self.region, self.variant, jit, kind, self.settings)
        refusal = Watch(self.region, source.schedule).refusal(self.scalars) if source.schedule else None
        return [str(one) for one in (*warnings, *filter(None, [refusal]))]

    def cuda(self, arch: str = GPU.arch) -> str:
        """The CUDA C++ for an H100, or another GPU, which NVRTC takes."""
        gpu = replace(GPU, arch=arch)
        source, _ = pipeline.compile(self.region, gpu, self.jit(), self.variant, self.settings)
        assert nvrtc.compiled(source.text, arch).startswith(b"\x7fELF")
        return re.sub(r"if \((.*)\)$", _sorted, source.text[source.text.index("extern") :], flags=re.MULTILINE)

    def opencl(self) -> str:
        """The OpenCL C for a GPU."""
        return pipeline.compile(self.region, OPENCL, self.jit(), self.variant, self.settings)[0].text

    def shares(self) -> int:
        """Among how many items the loop is divided on a CPU of one processor, with these values."""
        info = replace(launch.device().info, type="cpu", compute_units=1)
        source, _ = pipeline.compile(self.region, info, self.jit(), self.variant, self.settings)
        return int(evaluate(next(value.expr for value in source.values if value.name == "_items"), self.scalars))

    def _copies(self) -> dict[str, np.ndarray]:
        return {name: value.copy() for name, value in self.values.items() if isinstance(value, np.ndarray)}


def _sorted(condition: re.Match[str]) -> str:
    """isl's order of conditions changes from run to run."""
    return f"if ({' && '.join(sorted(condition[1].split(' && ')))})"
