"""Settings: where they come from, and the one table that says what there is.

In: the program's command line, the environment and the nearest ``pyproject.toml``.  Out: a frozen `Settings`.  The
C API and the driver call `load`.  What must work before that is read apart: ``NOMP_CC`` by the driver, ``NOMP_DEBUG``
by `debugging`.

What wins: defaults < ``[tool.nomp]`` of pyproject.toml < ``--nomp-X value`` < ``NOMP_X`` (the environment wins over the
command line, as in libnomp).  The messages of N801, N802 and N803 are libnomp's, word for word.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from nomp.diagnostics import Diagnostic, did_you_mean, error


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of setting: its *name* in the documentation and how it is read from text (ValueError: it cannot be)."""

    name: str
    read: Callable[[str], Any]


def _number(text: str) -> int:
    if not re.fullmatch(r"\s*\+?[0-9]{1,9}", text):
        raise ValueError(text)
    return int(text)


LOCAL = -1
"""The device number that stands for ``local``."""


def _device(text: str) -> int:
    return LOCAL if text.strip().lower() == "local" else _number(text)


def _switch(text: str) -> bool:
    values = {"1": True, "true": True, "on": True, "yes": True, "0": False, "false": False, "off": False, "no": False}
    if text.lower() not in values:
        raise ValueError(text)
    return values[text.lower()]


def _folder(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # the home folder of a user that does not exist
        raise ValueError(text) from None


def _choice(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text

    return read


NUMBER = Kind("an integer, 0 or more", _number)
DEVICE = Kind("an integer, 0 or more, or local", _device)
SWITCH = Kind("0 or 1", _switch)
FOLDER = Kind("a folder", _folder)
TEXT = Kind("a name", str)
LOWER = Kind("a name", str.lower)
ON_ERROR = Kind("exit or continue", _choice("exit", "continue"))
LEGALITY = Kind("error, warn or off", _choice("error", "warn", "off"))
RANGES = Kind("off, nvtx or roctx", _choice("off", "nvtx", "roctx"))
TUNE = Kind("off, auto, exhaustive, random or tpe", _choice("off", "auto", "exhaustive", "random", "tpe"))


def _row(kind: Kind, text: str, shown: str) -> dict[str, Any]:
    """A setting's row of the table; *shown* is how the documentation says its default."""
    return {"kind": kind, "help": text, "shown": shown}


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings.  Setting ``scripts_dir`` is ``--nomp-scripts-dir``, ``NOMP_SCRIPTS_DIR`` and ``scripts-dir``.

    *warnings* is what `load` has to say besides; whoever called it shows them.
    """

    backend: str = field(
        default="auto",
        metadata=_row(LOWER, "cpu, opencl or another installed one; auto: the first that is usable", "auto"),
    )
    platform: int = field(default=0, metadata=_row(NUMBER, "which of the backend's platforms", "0"))
    device: int = field(
        default=0,
        metadata=_row(DEVICE, "which of the platform's devices; local: one for each MPI rank of a machine", "0"),
    )
    verbose: int = field(
        default=2, metadata=_row(NUMBER, "what is logged on stderr: 1 errors, 2 warnings too, 3 all", "2")
    )
    profile: int = field(
        default=0, metadata=_row(NUMBER, "not 0: measure launches and copies, and print a table at finalize", "0")
    )
    scripts_dir: Path | None = field(
        default=None, metadata=_row(FOLDER, "where scripts are looked for besides", "none")
    )
    annotations_script: str = field(
        default="", metadata=_row(TEXT, "module whose `annotate` gets the annotations", "none")
    )
    install_dir: Path | None = field(
        default=None, metadata=_row(FOLDER, "libnomp needs it; accepted and not used", "none")
    )
    on_error: str = field(
        default="exit", metadata=_row(ON_ERROR, "what a pragma does after it has reported a run-time error", "exit")
    )
    debug: bool = field(default=False, metadata=_row(SWITCH, "print the Python traceback of a failing script too", "0"))
    legality: str = field(
        default="error",
        metadata=_row(LEGALITY, "what is done about schedules that are wrong or unproven (N403 to N405)", "error"),
    )
    cache: bool = field(
        default=True, metadata=_row(SWITCH, "keep kernels, and use those that were kept (docs/cache.md)", "1")
    )
    cache_dir: Path | None = field(
        default=None, metadata=_row(FOLDER, "where they are kept", "`$XDG_CACHE_HOME/nomp`, `~/.cache/nomp`")
    )
    cache_size: int = field(
        default=1024, metadata=_row(NUMBER, "megabytes that are kept, or a bit more; 0: no limit", "1024")
    )
    verify: bool = field(
        default=False,
        metadata=_row(SWITCH, "run each annotated loop on the host as well and compare the results (N618)", "0"),
    )
    profile_dir: Path | None = field(
        default=None,
        metadata=_row(FOLDER, "with profile: write a file of measurements here instead of a table", "none"),
    )
    ranges: str = field(
        default="off",
        metadata=_row(RANGES, "mark launches and updates for NVIDIA's or AMD's own profiler", "off"),
    )
    tune: str = field(
        default="off",
        metadata=_row(TUNE, "try choices that scripts leave open, and how to search; `nomp tune` sets it", "off"),
    )
    tune_trials: int = field(default=64, metadata=_row(NUMBER, "how many choices are tried for a kernel", "64"))
    tune_files: str = field(
        default="", metadata=_row(TEXT, "tune the loops of these files only, with : between them", "all")
    )
    tune_seen: Path | None = field(
        default=None,
        metadata=_row(FOLDER, "leave a file here for each kernel that can be tuned; `nomp tune` sets it", "none"),
    )
    tuning_dir: Path | None = field(
        default=None, metadata=_row(FOLDER, "where tuned choices are kept", "`tuned` in the cache's folder")
    )
    warnings: tuple[Diagnostic, ...] = ()


def load(argv: Sequence[str] = (), environ: Mapping[str, str] | None = None, start: Path | None = None) -> Settings:
    """The settings of a program started with *argv* in folder *start* (the current one) under *environ* (os.environ).

    *argv* is read as libnomp reads it: from its first element on, each ``--nomp-X`` takes the next element, the last
    one wins, everything else is left alone, and a command line of one element is not read at all.

    Errors: `NompError` N801 (an option without its value), N802 (a value of the wrong kind), N804 (pyproject.toml).
    """
    environ = os.environ if environ is None else environ
    warnings: list[Diagnostic] = []
    values: dict[str, Any] = _from_pyproject((start or _here()).absolute(), warnings)
    values |= _from_command_line(argv, warnings)
    values |= _from_environment(environ)
    return Settings(**values, warnings=tuple(warnings))


def as_environment(settings: Settings) -> dict[str, str]:
    """The variables that give a process these *settings*, whatever else it reads."""
    found = {_environment_name(row): getattr(settings, row.name) for row in _table().values()}
    if settings.device == LOCAL:
        found["NOMP_DEVICE"] = "local"
    return {name: str(int(value) if isinstance(value, bool) else value) for name, value in found.items()
            if value is not None}  # fmt: skip


def _here() -> Path:
    """The current folder, or the root where that has been deleted."""
    try:
        return Path.cwd()
    except OSError:
        return Path("/")


def debugging() -> bool:
    """Whether ``NOMP_DEBUG`` asks for tracebacks, for where the settings may be what is wrong."""
    try:
        return _switch(os.environ.get("NOMP_DEBUG") or "0")
    except ValueError:
        return False


def given(name: str, value: Any, origin: str) -> Any:
    """The value of setting *name* (as Python programs write it) that *origin* gives as *value*.  Errors: N802."""
    row = _table()[name.replace("_", "-")]
    text = str(int(value)) if isinstance(value, bool) else str(value)
    return _read(row, text, origin)


def names() -> tuple[str, ...]:
    """The settings as Python programs write them (``scripts_dir``)."""
    return tuple(row.name for row in _table().values())


def _table() -> dict[str, Field[Any]]:
    """The settings by name (``scripts-dir``)."""
    return {row.name.replace("_", "-"): row for row in fields(Settings) if row.metadata}


def _environment_name(row: Field[Any]) -> str:
    return f"NOMP_{row.name.upper()}"


def _read(row: Field[Any], text: str, origin: str) -> Any:
    """The value of setting *row* that *origin* gives as *text*."""
    kind: Kind = row.metadata["kind"]
    name, option = _environment_name(row), f"--nomp-{row.name.replace('_', '-')}"
    try:
        return kind.read(text)
    except ValueError:
        message = (f'"{name}" is missing or invalid. Set it with {option} command line argument or {name} '
                   "environment variable.")  # fmt: skip
        raise error("N802", message, help=f"{origin} gives '{text}'; it takes {kind.name}") from None


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """An empty variable counts as not set."""
    rows = [row for row in _table().values() if environ.get(_environment_name(row))]
    return {row.name: _read(row, environ[_environment_name(row)], "the environment") for row in rows}


def _from_command_line(argv: Sequence[str], warnings: list[Diagnostic]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for argument, text in _pairs(argv) if len(argv) > 1 else ():
        name = argument.removeprefix("--nomp-")
        if row := _table().get(name):
            values[row.name] = _read(row, text, "the command line")
        else:
            help = did_you_mean(name, _table()) or "nomp config shows all settings"
            message = f"Unknown command line argument: {argument}."
            warnings.append(Diagnostic("N803", message, severity="warning", help=help))
    return values


def _pairs(argv: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each argument that begins with ``--nomp``, and what follows it."""
    arguments = iter(argv)
    for argument in arguments:
        if argument.startswith("--nomp"):
            text = next(arguments, None)
            if text is None:
                message = f"Missing argument value after: {argument}."
                raise error("N801", message, help=f"write {argument} VALUE, as two arguments")
            yield argument, text


def _from_pyproject(start: Path, warnings: list[Diagnostic]) -> dict[str, Any]:
    """``[tool.nomp]`` of the nearest pyproject.toml, from *start* upwards; its folders are relative to its own."""
    file = next((file for folder in (start, *start.parents) if (file := folder / "pyproject.toml").is_file()), None)
    if file is None:
        return {}
    try:
        tools = tomllib.loads(file.read_text(encoding="utf-8")).get("tool")
    except (OSError, ValueError) as reason:
        warnings.append(Diagnostic("N804", f"{file} is not read: {reason}", severity="warning", help="repair the file"))
        return {}
    table = tools.get("nomp", {}) if isinstance(tools, dict) else {}
    if not isinstance(table, dict):
        raise error("N804", f"nomp is not a table in {file}", help="write [tool.nomp] and one setting a line")
    return {row.name: value for row, value in (_from_toml(file, *item) for item in table.items())}


def _from_toml(file: Path, name: str, value: object) -> tuple[Field[Any], Any]:
    row = _table().get(name)
    if row is None:
        raise error("N804", f"unknown setting '{name}' in [tool.nomp] of {file}",
                    help=did_you_mean(name, _table()) or f"the settings are {', '.join(_table())}")  # fmt: skip
    found = given(row.name, value, str(file))
    return row, file.parent / found if row.metadata["kind"] is FOLDER else found


def markdown_table() -> str:
    """The table of settings for the documentation, in Markdown."""
    lines = ["| setting | option | environment | default | value | meaning |", "|---|---|---|---|---|---|"]
    for name, row in _table().items():
        names = [f"`{name}`", f"`--nomp-{name}`", f"`{_environment_name(row)}`"]
        cells = [*names, row.metadata["shown"], row.metadata["kind"].name, row.metadata["help"]]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
