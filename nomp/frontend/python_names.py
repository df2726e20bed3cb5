"""Which names of a Python function are read later: what a loop must leave behind, and what its iterations share.

In: the body of a function.  Out: `Liveness`.  Used by `frontend.python_regions` and `python_functions`.  A name counts
as read where nothing shows that it is not: in ``try``, by closures, by ``locals()``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_READERS = {"locals", "vars", "eval", "exec", "globals", "dir"}

Names = frozenset[str]
NONE: Names = frozenset()


def reads(*nodes: ast.AST) -> Names:
    """The names that *nodes* read, and that functions defined in them use."""
    return frozenset(
        inner.id for node in nodes for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Store)
    )  # fmt: skip


def ordered_reads(*nodes: ast.AST) -> list[str]:
    """The names that *nodes* read, in the order of the text."""
    found = [inner for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    found.sort(key=lambda name: (name.lineno, name.col_offset))
    return list(dict.fromkeys(name.id for name in found if not isinstance(name.ctx, ast.Store)))


def stores(*nodes: ast.AST) -> Names:
    """The names that *nodes* assign to."""
    return frozenset(
        inner.id for node in nodes for inner in ast.walk(node)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    )  # fmt: skip


@dataclass(slots=True)
class Liveness:
    """The names that may be read after each loop, and at the beginning of each iteration before they are set."""

    after: dict[ast.stmt, Names] = field(default_factory=dict)
    iteration: dict[ast.stmt, Names] = field(default_factory=dict)
    always: Names = NONE

    def of(self, body: list[ast.stmt], out: Names, leave: Names, again: Names) -> Names:
        """The names live before *body*; *out* are live after it, *leave* and *again* after a break and a continue."""
        for stmt in reversed(body):
            out = self._before(stmt, out, leave, again)
        return out

    def _before(self, stmt: ast.stmt, out: Names, leave: Names, again: Names) -> Names:
        match stmt:
            case ast.If(test=test, body=body, orelse=orelse):
                return reads(test) | self.of(body, out, leave, again) | self.of(orelse, out, leave, again)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(stmt, out, leave, again)
            case ast.Return():
                return reads(stmt)
            case ast.Break():
                return leave
            case ast.Continue():
                return again
            case ast.Assign(targets=targets):
                plain = [t for t in targets if not isinstance(t, ast.Name)]
                return (out - stores(*targets)) | reads(stmt.value, *plain)
            case ast.AugAssign(target=target):
                return out | reads(stmt) | stores(target)
            case ast.AnnAssign(value=value):
                return (out - stores(stmt.target) | reads(stmt)) if value else out
            case ast.With(body=body) | ast.AsyncWith(body=body):
                inside = self.of(body, out, leave, again)
                return inside | out | reads(*(item.context_expr for item in stmt.items))
        return out | leave | again | reads(stmt) if _branches(stmt) else out | reads(stmt)

    def _loop(self, loop: ast.For | ast.AsyncFor | ast.While, out: Names, leave: Names, again: Names) -> Names:
        out = out | self.always  # but not in the loop's body: a kernel calls nothing that could read them
        after = self.of(loop.orelse, out, leave, again)
        test = reads(loop.test) if isinstance(loop, ast.While) else NONE
        targets = NONE if isinstance(loop, ast.While) else stores(loop.target)
        head = after | test
        while True:
            iteration = self.of(loop.body, head, out, head)
            grown = head | (iteration - targets)
            if grown == head:
                break
            head = grown
        self.after[loop], self.iteration[loop] = out, iteration
        return head if isinstance(loop, ast.While) else head | reads(loop.iter)


def always_set(body: list[ast.stmt]) -> Names:
    """The names that each run of *body*, that of a loop which nothing leaves, assigns to."""
    found: Names = NONE
    for stmt in body:
        if isinstance(stmt, ast.If):
            found |= always_set(stmt.body) & always_set(stmt.orelse)
        elif isinstance(stmt, ast.Assign):
            found |= stores(*stmt.targets)
        elif isinstance(stmt, ast.AugAssign):
            found |= stores(stmt.target)
        if any(isinstance(inner, ast.Continue) for inner in ast.walk(stmt)):
            break
    return found


def _branches(stmt: ast.stmt) -> bool:
    """Whether *stmt* has statements of its own in which control may go elsewhere."""
    return isinstance(stmt, ast.Try | ast.TryStar | ast.Match)


def analyse(body: list[ast.stmt], *, function: bool) -> Liveness:
    """What is live where in *body*, that of a *function* or of a module, all of whose names others may read."""
    found = Liveness()
    found.always = _always(body) if function else reads(*body) | stores(*body)
    found.of(body, NONE, NONE, NONE)
    for stmt in _inside_try(body):
        if isinstance(stmt, ast.For | ast.While | ast.AsyncFor):
            found.after[stmt] = found.after.get(stmt, NONE) | reads(*body)
            found.iteration.setdefault(stmt, reads(*body))
    return found


def _always(body: list[ast.stmt]) -> Names:
    """The names that may be read at any time."""
    inner = [node for stmt in body for node in ast.walk(stmt)]
    called = [node.func for node in inner if isinstance(node, ast.Call)]
    if any(isinstance(function, ast.Name) and function.id in _READERS for function in called):
        return reads(*body) | stores(*body)
    closures = [node for node in inner if isinstance(node, _SCOPES)]
    shared = [name for node in inner if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names]
    return reads(*closures) | frozenset(shared)


def _inside_try(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for stmt in body:
        for inner in ast.walk(stmt):
            if _branches(inner) if isinstance(inner, ast.stmt) else False:
                yield from (node for node in ast.walk(inner) if isinstance(node, ast.stmt))
