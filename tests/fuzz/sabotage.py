"""Five ways to break lowering, each of which the fuzzer must notice.  Each is called in the process that compiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numpy import float32
from pymbolic import primitives as p


def _replace(owner: Any, name: str, broken: Callable[..., Any]) -> None:
    """Put *broken* in the place of ``owner.name``, which there must be: else nothing would be sabotaged."""
    getattr(owner, name)
    setattr(owner, name, broken)


def unsigned_bounds() -> None:
    """Compare counters and bounds as plain integers, whatever their types."""
    from nomp import loops
    from nomp.arithmetic import cast
    from nomp.frontend import last_values
    from nomp.region import Binary

    def starts(loop: Any) -> Binary:
        return Binary(loop.relation, cast(loop.lower, "int64"), cast(loop.upper, "int64"), "int32")

    _replace(loops, "compares_as_integers", lambda loop: True)
    _replace(loops, "starts", starts)
    _replace(last_values, "starts", starts)


def flooring_division() -> None:
    """Divide integers as Python does."""
    from nomp.arithmetic import is_float
    from nomp.lower.expressions import Speller

    spell = Speller._binary

    def binary(self: Any, expr: Any, op: str, left: Any, right: Any, dtype: str) -> Any:
        if op == "/" and not is_float(dtype):
            return p.FloorDiv(self.value(left), self.value(right))
        return spell(self, expr, op, left, right, dtype)

    _replace(Speller, "_binary", binary)


def short_literals() -> None:
    """Round double literals to float."""
    from nomp.lower import expressions

    spell = expressions.constant

    def rounded(value: Any, dtype: str) -> Any:
        return spell(float(float32(value)) if dtype == "float64" else value, dtype)

    _replace(expressions, "constant", rounded)


def lost_order() -> None:
    """Let the last two statements of each loop trade places."""
    import nomp.lower as lowering
    from nomp.region import Assign, For, Region, Stmt

    def swapped(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        body = tuple(replace(s, body=swapped(s.body)) if isinstance(s, For) else s for s in body)
        movable = len(body) > 1 and all(isinstance(s, Assign | For) for s in body[-2:])
        return (*body[:-2], body[-1], body[-2]) if movable else body

    lower = lowering.lower

    def disordered(region: Region, *arguments: Any, **options: Any) -> Any:
        return lower(replace(region, body=swapped(region.body)), *arguments, **options)

    _replace(lowering, "lower", disordered)


def lost_last_iteration() -> None:
    """Take ``<=`` for ``<``."""
    from nomp.lower import builder

    make = builder.header

    def header(loop: Any, *arguments: Any, **options: Any) -> Any:
        return make(replace(loop, relation="<") if loop.relation == "<=" else loop, *arguments, **options)

    _replace(builder, "header", header)


ALL: tuple[Callable[[], None], ...] = (
    unsigned_bounds,
    flooring_division,
    short_literals,
    lost_order,
    lost_last_iteration,
)
