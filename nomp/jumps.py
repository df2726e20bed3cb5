"""``break`` and ``continue``: which of them belong to a loop, and code that must run before they do.

In: the statements of a loop's body.  Front ends put code before jumps of loops that they write out as ``while``, and of
counters that stay alive; lowering asks whether a loop needs flags.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nomp.region import Break, Continue, If, Stmt, Switch


def before(jump: type[Break] | type[Continue], body: tuple[Stmt, ...], put: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """*body* with *put* in front of each *jump* of the loop whose body it is."""
    return tuple(inner for stmt in body for inner in _before(jump, stmt, put))


def _before(jump: type[Break] | type[Continue], stmt: Stmt, put: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    match stmt:
        case If(then=then, other=other):
            return (replace(stmt, then=before(jump, then, put), other=before(jump, other, put)),)
        case Switch(cases=cases) if jump is Continue:
            return (replace(stmt, cases=tuple(replace(c, body=before(jump, c.body, put)) for c in cases)),)
    return (*put, stmt) if isinstance(stmt, jump) else (stmt,)


def own(body: tuple[Stmt, ...]) -> Iterator[Break | Continue]:
    """The jumps in *body* that leave an iteration of the loop whose body it is, or the loop."""
    for stmt in body:
        match stmt:
            case Break() | Continue():
                yield stmt
            case If(then=then, other=other):
                yield from own((*then, *other))
            case Switch(cases=cases):
                yield from (jump for case in cases for jump in own(case.body) if isinstance(jump, Continue))
