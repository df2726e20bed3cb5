"""Runs as a trace for https://ui.perfetto.dev or ``chrome://tracing``: Chrome's Trace Event Format.

In: runs, one for each process.  Out: the trace as plain data for JSON.  A process has a track for its device's kernels,
one for copies, which may go on at the same time, and one for the compiler; arrows lead from what compiled a loop to the
first launch of its kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nomp.report.events import Event, Run, Span, in_order

_KERNELS, _COPIES, _COMPILER = 1, 2, 3
_WORDS = {"to": "copy to the device", "from": "copy from the device", "on": "copy on the device"}


def trace(runs: Sequence[Run]) -> dict[str, Any]:
    """All *runs* on one time line, whose zero is where the first of them started to measure."""
    zero = min((run.header.started for run in runs), default=0.0)
    events = [event for number, run in enumerate(runs) for event in _process(number, run, run.header.started - zero)]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _process(number: int, run: Run, late: float) -> Iterator[dict[str, Any]]:
    header = run.header
    yield _named("process_name", number, 0, f"rank {header.rank}: {header.program} ({header.host}, {header.pid})")
    yield _named("thread_name", number, _KERNELS, f"kernels on {header.device}")
    yield _named("thread_name", number, _COPIES, "copies")
    yield _named("thread_name", number, _COMPILER, "compiler")
    compiled: dict[int, Span] = {}
    for span, event in in_order(run.events):
        yield _slice(number, run, event, span, late)
        if event.kind == "stage":
            compiled[event.region] = span
        elif event.kind == "kernel" and (stage := compiled.pop(event.region, None)):
            yield from _arrow(number, event.region, stage, span, late)


def _named(what: str, process: int, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": process, "tid": track, "args": {"name": name}}


def _slice(process: int, run: Run, event: Event, span: Span, late: float) -> dict[str, Any]:
    region = run.regions.get(event.region)
    source = {"source": f"{region.file}:{region.place.line or region.line}", "kernel": region.name} if region else {}
    more = {"bytes": event.nbytes} if event.nbytes else dict(event.sizes)
    name = f"{_WORDS[event.kind]}: {event.name}" if event.kind in _WORDS else event.name
    track = _COPIES if event.kind in _WORDS else _COMPILER if event.kind == "stage" else _KERNELS
    return {"ph": "X", "name": name, "cat": event.kind, "pid": process, "tid": track, "ts": _micro(span[0], late),
            "dur": _micro(span[1]), "args": source | more}  # fmt: skip


def _arrow(process: int, number: int, stage: Span, kernel: Span, late: float) -> Iterator[dict[str, Any]]:
    about = {"name": "compiled", "cat": "flow", "id": f"{process}.{number}", "pid": process}
    yield about | {"ph": "s", "tid": _COMPILER, "ts": _micro(stage[0], late)}
    yield about | {"ph": "f", "bp": "e", "tid": _KERNELS, "ts": _micro(kernel[0], late)}


def _micro(nanoseconds: int, late: float = 0.0) -> float:
    return round(nanoseconds / 1e3 + late * 1e6, 3)
