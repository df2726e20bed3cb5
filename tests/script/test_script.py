"""Scripts: found where the language says, called with what it says, and blamed at their own line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nomp import script
from nomp.config import Settings
from nomp.diagnostics import Diagnostic, NompError, register_source
from nomp.region import Clauses, Place, Region, Script
from nomp.scripting import Context

CONTEXT: dict[str, str | int] = {"device::max_threads_per_block": 256}
PRAGMA = '#pragma nomp for transform("tile", "rows")'


@pytest.fixture(autouse=True)
def own_modules(tmp_path: Path) -> Iterator[None]:
    """What a test imports from its folder is not there for the next one; the rest is: NumPy cannot be loaded twice."""
    before = dict(sys.modules)
    yield
    for name, module in [*sys.modules.items()]:
        if str(tmp_path) in f"{getattr(module, '__file__', '')} {getattr(module, '__path__', '')}":
            del sys.modules[name]
    sys.modules.update(before)


@dataclass(frozen=True)
class Kernel:
    """Stands for loopy's TranslationUnit: a script of the tests adds to *steps*."""

    steps: tuple[Any, ...] = ()


def known(region: Region) -> Context:
    return Context({**CONTEXT, **script.about(region)})


@dataclass
class Project:
    """A folder with ``app/foo.c``, and scripts where a test puts them."""

    folder: Path

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def region(self, *scripts: Script, annotations: tuple[tuple[str, str], ...] = ()) -> Region:
        source = str(self.folder / "app" / "foo.c")
        register_source(source, PRAGMA)
        return Region("k", source, 1, (), (), Clauses(scripts, annotations))

    def apply(self, *scripts: Script, settings: Settings | None = None, **more: Any) -> Any:
        region = self.region(*scripts, **more)
        return script.apply(Kernel(), region, known(region), settings or Settings())[:2]

    def shown(self, problem: object) -> str:
        return str(problem).replace(str(self.folder), "PROJECT")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    return Project(tmp_path)


def call(module: str = "tile", function: str = "rows", **arguments: int | float | str) -> Script:
    return Script(module, function, tuple(arguments.items()), Place(1, 18, 25))


def adds(step: str) -> str:
    return f"def rows(knl, context):\n    return type(knl)((*knl.steps, {step!r}))\n"


# ------------------------------------------------------------------------------------------------------- finding


def test_places_in_their_order(project: Project) -> None:
    settings = Settings(scripts_dir=project.folder / "scripts")
    for folder in ("cwd", "scripts", "app"):  # each one goes before those already there
        project.write(f"{folder}/tile.py", adds(folder))
        assert project.apply(call(), settings=settings)[0].steps == (folder,)


def test_a_dotted_name_is_a_file_in_a_folder_and_a_package_is_a_script(project: Project) -> None:
    project.write("app/steps/tile.py", adds("dotted"))
    project.write("app/tile/__init__.py", "from .rows import rows\n")
    project.write("app/tile/rows.py", adds("package"))
    assert project.apply(call("steps.tile"), call())[0].steps == ("dotted", "package")


def test_a_shipped_transform_and_an_installed_module(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("site/nomp_transforms/__init__.py", "")
    project.write("site/nomp_transforms/shipped.py", adds("shipped"))
    project.write("site/installed_tile.py", adds("installed"))
    for name in [name for name in sys.modules if name.partition(".")[0] == "nomp_transforms"]:
        del sys.modules[name]
    monkeypatch.syspath_prepend(project.folder / "site")
    assert project.apply(call("shipped"), call("installed_tile"))[0].steps == ("shipped", "installed")


def test_an_entry_point(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("site/vendor_tile.py", adds("vendor"))
    project.write("site/vendor-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: vendor\nVersion: 1\n")
    project.write("site/vendor-1.dist-info/entry_points.txt", "[nomp.transforms]\nvendor = vendor_tile\n")
    monkeypatch.syspath_prepend(project.folder / "site")
    assert project.apply(call("vendor"))[0].steps == ("vendor",)


def test_locate_runs_nothing(project: Project) -> None:
    file = project.write("app/tile.py", "raise RuntimeError\n")
    assert script.locate("tile", str(project.folder / "app" / "foo.c"), Settings()) == file
    for wrong in ("none", "../tile", "a..b", "no.such.thing", ""):
        assert script.locate(wrong, "foo.c", Settings()) is None


def test_two_scripts_of_one_name_do_not_meet_nor_do_their_helpers(project: Project) -> None:
    for folder in ("one", "two"):
        project.write(f"{folder}/tile.py", "import nomp_test_helper as h\n" + adds("X").replace("'X'", "h.NAME"))
        project.write(f"{folder}/nomp_test_helper.py", f"NAME = {folder!r}\n")
        settings = Settings(scripts_dir=project.folder / folder)
        assert project.apply(call(), settings=settings)[0].steps == (folder,)
    assert "nomp_test_helper" not in sys.modules
    assert str(project.folder / "two") not in sys.path
    assert not list(project.folder.rglob("__pycache__"))


def test_a_helper_may_be_imported_when_the_function_runs(project: Project) -> None:
    project.write("app/nomp_test_late.py", "calls = []\n")
    project.write("app/tile.py", "def rows(knl, context):\n    from nomp_test_late import calls\n    calls.append(1)\n"
                                 "    return type(knl)((*knl.steps, len(calls)))\n")  # fmt: skip
    assert project.apply(call(), call())[0].steps == (1, 2)
    assert "nomp_test_late" not in sys.modules


def test_a_changed_script_and_a_changed_helper_are_read_again(project: Project) -> None:
    project.write("app/tile.py", adds("old"))
    assert project.apply(call())[0].steps == ("old",)
    project.write("app/tile.py", "from nomp_test_step import step\n" + adds("X").replace("'X'", "step"))
    project.write("app/nomp_test_step.py", "step = 'new'\n")
    assert project.apply(call())[0].steps == ("new",)
    project.write("app/nomp_test_step.py", "step = 'newer'\n")
    assert project.apply(call())[0].steps == ("newer",)


def test_an_unchanged_script_is_run_once(project: Project) -> None:
    project.write("app/tile.py", "count = []\ndef rows(knl, context):\n    count.append(1)\n"
                                 "    return type(knl)((len(count),))\n")  # fmt: skip
    assert project.apply(call())[0].steps == (1,)
    assert project.apply(call())[0].steps == (2,)


# ------------------------------------------------------------------------------------------------------- calling


def test_arguments_and_order(project: Project) -> None:
    project.write("app/tile.py", "def rows(knl, context, b=0, *, tag='-'):\n"
                                 "    threads = context['device::max_threads_per_block']\n"
                                 "    return type(knl)((*knl.steps, b, tag, threads))\n")  # fmt: skip
    kernel, warnings = project.apply(call(b=4), call(tag="x"))
    assert kernel.steps == (4, "-", 256, 0, "x", 256)
    assert warnings == ()


def test_annotations_come_first_and_transforms_see_them(project: Project) -> None:
    project.write("app/sem.py", "def annotate(knl, annotations, context):\n"
                                "    return type(knl)((*knl.steps, annotations))\n")  # fmt: skip
    project.write("app/tile.py", "def rows(knl, context):\n"
                                 "    return type(knl)((*knl.steps, context['region::annotations']))\n")  # fmt: skip
    pairs = (("grid_loop", "i"), ("dof_loop", "j"))
    kernel, warnings = project.apply(call(), annotations=pairs, settings=Settings(annotations_script="sem"))
    assert kernel.steps == ({"grid_loop": "i"}, {"dof_loop": "j"}, pairs)
    assert warnings == ()


def test_the_calls_of_a_region_have_one_context(project: Project) -> None:
    project.write("app/tile.py", "def rows(knl, context):\n    context['seen'] = context.get('seen', 0) + 1\n"
                                 "    return type(knl)((*knl.steps, context['seen']))\n")  # fmt: skip
    assert project.apply(call(), call())[0].steps == (1, 2)


# -------------------------------------------------------------------------------------------------- what goes wrong

# fmt: off
WRONG: dict[str, tuple[str, Script]] = {
    "N301-near": (adds("x"), call("tlie")),
    "N301-suffix": (adds("x"), call("tile.py")),
    "N302-near": (adds("x"), call(function="row")),
    "N302-far": (adds("x"), call(function="unroll")),
    "N302-no-function": ("rows = 3\n", call()),
    "N303-syntax": ("import sys\n\ndef rows(knl, context:\n    return knl\n", call()),
    "N303-import": ("import sys\nimport nomp_no_such_module\n", call()),
    "N303-exit": ("import sys\nsys.exit(3)\n", call()),
    "N304-raises": ("def rows(knl, context):\n    größe = context['device::x']; return knl\n", call()),
    "N304-deep": ("import json\n\ndef rows(knl, context):\n    return read('{')\n\ndef read(text):\n"
                  "\tdata = json.loads(text)\n\treturn data\n", call()),
    "N304-lines": ("def rows(knl, context):\n    raise ValueError('one\\ntwo\\n\\nthree')\n", call()),
    "N304-empty": ("def rows(knl, context):\n    assert knl is None\n", call()),
    "N305-near": ("def rows(knl, context, block=1):\n    return knl\n", call(blok=3)),
    "N305-far": ("def rows(knl, context, block=1):\n    return knl\n", call(x=3)),
    "N305-missing": ("def rows(knl, context, block):\n    return knl\n", call()),
    "N305-no-context": ("def rows(knl):\n    return knl\n", call()),
    "N306-none": ("same = lambda f: f\n\n@same\n@same\ndef rows(knl, context):\n    pass\n", call()),
    "N306-value": ("class Rows:\n    def __call__(self, knl, context):\n        return 3\n\nrows = Rows()\n", call()),
    "N311": ("from nomp.scripting import Misfit\n\ndef rows(knl, context):\n"
             "    raise Misfit(\"there is no loop 'i'; there is e, j\")\n", call()),
    "N306-kernel": ("class LoopKernel: ...\n\ndef rows(knl, context):\n    return LoopKernel()\n", call()),
}
# fmt: on


@pytest.mark.parametrize("name", WRONG)
def test_text_of_error(name: str, project: Project, golden: Callable[[str, str], None]) -> None:
    text, clause = WRONG[name]
    project.write("app/tile.py", text)
    with pytest.raises(NompError) as caught:
        project.apply(clause)
    assert caught.value.code == name.split("-")[0]
    golden(f"script/{name}.txt", project.shown(caught.value))


def shown(project: Project, warnings: tuple[Diagnostic, ...]) -> str:
    return "\n".join(project.shown(warning.render()) for warning in warnings)


def test_an_error_in_a_helper_is_shown_there(project: Project, golden: Callable[[str, str], None]) -> None:
    project.write("app/nomp_test_bad.py", "def half(n):\n    return n / 0\n")
    project.write("app/tile.py", "import nomp_test_bad\ndef rows(knl, context):\n    return nomp_test_bad.half(1)\n")
    with pytest.raises(NompError) as caught:
        project.apply(call())
    golden("script/N304-helper.txt", project.shown(caught.value))


def test_an_unchanged_kernel_is_worth_a_warning(project: Project, golden: Callable[[str, str], None]) -> None:
    project.write("app/tile.py", "def rows(knl, context):\n    type(knl)(('lost',))\n    return knl\n")
    kernel, warnings = project.apply(call())
    assert kernel == Kernel()
    golden("script/N307.txt", shown(project, warnings))


def test_an_annotation_that_does_nothing_is_worth_a_remark(project: Project) -> None:
    project.write("app/sem.py", "def annotate(knl, annotations, context):\n    return knl\n")
    _, warnings = project.apply(annotations=(("a", "b"),), settings=Settings(annotations_script="sem"))
    assert [(w.code, w.severity) for w in warnings] == [("N307", "remark")]


def test_a_word_without_a_meaning_is_left_out(project: Project) -> None:
    project.write("app/sem.py", "WORDS = {'loop': 'what it goes over'}\ndef annotate(knl, annotations, context):\n"
                                "    return type(knl)((*knl.steps, annotations))\n")  # fmt: skip
    pairs = (("lop", "element"), ("loop", "element"), ("far", "off"))
    kernel, warnings = project.apply(annotations=pairs, settings=Settings(annotations_script="sem"))
    assert kernel.steps == ({"loop": "element"},)
    assert [(w.code, w.severity, w.help) for w in warnings] == [
        ("N312", "warning", "did you mean 'loop'?"), ("N312", "warning", "it has a meaning for: loop")
    ]  # fmt: skip


def test_a_kernel_that_is_left_to_nomp_is_not_warned_of(project: Project) -> None:
    project.write("app/tile.py", "def rows(knl, context):\n    return context.default(knl)\n")
    assert project.apply(call()) == (Kernel(), ())


def test_parameters(project: Project) -> None:
    project.write("app/tile.py", "def rows(knl, context, values='1 2'):\n"
                                 "    chosen = context.param('block', values.split())\n"
                                 "    return type(knl)((*knl.steps, chosen))\n")  # fmt: skip
    for choices, chosen in (({}, "1"), ({"block": "2"}, "2"), ({"block": "3"}, "1"), ({"other": "2"}, "1")):
        context = Context(CONTEXT, choices)
        kernel, _, _ = script.apply(Kernel(), project.region(call()), context, Settings())
        assert (kernel.steps, context.space) == ((chosen,), {"block": ("1", "2")})
    for values, wrong in (("", "has no values"), ("1", "has the values")):
        with pytest.raises(NompError, match=wrong):
            project.apply(call(), call(values=values))


def test_annotations_without_a_script_do_nothing(project: Project, golden: Callable[[str, str], None]) -> None:
    region = project.region(annotations=(("grid_loop", "i"),))
    assert not script.wanted(region, Settings())
    golden("script/N308.txt", shown(project, script.unused(region)))


def test_independent_is_no_word_for_scripts(project: Project) -> None:
    region, settings = project.region(annotations=(("independent", "i"),)), Settings(annotations_script="sem")
    assert not script.wanted(region, settings) and script.unused(region) == ()
    assert script.wanted(project.region(annotations=(("independent", "i"), ("loop", "i"))), settings)


def test_errors_of_nomp_itself_pass(project: Project) -> None:
    project.write(
        "app/tile.py", "from nomp.diagnostics import error\ndef rows(knl, context):\n    raise error('N999', 'x')\n"
    )
    with pytest.raises(NompError) as caught:
        project.apply(call())
    assert caught.value.code == "N999"


def test_debug_prints_the_traceback(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("app/tile.py", "def rows(knl, context):\n    return 1 / 0\n")
    for debug in (False, True):
        with pytest.raises(NompError):
            project.apply(call(), settings=Settings(debug=debug))
        assert ("Traceback" in capsys.readouterr().err) == debug


def test_what_is_missing_is_found_without_running_the_script(
    project: Project, golden: Callable[[str, str], None]
) -> None:
    project.write("app/tile.py", "raise RuntimeError\ndef rows(knl, context): ...\nfrom os import path as cols\n")
    region = project.region(call(), call(function="cols"), call(function="rwos"), call("tlie"))
    golden("script/missing.txt", shown(project, script.missing(region, Settings())))


@pytest.mark.parametrize("text", ["from os.path import *\n", "def broken(:\n"])
def test_what_cannot_be_told_is_not_reported(project: Project, text: str) -> None:
    project.write("app/tile.py", text)
    assert script.missing(project.region(call()), Settings()) == ()


def test_the_lines_that_make_a_kernel(project: Project) -> None:
    step = "def step(knl, n):\n    return type(knl)((*knl.steps, n))\n\n\n"
    body = "    knl = step(knl, 1)\n    new = step(\n        knl, 2)\n    return step(new, 3)\n"
    project.write("app/tile.py", f"{step}def rows(knl, context):\n{body}")
    _, _, versions = script.apply(Kernel(), project.region(call()), Context(CONTEXT), Settings())
    assert [(span.line, kernel.steps) for span, kernel in versions] == [(2, (1,)), (2, (1, 2)), (2, (1, 2, 3))]


def test_a_line_that_calls_somebody_else(project: Project) -> None:
    project.write("app/tile.py", "import copy\n\n\ndef rows(knl, context):\n    knl = copy.copy(knl)\n    return knl\n")
    _, _, versions = script.apply(Kernel(), project.region(call()), Context(CONTEXT), Settings())
    assert [(span.line, span.column, span.length) for span, _ in versions] == [(5, 5, 20)]


def test_lines_are_not_followed_for_nobody(project: Project) -> None:
    """Where schedules are not judged, a script runs without being traced, and what it makes is not kept."""
    head = "import sys\nfrom dataclasses import replace\ndef rows(k, context):\n"
    project.write("app/tile.py", f"{head}    return replace(k, steps=(sys.gettrace() is not None,))\n")
    kernel, _, versions = script.apply(Kernel(), project.region(call()), Context(CONTEXT), Settings(legality="off"))
    assert kernel.steps == (False,) and versions == ()
    kernel, _, versions = script.apply(Kernel(), project.region(call()), Context(CONTEXT), Settings())
    assert kernel.steps == (True,) and [span.line for span, _ in versions] == [4]
