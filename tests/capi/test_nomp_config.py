"""``nomp config``: flags for build systems."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nomp import capi
from nomp.capi import INCLUDE, LIBRARY
from nomp.config import markdown_table
from nomp.diagnostics import NompError
from nomp.driver import config


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert config.main(arguments) == 0
    return capsys.readouterr().out


def test_flags_may_be_combined(capsys: pytest.CaptureFixture[str]) -> None:
    libs = f"-L{LIBRARY} -lnomp -lm -Wl,-rpath,{LIBRARY}"
    assert output(capsys, "--cflags") == f"-I{INCLUDE}\n"
    assert output(capsys, "--libs") == f"{libs}\n"
    assert output(capsys, "--libs", "--cflags") == f"-I{INCLUDE} {libs}\n"


def test_cmake_folder_has_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(output(capsys, "--cmakedir").strip())
    assert sorted(file.name for file in folder.iterdir()) == ["nompConfig.cmake", "nompConfigVersion.cmake"]


def test_environment(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(capsys, "--env").splitlines()
    assert lines[0] == f"export NOMP_PYTHON={sys.executable}"
    assert lines[1] == f"export PKG_CONFIG_PATH={LIBRARY}/pkgconfig${{PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}}"
    assert lines[2] == f"export nomp_DIR={LIBRARY}/cmake/nomp"


def test_without_options_the_table_of_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys) == markdown_table()


def test_library_not_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(capi, "LIBRARY", tmp_path)
    with pytest.raises(NompError) as caught:
        config.main(["--libs"])
    assert str(caught.value) == (
        f"nomp: error: libnomp.so is not in {tmp_path} [N504]\nhelp: build it: python -m nomp.capi.build"
    )
