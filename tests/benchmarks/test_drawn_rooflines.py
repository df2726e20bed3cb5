"""benchmarks/roofline.py on small kernels.  Times are not looked at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import roofline

from nomp import backend, config
from nomp.report import peaks
from nomp.report.peaks import Peaks
from nomp.runtime.devices import open_device


@pytest.mark.slow
def test_kernels_of_several_programs_are_in_one_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NOMP_CACHE_DIR", str(tmp_path / "cache"))
    device = open_device(config.load(), backend.registered())
    peaks.keep(config.load(), Peaks(device.info.name, device.info.driver, 1e12, 2e12, 4e12, 2e12))
    device.close()
    chosen = ("--kernel", "triad", "--kernel", "jacobi-1d", "--size", "small")
    status = roofline.main(["cpu", *chosen, "--build", str(tmp_path), "--out", str(tmp_path)])
    assert status == 0, capfd.readouterr().err
    rows = json.loads((tmp_path / "roofline-cpu.json").read_text())["kernels"]
    assert {Path(row["file"]).name for row in rows} == {"triad.c", "jacobi-1d.c"}
    assert "triad.c:7" in (tmp_path / "roofline-cpu.svg").read_text()
