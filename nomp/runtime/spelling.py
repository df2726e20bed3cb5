"""How the program writes elements of its arrays, for messages.

In: parameters, the numbers of elements, a launch's scalars.  Out: C's text.  Used by `runtime.kernel`,
`runtime.bounds` and `runtime.elements`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod

from nomp.arithmetic import SIZES, Number, evaluate, is_launch_expr
from nomp.region import Param


def spelled(param: Param, number: int, scalars: Mapping[str, Number]) -> str:
    """Element *number* of *param*, as the program would write it for these *scalars*."""
    name, strides = param.variable or param.name, strides_of(param, scalars)
    if strides is None or (number < 0 and not param.grid):
        return f"element {number} of '{name}'"
    return f"'{_subscripted(name, number, strides)}'"


def strides_of(param: Param, scalars: Mapping[str, Number]) -> list[int] | None:
    """How many elements of *param* each of the program's subscripts counts; None if *scalars* do not tell."""
    if param.grid:
        return [stride // SIZES[param.dtype] for _, stride in param.grid]
    extents = [extent for extent in param.shape[1:] if extent is not None and is_launch_expr(extent, set(scalars))]
    sizes = [int(evaluate(extent, scalars)) for extent in extents]
    if len(sizes) < len(param.shape) - 1 or not all(sizes):
        return None
    return [prod(sizes[position:]) for position in range(len(sizes) + 1)]


def section(param: Param) -> str:
    """What of *param* an ``update`` can name: of a member, the array of structs."""
    return param.record or param.variable or param.name


def update(param: Param, start: object, end: object) -> str:
    """The pragma that maps *param*, for messages.  Structs are copied: the loop does not set all that is in them."""
    direction = "to" if param.reads or param.grid else "alloc"
    return f"#pragma nomp update({direction} : {section(param)}[{start}, {end}])"


def _subscripted(name: str, number: int, strides: Sequence[int]) -> str:
    """*name* with subscripts for the element *number*: in the brackets that it has already, and then behind it."""
    for stride in strides:
        index, number = divmod(number, stride)
        name, found = re.subn(r"\[0?\]", f"[#{index}]", name, count=1)  # "#", so that it is not found again
        name = name if found else f"{name}[#{index}]"
    return name.replace("[#", "[")
