"""Settings: where they come from, what wins, and libnomp's messages word for word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nomp import config
from nomp.config import Settings, load
from nomp.diagnostics import NompError


def of(*argv: str, start: Path = Path("/"), **environ: str) -> Settings:
    return load(("prog", *argv), environ, start)


def refused(*argv: str, start: Path = Path("/"), **environ: str) -> str:
    with pytest.raises(NompError) as caught:
        of(*argv, start=start, **environ)
    return str(caught.value)


def project(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text)
    return folder


def test_defaults() -> None:
    settings = of()
    assert (settings.backend, settings.platform, settings.device, settings.verbose) == ("auto", 0, 0, 2)
    assert (settings.profile, settings.on_error, settings.debug) == (0, "exit", False)
    assert (settings.scripts_dir, settings.annotations_script, settings.install_dir) == (None, "", None)
    assert (settings.cache_dir, settings.verify) == (None, False)
    assert settings.profile_dir is None
    assert settings.warnings == ()


def test_every_setting_from_the_environment() -> None:
    settings = of(NOMP_BACKEND="OpenCL", NOMP_PLATFORM="1", NOMP_DEVICE="2", NOMP_VERBOSE="3", NOMP_PROFILE="1",
                  NOMP_SCRIPTS_DIR="/s", NOMP_ANNOTATIONS_SCRIPT="sem", NOMP_INSTALL_DIR="/i", NOMP_ON_ERROR="continue",
                  NOMP_DEBUG="1", NOMP_LEGALITY="warn", NOMP_CACHE="0",
                  NOMP_CACHE_DIR="/c", NOMP_CACHE_SIZE="7", NOMP_VERIFY="1", NOMP_PROFILE_DIR="/p")  # fmt: skip
    assert settings == Settings("opencl", 1, 2, 3, 1, Path("/s"), "sem", Path("/i"), "continue", True, "warn",
                                False, Path("/c"), 7, True, Path("/p"))  # fmt: skip


def test_what_a_python_program_gives_is_read_as_well() -> None:
    assert config.given("device", "local", "nomp.init") == config.LOCAL
    assert config.given("scripts_dir", Path("/s"), "nomp.init") == Path("/s")
    assert config.given("verify", True, "nomp.init") is True
    for name, value in (("device", -1), ("legality", "wrn"), ("device", 1.5)):
        with pytest.raises(NompError, match=f"nomp.init gives '{value}'"):
            config.given(name, value, "nomp.init")


def test_other_processes_are_given_the_same() -> None:
    settings = of(NOMP_DEVICE="local", NOMP_VERIFY="1", NOMP_SCRIPTS_DIR="/s", NOMP_RANGES="nvtx")
    assert of(**config.as_environment(settings)) == settings


def test_every_setting_from_the_command_line() -> None:
    settings = of("--nomp-backend", "CUDA", "--nomp-platform", "1", "--nomp-device", "2", "--nomp-verbose", "0",
                  "--nomp-profile", "3", "--nomp-scripts-dir", "s", "--nomp-annotations-script", "sem",
                  "--nomp-install-dir", "i", "--nomp-on-error", "exit", "--nomp-debug", "no",
                  "--nomp-legality", "off", "--nomp-cache", "off", "--nomp-cache-dir", "c", "--nomp-cache-size", "0",
                  "--nomp-verify", "on", "--nomp-profile-dir", "p")  # fmt: skip
    assert settings == Settings("cuda", 1, 2, 0, 3, Path("s"), "sem", Path("i"), "exit", False, "off", False, Path("c"),
                                0, True, Path("p"))  # fmt: skip


def test_the_environment_wins_over_the_command_line_over_pyproject(tmp_path: Path) -> None:
    project(tmp_path, '[tool.nomp]\ndevice = 1\nplatform = 1\nverbose = 1\nbackend = "hip"\n')
    settings = of("--nomp-device", "2", "--nomp-platform", "2", start=tmp_path, NOMP_DEVICE="3")
    assert (settings.device, settings.platform, settings.verbose, settings.backend) == (3, 2, 1, "hip")


def test_an_empty_variable_counts_as_not_set() -> None:
    assert of("--nomp-device", "2", NOMP_DEVICE="", NOMP_BACKEND="").device == 2


def test_argv_is_scanned_as_libnomp_does() -> None:
    assert load(("--nomp-device", "2"), {}, Path("/")).device == 2
    assert load(("--nomp-device",), {}, Path("/")).device == 0
    assert of("x", "-v", "--other", "--nomp-device", "1", "y", "--nomp-device", "4").device == 4
    settings = of("--nomp-scripts-dir", "--nomp-device", "7")
    assert (settings.scripts_dir, settings.device) == (Path("--nomp-device"), 0)


def test_the_nearest_pyproject_counts_and_its_folders_are_its_own(tmp_path: Path) -> None:
    project(tmp_path, "[tool.nomp]\ndevice = 1\nverbose = 0\n")
    inner = tmp_path / "a"
    (inner / "b").mkdir(parents=True)
    project(inner, '[tool.nomp]\nscripts-dir = "scripts"\ncache-dir = "/c"\ndebug = true\n')
    settings = of(start=inner / "b")
    assert settings.scripts_dir == inner / "scripts"
    assert (settings.cache_dir, settings.debug, settings.device) == (Path("/c"), True, 0)


def test_a_pyproject_without_our_table(tmp_path: Path) -> None:
    assert of(start=project(tmp_path, "[tool.other]\nx = 1\n")) == of()


@pytest.mark.parametrize("text", ["-1", "x", "1.5", "0x1", "99999999999", " "])
def test_numbers_that_are_none(text: str) -> None:
    assert refused(NOMP_DEVICE=text).startswith(
        'nomp: error: "NOMP_DEVICE" is missing or invalid. Set it with --nomp-device command line argument or '
        "NOMP_DEVICE environment variable. [N802]\n"
    )


def test_texts_of_errors(golden: Callable[[str, str], None]) -> None:
    texts = [
        refused("--nomp-device"),
        refused("--nomp-unknown"),
        refused("--nomp-verbose", "much"),
        refused(NOMP_PLATFORM="invalid"),
        refused(NOMP_ON_ERROR="ignore"),
        refused(NOMP_DEBUG="maybe"),
        *(warning.render() for warning in of("--nomp-bakend", "opencl", "--nomp-xyz", "1").warnings),
    ]
    golden("config/errors.txt", "\n\n".join(texts))


def test_texts_of_errors_in_pyproject(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    texts = [
        refused(start=project(tmp_path, "[tool.nomp]\nbakend = 'opencl'\n")),
        refused(start=project(tmp_path, "[tool.nomp]\ndevice = -1\n")),
        refused(start=project(tmp_path, "[tool]\nnomp = 1\n")),
        *(warning.render() for warning in of(start=project(tmp_path, "[tool.nomp\n")).warnings),
    ]
    golden("config/pyproject.txt", "\n\n".join(texts).replace(str(tmp_path), "PROJECT"))


def test_an_unknown_option_takes_its_value_with_it() -> None:
    settings = of("--nomp-xyz", "--nomp-device", "--nomp-platform", "3")
    assert (settings.device, settings.platform) == (0, 3)
    assert [warning.code for warning in settings.warnings] == ["N803"]


def test_markdown_table(golden: Callable[[str, str], None]) -> None:
    golden("config/table.md", config.markdown_table())
