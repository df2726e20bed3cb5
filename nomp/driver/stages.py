"""``nomp cc --emit STAGE``: prints what one stage makes of the C files of a command, and compiles nothing.

In: a `Command`.  Out: text on stdout: ``pragmas`` a directive a line, ``region`` a JSON array of the regions, ``loopy``
the kernels before any schedule, ``source`` the code for the default device, ``c`` the rewritten file (and headers).
Called by `cc`; `explain_region` shows the source, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from nomp import region_json
from nomp.capi import INCLUDE
from nomp.diagnostics import error
from nomp.driver import emit, report
from nomp.driver.host import Host
from nomp.driver.options import Command
from nomp.driver.units import Sources, region_list

if TYPE_CHECKING:
    from nomp.frontend.clang import Directive, SourceFile
    from nomp.region import Region


def show(command: Command, compiler: Host, folder: Path) -> int:
    """Print the stage that the command asks for; 1 if the host compiler cannot read a file.

    `NompError` if a file cannot be read so far by nomp.
    """
    inputs = [item for item in command.inputs if item.language != "object"]
    if not inputs:
        raise error("N502", "--emit needs a C file", help=f"write nomp cc --emit {command.own.emit} FILE.c")
    sources = Sources(command, compiler, folder)
    found = {item: sources.parse(item) for item in inputs}
    readable = [bool(files) or sources.is_readable(item) for item, files in found.items()]
    for text in _STAGES[command.own.emit or ""]([file for files in found.values() for file in files]):
        print(text)
    return int(not all(readable))


def _pragmas(files: Sequence[SourceFile]) -> Iterator[str]:
    for file in files:
        for directive in file.directives:
            yield f"{directive.span}: {_pragma_text(file.text, directive)}"


def _pragma_text(text: bytes, directive: Directive) -> str:
    """The directive as one line: without the loop, and without the line breaks of continuation lines."""
    end = directive.end if directive.region is None else emit.loop_offset(text, directive.region)
    return " ".join(text[directive.begin : end].replace(b"\\\r\n", b" ").replace(b"\\\n", b" ").decode().split())


def _regions(files: Sequence[SourceFile]) -> Iterator[str]:
    yield json.dumps([json.loads(region_json.dumps(region)) for region in region_list(files)], indent=2)


def _loopy(files: Sequence[SourceFile]) -> Iterator[str]:
    from nomp import pipeline

    for region in region_list(files):
        yield pipeline.emit_loopy(region)


def _source(files: Sequence[SourceFile]) -> Iterator[str]:
    for _, text in sources(region_list(files)):
        yield text


def sources(regions: Sequence[Region]) -> Iterator[tuple[str, str]]:
    """The name of the default device with its source for each of *regions*; what the scripts did is told on stderr."""
    from nomp import backend, config, pipeline
    from nomp.runtime.devices import open_device

    settings = config.load()
    with closing(open_device(settings, backend.registered())) as device:
        for region in regions:
            text, diagnostics = pipeline.emit_source(region, device.info, settings)
            report.show(found for found in diagnostics if found.severity != "remark" or settings.verbose > 2)
            yield device.info.name, text


def _rewritten(files: Sequence[SourceFile]) -> Iterator[str]:
    copies = {file.path: Path(file.path) for file in files}
    for file in files:
        yield emit.rewrite(file, file.path, INCLUDE / "nomp-pragma.h", copies).decode(errors="surrogateescape")


_STAGES: dict[str, Callable[[Sequence[SourceFile]], Iterator[str]]] = {
    "pragmas": _pragmas, "region": _regions, "loopy": _loopy, "source": _source, "c": _rewritten,
}  # fmt: skip
