"""A compiled kernel's record as JSON text, with the warnings of its scripts.

In: a `DeviceSource` and diagnostics.  Out: text, and back.  Places in it are told relative to the region and the
scripts that they are in, which may stand elsewhere when the text is read.  Used by `source_cache`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nomp.conditions import Condition, Piece
from nomp.device_source import Argument, DeviceSource, Launch, Placement, Schedule, Scratch, Value
from nomp.diagnostics import Diagnostic, Note, Span
from nomp.region import NOWHERE, Place, Region
from nomp.region_json import NODES, decode, encode


class Unplaced(Exception):
    """A place in the text is in no file that will be there, or it cannot be told which one is meant."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where things stand: a *region*, its *nodes* (each that has a place, in order), and the *scripts*' folders."""

    region: Region
    nodes: tuple[Place, ...]
    scripts: tuple[Path, ...]

    def relative(self, span: Span) -> dict[str, Any]:
        """*span* as data that `absolute` understands.  Raises `Unplaced`."""
        numbers = [number for number, place in enumerate(self.nodes) if self.region.span(place) == span]
        if numbers:  # several, if nodes stand at one place: then they must do so when the text is read, too
            return {"@": "Node", "a": [numbers]}
        for number, folder in enumerate(self.scripts):
            if Path(span.file).is_relative_to(folder):
                file = Path(span.file).relative_to(folder).as_posix()
                return {"@": "Script", "a": [number, file, span.line, span.column, span.length]}
        raise Unplaced(f"a message is about {span}")

    def of_nodes(self, numbers: tuple[int, ...]) -> Span:
        """The span of the nodes with these *numbers*.  Raises `Unplaced`."""
        spans = {self.region.span(self.nodes[number]) for number in numbers}
        if len(spans) > 1:
            raise Unplaced("what stood at one place stands at several now")
        return spans.pop()

    def of_script(self, number: int, file: str, line: int, column: int, length: int) -> Span:
        """The span in a file of a script's folder."""
        return Span(str(self.scripts[number] / file), line, column, length)


def located(region: Region, scripts: tuple[Path, ...]) -> tuple[Any, Places]:
    """*region* as data that does not tell where it stands, and where it does."""
    nodes: list[Place] = []
    data = encode(replace(region, file="", line=0, first_line=0, text=()))
    plain = _replaced(data, "Place", lambda fields: nodes.append(Place(*fields)))
    return plain, Places(region, (*nodes, NOWHERE), scripts)


def dumps(source: DeviceSource, diagnostics: tuple[Diagnostic, ...], places: Places) -> str:
    """*source* and *diagnostics* as text.  Raises `Unplaced`."""
    data = encode((source, diagnostics))
    return json.dumps(_replaced(data, "Span", lambda fields: places.relative(Span(*fields))), separators=(",", ":"))


def loads(text: bytes, places: Places) -> tuple[DeviceSource, tuple[Diagnostic, ...]]:
    """What `dumps` wrote, for a region that stands at *places*.  Raises `Unplaced`."""
    nodes = {**NODES, **_NODES, "Node": places.of_nodes, "Script": places.of_script}
    source, diagnostics = decode(json.loads(text), nodes)
    return source, diagnostics


def _replaced(data: Any, kind: str, function: Any) -> Any:
    """*data* (of `encode`) with each object of this *kind* replaced by what *function* makes of its fields."""
    if isinstance(data, dict):
        if data["@"] == kind:
            return function(data["a"])
        return {"@": data["@"], "a": _replaced(data["a"], kind, function)}
    return [_replaced(item, kind, function) for item in data] if isinstance(data, list) else data


_NODES: Mapping[str, Any] = {
    node.__name__: node
    for node in (
        DeviceSource, Value, Scratch, Argument, Launch, Placement, Schedule, Condition, Piece, Diagnostic, Note,
        frozenset, dict,
    )
}  # fmt: skip
