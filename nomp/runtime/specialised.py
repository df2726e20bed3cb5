"""An annotated Python loop for certain types: its kernel, and the numbers that a launch brings in and out.

In: a `Translated` loop; for each launch the loop's range and its objects.  Out: the addresses at which kernels read
scalars; what variables hold after the loop.  Used by `runtime.python`.
"""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nomp.arithmetic import Number, convert, is_float
from nomp.backend import TYPE_CODES
from nomp.diagnostics import NompError, Span, error
from nomp.frontend.python_context import UNSET, Source, Wrapping
from nomp.frontend.python_regions import Loop, Result, Translated
from nomp.frontend.python_types import OWN, device, fits
from nomp.runtime import arrays, bounds, indices, session

_CODES = {**TYPE_CODES, "bool": "?"}  # takes NumPy's bools, and gives Python's
_MOST = 1024
"""How many launches that were looked at are remembered."""

Reader = Callable[[range, Sequence[Any]], Any]
"""Computes a scalar of a launch from the loop's range and the objects."""


@dataclass(slots=True)
class Special:
    """A loop for certain types, with its kernel and the memory from which kernels read its scalars.

    *reading* has, for each scalar, what computes it from the range and the objects; *deciding* are the numbers of those
    on which subscripts depend, *wraps* what was found of launches with these, *checked* those that stay in arrays.
    """

    loop: Loop
    translated: Translated
    kernel: int
    reading: list[Reader]
    layout: struct.Struct
    memory: Any
    addresses: list[int]
    arrays: list[tuple[int, int, bool]]  # position among the parameters, among the objects, and whether it is written
    results: list[tuple[Result, int, str, int]]  # with the offset in the memory, the type, and the flag's offset
    deciding: list[int]
    accesses: tuple[bounds.Access, ...]
    wraps: dict[tuple[Any, ...], Wrapping] = field(default_factory=dict)
    checked: set[tuple[Any, ...]] = field(default_factory=set)

    def read(self, steps: range, objects: Sequence[Any]) -> list[Any]:
        """The scalars of a launch."""
        return [read(steps, objects) for read in self.reading]

    def wrapping(self, values: Sequence[Any]) -> Wrapping:
        """How subscripts are to be treated in a launch with these scalars."""
        situation = tuple([values[k] for k in self.deciding])
        found = self.wraps.get(situation)
        if found is None:
            if len(self.wraps) >= _MOST:
                self.wraps.clear()
            found = self.wraps[situation] = indices.wrapping(self.translated, self._scalars(values))
        return found

    def check(self, values: Sequence[Any]) -> None:
        """Raise N238 where a launch with these scalars certainly leaves an array."""
        situation = tuple([values[k] for k in self.deciding])
        if situation not in self.checked:
            indices.check(self.translated.region, self.accesses, self._scalars(values))
            if len(self.checked) >= _MOST:
                self.checked.clear()
            self.checked.add(situation)

    def _scalars(self, values: Sequence[Any]) -> dict[str, Number]:
        names = [param.name for param in self.translated.region.params if param.kind == "scalar"]
        plain = [value.item() if isinstance(value, np.generic) else value for value in values]
        return dict(zip(names, plain, strict=True))

    def begin(self, values: Sequence[Any], objects: Sequence[Any]) -> None:
        """Put the scalars, and the values that variables have before the loop, where the kernel reads them.

        Raises N236 for a number that its type does not hold, N233 for a start that it does not hold exactly.
        """
        try:
            self.layout.pack_into(self.memory, 0, *values)
        except (struct.error, OverflowError):
            raise self._too_large(values) from None
        for result, offset, dtype, flag in self.results:
            start: Any = 0
            if flag:
                self.memory[flag] = b"\0"
            if result.start is not None:
                start = objects[self.loop.arguments.index(result.name)]
                if result.start in OWN and not fits(start, result.dtype):
                    raise self._unfit_start(result, start)
            struct.pack_into(f"={_CODES[dtype]}", self.memory, offset, start)

    def end(self, steps: range, objects: Sequence[Any]) -> tuple[Any, ...]:
        """The values of `Loop.results` after the launch."""
        found: dict[str, Any] = {self.loop.counter: steps[-1]}
        for result, offset, dtype, flag in self.results:
            (raw,) = struct.unpack_from(f"={_CODES[dtype]}", self.memory, offset)
            before = objects[self.loop.arguments.index(result.name)] if result.start else None
            unset = flag and self.memory[flag] == b"\0"
            found[result.name] = UNSET if unset else _as_python(result, raw, dtype, before)
        return tuple([found[name] for name in self.loop.results])

    def store(self, variables: Mapping[str, Any]) -> None:
        """Leave *variables*, which the loop itself has computed, where the kernel leaves its own.

        Raises OverflowError for an integer that has grown out of its type on devices.
        """
        for result, offset, dtype, flag in self.results:
            if result.name not in variables:
                continue
            found = variables[result.name]
            number = found.item() if isinstance(found, np.generic) else found
            if isinstance(number, int) and not is_float(dtype) and not fits(number, dtype):
                raise OverflowError(_unfit_text(result.name, number, dtype))
            struct.pack_into(f"={_CODES[dtype]}", self.memory, offset, convert(number, dtype))
            if flag:
                self.memory[flag] = b"\1"

    def _too_large(self, values: Sequence[Any]) -> NompError:
        params = [p for p in self.translated.region.params if p.kind == "scalar"]
        for param, number in zip(params, values, strict=True):
            if isinstance(number, int) and not fits(number, "int64"):
                return _unfit(param.variable, number, param.dtype, self.translated.region.span(param.place))
        return error("N236", "a number does not fit into its type", self.loop.span, help="use a wider type")

    def _unfit_start(self, result: Result, start: Any) -> NompError:
        if isinstance(start, int) and not fits(start, "int64"):
            region = self.translated.region
            return _unfit(result.name, start, result.dtype, region.span(region.params[result.position].place))
        message = f"'{result.name}' is {start}, which {result.dtype} does not hold exactly"
        return error("N233", message, self.loop.span, help=f"start with np.{result.dtype}({start})")


def specialise(loop: Loop, translated: Translated) -> Special:
    """*translated*, made of *loop*, with its kernel declared."""
    region = translated.region
    places = {name: position for position, name in enumerate(loop.arguments)}
    reading, names, codes, scalars, held = [], [], "=", [], []
    for position, (param, source) in enumerate(zip(region.params, translated.sources, strict=True)):
        if source is None:
            continue
        if source[0] == "array":
            held.append((position, places[source[1]], param.writes))
            continue
        reading.append(_reader(source, places))
        names.append(param.name)
        scalars.append((position, struct.calcsize(codes)))
        codes += _CODES[param.dtype]
    size = struct.calcsize(codes)
    layout = struct.Struct(codes)
    results = []
    for result in translated.results:
        flag = size + 8 if result.flag is not None else 0
        results.append((result, size, region.params[result.position].dtype, flag))
        scalars += [(result.position, size), *([(result.flag, flag)] if result.flag is not None else [])]
        size += 16
    memory = ctypes.create_string_buffer(max(1, size))
    addresses = [0] * len(region.params)
    for position, offset in scalars:
        addresses[position] = ctypes.addressof(memory) + offset
    decide = indices.deciding(translated)
    deciding = [k for k, name in enumerate(names) if name in decide]
    accesses = bounds.accesses(region)
    kernel = session.declare(region)
    return Special(loop, translated, kernel, reading, layout, memory, addresses, held, results, deciding, accesses)


def _reader(source: Source, places: dict[str, int]) -> Reader:
    """What gives the number that *source* names."""
    kind, name, *axis = source
    if kind == "range":
        return lambda steps, objects: getattr(steps, name)
    which = places[name]
    if kind == "value":
        return lambda steps, objects: objects[which]
    number = int(axis[0])
    if kind == "shape":
        return lambda steps, objects: objects[which].shape[number]
    return lambda steps, objects: arrays.pitch(objects[which], number, arrays.layout_of(objects[which]).order)  # type: ignore[union-attr]


def _unfit(name: str, number: int, dtype: str, place: Span) -> NompError:
    return error("N236", _unfit_text(name, number, dtype), place, help="kernels count in 64 bits")


def _unfit_text(name: str, number: int, dtype: str) -> str:
    return f"'{name}' is an int of {number.bit_length()} bits, which does not fit into {dtype}"


def _as_python(result: Result, raw: Number, dtype: str, before: Any) -> Any:
    """The number *raw* of *dtype* as Python has it after the loop; *before* is what the variable held."""
    if before is not None and (result.stays or result.start in result.kinds) and _is_same(raw, before):
        return before
    kind = min(result.kinds, key=lambda kind: (device(kind) != dtype, kind in OWN, kind))
    if kind in OWN:
        return {"pybool": bool, "pyint": int, "pyfloat": float}[kind](raw)
    return np.dtype(kind).type(raw)


def _is_same(raw: Number, before: Any) -> bool:
    """Whether *raw* is the number *before*; NaN is, and zeros have signs."""
    if raw == before:
        return bool(raw) or math.copysign(1, raw) == math.copysign(1, before)
    return raw != raw and before != before
