"""Sources of kernels from the cache: the same as when they are compiled, for whatever changes between two runs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kernels import PROGRAMS, regions

from nomp import cache, pipeline, source_cache, source_json
from nomp.arithmetic import Number
from nomp.backend import DeviceInfo
from nomp.cache import Cache
from nomp.cache_entries import Entries
from nomp.config import Settings
from nomp.device_source import DeviceSource, Variant
from nomp.diagnostics import Diagnostic, Span
from nomp.frontend import clang
from nomp.region import Region

CPU = DeviceInfo("opencl", "opencl", "p", "cpu", "v", "1", "cpu", "x86_64", 64, 1 << 15, 1 << 30, 2, 1)
USUAL = Variant(no_wrap=True, apart=True)

AXPY = """
void axpy(int n, double a, double *x, double *y) {
#pragma nomp for transform("rows", "tile", size = 4)
  for (int i = 0; i < n; i++)
    y[i] += a * x[i];
}
"""
ROWS = """
import loopy as lp
from widths import times

def tile(knl, context, size):
    knl = lp.split_iname(knl, "i", times * size, outer_tag="g.0")
    return knl
"""
BACKWARD = "y[i] = y[i + 1]"


class Project:
    """A program with a script and a helper in a folder, and a cache beside them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("a.c", AXPY)
        self.write("rows.py", ROWS)
        self.write("widths.py", "times = 2\n")
        self.compiled = 0

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def region(self, name: str = "a.c") -> Region:
        (file,) = clang.parse(str(self.folder / name), ())
        (region,) = (directive.region for directive in file.directives if directive.region)
        return region

    def compile(
        self, region: Region | None = None, jit: Mapping[str, Number] | None = None, **settings: Any
    ) -> tuple[DeviceSource, tuple[Diagnostic, ...]]:
        kept = Cache(Entries(self.folder / "cache", frozenset({os.geteuid()})))
        given = region or self.region(), settings.pop("device", CPU), jit or {}, settings.pop("variant", USUAL)
        return source_cache.compile(*given, Settings(**settings), kept)


    def reasons(self) -> list[str]:
        """Compile; what is said of misses."""
        told: list[Diagnostic] = []
        kept = Cache(Entries(self.folder / "cache", frozenset({os.geteuid()})), tell=told.append)
        source_cache.compile(self.region(), CPU, {}, USUAL, Settings(), kept)
        return [remark.message.rpartition(": ")[2] for remark in told if "miss" in remark.message]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path / "project")
    monkeypatch.chdir(tmp_path)

    def compile(*given: Any) -> Any:
        made.compiled += 1
        return pipeline.compile(*given)

    monkeypatch.setattr(source_cache, "_pipeline", lambda: compile)
    return made


def test_the_same_comes_out_of_the_cache(project: Project) -> None:
    assert project.compile() == project.compile()
    assert project.compiled == 1


def test_places_do_not_count(project: Project) -> None:
    first, _ = project.compile()
    project.write("a.c", "// moved\n\n" + AXPY.replace("for (int i", "for (int  i").replace("    y[i]", "  y[i]"))
    moved = replace(project.region(), name=first.name)
    assert project.compile(moved)[0] == first
    assert project.compiled == 1


CHANGES: dict[str, Any] = {
    "the loop": lambda p: p.write("a.c", AXPY.replace("a * x[i]", "a - x[i]")),
    "a type": lambda p: p.write("a.c", AXPY.replace("double *x", "float *x")),
    "a clause": lambda p: p.write("a.c", AXPY.replace("size = 4", "size = 8")),
    "the script": lambda p: p.write("rows.py", ROWS.replace('"g.0"', '"g.0", inner_tag="l.0"')),
    "a helper": lambda p: p.write("widths.py", "times = 3\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_decides_on_a_source_is_in_its_key(project: Project, change: str) -> None:
    first, _ = project.compile()
    CHANGES[change](project)
    changed, _ = project.compile()
    assert changed.text != first.text
    assert project.compile()[0] == changed
    assert project.compiled == 2


def test_a_miss_names_what_has_changed_and_nothing_else(project: Project) -> None:
    project.compile()
    project.write("a.c", AXPY.replace("a * x[i]", "2 * x[i]"))
    (reason,) = project.reasons()
    assert re.fullmatch(r"what is kept differs in region\.a(, region\.a)*( and more)?", reason)
    project.write("widths.py", "times = 3\n")
    (reason,) = project.reasons()
    assert reason == "what is kept differs in helpers"


def test_a_helper_that_changes_back_is_known(project: Project) -> None:
    first, _ = project.compile()
    project.write("widths.py", "times = 3\n")
    project.compile()
    project.write("widths.py", "times = 2\n")
    assert project.compile()[0] == first
    assert project.compiled == 2


def test_helpers_of_helpers_and_late_imports_count(project: Project) -> None:
    project.write("widths.py", "from pack.deep import times\n")
    project.write("pack/__init__.py", "")
    project.write("pack/deep.py", "times = 2\n")
    project.write("late.py", "tag = 'l.0'\n")
    project.write(
        "rows.py",
        ROWS.replace("    knl = lp", "    import late\n    knl = lp").replace('"g.0"', '"g.0", inner_tag=late.tag'),
    )
    first, _ = project.compile()
    for name, text in (("pack/deep.py", "times = 5\n"), ("late.py", "tag = None\n")):
        project.write(name, text)
        changed, _ = project.compile()
        assert changed.text != first.text
        first = changed
    assert project.compiled == 3


def test_one_script_in_two_folders_with_their_own_helpers(project: Project, tmp_path: Path) -> None:
    other = Project(tmp_path / "other")
    other.write("cache", "")
    (other.folder / "cache").unlink()
    (other.folder / "cache").symlink_to(project.folder / "cache")
    other.write("widths.py", "times = 7\n")
    mine, theirs = project.compile()[0], other.compile()[0]
    assert mine.text != theirs.text
    assert (project.compile()[0], other.compile()[0]) == (mine, theirs)
    assert project.compiled == 2


@pytest.mark.parametrize(
    "other",
    [{"device": replace(CPU, compute_units=3)}, {"device": replace(CPU, driver="2")}, {"jit": {"n": 5}},
     {"variant": Variant(no_wrap=True)}, {"legality": "off"}],
)  # fmt: skip
def test_the_device_and_all_else_is_in_the_key(project: Project, other: dict[str, Any]) -> None:
    region = project.region()
    region = replace(region, clauses=replace(region.clauses, jit=("n",) if "jit" in other else ()))
    first = {"jit": {"n": 4}} if "jit" in other else {}
    project.compile(region, **first)
    project.compile(region, **other)
    assert project.compiled == 2
    project.compile(region, **other)
    assert project.compiled == 2


def test_what_neither_scripts_nor_schedules_see_is_not_in_the_key(project: Project) -> None:
    plain = replace(project.region(), clauses=replace(project.region().clauses, transforms=()))
    for region, others in ((project.region(), {}), (plain, {"name": "another", "driver": "2", "vendor": "w"})):
        before = project.compiled
        project.compile(region)
        project.compile(region, device=replace(CPU, global_mem_bytes=1 << 40, platform="q", **others))
        assert project.compiled == before + 1


def test_zeros_of_two_signs_are_two_values(project: Project) -> None:
    region = project.region()
    region = replace(region, clauses=replace(region.clauses, jit=("a",)))
    texts = {project.compile(region, {"a": value})[0].text for value in (0.0, -0.0, 0.0)}
    assert (len(texts), project.compiled) == (2, 2)


def test_versions_are_in_the_key(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.compile()
    for version in ("1", "2", "1"):
        monkeypatch.setattr(source_cache, "versions", lambda version=version: {"nomp": version})
        project.compile()
    assert project.compiled == 3


def test_warnings_are_given_again_at_the_places_of_now(project: Project) -> None:
    project.write("rows.py", "def tile(knl, context, size):\n    return knl\n")
    (before,) = project.compile()[1]
    project.write("a.c", "\n\n" + AXPY)
    (after,) = project.compile(replace(project.region(), name=project.region().name.replace("l5", "l3")))[1]
    assert project.compiled == 1 and before.code == after.code == "N307"
    assert (before.span, before.message, before.help) == (after.span, after.message, after.help)
    (was,), (now,) = before.notes, after.notes
    assert was.span and now.span and (now.span.line, now.span.column) == (was.span.line + 2, was.span.column)


def test_the_line_of_a_script_moves_with_its_folder(project: Project, tmp_path: Path) -> None:
    project.write("a.c", AXPY.replace("y[i] += a * x[i]", BACKWARD))
    first, _ = project.compile()
    (tmp_path / "project").rename(tmp_path / "moved")
    project.folder = tmp_path / "moved"
    second, _ = project.compile()
    assert project.compiled == 1
    one, two = (source.schedule.placements[0].blame for source in (first, second) if source.schedule)
    assert one and two and one[1].file == str(tmp_path / "project" / "rows.py")
    assert two[1] == replace(one[1], file=str(tmp_path / "moved" / "rows.py"))


def test_places_that_coincided_must_still_do_so(project: Project) -> None:
    region = project.region()
    _, places = source_json.located(region, ())
    same = replace(places, nodes=(places.nodes[0],) * len(places.nodes))
    source, _ = project.compile()
    warning = Diagnostic("N307", "", region.span(places.nodes[0]), "warning")
    text = source_json.dumps(replace(source, schedule=None), (warning,), same).encode()
    assert source_json.loads(text, same)[1] == (warning,)
    with pytest.raises(source_json.Unplaced):
        source_json.loads(text, places)


def test_a_message_about_another_place_is_not_kept(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    warning = Diagnostic("N307", "m", Span("/elsewhere/x.py", 1), "warning")

    def compile(*given: Any) -> Any:
        source, _ = pipeline.compile(*given)
        project.compiled += 1
        return source, (warning,)

    monkeypatch.setattr(source_cache, "_pipeline", lambda: compile)
    assert project.compile()[1] == project.compile()[1] == (warning,)
    assert project.compiled == 2
    assert cache.events()[-1].reason == "a message is about /elsewhere/x.py:1:1"


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_sources_of_all_programs_survive_the_way_through_json(program: Path) -> None:
    for region in regions(program):
        try:
            compiled = pipeline.compile(region, CPU, dict.fromkeys(region.clauses.jit, 3), USUAL, Settings())
        except ArithmeticError:
            continue
        _, places = source_json.located(region, ())
        assert source_json.loads(source_json.dumps(*compiled, places).encode(), places) == compiled
