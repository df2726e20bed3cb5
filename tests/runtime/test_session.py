"""From init to finalize, over fake backends."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fake import FakeBackend, FakeDevice

from nomp import config
from nomp.backend import Backend, BackendError
from nomp.config import Settings
from nomp.device_source import Argument, DeviceSource, Launch, Value, Variant
from nomp.diagnostics import Diagnostic, NompError, Span, register_source
from nomp.region import Assign, Clauses, Const, For, Load, Param, Place, Region, Var
from nomp.runtime.memory import FROM, TO
from nomp.runtime.session import Session

LINE = "for (int i = 0; i < n; i++) a[i] += 1;"
N = Var("n", "int32")


def region(name: str = "k", **more: Any) -> Region:
    register_source("s.c", f"#pragma nomp for\n{LINE}\n")
    body = (Assign(Load("a", (Var("i", "int32"),), "float64"), Const(0.0, "float64")),)
    loop = For("i", "int32", Const(0, "int32"), "<", N, Const(1, "int32"), body, place=Place(2, 1, len(LINE)))
    params = (Param("n", "int32", "scalar", "n"), Param("a", "float64", "array", "a", (None,), writes=True))
    return Region(name, "s.c", 1, params, (loop,), **more)


def compile(region: Region, *_: Any) -> tuple[DeviceSource, tuple[Diagnostic, ...]]:
    one = Const(1, "int64")
    launch = Launch("add", (Argument("value", "n"), Argument("buffer", "a")), (one,), (one,))
    shown = Diagnostic("N399", f"compiled {region.name}", severity="warning")
    remark = Diagnostic("N399", "it went well", severity="remark")
    return DeviceSource(region.name, "opencl", "text", (Value("n", "int32", N),), (), (launch,)), (shown, remark)


def add(grid: Any, block: Any, n: int, a: bytearray) -> None:
    a[: 8 * n] = (np.frombuffer(a, "float64", n) + 1).tobytes()


def _same(backend: FakeBackend) -> Backend:
    return backend


class Bench:
    """A session with fake backends, whose devices run `add`."""

    def __init__(self, *backends: FakeBackend) -> None:
        self.backends = backends or (FakeBackend("opencl", [["cpu"]]),)
        self.session = Session(compile, self._registered)

    def _registered(self) -> Mapping[str, Callable[[], Backend]]:
        return {backend.name: partial(_same, backend) for backend in self.backends}

    def init(self, *argv: str) -> Session:
        self.session.init(config.load(["app", *argv]))
        self.device.kernels = {"add": add}
        return self.session

    @property
    def device(self) -> FakeDevice:
        (device,) = [b.opened[-1] for b in self.backends if b.opened and "close" not in b.opened[-1].log]
        return device


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One without settings in a pyproject.toml."""
    monkeypatch.chdir(tmp_path)


def refusal(call: Callable[..., Any], *arguments: Any, **more: Any) -> str:
    with pytest.raises(NompError) as caught:
        call(*arguments, **more)
    return str(caught.value)


# ----------------------------------------------------------------------------------------------------- the whole way


def test_a_program() -> None:
    session = Bench().init()
    a, n = np.zeros(4), ctypes.c_int(3)
    kernel = session.declare(region())
    session.update(a.ctypes.data, 0, 4, 8, TO)
    for _ in range(2):
        session.run(kernel, [ctypes.addressof(n), a.ctypes.data])
    session.sync()
    assert list(a) == [0, 0, 0, 0]
    session.update(a.ctypes.data, 0, 4, 8, FROM)
    assert list(a) == [2, 2, 2, 0]
    session.finalize()


def test_everything_is_released_and_can_start_again_with_the_same_ids() -> None:
    bench = Bench()
    a, n, ids = np.zeros(4), ctypes.c_int(3), [0]
    for round in range(3):
        session = bench.init()
        if round == 0:
            ids = [session.declare(region()), session.declare(region())]
        device = bench.device
        session.update(a.ctypes.data, 0, 4, 8, TO)
        session.run(ids[1], [ctypes.addressof(n), a.ctypes.data])
        session.update(a.ctypes.data, 0, 4, 8, FROM)
        session.finalize()
        assert device.live == [] and device.log[-1] == "close"
        assert not session.started()
        assert list(a) == [round + 1] * 3 + [0]
    assert ids == [0, 1]


def test_kernels_are_compiled_at_their_first_run_or_at_once() -> None:
    bench = Bench()
    session = bench.init()
    session.declare(region())
    assert "compile text" not in bench.device.log
    session.declare(region(), eager=True)
    assert bench.device.log.count("compile text") == 1
    session.declare(region(clauses=Clauses(jit=("n",))), eager=True)
    assert bench.device.log.count("compile text") == 1


def test_many_threads() -> None:
    session = Bench().init()
    arrays, n = [np.zeros(50) for _ in range(8)], ctypes.c_int(50)

    def work(a: np.ndarray) -> None:
        kernel = session.declare(region())
        for _ in range(50):
            session.update(a.ctypes.data, 0, 50, 8, TO)
            session.run(kernel, [ctypes.addressof(n), a.ctypes.data])
            session.update(a.ctypes.data, 0, 50, 8, FROM)
            session.sync()

    threads = [threading.Thread(target=work, args=(a,)) for a in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.all(a == 50) for a in arrays)


@pytest.mark.parametrize(("verbose", "shown"), [("1", []), ("2", ["warning"]), ("3", ["warning", "remark"])])
def test_warnings_and_remarks_are_shown_as_asked(
    verbose: str, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    session = Bench().init("--nomp-verbose", verbose)
    session.declare(region(), eager=True)
    assert [line.split()[1].rstrip(":") for line in capsys.readouterr().err.splitlines()] == shown


def test_a_program_that_does_not_finalize_ends_quietly() -> None:
    script = """
import numpy as np
from nomp.config import Settings
from nomp.runtime import session
session.init(Settings())
a = np.zeros(10)
session.update(a.ctypes.data, 0, 10, 8, 2)
"""
    run = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


@pytest.mark.parametrize("ended", [False, True])
def test_a_forked_process_has_no_runtime(ended: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """And can start none: the driver's threads, for which it would wait, are not there."""
    session = Bench().init()
    a = np.zeros(4)
    if ended:
        session.finalize()
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    refused = [partial(session.init, Settings())]
    refused += [partial(session.update, a.ctypes.data, 0, 4, 8, TO)] if not ended else []
    for call in refused:
        assert "nomp was initialized by the parent process [N602]" in refusal(call)


def test_importing_the_session_imports_no_compiler() -> None:
    script = "import sys, nomp.runtime.session; print({'loopy', 'pyopencl', 'clang', 'lark'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


# ------------------------------------------------------------------------------------------------- choosing a device


def opened(*backends: FakeBackend, argv: tuple[str, ...] = ()) -> str:
    bench = Bench(*backends)
    bench.init(*argv)
    return bench.device.info.name


def test_auto_prefers_cuda_then_hip_then_opencl_gpus_then_cpus() -> None:
    cuda, hip = FakeBackend("cuda", [["gpu"]]), FakeBackend("hip", [["gpu"]])
    both, cpu = FakeBackend("opencl", [["cpu"], ["cpu", "gpu"]]), FakeBackend("opencl", [["cpu"]])
    other = FakeBackend("mine", [["gpu"]])
    assert opened(other, both, hip, cuda) == "cuda 0.0"
    assert opened(other, both, hip) == "hip 0.0"
    assert opened(other, both) == "opencl 1.1"
    assert opened(other, cpu) == "opencl 0.0"
    assert opened(other) == "mine 0.0"


def test_auto_takes_the_next_where_one_cannot_be_used() -> None:
    broken = FakeBackend("cuda", [["gpu", "gpu"]], broken=["cuda 0.0"])
    none = FakeBackend("hip", [])
    opencl = FakeBackend("opencl", [["cpu"], ["gpu"]], broken=["opencl 1.0"])
    assert opened(broken, none, opencl) == "cuda 0.1"
    assert opened(none, opencl) == "opencl 0.0"


def test_auto_keeps_to_the_numbers_given() -> None:
    opencl = FakeBackend("opencl", [["gpu"], ["cpu", "cpu"]])
    assert opened(opencl, argv=("--nomp-platform", "1")) == "opencl 1.0"
    assert opened(opencl, argv=("--nomp-platform", "1", "--nomp-device", "1")) == "opencl 1.1"


@pytest.mark.parametrize(
    ("option", "message"),
    [("device", "Device id 9 passed into libnomp is not valid."), ("platform", "Platform id 9 provided to libnomp")],
)
def test_auto_refuses_numbers_that_no_backend_has(option: str, message: str) -> None:
    text = refusal(Bench().init, f"--nomp-{option}", "9")
    assert "[N614]" in text and message in text


def test_a_backend_by_name() -> None:
    cuda, opencl = FakeBackend("cuda", [["gpu"]]), FakeBackend("opencl", [["cpu", "gpu"]])
    assert opened(cuda, opencl, argv=("--nomp-backend", "OpenCL", "--nomp-device", "1")) == "opencl 0.1"


def test_no_usable_device_says_why() -> None:
    bench = Bench(FakeBackend("hip", []), FakeBackend("opencl", [["cpu"]], broken=["opencl 0.0"]))
    assert refusal(bench.init) == (
        "nomp: error: no backend has a device that can be used [N615]\n"
        "note: hip: no driver\n"
        "note: opencl, opencl 0.0: it is broken\n"
        "help: install a GPU's driver, or Debian's gcc, for which the CPU is a device; nomp devices lists all"
    )
    assert not bench.session.started()


def test_wrong_names_and_numbers_leave_it_uninitialised() -> None:
    bench = Bench()
    assert refusal(bench.init, "--nomp-backend", "opencll") == (
        "nomp: error: Invalid backend: opencll. [N613]\nhelp: did you mean 'opencl'?"
    )
    assert refusal(bench.init, "--nomp-backend", "xyz") == (
        "nomp: error: Invalid backend: xyz. [N613]\nhelp: installed are opencl, or give auto"
    )
    assert refusal(bench.init, "--nomp-backend", "opencl", "--nomp-platform", "7") == (
        "nomp: error: Platform id 7 provided to libnomp is not valid. [N614]\n"
        "help: nomp devices lists the platforms and devices"
    )
    assert not bench.session.started()
    bench.init()
    assert bench.session.started()


def test_a_device_that_cannot_be_opened_says_why() -> None:
    bench = Bench(FakeBackend("opencl", [["cpu"]], broken=["opencl 0.0"]))
    assert refusal(bench.init, "--nomp-backend", "opencl") == (
        "nomp: error: opening device 0 of platform 0 with opencl failed: it is broken [N611]\n"
        "help: nomp devices lists the devices, how much memory they have and whether they work"
    )


def test_a_backend_that_cannot_be_made_says_why() -> None:
    def missing() -> Backend:
        raise BackendError("backend 'cuda' cannot be loaded: no libcuda")

    session = Session(compile, lambda: {"cuda": missing})
    assert "failed: backend 'cuda' cannot be loaded: no libcuda [N611]" in refusal(
        session.init, Settings(backend="cuda")
    )
    assert "note: cuda: backend 'cuda' cannot be loaded: no libcuda" in refusal(session.init, Settings())


# ------------------------------------------------------------------------------------------------------------ errors


def test_init_twice() -> None:
    session = Bench().init()
    assert refusal(session.init, []) == (
        "nomp: error: nomp is already initialized [N601]\nhelp: call init once, or finalize before the next init"
    )
    assert session.started()


@pytest.mark.parametrize("failing", ["sync", "free"])
def test_a_finalize_that_fails_leaves_nothing_of_the_old_device(
    failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: Any) -> None:
        raise BackendError("the device is lost")

    bench = Bench()
    session, n, a = bench.init(), ctypes.c_int(3), np.zeros(4)
    session.update(a.ctypes.data, 0, 4, 8, TO)
    kernel = session.declare(region())
    session.run(kernel, [ctypes.addressof(n), a.ctypes.data])
    old = bench.device
    monkeypatch.setattr(old, failing, lost)
    with pytest.raises(NompError, match="closing the device failed: the device is lost"):
        session.finalize()
    assert old.log[-1] == "close"
    bench.init()
    assert bench.device is not old
    session.update(a.ctypes.data, 0, 4, 8, TO)
    session.run(kernel, [ctypes.addressof(n), a.ctypes.data])
    session.update(a.ctypes.data, 0, 4, 8, FROM)
    assert list(a) == [1, 1, 1, 0]


def test_calls_before_init() -> None:
    session = Bench().session
    text = (
        "nomp: error: nomp is not initialized [N602]\n"
        "help: start nomp first: add '#pragma nomp init(argc, argv)' at the beginning of main"
    )
    assert refusal(session.sync) == text
    assert refusal(session.finalize) == text
    assert refusal(session.update, 4096, 0, 1, 8, TO) == text
    assert refusal(session.run, 0, []) == text
    assert refusal(session.declare, region()) == (
        "s.c:2:1: error: nomp is not initialized [N602]\n"
        "    2 | for (int i = 0; i < n; i++) a[i] += 1;\n"
        "      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "help: start nomp first: add '#pragma nomp init(argc, argv)' at the beginning of main"
    )


def test_running_after_finalize_shows_the_loop() -> None:
    session = Bench().init()
    kernel = session.declare(region())
    session.finalize()
    assert refusal(session.run, kernel, [0, 0]).startswith("s.c:2:1: error: nomp is not initialized [N602]")


@pytest.mark.parametrize("kernel", [-1, 1, 1 << 31])
def test_kernel_ids_are_checked(kernel: int) -> None:
    session = Bench().init()
    session.declare(region())
    assert refusal(session.run, kernel, []) == (
        f"nomp: error: Kernel id {kernel} passed to nomp_run is not valid. [N609]\n"
        "help: use the id that nomp_jit gave, after it has succeeded"
    )


def test_update_errors_have_the_place_and_name_given() -> None:
    session = Bench().init()
    text = refusal(session.update, 4096, 0, 1, 8, FROM, "a", Span("s.c", 1, 1, 3))
    assert text.startswith("s.c:1:1: error: 'a[0, 1]' is not mapped")


def test_a_kernel_that_does_not_compile_is_not_declared() -> None:
    def refuse(region: Region, *_: Any) -> Any:
        raise NompError((Diagnostic("N250", "no"),))

    session = Session(refuse, Bench()._registered)
    session.init(Settings())
    assert "[N250]" in refusal(session.declare, region(), eager=True)
    assert "N609" in refusal(session.run, 0, [])


def test_the_compiler_gets_the_device_the_values_and_the_settings() -> None:
    seen: list[Any] = []

    def recording(*arguments: Any) -> Any:
        seen.extend(arguments)
        return compile(arguments[0])

    bench = Bench()
    bench.session = Session(recording, bench._registered)
    session = bench.init("--nomp-verbose", "1")
    jit = region(clauses=Clauses(jit=("n",)))
    n, a = ctypes.c_int(3), np.zeros(4)
    session.update(a.ctypes.data, 0, 4, 8, TO)
    session.run(session.declare(jit), [ctypes.addressof(n), a.ctypes.data])
    got_region, info, values, variant, settings = seen
    assert (got_region, info, values) == (jit, bench.device.info, {"n": 3})
    assert variant == Variant(apart=True) and isinstance(settings, Settings) and settings.verbose == 1
    assert settings == replace(settings, backend="auto")
