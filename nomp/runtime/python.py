"""Launching the annotated loops of a Python program.

In: calls that `frontend.python` has put in the place of loops: the loop's range, and the objects that it uses.  Out:
the launch, and what the loop leaves in the program's variables.  A loop is translated again for each new combination of
types, memory layouts and functions; what it was translated to is kept.

The objects under the names of a loop are looked at for each launch, because in Python they may be anything.
"""

from __future__ import annotations

import ctypes
import math
import struct
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from nomp.arithmetic import SIZES, Number
from nomp.backend import TYPE_CODES
from nomp.diagnostics import Diagnostic, NompError, Span, error
from nomp.frontend.python_context import UNSET, Given, Guard, Source, Static, Unset, Unusable, Wrapping
from nomp.frontend.python_context import Number as NumberOf
from nomp.frontend.python_regions import Loop, Result, Translated, translate
from nomp.frontend.python_types import OWN, device, fits
from nomp.region import Region
from nomp.runtime import api, arrays, indices, session
from nomp.runtime.lent import HostArray
from nomp.runtime.shown import show

_CODES = {**TYPE_CODES, "bool": "?"}  # takes NumPy's bools, and gives Python's
_CLASSES: dict[type, str] = {bool: "pybool", int: "pyint", float: "pyfloat"}
_CLASSES |= {np.dtype(name).type: name for name in SIZES}
_ARRAYS = (np.ndarray, np.memmap)
_FLAGS = arrays.WRITEABLE | arrays.ALIGNED | arrays.C_ORDER
_CALLABLE = (FunctionType, ModuleType, type, np.ufunc, type(len))


Reader = Callable[[range, Sequence[Any]], Any]
"""Computes a scalar of a launch from the loop's range and the objects."""


def given(found: Any) -> Given:
    """What *found*, which the program has under some name, is to a loop."""
    kind = _CLASSES.get(type(found))
    if kind is not None:
        return NumberOf(kind)
    if type(found) in _ARRAYS:
        return arrays.layout_of(found)
    if isinstance(found, _CALLABLE):
        return Static(found)
    if isinstance(found, Unset):
        return found
    name = type(found).__name__
    advice = {
        "list": "make an array of it: np.array(...)", "tuple": "make an array of it, or use single variables",
        "dict": "look its values up before the loop", "str": "use numbers", "NoneType": "give it a value",
        "complex": "use its real and its imaginary part", "float16": "convert it: np.float32(...)",
    }.get(name, "copy the numbers and arrays in it to variables before the loop")  # fmt: skip
    article = "an" if name[0] in "aeiou" else "a"
    return Unusable("None" if found is None else f"{article} {name}", advice)


class Registry:
    """The annotated loops of a module, and what its other pragmas call."""

    def __init__(self) -> None:
        self.loops: dict[str, AnnotatedLoop] = {}

    unset = UNSET
    whole = False  # whether all of the module's loops are here

    def __getitem__(self, key: str) -> AnnotatedLoop:
        return self.loops[key]

    def update(self, direction: str, *sections: Any, file: str, line: int) -> None:
        """``#pragma nomp update``."""
        for name, array, start, end, length in sections:
            part = array
            if start is not None:
                part = array[start:end] if length is None else array[start : start + length]
            api.move(direction, part, name, Span(file, line))

    def sync(self, *, file: str, line: int) -> None:
        """``#pragma nomp sync``."""
        api.sync()

    def init(self, *, file: str, line: int) -> None:
        """``#pragma nomp init(argc, argv)``."""
        api.start()

    def finalize(self, *, file: str, line: int) -> None:
        """``#pragma nomp finalize``."""
        api.finalize()


@dataclass(slots=True)
class _Special:
    """A loop for certain types, with its kernel and the memory from which kernels read its scalars.

    *reading* has, for each scalar, what computes it from the range and the objects.
    """

    translated: Translated
    kernel: int
    reading: list[Reader]
    layout: struct.Struct
    memory: Any
    addresses: list[int]
    arrays: list[tuple[int, int, bool]]  # position among the parameters, among the objects, and whether it is written
    results: list[tuple[Result, int, str, int]]  # with the offset in the memory, the type, and the flag's offset
    checked: set[tuple[Any, ...]] = field(default_factory=set)


class _Seen:
    """A launch that has been, to be known again: its range, its objects, and what `session` calls it."""

    def __init__(
        self, steps: range, objects: Sequence[Any], guards: Sequence[Guard], launched: session.Launched
    ) -> None:
        self._steps, self._guards, self.launched = steps, guards, launched
        held = [(k, found) for k, found in enumerate(objects) if type(found) in _ARRAYS]
        self._arrays = [(k, weakref.ref(a), *_form(a)) for k, a in held]
        self._others = [(k, found) for k, found in enumerate(objects) if type(found) not in _ARRAYS]

    def is_same(self, steps: range, objects: Sequence[Any]) -> bool:
        """Whether a launch over *steps* with *objects* is the same one."""
        if steps != self._steps:
            return False
        for k, reference, *form in self._arrays:
            array = objects[k]
            if array is not reference() or form != _form(array):
                return False
        for k, before in self._others:
            now = objects[k]
            if now is not before and (type(now) is not type(before) or now != before or now == 0):
                return False  # zeros may differ in their signs
        return all(guard.holds for guard in self._guards)


def _form(array: Any) -> list[Any]:
    """What of an array a program may change in place."""
    return [array.shape, array.strides, array.dtype, array.flags.num]


class AnnotatedLoop:
    """A loop that is launched when it is called."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self._special: dict[Any, dict[tuple[frozenset[int], frozenset[int]], _Special]] = {}
        self._seen: _Seen | None = None
        self._told = False

    def __call__(self, steps: range, *objects: Any) -> tuple[Any, ...] | None:
        """Launch it; the values of `Loop.results`, or None if there are no iterations and so no new ones."""
        if type(steps) is not range:
            raise error("N205", "a kernel loops over a range only", self._span(), help="write for i in range(...)")
        if not steps:
            return None
        seen = self._seen
        if seen is not None and seen.is_same(steps, objects) and session.again(seen.launched):
            return (steps[-1],) if self.loop.results else ()
        with session.lock:
            api.ensure_started()
            key = (steps.step > 0, *map(_key, objects))
            special = self._find(key, steps, objects)
            self._launch(special, steps, objects)
            return self._collect(special, steps, objects) if self.loop.results else ()

    def _span(self) -> Span:
        return Span(self.loop.file, self.loop.node.lineno, self.loop.node.col_offset + 1, 3)

    def explain(self) -> str:
        """What was made of the loop for each combination of types with which it has been launched."""
        from nomp import remarks

        kernels = [special.translated.region for variants in self._special.values() for special in variants.values()]
        return "\n".join(remarks.remark(region).render() for region in kernels) or f"{self._span()}: not launched yet"

    def sources(self, backend: str) -> list[str]:
        """The source for *backend* of each of these kernels."""
        kernels = [special.translated.region for variants in self._special.values() for special in variants.values()]
        return [_source(region, backend) for region in kernels]

    # ------------------------------------------------------------------------------------------------- specialising

    def _find(self, key: Any, steps: range, objects: Sequence[Any]) -> _Special:
        """The translation for *objects*, with subscripts treated as the numbers ask for it."""
        variants = self._special.setdefault(key, {})
        none: tuple[frozenset[int], frozenset[int]] = frozenset(), frozenset()
        plain = variants.get(none)
        if plain is None or not all(guard.holds for guard in plain.translated.guards):
            variants.clear()
            plain = variants[none] = self._make(steps, objects, Wrapping())
        values = [read(steps, objects) for read in plain.reading]
        situation = tuple(values)
        if situation in plain.checked:
            return plain
        scalars = _scalars(plain.translated.region, values)
        wrapping = indices.wrapping(plain.translated, scalars)
        special = plain
        if wrapping.both or wrapping.below:
            signs = wrapping.both, wrapping.below
            if signs not in variants:
                variants[signs] = self._make(steps, objects, wrapping)
            special = variants[signs]
            scalars = _scalars(special.translated.region, [read(steps, objects) for read in special.reading])
        indices.check(special.translated.region, scalars)
        if special is plain:
            plain.checked.add(situation) if len(plain.checked) < 1024 else plain.checked.clear()
        return special

    def _make(self, steps: range, objects: Sequence[Any], wrapping: Wrapping) -> _Special:
        names = self.loop.arguments
        known = {name: given(found) for name, found in zip(names, objects, strict=True)}
        known.setdefault("range", Static(range))
        translated = translate(self.loop, known, steps.step > 0, wrapping)
        return _special(translated, names)

    # ------------------------------------------------------------------------------------------------------- launch

    def _launch(self, special: _Special, steps: range, objects: Sequence[Any]) -> None:
        try:
            special.layout.pack_into(special.memory, 0, *[read(steps, objects) for read in special.reading])
        except (struct.error, OverflowError):
            raise self._too_large(special, steps, objects) from None
        addresses = special.addresses.copy()
        used = []
        for position, which, writes in special.arrays:
            array = objects[which]
            address = array.__array_interface__["data"][0]
            addresses[position] = address
            low, high = arrays.stretch(array, address)
            dense = arrays.is_dense(array, low, high)
            used.append(HostArray(self.loop.arguments[which], low, high, dense, writes, array))
        self._start_results(special, objects)
        launched = session.launch(special.kernel, addresses, used)
        if launched.copied and not self._told:
            self._tell(used)
        if launched.launches:
            self._seen = _Seen(steps, objects, special.translated.guards, launched)

    def _too_large(self, special: _Special, steps: range, objects: Sequence[Any]) -> NompError:
        params = [p for p in special.translated.region.params if p.kind == "scalar"]
        for param, read in zip(params, special.reading, strict=True):
            number = read(steps, objects)
            if isinstance(number, int) and not -(1 << 63) <= number < 1 << 63:
                return _unfit(param.variable, number, param.dtype, special.translated.region.span(param.place))
        return error("N236", "a number does not fit into its type", self._span(), help="use a wider type")

    def _tell(self, used: Sequence[HostArray]) -> None:
        self._told = True
        names = ", ".join(f"'{array.name}'" for array in used)
        message = f"arrays of this loop are copied to the device and back for each launch: {names}"
        step = f"keep them there: nomp.update(to=[{', '.join(array.name for array in used)}])"
        show([Diagnostic("N631", message, self._span(), "remark", help=step)], session.settings())

    # ------------------------------------------------------------------------------------------------------ results

    def _start_results(self, special: _Special, objects: Sequence[Any]) -> None:
        """Give the kernel the values that shared variables have before the loop."""
        for result, offset, dtype, flag in special.results:
            start: Any = 0
            if flag:
                special.memory[flag] = b"\0"
            if result.start is not None:
                start = objects[self.loop.arguments.index(result.name)]
                if result.start in OWN and not fits(start, dtype):
                    raise self._unfit_start(special, result, start, dtype)
            struct.pack_into(f"={_CODES[dtype]}", special.memory, offset, start)

    def _unfit_start(self, special: _Special, result: Result, start: Any, dtype: str) -> NompError:
        """The error that *result* starts with a number that its type does not hold."""
        if isinstance(start, int) and not -(1 << 63) <= start < 1 << 63:
            region = special.translated.region
            return _unfit(result.name, start, dtype, region.span(region.params[result.position].place))
        message = f"'{result.name}' is {start}, which {dtype} does not hold exactly"
        return error("N233", message, self._span(), help=f"start with np.{dtype}({start})")

    def _collect(self, special: _Special, steps: range, objects: Sequence[Any]) -> tuple[Any, ...]:
        found: dict[str, Any] = {self.loop.counter: steps[-1]}
        for result, offset, dtype, flag in special.results:
            (raw,) = struct.unpack_from(f"={_CODES[dtype]}", special.memory, offset)
            before = objects[self.loop.arguments.index(result.name)] if result.start else None
            unset = flag and special.memory[flag] == b"\0"
            found[result.name] = UNSET if unset else _as_python(result, raw, dtype, before)
        return tuple([found[name] for name in self.loop.results])


def _unfit(name: str, number: int, dtype: str, place: Span) -> NompError:
    message = f"'{name}' is an int of {number.bit_length()} bits, which does not fit into {dtype}"
    return error("N236", message, place, help="kernels count in 64 bits")


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


def _special(translated: Translated, names: Sequence[str]) -> _Special:
    region = translated.region
    places = {name: position for position, name in enumerate(names)}
    reading, codes, scalars, held = [], "=", [], []
    for position, (param, source) in enumerate(zip(region.params, translated.sources, strict=True)):
        if source is None or source[0] == "array":
            continue
        reading.append(_reader(source, places))
        scalars.append((position, struct.calcsize(codes)))
        codes += _CODES[param.dtype]
    size = struct.calcsize(codes)
    layout = struct.Struct(codes)
    results = []
    for result in translated.results:
        dtype = region.params[result.position].dtype
        flag = size + 8 if result.flag is not None else 0
        results.append((result, size, dtype, flag))
        scalars += [(result.position, size), *([(result.flag, flag)] if result.flag is not None else [])]
        size += 16
    memory = ctypes.create_string_buffer(max(1, size))
    base = ctypes.addressof(memory)
    addresses = [0] * len(region.params)
    for position, offset in scalars:
        addresses[position] = base + offset
    for position, (param, source) in enumerate(zip(region.params, translated.sources, strict=True)):
        if source is not None and source[0] == "array":
            held.append((position, places[source[1]], param.writes))
    return _Special(translated, session.declare(region), reading, layout, memory, addresses, held, results)


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


def _scalars(region: Region, values: Sequence[Any]) -> dict[str, Number]:
    names = [param.name for param in region.params if param.kind == "scalar"]
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    return dict(zip(names, plain, strict=True))


def _key(found: Any) -> Any:
    """What a translation depends on of *found*."""
    kind = type(found)
    if kind in _CLASSES:
        return kind
    if kind in _ARRAYS:
        flags = found.flags.num & _FLAGS
        if flags & arrays.C_ORDER:
            return found.dtype, found.ndim, flags
        return found.dtype, flags, arrays.layout_of(found)
    return kind, found if isinstance(found, _CALLABLE) else None


def _source(region: Region, backend: str) -> str:
    """The code of *region* in *backend*'s language, made for the device in use."""
    from nomp import pipeline

    api.ensure_started()
    info = session.device()
    assert info is not None
    dialects = {name: name for name in ("opencl", "cuda", "hip")} | {info.backend: info.dialect}
    if backend not in dialects:
        raise error("N613", f"Invalid backend: {backend}.", help=f"give one of {', '.join(dialects)}")
    text, _ = pipeline.emit_source(region, replace(info, dialect=dialects[backend]), session.settings())
    return text
