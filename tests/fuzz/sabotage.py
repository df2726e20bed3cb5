"""Five ways to break lowering, each of which the fuzzer must notice.  Each is called in the process that compiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from numpy import float32
from pymbolic import primitives as p


def unsigned_bounds() -> None:
    """Compare counters and bounds as plain integers, whatever their types."""
    from nomp import loops
    from nomp.arithmetic import cast
    from nomp.region import Binary

    def starts(loop: Any) -> Binary:
        return Binary(loop.relation, cast(loop.lower, "int64"), cast(loop.upper, "int64"), "int32")

    loops._compares_as_integers = lambda loop: True
    loops._starts = starts


def flooring_division() -> None:
    """Divide integers as Python does."""
    from nomp.arithmetic import is_float
    from nomp.lower.expressions import Speller

    spell = Speller._binary

    def binary(self: Any, expr: Any, op: str, left: Any, right: Any, dtype: str) -> Any:
        if op == "/" and not is_float(dtype):
            return p.FloorDiv(self.value(left), self.value(right))
        return spell(self, expr, op, left, right, dtype)

    Speller._binary = binary


def short_literals() -> None:
    """Round double literals to float."""
    from nomp.lower import expressions

    spell = expressions.constant
    expressions.constant = lambda value, dtype: spell(float(float32(value)) if dtype == "float64" else value, dtype)


def lost_order() -> None:
    """Let statements run in any order."""
    from nomp.lower.builder import Builder

    append = Builder.assign

    def assign(self: Any, *arguments: Any) -> None:
        append(self, *arguments)
        made = self.instructions[-1]
        self.instructions[-1] = made.copy(depends_on=frozenset())

    Builder.assign = assign


def lost_last_iteration() -> None:
    """Take ``<=`` for ``<``."""
    from nomp.lower import builder

    make = builder.header

    def header(loop: Any, *arguments: Any) -> Any:
        return make(replace(loop, relation="<") if loop.relation == "<=" else loop, *arguments)

    builder.header = header


ALL: tuple[Callable[[], None], ...] = (
    unsigned_bounds,
    flooring_division,
    short_literals,
    lost_order,
    lost_last_iteration,
)
