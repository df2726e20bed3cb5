"""``nomp roofline``: peaks, shares and files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from commands import NOMP_CC, succeed

from nomp import backend, config
from nomp.driver import cli
from nomp.report import peaks
from nomp.report.peaks import Peaks
from nomp.runtime.devices import open_device

pytestmark = pytest.mark.slow

PROGRAM = """#include <stdio.h>
static double a[20000], b[20000];
int main(int argc, char **argv) {
#pragma nomp init(argc, argv)
#pragma nomp update(to : a, b)
#pragma nomp for name("add")
  for (int i = 0; i < 20000; i++)
    a[i] += b[i];
#pragma nomp update(from : a)
  puts("done");
#pragma nomp finalize
  return 0;
}
"""


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Peaks of the device that this machine has, so that they need not be measured."""
    monkeypatch.setenv("NOMP_CACHE_DIR", str(tmp_path / "cache"))
    device = open_device(config.load(), backend.registered())
    peaks.keep(config.load(), Peaks(device.info.name, device.info.driver, 1e12, 2e12, 4e12, 2e12))
    device.close()


@pytest.fixture
def program(tmp_path: Path) -> str:
    (tmp_path / "p.c").write_text(PROGRAM)
    succeed(*NOMP_CC, "p.c", "-o", "p", cwd=tmp_path)
    return str(tmp_path / "p")


@pytest.mark.usefixtures("known")
def test_all_files(program: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    names = {form: str(tmp_path / f"r.{form}") for form in ("json", "trace", "html", "svg", "png")}
    assert cli.main(["roofline", *(word for form, name in names.items() for word in (f"--{form}", name)), program]) == 0
    out, err = capfd.readouterr()
    assert out == "done\n"
    assert re.search(r"^peaks of .*: copy 1000\.0 GB/s, triad 2000\.0 GB/s, single 4000 GFLOP/s, double 2000", err)
    assert re.search(r"of peak$", err, re.MULTILINE) and re.search(r"^add .* \d+%$", err, re.MULTILINE)
    (row,) = json.loads(Path(names["json"]).read_text())["kernels"]
    assert row["share"] == pytest.approx(row["work"]["footprint"] / 2e12 / row["times"]["total"])
    html = Path(names["html"]).read_text()
    assert "a[i] += b[i]" in html and re.search("__(kernel|global__) .*void .*add", html) and "<svg" in html
    assert "loop &#x27;i&#x27; becomes kernel &#x27;add&#x27;" in html
    assert Path(names["svg"]).read_text().rstrip().endswith("</svg>")
    assert Path(names["png"]).read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("known")
def test_a_device_only(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["roofline", "--svg", str(tmp_path / "r.svg")]) == 0
    assert "memory 2000 GB/s" in (tmp_path / "r.svg").read_text()
    assert cli.main(["roofline", "--svg", str(tmp_path / "no" / "r.svg")]) == 1
    assert "r.svg cannot be written: No such file or directory [N622]\n" in capfd.readouterr().err


@pytest.mark.usefixtures("known")
def test_profile_knows_the_peaks_too(program: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["profile", program]) == 0
    assert re.search(r"^add .* \d+%$", capfd.readouterr().err, re.MULTILINE)


def test_without_matplotlib_the_page_has_no_plot(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], known: None
) -> None:
    from nomp.driver import reports

    monkeypatch.setattr(reports, "find_spec", lambda name: None)
    html = tmp_path / "r.html"
    assert cli.main(["profile", "--html", str(html), program]) == 0
    assert "There is no plot without matplotlib: pip install &#x27;nomp[report]&#x27;." in html.read_text()
    capfd.readouterr()
    assert cli.main(["roofline", "--png", "r.png", program]) == 1
    assert capfd.readouterr().err == (
        "nomp: error: r.png cannot be drawn: matplotlib is not installed [N623]\n"
        "help: pip install 'nomp[report]'; --html and --json need no matplotlib\n"
    )


@pytest.mark.slow
def test_peaks_are_measured_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NOMP_CACHE_DIR", str(tmp_path))
    texts = []
    for _ in range(2):
        assert cli.main(["roofline"]) == 0
        texts.append(capfd.readouterr().err)
    assert texts[0] == texts[1]
