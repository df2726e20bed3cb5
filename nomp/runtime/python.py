"""Launching the annotated loops of a Python program.

In: calls that `frontend.python` has put in the place of loops: the loop's range, and the objects that it uses.  Out:
the launch, and what the loop leaves in the program's variables.  A loop is translated again for each new combination of
types, memory layouts and functions; what it was translated to is kept.

The objects under the names of a loop are looked at for each launch, because in Python they may be anything.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from nomp.diagnostics import Diagnostic, Span, error
from nomp.frontend.python_context import UNSET, Given, Guard, Static, Unset, Unusable, Wrapping
from nomp.frontend.python_context import Number as NumberOf
from nomp.frontend.python_identity import identity
from nomp.frontend.python_regions import Loop, translate
from nomp.frontend.python_types import TYPES
from nomp.region import Region
from nomp.runtime import api, arrays, interop, session
from nomp.runtime.device_array import DeviceArray
from nomp.runtime.launched import Launched
from nomp.runtime.lent import HostArray
from nomp.runtime.shown import show
from nomp.runtime.specialised import Special, specialise

_CLASSES: dict[type, str] = {bool: "pybool", int: "pyint", float: "pyfloat"}
_CLASSES |= {np.dtype(name).type: name for name in TYPES}
_ARRAYS = (np.ndarray, np.memmap, DeviceArray)
_FLAGS = arrays.WRITEABLE | arrays.ALIGNED | arrays.C_ORDER
_CALLABLE = (FunctionType, ModuleType, type, np.ufunc, type(len))
_PLAIN = Wrapping()
MOST_SPECIAL = 64
"""For how many combinations of types and functions a loop's translations are kept; the least recently used go."""
MOST_SEEN = 8
"""How many launches of a loop are known again; the one that was the last longest ago goes."""


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
        "complex": "use its real and its imaginary part",
    }.get(name, "copy the numbers and arrays in it to variables before the loop")  # fmt: skip
    return Unusable("None" if found is None else interop.articled(name), advice)


class Registry:
    """The annotated loops of a module, and what its other pragmas call."""

    def __init__(self) -> None:
        self.loops: dict[str, AnnotatedLoop] = {}
        self.files: set[str] = set()  # those of which all loops are here

    unset = UNSET

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


class _Seen:
    """A launch that has been, to be known again: its range, its objects, and what `session` calls it."""

    def __init__(self, steps: range, objects: Sequence[Any], guards: Sequence[Guard], launched: Launched) -> None:
        self._steps, self._guards, self.launched = steps, guards, launched
        self._arrays, self._functions, self._others = list[Any](), list[Any](), list[Any]()
        for k, found in enumerate(objects):
            kind = type(found)
            if kind in _ARRAYS:
                self._arrays.append((k, weakref.ref(found), _form(found)))
            elif kind is FunctionType:
                self._functions.append((k, identity(found)))
            else:
                self._others.append((k, found))

    def is_same(self, steps: range, objects: Sequence[Any]) -> bool:
        """Whether a launch over *steps* with *objects* is the same one."""
        if steps != self._steps:
            return False
        for k, before in self._others:
            now = objects[k]
            if now is not before and (type(now) is not type(before) or now != before or now == 0):
                return False  # zeros may differ in their signs
        for k, reference, form in self._arrays:
            array = objects[k]
            if array is not reference() or form != _form(array):
                return False
        for k, function in self._functions:  # which may be others than those that were translated, and so guarded
            if identity(objects[k]) != function:
                return False
        return all(guard.holds for guard in self._guards)


def _form(array: Any) -> tuple[Any, ...]:
    """What of an array a program may change in place."""
    return array.shape, array.strides, array.dtype, array.flags.num


class AnnotatedLoop:
    """A loop that is launched when it is called."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self._special: OrderedDict[Any, dict[Wrapping, Special]] = OrderedDict()
        self._seen: tuple[_Seen, ...] = ()  # the last one first; not changed in place, for there may be threads
        self._told = False

    def __call__(self, steps: range, *objects: Any) -> tuple[Any, ...] | None:
        """Launch it; the values of `Loop.results`, or None if there are no iterations and so no new ones."""
        if type(steps) is not range:
            raise error("N205", "a kernel loops over a range only", self.loop.span, help="write for i in range(...)")
        if not steps:
            return None
        if not interop.PLAIN.issuperset(map(type, objects)):
            objects = tuple(interop.adapted(objects, self.loop.span))
        for seen in self._seen:
            if seen.is_same(steps, objects) and session.again(seen.launched):
                self._remember(seen)
                return (steps[-1],) if self.loop.results else ()
        with session.lock:
            if session.verifying():  # in a loop that runs on the host
                found = self._on_host(steps, objects)
                return tuple([found.get(name, UNSET) for name in self.loop.results])
            api.ensure_started()
            special, values = self._find(steps, objects)
            special.begin(values, objects)
            self._launch(special, steps, objects)
            return special.end(steps, objects) if self.loop.results else ()

    def clear(self) -> None:
        """Give back what the kernels have: the loop is not launched again."""
        with session.lock:
            while self._special:
                self._drop(self._special.popitem()[1])

    def explain(self) -> str:
        """What was made of the loop for each combination of types with which it has been launched."""
        from nomp import remarks

        kernels = [special.translated.region for variants in self._special.values() for special in variants.values()]
        return "\n".join(remarks.remark(region).render() for region in kernels) or f"{self.loop.span}: not launched yet"

    def sources(self, backend: str) -> list[str]:
        """The source for *backend* of each of these kernels."""
        kernels = [special.translated.region for variants in self._special.values() for special in variants.values()]
        return [_source(region, backend) for region in kernels]

    # ------------------------------------------------------------------------------------------------- specialising

    def _find(self, steps: range, objects: Sequence[Any]) -> tuple[Special, list[Any]]:
        """The translation for *objects*, with subscripts treated as the numbers ask for it, and the numbers."""
        key = steps.step > 0, *map(_key, objects)
        variants = self._special.get(key, {})
        plain = variants.get(_PLAIN)
        if plain is None or not all(guard.holds for guard in plain.translated.guards):
            plain = self._make(steps, objects, _PLAIN)
            self._drop(variants)
            self._special[key] = variants = {_PLAIN: plain}
        self._special.move_to_end(key)
        while len(self._special) > MOST_SPECIAL:
            self._drop(self._special.popitem(last=False)[1])
        special, values = plain, plain.read(steps, objects)
        wrapping = plain.wrapping(values)
        if wrapping != _PLAIN:
            if wrapping not in variants:
                variants[wrapping] = self._make(steps, objects, wrapping)
            special = variants[wrapping]
            values = special.read(steps, objects)
        special.check(values)
        return special, values

    def _drop(self, variants: Mapping[Wrapping, Special]) -> None:
        session.drop([special.kernel for special in variants.values()])

    def _make(self, steps: range, objects: Sequence[Any], wrapping: Wrapping) -> Special:
        names = self.loop.arguments
        known = {name: given(found) for name, found in zip(names, objects, strict=True)}
        known.setdefault("range", Static(range))
        return specialise(self.loop, translate(self.loop, known, steps.step > 0, wrapping))

    # ------------------------------------------------------------------------------------------------------- launch

    def _launch(self, special: Special, steps: range, objects: Sequence[Any]) -> None:
        addresses = special.addresses.copy()
        used = []
        for position, which, writes in special.arrays:
            array = objects[which]
            address = addresses[position] = arrays.address_of(array)
            low, high = arrays.stretch(array, address)
            dense = arrays.is_dense(array, low, high)
            memory = array.memory if type(array) is DeviceArray else None
            used.append(HostArray(self.loop.arguments[which], low, high, dense, writes, array, memory))
        launched = session.launch(
            special.kernel, addresses, used, lambda: special.store(self._on_host(steps, objects))
        )
        if launched.copied and not self._told:
            self._tell(used)
        if launched.launches:
            self._remember(_Seen(steps, objects, special.translated.guards, launched))

    def _remember(self, seen: _Seen) -> None:
        """Look for *seen* first in the next call."""
        before = self._seen
        if not before or before[0] is not seen:
            self._seen = (seen, *[other for other in before if other is not seen][: MOST_SEEN - 1])

    def _on_host(self, steps: range, objects: Sequence[Any]) -> dict[str, Any]:
        """Run the loop without a kernel; the variables afterwards."""
        with np.errstate(all="ignore"):
            return self._plain(steps, *objects)

    @cached_property
    def _plain(self) -> Callable[..., dict[str, Any]]:
        from nomp.frontend.python_plain import plain  # for NOMP_VERIFY alone

        return plain(self.loop)

    def _tell(self, used: Sequence[HostArray]) -> None:
        self._told = True
        names = ", ".join(f"'{array.name}'" for array in used)
        message = f"arrays of this loop are copied to the device and back for each launch: {names}"
        step = f"keep them there: nomp.update(to=[{', '.join(array.name for array in used)}])"
        show([Diagnostic("N631", message, self.loop.span, "remark", help=step)], session.settings())


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
    return kind, identity(found) if isinstance(found, _CALLABLE) else None


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
