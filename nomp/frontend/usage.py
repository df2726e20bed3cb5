"""Which arrays a region reads and writes.  Used by all front ends."""

from __future__ import annotations

from dataclasses import replace

from nomp.region import Param, Stmt
from nomp.walks import expressions, variables, walk, written_in


def with_use(params: tuple[Param, ...], body: tuple[Stmt, ...]) -> tuple[Param, ...]:
    """*params* with arrays' reads and writes as *body* has them (a cell is always read: zero trips keep its value)."""
    read, written = variables(*(expr for stmt in walk(body) for expr in expressions(stmt))), written_in(body)
    arrays = [param for param in params if param.kind in ("array", "table")]
    used = {param.name: replace(param, reads=param.name in read, writes=param.name in written) for param in arrays}
    return tuple(used.get(param.name, param) for param in params)
