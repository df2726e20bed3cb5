"""Where variables of a Python loop are declared: as far inside as they are used, so that loops stay nests.

In: statements and the locals that they use, which Python does not declare.  Out: the statements with declarations.
Used by `frontend.python_regions`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from nomp.frontend.private import sets_first
from nomp.region import Declare, For, If, Stmt, While
from nomp.walks import expressions, mentioned, variables, walk


def declared(body: tuple[Stmt, ...], locals_: Iterable[Declare]) -> tuple[Stmt, ...]:
    """*body*, an iteration that sets each of *locals_* before it reads it, with their declarations."""
    for local in locals_:
        body = _with(body, local)
    return body


def _with(body: tuple[Stmt, ...], local: Declare) -> tuple[Stmt, ...]:
    users = [k for k, stmt in enumerate(body) if _uses((stmt,), local.name)]
    if not users:
        return body
    first = users[0]
    inner = _inside(body[first], local) if len(users) == 1 else None
    if inner is not None:
        return (*body[:first], inner, *body[first + 1 :])
    return (*body[:first], local, *body[first:])


def _inside(stmt: Stmt, local: Declare) -> Stmt | None:
    """*stmt* with the declaration in it, None where it must stand before."""
    if local.name in variables(*expressions(stmt)):
        return None
    match stmt:
        case For(body=body) | While(body=body, first=False) if sets_first(body, local.name):
            return replace(stmt, body=_with(body, local))
        case If(then=then, other=other):
            if not _uses(other, local.name):
                return replace(stmt, then=_with(then, local))
            if not _uses(then, local.name):
                return replace(stmt, other=_with(other, local))
    return None


def _uses(body: tuple[Stmt, ...], name: str) -> bool:
    return any(name in variables(*mentioned(stmt)) for stmt in walk(body))
