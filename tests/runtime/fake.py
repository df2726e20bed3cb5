"""A device of bytearrays, so that tests of the runtime see every byte and every call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nomp.backend import BackendError, DeviceInfo, NoSuchDevice, Stored

UNDEFINED = 0xAA
INFO = DeviceInfo("fake", "opencl", "p", "fake device", "v", "1", "cpu", "none", 64, 1 << 15, 1 << 20, 1, 1)


class FakeKernel:
    """Calls a Python function with what it is launched with."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function

    def launch(
        self, grid: Sequence[int], block: Sequence[int], arguments: Sequence[Any], group_bytes: int = 0
    ) -> None:
        self.function(grid, block, *arguments)


class FakeTiming:
    """Everything takes a second, and the device waits one after that."""

    def __init__(self, begin: float) -> None:
        self.begin = begin

    def interval(self) -> tuple[float, float]:
        return self.begin, 1.0


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
        self.clock = 0.0

    def compile(
        self, text: str, signatures: Mapping[str, Sequence[str | None]], stored: Stored | None = None,
        blocks: Mapping[str, Sequence[int]] | None = None,
    ) -> Mapping[str, FakeKernel]:  # fmt: skip
        self.log.append(f"compile {text}")
        if "syntax error" in text:
            raise BackendError("it does not compile", "line 2: syntax error\nsorry")
        return {name: FakeKernel(self.kernels[name]) for name in signatures}

    def alloc(self, nbytes: int) -> bytearray:
        if nbytes > self.info.global_mem_bytes:
            raise BackendError("out of memory")
        self.log.append(f"alloc {nbytes}")
        self.live.append(bytearray([UNDEFINED]) * nbytes)
        return self.live[-1]

    def zero(self, buffer: bytearray, offset: int, nbytes: int) -> None:
        self._check(buffer, offset, nbytes)
        buffer[offset : offset + nbytes] = bytes(nbytes)

    def free(self, buffer: bytearray) -> None:
        self.live = [b for b in self.live if b is not buffer]

    def copy_to(self, buffer: bytearray, offset: int, address: int, nbytes: int, after: None = None) -> None:
        self.log.append(f"to {address - self.base} {nbytes}")
        self._check(buffer, offset, nbytes)
        buffer[offset : offset + nbytes] = self._read(address, nbytes)

    def copy_from(self, buffer: bytearray, offset: int, address: int, nbytes: int, after: None = None) -> None:
        self.log.append(f"from {address - self.base} {nbytes}")
        self._check(buffer, offset, nbytes)
        self._write(address, bytes(buffer[offset : offset + nbytes]))

    def copy(self, target: bytearray, target_offset: int, source: bytearray, source_offset: int, nbytes: int) -> None:
        assert source_offset + nbytes <= len(source) and target_offset + nbytes <= len(target)
        target[target_offset : target_offset + nbytes] = source[source_offset : source_offset + nbytes]

    def point(self) -> None: ...

    def sync(self) -> None:
        self.log.append("sync")

    def start_timing(self) -> None:
        self.log.append("start timing")

    def stop_timing(self) -> None:
        self.log.append("stop timing")

    def timed(self, work: Callable[[], None], after: None = None) -> FakeTiming:
        work()
        self.clock += 2
        return FakeTiming(self.clock - 2)

    def native(self) -> None:
        return None

    def close(self) -> None:
        self.log.append("close")

    def _check(self, buffer: bytearray, offset: int, nbytes: int) -> None:
        assert any(b is buffer for b in self.live)
        assert offset >= 0 and nbytes > 0 and offset + nbytes <= len(buffer)

    def _read(self, address: int, nbytes: int) -> bytes:
        assert self.base <= address and address + nbytes <= self.base + len(self.host)
        return bytes(self.host[address - self.base : address - self.base + nbytes])

    def _write(self, address: int, data: bytes) -> None:
        assert self.base <= address and address + len(data) <= self.base + len(self.host)
        self.host[address - self.base : address - self.base + len(data)] = data


class DeviceOverRealMemory(FakeDevice):
    """The same, where addresses are addresses of this process."""

    def __init__(self, kernels: Mapping[str, Callable[..., None]] | None = None) -> None:
        super().__init__(bytearray(), 0, kernels)

    def _read(self, address: int, nbytes: int) -> bytes:
        return ctypes.string_at(address, nbytes)

    def _write(self, address: int, data: bytes) -> None:
        ctypes.memmove(address, data, len(data))


class FakeBackend:
    """Platforms of devices of the given types; *broken* ones cannot be opened."""

    def __init__(self, name: str, platforms: Sequence[Sequence[str]], broken: Sequence[str] = ()) -> None:
        self.name = name
        self.platforms = platforms
        self.broken = broken
        self.opened: list[FakeDevice] = []

    def devices(self) -> list[list[DeviceInfo]]:
        if not self.platforms:
            raise BackendError("no driver")
        return [[self._info(p, d) for d in range(len(devices))] for p, devices in enumerate(self.platforms)]

    def open(self, platform: int, device: int) -> FakeDevice:
        if platform >= len(self.platforms):
            raise NoSuchDevice(f"Platform id {platform} provided to libnomp is not valid.")
        info = self._info(platform, device)
        if info.name in self.broken:
            raise BackendError("it is broken")
        self.opened.append(DeviceOverRealMemory())
        self.opened[-1].info = info
        return self.opened[-1]

    def _info(self, platform: int, device: int) -> DeviceInfo:
        kind = self.platforms[platform][device]
        return replace(INFO, backend=self.name, name=f"{self.name} {platform}.{device}", type=kind)
