"""Examples whose loops are scheduled by a domain: they print what they print as plain C, on both kinds of device."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import commands
import pytest
from doubles import environment

EXAMPLES = Path(__file__).parents[2] / "examples"
CASES = {
    "06_euler/euler.c": ("stencil", ("12", "3")),
    "04_sparse_cg/sparse_cg.c": ("sparse", ("2000",)),
    "05_attention/attention.c": ("attention", ("4",)),
    "07_own_domain/lattice.c": ("lattice", ("20", "3")),
}
"""The domain, and arguments for a small run."""


@pytest.fixture(scope="module", autouse=True)
def own_domain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The package of 07_own_domain, as pip installs it: its module and its entry points, where Python finds them."""
    package, site = EXAMPLES / "07_own_domain" / "nomp-lattice", tmp_path_factory.mktemp("site")
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    info = site / f"nomp_lattice-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = [line for group, names in groups for line in (f"[{group}]", *map(" = ".join, names.items()))]
    (info / "entry_points.txt").write_text("\n".join(lines))
    shutil.copy(package / "nomp_lattice.py", site)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(site))
        yield


def outputs(source: str, folder: Path, env: dict[str, str]) -> list[str]:
    """What the program prints as plain C, and under nomp, which says nothing else at the highest verbosity."""
    domain, arguments = CASES[source]
    flags = ["-O2", "-Wall", "-Wno-unknown-pragmas", "-Werror", EXAMPLES / source, "-lm", "-o"]
    commands.succeed("cc", *flags, folder / "plain")
    commands.succeed(*commands.NOMP_CC, *flags, folder / "ours")
    settings = {"NOMP_ANNOTATIONS_SCRIPT": domain, "NOMP_VERBOSE": "3", "NOMP_CACHE": "off"}
    plain = commands.succeed(folder / "plain", *arguments)
    ours = commands.succeed(folder / "ours", *arguments, env=env | settings)
    assert ours.stderr == ""
    return [plain.stdout, ours.stdout]


def agree(source: str, outputs: list[str], folder: Path) -> None:
    plain, ours = outputs
    if "residual" not in plain:
        assert plain == ours
        return
    (folder / "a").write_text(plain)
    (folder / "b").write_text(ours)
    done = commands.run(sys.executable, EXAMPLES / "compare.py", "a", "b", cwd=folder)
    assert done.returncode == 0, done.stdout
    assert plain.splitlines()[-1] == ours.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("source", CASES)
def test_on_a_cpu(source: str, tmp_path: Path) -> None:
    agree(source, outputs(source, tmp_path, dict(os.environ)), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("source", CASES)
def test_as_on_a_gpu(source: str, hip_double: Path, tmp_path: Path) -> None:
    """On HIP's test double, which compiles the kernels for a GPU with g++."""
    agree(source, outputs(source, tmp_path, environment(hip_double) | {"NOMP_BACKEND": "hip"}), tmp_path)
