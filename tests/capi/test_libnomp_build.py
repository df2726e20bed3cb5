"""What an installation says where libnomp.so cannot be built, and the files around it."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from nomp.capi import LIBRARY, build


def refusal(lib: Path) -> str:
    with pytest.raises(build.BuildError) as caught:
        build.build(lib, lib.with_name("threads"), "1.2")
    assert not list(lib.parent.iterdir()), "nothing is left behind"
    return str(caught.value)


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CC", "no-such-compiler -m64")
    text = "libnomp.so needs a C compiler, but 'no-such-compiler' was not found: install Debian's gcc or set CC"
    assert refusal(tmp_path / "lib") == text


def test_no_python_header(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    text = f"libnomp.so needs Python.h, which is not in {tmp_path}: install Debian's python3-dev"
    assert refusal(tmp_path / "lib") == text


def test_no_shared_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    variables: dict[str, Any] = {"LDLIBRARY": "libpython3.11.a", "LIBDIR": str(tmp_path)}
    monkeypatch.setattr(sysconfig, "get_config_var", variables.get)
    text = refusal(tmp_path / "lib")
    assert text.startswith("libnomp.so needs a shared libpython, which ")
    assert text.endswith(
        f"does not have in {tmp_path}: install Debian's python3-dev, or use a Python that was configured with "
        "--enable-shared"
    )


def test_run_path_only_where_the_loader_does_not_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysconfig, "get_config_var", {"MULTIARCH": "x86_64-linux-gnu"}.get)
    assert build._link_flags(Path("/usr/lib/x86_64-linux-gnu/libpython3.11.so")) == [
        "-L/usr/lib/x86_64-linux-gnu", "-lpython3.11",
    ]  # fmt: skip
    assert build._link_flags(Path("/opt/py/lib/libpython3.12.so"))[-1] == "-Wl,-rpath,/opt/py/lib"


def test_exports_are_the_headers_functions() -> None:
    listing = subprocess.run(["nm", "-D", "--defined-only", LIBRARY / "libnomp.so"], capture_output=True, text=True)
    names = {line.split()[-1] for line in listing.stdout.splitlines()}
    both = {"init", "update", "run", "sync", "finalize"}
    api = both | {"jit", "get_err_str", "get_err_no", "finalize_excluding_interpreter", "copy_env", "mapped"}
    assert names == {f"nomp_{name}" for name in api} | {f"nomp_pragma_{name}" for name in both | {"confirm"}}


def test_pkg_config_file_is_relative_to_itself(tmp_path: Path) -> None:
    build._fill_in("nomp.pc.in", tmp_path / "nomp.pc", "1.2")
    text = (tmp_path / "nomp.pc").read_text()
    assert "Version: 1.2\n" in text
    assert text.startswith("prefix=${pcfiledir}/../..\n")
