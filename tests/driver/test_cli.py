"""The program ``nomp``: its verbs, its exit statuses, and that it starts without what it does not need."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType, SimpleNamespace

import commands
import pytest

from nomp import backend
from nomp.backend import BackendError
from nomp.diagnostics import Span, error, register_source
from nomp.driver import cli, devices


def nomp(*words: str) -> subprocess.CompletedProcess[str]:
    return commands.run(*commands.NOMP, *words)


@pytest.mark.parametrize(
    "words", [["--help"], ["cc", "--help"], ["explain", "--help"], ["devices", "--help"], ["config", "--help"]]
)
def test_help(words: list[str]) -> None:
    done = nomp(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"usage: nomp {words[0] if len(words) > 1 else ''}".rstrip())


@pytest.mark.parametrize("verb", cli.VERBS)
def test_verbs_are_real(verb: str) -> None:
    assert callable(import_module(f"nomp.driver.{verb}").main)


def test_start_imports_nothing_heavy() -> None:
    heavy = {"loopy", "clang", "lark", "pyopencl", "numpy"}
    program = f"import sys; from nomp.driver import cli, cc, devices; print({heavy} & set(sys.modules))"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "set()\n"
    )


def test_version() -> None:
    assert nomp("--version").stdout.startswith("nomp 0.")


def test_unknown_verb() -> None:
    done = nomp("compile")
    assert done.returncode == 2
    assert "invalid choice: 'compile'" in done.stderr


def _verb(monkeypatch: pytest.MonkeyPatch, raised: BaseException) -> None:
    """Let the verb ``devices`` raise *raised*."""

    def main(arguments: list[str]) -> int:
        raise raised

    module = ModuleType("nomp.driver.devices")
    module.main = main  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nomp.driver.devices", module)


def test_errors_are_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    register_source("f.c", "int x")
    _verb(monkeypatch, error("N201", "no semicolon", Span("f.c", 1, 6)))
    assert cli.main(["devices"]) == 1
    assert capsys.readouterr().err == "f.c:1:6: error: no semicolon [N201]\n    1 | int x\n      |      ^\n"


@pytest.mark.parametrize(("debug", "traceback"), [("0", False), ("1", True)])
def test_defects(
    debug: str, traceback: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NOMP_DEBUG", debug)
    _verb(monkeypatch, ZeroDivisionError("by nothing"))
    assert cli.main(["devices"]) == 3
    text = capsys.readouterr().err
    assert text.splitlines()[-1].startswith("nomp: internal error: ZeroDivisionError: by nothing (please report it")
    assert ("Traceback" in text) is traceback


# --------------------------------------------------------------------------------------------------------- devices


INFO = backend.DeviceInfo("fake", "opencl", "Somewhere", "thing", "v", "1", "gpu", "", 1, 1, 1 << 30, 4, 1)


class FakeDevice:
    """A device whose kernels write *scale* times their index."""

    info = INFO

    def __init__(self, scale: int) -> None:
        self.scale = scale

    def compile(self, text: str, signatures: object) -> dict[str, object]:
        return {"nomp_probe": SimpleNamespace(launch=lambda *_: None)}

    def alloc(self, nbytes: int) -> bytearray:
        return bytearray(nbytes)

    def copy_from(self, buffer: bytearray, offset: int, address: int, nbytes: int) -> None:
        import ctypes

        for i in range(4):
            ctypes.c_int32.from_address(address + 4 * i).value = self.scale * i

    def free(self, buffer: object) -> None: ...

    def close(self) -> None: ...


class FakeBackend:
    """Three devices: one good, one that computes wrongly, one that cannot be opened."""

    def devices(self) -> list[list[backend.DeviceInfo]]:
        return [[INFO, INFO], [INFO]]

    def open(self, platform: int, device: int) -> FakeDevice:
        if platform == 1:
            raise BackendError("it is in use")
        return FakeDevice(3 - device)


def _none() -> FakeBackend:
    raise BackendError("there is no driver")


def test_devices(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], golden: Callable[[str, str], None]
) -> None:
    monkeypatch.setattr(devices, "registered", lambda: {"other": _none, "fake": FakeBackend})
    assert cli.main(["devices"]) == 0
    golden("driver/devices.txt", capsys.readouterr().out)


def test_no_device_passes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(devices, "registered", lambda: {"other": _none})
    assert cli.main(["devices"]) == 1
    assert capsys.readouterr().out == "other: cannot be used: there is no driver\n"


@pytest.mark.slow
def test_the_real_devices() -> None:
    done = nomp("devices")
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert all(line.endswith(": PASS") or ": cannot be used: " in line for line in lines)
    assert [line for line in lines if line.startswith("opencl platform ") and line.endswith(": PASS")]
