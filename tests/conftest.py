"""Fixtures for all tests: golden files, and an environment without the caller's settings and caches.

A golden file is the expected text of one thing; ``pytest --update-golden`` writes what the code says now, to be read in
the diff before it is committed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import doubles
import pytest
from hypothesis import settings
from sharing import Shared, once

# The same examples in every run, however slow the machine, and nothing written beside the tests.
settings.register_profile("nomp", deadline=None, derandomize=True, database=None)
settings.load_profile("nomp")

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden with what the code says now")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """``golden(name, text)`` compares *text* with ``tests/golden/name``."""

    def check(name: str, text: str) -> None:
        file = GOLDEN / name
        text = text.rstrip("\n") + "\n"
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.exists(), f"no golden file {name}: run pytest --update-golden, then read it"
        assert text == file.read_text(encoding="utf-8")

    return check


@pytest.fixture(scope="session")
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """Folders that are filled once for all processes of a run."""
    base = tmp_path_factory.getbasetemp()
    return partial(once, base.parent if hasattr(request.config, "workerinput") else base)


@pytest.fixture(scope="session")
def hip_double(shared: Shared) -> Path:
    """The test double of HIP on the CPU."""
    return shared("hip-double", doubles.build)


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One home for the whole run: the device compilers' caches work within it and nothing is left outside it.

    What the caller sets for nomp does not count here, but for the fuzzer's numbers; nor does the caller's compiler.
    Modules are kept compiled, as in any installation: else each of some hundred processes compiles all of nomp.
    """
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("NOMP_") and not name.startswith("NOMP_FUZZ_")]:
            patch.delenv(name)
        for name in ("CC", "PYTHONDONTWRITEBYTECODE"):
            patch.delenv(name, raising=False)
        patch.setattr(sys, "dont_write_bytecode", False)
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_CACHE_HOME", str(home / "cache"))
        patch.setenv("NOMP_CACHE_DIR", str(home / "cache" / "nomp"))
        patch.setenv("POCL_CACHE_DIR", str(home / "cache" / "pocl"))
        yield home


@pytest.fixture
def on_opencl(monkeypatch: pytest.MonkeyPatch) -> None:
    """What opens a device opens OpenCL's first one."""
    monkeypatch.setenv("NOMP_BACKEND", "opencl")


@pytest.fixture(scope="module", autouse=True)
def own_session() -> Iterator[None]:
    """Each file's tests start without an open device: one that they leave open is closed after the last of them."""
    yield
    session = sys.modules.get("nomp.runtime.session")
    if session and session.started():
        session.finalize()
