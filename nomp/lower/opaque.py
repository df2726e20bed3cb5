"""Statements that loopy carries without understanding them: C text with known reads and writes.

In: a ``while``, ``do`` or ``for`` with all that is in it.  Out: a loopy `CInstruction` in the kernel that
`lower.builder` makes.
Schedules may reorder the loops around it as far as its reads and writes allow, but see nothing inside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

import loopy as lp
from pymbolic import primitives as p
from pymbolic import var

from nomp.loops import INDEX
from nomp.lower.builder import Builder, Context
from nomp.lower.ctext import Writer
from nomp.lower.dialects import DIALECTS
from nomp.region import Declare, For, Stmt, Var, While
from nomp.walks import mentioned, walk, walk_expr, written_in


@dataclass(frozen=True, slots=True)
class Touched:
    """What a statement touches: *scalars* (with their types), what it has *written*, and its *own_arrays*."""

    scalars: Mapping[str, str]
    written: Set[str]
    own_arrays: tuple[Declare, ...]


def carry(builder: Builder, stmt: For | While, context: Context) -> None:
    """Append *stmt* as C text."""
    touched = _touched_by(stmt)
    for array in touched.own_arrays:
        shape = tuple(builder.extent(extent) for extent in array.shape)
        builder.temporary(array.name, array.dtype, shape, lp.AddressSpace.PRIVATE)
    scalars = {name: _scalar(builder, name, dtype, context) for name, dtype in touched.scalars.items()}
    element = partial(_element, builder, context)
    writer = Writer(DIALECTS[builder.dialect], element, builder.spell.functions, scalars)
    code = "\n".join(writer.statement(stmt))
    written = touched.written & builder.data
    read = set(re.findall(r"@(\w+)@", code)) & builder.data
    place = builder.placed("while", written, read, context)
    assignees = [_any_element(builder, name) for name in sorted(written)]
    builder.instructions.append(lp.CInstruction((), code, frozenset(read), assignees, **place))


def _scalar(builder: Builder, name: str, dtype: str, context: Context) -> str:
    """The text of a scalar of the kernel; what is no variable is copied before, for schedules may redefine it."""
    if name in builder.temporaries:
        return f"@{name}@"
    if name in builder.shapes:
        return _element(builder, context, name, ("0",))
    return _copied(builder, f"{name}_value", dtype, builder.spell.value(Var(name, dtype)), context)


def _copied(builder: Builder, name: str, dtype: str, value: Any, context: Context) -> str:
    copy = builder.fresh(name)
    builder.temporary(copy, dtype)
    builder.assign(var(copy), value, context.unguarded())
    return f"@{copy}@"


def _element(builder: Builder, context: Context, array: str, index: tuple[str, ...]) -> str:
    """The element of *array* at *index*, in flat memory and row order."""

    def number(expr: Any) -> str:
        return str(expr) if isinstance(expr, int) else _copied(builder, "extent", INDEX, expr, context)

    flat = f"(long)({index[0]})"
    for extent, subscript in zip(builder.shapes[array][1:], index[1:], strict=True):
        flat = f"({flat}) * {number(extent)} + ({subscript})"
    start = f"{number(builder.offsets[array])} + " if array in builder.offsets else ""
    return f"@{array}@[{start}{flat}]"


def _any_element(builder: Builder, name: str) -> Any:
    rank = len(builder.shapes[name])
    return p.Subscript(var(name), (0,) * rank) if rank else var(name)


def _touched_by(stmt: Stmt) -> Touched:
    """What *stmt* touches outside itself: its own scalars are left out."""
    inside = tuple(walk((stmt,)))
    own = {s.name for s in inside if isinstance(s, Declare)} | {s.iname for s in inside if isinstance(s, For)}
    nodes = [node for s in inside for expr in mentioned(s) for node in walk_expr(expr)]
    arrays = tuple(s for s in inside if isinstance(s, Declare) and s.shape)
    return Touched(
        {node.name: node.dtype for node in nodes if isinstance(node, Var) and node.name not in own},
        written_in((stmt,)) - (own - {a.name for a in arrays}),
        arrays,
    )
