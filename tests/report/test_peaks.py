"""What devices can do: measured, and kept."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from disks import nearly_full

from nomp import backend, config
from nomp.report import peaks
from nomp.report.peaks import Peaks
from nomp.runtime.devices import open_device

PEAKS = Peaks("a device", "1.0", 1e9, 2e9, 3e9, 4e9)


def test_a_device_is_measured_step_by_step() -> None:
    device = open_device(config.Settings(backend="opencl"), backend.registered())
    steps: list[str] = []
    found = peaks.measure(device, steps.append, scale=0.01)
    device.close()
    assert steps == ["copy", "triad", "fma_float", "fma_double"]
    assert (found.device, found.driver) == (device.info.name, device.info.driver)
    assert min(found.copy, found.triad, found.single, found.double) > 0


def test_peaks_are_kept_for_a_device_and_its_driver(tmp_path: Path) -> None:
    settings = config.Settings(cache_dir=tmp_path / "cache")
    assert peaks.known(settings, "a device", "1.0") is None
    peaks.keep(settings, PEAKS)
    assert peaks.known(settings, "a device", "1.0") == PEAKS
    assert peaks.known(settings, "a device", "1.1") is None
    folder = tmp_path / "cache" / "peaks"
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(list(folder.iterdir())) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"device": "another"}',
        '{"device": "a device", "driver": "1.0", "copy": 0, "triad": 1, "single": 1, "double": 1}',
    ],
)
def test_what_is_not_ours_is_measured_again(tmp_path: Path, text: str) -> None:
    settings = config.Settings(cache_dir=tmp_path)
    peaks.keep(settings, PEAKS)
    (file,) = (tmp_path / "peaks").iterdir()
    file.write_text(text)
    assert peaks.known(settings, "a device", "1.0") is None


def test_without_a_place_for_them_they_are_not_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = config.Settings(cache_dir=tmp_path / "file")
    peaks.keep(settings, PEAKS)
    assert peaks.known(settings, "a device", "1.0") is None


def test_without_room_nothing_is_left_of_them(tmp_path: Path) -> None:
    with nearly_full():
        peaks.keep(config.Settings(cache_dir=tmp_path), PEAKS)
    assert list((tmp_path / "peaks").iterdir()) == []


def test_without_a_home_they_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peaks.cache, "folder_of", lambda settings: None)
    peaks.keep(config.Settings(), PEAKS)
    assert peaks.known(config.Settings(), "a device", "1.0") is None
