"""What has been measured of kernels whose scripts leave choices open: readable JSON, a file a kernel.

In: a region with the values of its scalars, and a device.  Out: the choices that were the fastest for launches of that
size, and all that were tried.  Files are written anew after each trial, so that a search can go on where it ended.
Used by `runtime.tuning` and `runtime.tuner`.

A size class has launches whose loops have the same number of trips, up to a factor of two if they are long:
``e:4096 k:7``; and whose other jit values are alike.
"""

from __future__ import annotations

import glob
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from nomp.arithmetic import Number, evaluate, is_launch_expr
from nomp.backend import DeviceInfo
from nomp.cache import write_whole
from nomp.diagnostics import Diagnostic
from nomp.loops import trip_count
from nomp.region import For, Region
from nomp.region_json import VERSION
from nomp.source_json import located
from nomp.walks import variables, walk

FORMAT = 1
"""Of the files: those of another one are left alone."""

Point = dict[str, int | float | str]
"""Choices by the names of parameters."""
Choices = tuple[tuple[str, int | float | str], ...]
"""The same in the order of these, as variants have them."""


def ordered(point: Mapping[str, int | float | str]) -> Choices:
    """*point* in the order of its names."""
    return tuple(sorted(point.items()))


@dataclass(frozen=True, slots=True)
class Key:
    """What a result is for: a kernel of this *name* and *digest*, a *device*, a class of *sizes*."""

    name: str
    digest: str
    device: str
    sizes: str


@dataclass(frozen=True, slots=True)
class Trial:
    """*choices* and how long a launch took with them, or why they were *skipped*."""

    choices: Mapping[str, int | float | str]
    microseconds: float | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """The *trials* for a *device* and *sizes*."""

    device: str
    sizes: str
    trials: tuple[Trial, ...] = ()

    @property
    def best(self) -> Trial | None:
        """The fastest trial."""
        timed = [trial for trial in self.trials if trial.microseconds is not None]
        return min(timed, key=lambda trial: trial.microseconds or 0.0, default=None)


def digest(region: Region, script: str) -> str:
    """What tells *region*, wherever it stands, from others; *script* is the annotation script."""
    plain, _ = located(region, ())
    return sha256(json.dumps([VERSION, plain, script]).encode()).hexdigest()[:16]


def described(device: DeviceInfo) -> str:
    """*device* as results name it."""
    return f"{device.backend}: {device.name}, driver {device.driver}"


MANY = 64
"""Numbers from this one on are alike up to a factor of two; below, what is best may change from one to the next."""


def size_class(region: Region, scalars: Mapping[str, Number]) -> str:
    """The loops of *region*, and for each that *scalars* tell its trips; of `MANY` the power of two that they reach.

    Then the same for the jit values that no such number of trips follows from: the length of rows, perhaps.
    """
    found, told = [], set[str]()
    for stmt in walk(region.body):
        if isinstance(stmt, For) and is_launch_expr(count := trip_count(stmt), region.scalars):
            found.append(f"{stmt.iname}:{_rounded(max(0, int(evaluate(count, scalars))))}")
            told |= variables(count)
    values = {name: scalars[name] for name in region.clauses.jit if name not in told}
    found += [f"{name}:{_rounded(value) if isinstance(value, int) else value}" for name, value in values.items()]
    return " ".join(found)


def _rounded(count: int) -> int:
    return count if count < MANY else 1 << (count.bit_length() - 1)


@dataclass(slots=True)
class Database:
    """The files in *folder*.  What is wrong with one is told to *show*, once; it is then left alone."""

    folder: Path
    show: Callable[[Diagnostic], None]
    _files: dict[Path, dict[str, Any] | None] = field(default_factory=dict)

    def result(self, key: Key) -> Result:
        """What has been measured for *key*."""
        for found in self._read(key):
            if (found.device, found.sizes) == (key.device, key.sizes):
                return found
        return Result(key.device, key.sizes)

    def best(self, key: Key) -> Choices:
        """The fastest choices for *key*; () if nothing has been measured for this kernel and device.

        Sizes that have not been measured are told in a remark (N702).
        """
        best = self.result(key).best
        if best is None and (others := self._others(key)):
            message = f"kernel '{key.name}' has not been tuned {others}"
            step = "run 'nomp tune' with this program: until then its scripts' own choices are used"
            self.show(Diagnostic("N702", message, severity="remark", help=step))
        return ordered(best.choices) if best else ()

    def _others(self, key: Key) -> str:
        """For what else a kernel of that name has been tuned, "" if for nothing."""
        results = [result for result in self._read(key) if result.best]
        if results:
            others = "; ".join(f"{result.sizes} on {result.device}" for result in results)
            return f"for {key.sizes} on {key.device}, but for {others}"
        named = self.folder.glob(f"{glob.escape(key.name)}-{'[0-9a-f]' * len(key.digest)}.json")
        if any(file != self._file(key) for file in named):
            return "as it is now, but with another loop, annotation script or version of nomp"
        return ""

    def keep(self, key: Key, result: Result) -> None:
        """Write *result* in the place of what was there for *key*.  OSError if that cannot be done."""
        results = [r for r in self._read(key) if (r.device, r.sizes) != (key.device, key.sizes)]
        data = {"format": FORMAT, "kernel": key.name, "digest": key.digest,
                "results": [_encoded(r) for r in (*results, result)]}  # fmt: skip
        write_whole(self._file(key), json.dumps(data, indent=1) + "\n")
        self._files[self._file(key)] = data

    def _file(self, key: Key) -> Path:
        return self.folder / f"{key.name}-{key.digest}.json"

    def _read(self, key: Key) -> list[Result]:
        file = self._file(key)
        if file not in self._files:
            self._files[file] = self._parsed(file)
        data = self._files[file]
        return _decoded(data["results"]) if data else []

    def _parsed(self, file: Path) -> dict[str, Any] | None:
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                raise ValueError(f"its format is {data['format']}, and this nomp's is {FORMAT}")
            _decoded(data["results"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as reason:
            what = f"{type(reason).__name__}: {reason}" if isinstance(reason, KeyError | TypeError) else str(reason)
            message = f"the tuned choices in {file} are not used: {what}"
            step = "delete the file, and run 'nomp tune' again"
            self.show(Diagnostic("N701", message, severity="warning", help=step))
            return None
        return dict(data)


def _encoded(result: Result) -> dict[str, Any]:
    best = result.best
    trials = [{name: value for name, value in asdict(trial).items() if value not in (None, "")}
              for trial in result.trials]  # fmt: skip
    summary = {"best": dict(best.choices), "microseconds": best.microseconds} if best else {}
    head = {"device": result.device, "sizes": result.sizes}
    return {**head, **summary, "trials": trials}


def _decoded(results: Iterable[Mapping[str, Any]]) -> list[Result]:
    return [Result(str(r["device"]), str(r["sizes"]), tuple(map(_trial, r["trials"])))
            for r in results]  # fmt: skip


def _trial(data: Mapping[str, Any]) -> Trial:
    time = data.get("microseconds")
    return Trial(dict(data["choices"]), None if time is None else float(time), str(data.get("skipped", "")))
