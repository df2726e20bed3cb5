"""Helpers of the front end's tests: C text to source files, to regions, to messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from nomp.diagnostics import NompError, register_source
from nomp.frontend.clang import SourceFile, parse
from nomp.region import Region


def source(folder: Path, text: str | bytes, *arguments: str) -> SourceFile:
    """The main file that *text* makes."""
    return sources(folder, text, *arguments)[0]


def sources(folder: Path, text: str | bytes, *arguments: str) -> tuple[SourceFile, ...]:
    """All files with directives, of a program whose main file has *text*."""
    file = folder / "t.c"
    data = text.encode() if isinstance(text, str) else text
    file.write_bytes(data)
    register_source(str(file), data.decode("utf-8", "replace"))
    return parse(str(file), arguments)


def regions(folder: Path, text: str, *arguments: str) -> list[Region]:
    """The regions of a file with *text*."""
    return [found.region for found in source(folder, text, *arguments).directives if found.region]


def region(folder: Path, text: str, *arguments: str) -> Region:
    """The one region of a file with *text*."""
    (found,) = regions(folder, text, *arguments)
    return found


def messages(folder: Path, text: str | bytes, *arguments: str) -> str:
    """What is wrong with a file of *text*, as shown to the user, with the folder's name left out."""
    with pytest.raises(NompError) as caught:
        sources(folder, text, *arguments)
    return str(caught.value).replace(f"{folder}/", "")
