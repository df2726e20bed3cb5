"""Which device an MPI rank opens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fake import INFO, FakeDevice

from nomp.backend import DeviceInfo, NoSuchDevice
from nomp.config import LOCAL, Settings
from nomp.diagnostics import NompError
from nomp.runtime.devices import open_device


class Listed:
    """A backend with devices of the *types* given for each platform; an opened one's name says which it is."""

    def __init__(self, name: str, *types: str) -> None:
        self.name = name
        self._types = types

    def devices(self) -> list[list[DeviceInfo]]:
        return [[replace(INFO, type=kind) for kind in kinds.split()] for kinds in self._types]

    def open(self, platform: int, device: int) -> FakeDevice:
        if platform >= len(self._types):
            raise NoSuchDevice("no such platform")
        opened = FakeDevice(bytearray())
        opened.info = replace(INFO, name=f"{self.name} {platform}.{device}")
        return opened


CUDA, OPENCL = Listed("cuda", "gpu gpu"), Listed("opencl", "cpu gpu gpu", "gpu")


def opened(*backends: Any, **settings: Any) -> str:
    """The name of the device that is opened."""
    given = Settings(device=LOCAL, **settings)
    return open_device(given, {backend.name: lambda backend=backend: backend for backend in backends}).info.name


def test_ranks_share_the_devices_of_their_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for rank in range(5):
        monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_RANK", str(rank))
        found.append((opened(OPENCL, CUDA), opened(OPENCL), opened(OPENCL, CUDA, backend="opencl")))
    assert [auto for auto, _, _ in found] == ["cuda 0.0", "cuda 0.1", "cuda 0.0", "cuda 0.1", "cuda 0.0"]
    assert [auto for _, auto, _ in found] == ["opencl 0.1", "opencl 0.2", "opencl 0.1", "opencl 0.2", "opencl 0.1"]
    assert [named for _, _, named in found] == [f"opencl 0.{number}" for number in (0, 1, 2, 0, 1)]
    assert opened(OPENCL, CUDA, platform=1) == "opencl 1.0"
    with pytest.raises(NompError, match=r"no such platform.*N614"):
        opened(CUDA, backend="cuda", platform=3)
    with pytest.raises(NompError, match=r"Platform id 3 .*N614"):
        opened(CUDA, platform=3)
    with pytest.raises(NompError, match="N615"):
        opened(Listed("cuda"))
