"""A device of bytearrays over a host of one bytearray, so that tests of the runtime see every byte."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nomp.backend import BackendError, DeviceInfo

UNDEFINED = 0xAA
INFO = DeviceInfo("fake", "opencl", "p", "fake device", "v", "1", "cpu", "none", 64, 1 << 15, 1 << 20, 1, 1)


class FakeKernel:
    """Calls a Python function with what it is launched with."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function

    def launch(self, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any]) -> None:
        self.function(grid, block, *arguments)


class FakeDevice:
    """*host* stands for the process's memory from address *base* on; *kernels* are what programs contain."""

    def __init__(
        self, host: bytearray, base: int = 0x1000, kernels: Mapping[str, Callable[..., None]] | None = None
    ) -> None:
        self.info = INFO
        self.host = host
        self.base = base
        self.kernels = kernels or {}
        self.live: list[bytearray] = []
        self.log: list[str] = []

    def compile(self, text: str, signatures: Mapping[str, Sequence[str | None]]) -> Mapping[str, FakeKernel]:
        self.log.append(f"compile {text}")
        return {name: FakeKernel(self.kernels[name]) for name in signatures}

    def alloc(self, nbytes: int) -> bytearray:
        if nbytes > self.info.global_mem_bytes:
            raise BackendError("out of memory")
        self.log.append(f"alloc {nbytes}")
        self.live.append(bytearray([UNDEFINED]) * nbytes)
        return self.live[-1]

    def free(self, buffer: bytearray) -> None:
        self.live = [b for b in self.live if b is not buffer]

    def copy_to(self, buffer: bytearray, offset: int, address: int, nbytes: int) -> None:
        self.log.append(f"to {address - self.base} {nbytes}")
        self._inside(buffer, offset, address, nbytes)
        buffer[offset : offset + nbytes] = self.host[address - self.base : address - self.base + nbytes]

    def copy_from(self, buffer: bytearray, offset: int, address: int, nbytes: int) -> None:
        self.log.append(f"from {address - self.base} {nbytes}")
        self._inside(buffer, offset, address, nbytes)
        self.host[address - self.base : address - self.base + nbytes] = buffer[offset : offset + nbytes]

    def copy(self, target: bytearray, target_offset: int, source: bytearray, source_offset: int, nbytes: int) -> None:
        assert source_offset + nbytes <= len(source) and target_offset + nbytes <= len(target)
        target[target_offset : target_offset + nbytes] = source[source_offset : source_offset + nbytes]

    def sync(self) -> None:
        self.log.append("sync")

    def close(self) -> None:
        self.log.append("close")

    def _inside(self, buffer: bytearray, offset: int, address: int, nbytes: int) -> None:
        assert any(b is buffer for b in self.live)
        assert offset >= 0 and nbytes > 0 and offset + nbytes <= len(buffer)
        assert self.base <= address and address + nbytes <= self.base + len(self.host)
