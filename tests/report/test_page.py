"""The page of a profile, in a browser, and the plot."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from html import unescape
from pathlib import Path

import pytest
from commands import cannot_run

from nomp.report.page import Code, page
from nomp.report.peaks import Peaks
from nomp.report.plot import picture
from nomp.report.profile import CopyRow, KernelRow, Profile, StageRow, Times
from nomp.report.roofline import points
from nomp.report.tables import table
from nomp.work import Work

PEAKS = Peaks("a <device>", "1.0", 80e9, 100e9, 2e12, 1e12)
KERNELS = (
    KernelRow("gemm", "/p/gemm.c", 7, Times(2, 0.02, 0.009, 0.011), Work(0, 4 * 10**9, 32 * 10**9, 10**8, True)),
    KernelRow("triad", "/p/triad.c", 9, Times(1, 0.01, 0.01, 0.01), Work(0, 2 * 10**7, 5 * 10**8, 5 * 10**8, True)),
    KernelRow("spmv<1>", "/p/spmv.c", 3, Times(10, 0.005, 0.0004, 0.0006)),
    KernelRow("copy", "/p/copy.c", 3, Times(1, 0.004, 0.004, 0.004), Work(0, 0, 10**8, 10**8, True)),
)
PROFILE = Profile(
    "a <device>",
    KERNELS,
    (CopyRow("a", "to", 8000, Times(1, 1e-6, 1e-6, 1e-6)),),
    (StageRow("lower", Times(1, 1, 1, 1)),),
)
CODES = [
    Code("gemm", "/p/gemm.c", 7, "for (int i = 0; i < n; i++)", "__kernel void gemm(__global double *a) {}", "a remark")
]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def made() -> str:
    svg = picture(list(points(PROFILE, PEAKS)), PEAKS).decode()
    return page(PROFILE, PEAKS, svg, CODES)


def test_shares_and_what_limits() -> None:
    found = {point.kernel.name: point for point in points(PROFILE, PEAKS)}
    assert list(found) == ["gemm", "triad", "copy"]  # of spmv the work is not known
    gemm, triad = found["gemm"], found["triad"]
    assert (gemm.by_footprint, gemm.by_access, gemm.limit) == (40, 0.125, "arithmetic")
    assert gemm.share == pytest.approx(0.2)  # 4 ms of 20
    assert (triad.share, triad.limit) == (pytest.approx(0.5), "memory")


@pytest.mark.slow
def test_the_page_needs_nothing_else_and_escapes_names() -> None:
    text = made()
    outside = re.findall(r'(?:src|href)="([^"#]+)"', text)
    assert outside == []
    assert "a <device>" not in text and "a &lt;device&gt;" in text
    assert "spmv&lt;1&gt;" in text
    assert "<svg" in text and "<?xml" not in text
    assert "a remark" in text and "__kernel void gemm" in text


@pytest.mark.slow
def test_upper_bounds_are_marked_as_in_the_table() -> None:
    row = KernelRow("csr", "/p/csr.c", 3, Times(1, 0.01, 0.01, 0.01), Work(0, 10**8, 10**8, 10**8, exact=False))
    bounds = Profile("a device", (row,), (), ())
    text = unescape(page(bounds, PEAKS, "", []))
    shown = re.findall(r">([<~]?[\d.]+%?)</td>", text[text.index("<tbody>") : text.index("</tbody>")])
    assert shown[-4:] == ["<10.00", "<10.00", "~1.00", "<10%"]
    assert table(bounds, PEAKS).split("\n")[3].split()[-3:] == ["<10.00", "<10.00", "<10%"]
    legend = "<: at most so much, for not all of it could be counted"
    assert legend in text and legend in table(bounds, PEAKS)
    assert "at most so much" not in made()


def test_without_a_plot_the_page_says_why() -> None:
    text = page(PROFILE, None, "no <plot>", [])
    assert "<p>no &lt;plot&gt;</p>" in text and "<svg" not in text


@pytest.mark.slow
def test_plots_are_the_same_each_time_and_whole() -> None:
    found = list(points(PROFILE, PEAKS))
    first, second = (picture(found, PEAKS) for _ in range(2))
    assert first == second
    texts = "".join(
        "".join(node.itertext()) for node in ElementTree.fromstring(first).iter() if node.tag.endswith("text")
    )
    assert "gemm.c:7 gemm (20%)" in texts and "copy" not in texts
    assert picture(found, PEAKS, "png").startswith(b"\x89PNG")
    assert picture([], PEAKS).endswith(b"</svg>\n")


@pytest.mark.slow
def test_plots_need_no_display() -> None:
    """Not even where matplotlib is told to open windows."""
    text = """from nomp.report.peaks import Peaks
from nomp.report.plot import picture
for form in ("svg", "png"):
    print(len(picture([], Peaks("a device", "1.0", 1e9, 1e9, 1e9, 1e9), form)) > 1000)"""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run([sys.executable, "-c", text], env=environment | {"MPLBACKEND": "TkAgg"}, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "True\nTrue\n"), done.stderr


def browse(*options: str) -> subprocess.CompletedProcess[str]:
    if CHROMIUM is None:
        cannot_run("there is no chromium: apt-get install chromium")
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000")
    return subprocess.run([CHROMIUM, *flags, *options], capture_output=True, text=True, check=True, timeout=120)


@pytest.mark.slow
def test_tables_sort_in_a_browser(tmp_path: Path) -> None:
    """The heads are clicked by a script of the test's own; what the browser then has is looked at."""
    clicks = "<script>for (const n of {}) document.querySelectorAll('th')[n].click()</script></body>"
    orders = []
    for heads in ("[]", "[2]", "[2, 2]", "[0, 0]", "[10]"):
        file = tmp_path / "page.html"
        file.write_text(made().replace("</body>", clicks.format(heads)), encoding="utf-8")
        dom = browse(f"--user-data-dir={tmp_path}/user", "--dump-dom", file.as_uri()).stdout
        first = dom[dom.index("<tbody>") : dom.index("</tbody>")]
        orders.append([unescape(name) for name in re.findall(r'<tr><td data-value="([^"]+)"', first)])
    gemm, triad, spmv, copy = "gemm", "triad", "spmv<1>", "copy"
    assert orders[0] == [gemm, triad, spmv, copy]
    assert orders[1] == [spmv, gemm, triad, copy]  # calls, the most first
    assert orders[2] == [triad, copy, gemm, spmv]
    assert orders[3] == [copy, gemm, spmv, triad]  # names
    assert orders[4] == [triad, copy, gemm, spmv]  # of peak; what is not known comes last


@pytest.mark.slow
def test_a_picture_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(made(), encoding="utf-8")
    shot = tmp_path / "shot.png"
    size = "--window-size=1300,1500"
    browse(f"--user-data-dir={tmp_path}/user", size, f"--screenshot={shot}", (tmp_path / "page.html").as_uri())
    from matplotlib.image import imread

    pixels = imread(shot)
    assert pixels.shape[:2] == (1500, 1300)
    blue = (abs(pixels[..., :3] - [0x3B / 255, 0x6E / 255, 0xA8 / 255]) < 0.02).all(axis=-1)
    assert blue.sum() > 20  # gemm's dot: the plot is there
