"""What tells apart the objects that translated Python code takes for constant.

In: a function, a number, a module, a type: anything that a loop, or a function that it calls, finds under a name.  Out:
its `identity`.  Used by `frontend.python_context` and `runtime.python`.

Programs make functions anew while they run: a ``def`` in a loop is another object each time.  Kernels do not differ for
that, so such functions have one identity as long as their code is the same, and all that it was made with.
"""

from __future__ import annotations

from collections.abc import Hashable
from types import CellType, FunctionType
from typing import Any

import numpy as np

_NUMBERS = (bool, int, float, complex)


class _Itself:
    """An object that is like no other one, whatever it says itself of being equal."""

    __slots__ = ("_found",)

    def __init__(self, found: Any) -> None:
        self._found = found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self._found is other._found

    def __hash__(self) -> int:
        return id(self._found)


def identity(found: Any, around: tuple[FunctionType, ...] = ()) -> Hashable:
    """What is equal for objects in whose places a translation is the same; what it holds of *found* stays alive.

    A function is its code, its module's variables as such, its defaults, and what it closes over now.  Numbers are told
    apart by their types and all their digits.  *around* are the functions that *found* is a part of.
    """
    kind = type(found)
    if kind in _NUMBERS or isinstance(found, np.generic):
        return kind, repr(found)
    if kind is tuple:
        return "tuple", *[identity(part, around) for part in found]
    if kind is dict and all(type(name) is str for name in found):  # of defaults
        return "dict", *[(name, identity(part, around)) for name, part in found.items()]
    if kind is not FunctionType:
        return _Itself(found)
    if found in around:  # which calls itself
        return "function", around.index(found)
    inside = (*around, found)
    closed = [_cell(cell, inside) for cell in found.__closure__ or ()]
    defaults = [identity(given, inside) for given in (found.__defaults__, found.__kwdefaults__)]
    return "function", _Itself(found.__code__), _Itself(found.__globals__), *defaults, *closed


def _cell(cell: CellType, inside: tuple[FunctionType, ...]) -> Hashable:
    try:
        return identity(cell.cell_contents, inside)
    except ValueError:  # it is empty
        return CellType
