"""README.md, docs/ and the examples' pages: programs run as they are and print what is said, links lead somewhere.

A block whose first line names a file after the language, as in "```c axpy.c", is that file; a block of language
``console`` holds commands after ``$ `` and what they print.  An example's README has the files of its folder besides.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import mpi
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "examples").glob("*/README.md"))]
BLOCK = re.compile(r"^```(\w+) ?([\w.]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")


def files(page: Path) -> dict[str, str]:
    """The files that *page* shows, by name."""
    return {name: text for _, name, text in BLOCK.findall(page.read_text(encoding="utf-8")) if name}


def commands(page: Path) -> list[tuple[str, str]]:
    """The commands of *page*, each with the output that the page shows."""
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    consoles = "".join(text for language, _, text in blocks if language == "console")
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", consoles, re.MULTILINE)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run *command* in *folder* with this interpreter's `nomp` and a cache of its own."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | mpi.ENVIRONMENT | {"PATH": path, "NOMP_CACHE_DIR": str(folder / "cache")}
    return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def title(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=title)
def test_commands_print_what_the_page_says(page: Path, tmp_path: Path) -> None:
    if any("mpirun" in command for command, _ in commands(page)):
        mpi.require()
    if page.parent.parent.name == "examples":
        shutil.copytree(page.parent, tmp_path, dirs_exist_ok=True)
    for name, text in files(page).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for command, output in commands(page):
        done = run(command, tmp_path)
        assert (done.returncode, done.stdout) == (0, output), done.stderr


def test_pages_with_commands() -> None:
    docs = ("build-systems", "c-api", "cache", "check", "debugging", "domains", "first-domain",
            "first-program", "first-python", "first-script", "gpus", "mpi", "porting-libnomp", "porting-openmp",
            "profiling", "python", "scripts", "transforms", "tuning", "writing-a-backend")  # fmt: skip
    expected = {"README.md", *(f"docs/{name}.md" for name in docs)}
    expected |= {f"examples/{name}/README.md" for name in ("01_axpy", "03_build_systems", "09_mpi_stencil")}
    assert expected == {title(page) for page in PAGES if commands(page)}


@pytest.mark.parametrize("name", ["axpy.c", "blocks.py"])
def test_readme_shows_the_first_example(name: str) -> None:
    assert files(ROOT / "README.md")[name] == (ROOT / "examples" / "01_axpy" / name).read_text(encoding="utf-8")


def test_python_page_shows_the_example() -> None:
    shown = files(ROOT / "docs" / "python.md")["heat.py"]
    assert shown == (ROOT / "examples" / "08_python" / "heat.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["lattice.c", "nomp-lattice/nomp_lattice.py"])
def test_first_domain_is_the_example(name: str) -> None:
    shown = files(ROOT / "docs" / "first-domain.md")[Path(name).name]
    assert shown == (ROOT / "examples" / "07_own_domain" / name).read_text(encoding="utf-8")


def test_every_transform_is_shown_before_and_after() -> None:
    page = (ROOT / "docs" / "transforms.md").read_text(encoding="utf-8")
    named = re.findall(r'^\| `transform\("(\w+)", "(\w+)"', page, re.MULTILINE)
    shown = re.findall(r"^(\w+)\.(\w+): .*\n\nBefore", page, re.MULTILINE)
    assert named and named == shown


@pytest.mark.parametrize("page", PAGES, ids=title)
def test_links_lead_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
