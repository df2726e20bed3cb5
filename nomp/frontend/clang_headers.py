"""The parts of a C ``for`` loop: libclang leaves out those that are empty and does not say which.

In: a loop's cursor.  Out: its `Parts`.  Called by the modules that look for counters and that translate loops.
"""

from __future__ import annotations

from dataclasses import dataclass

from clang.cindex import CursorKind

from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor


@dataclass(frozen=True, slots=True)
class Parts:
    """``for (first; condition; step) body``; each but the body may be missing."""

    first: Cursor | None
    condition: Cursor | None
    step: Cursor | None
    body: Cursor


def parts(loop: Cursor) -> Parts | None:
    """The parts of *loop*, None where a macro hides which are there."""
    *inside, body = ast.children(loop)
    if len(inside) == 3:
        return Parts(inside[0], inside[1], inside[2], body)
    semicolons = _semicolons(loop)
    if len(semicolons) != 2:
        return None
    found: list[Cursor | None] = [None, None, None]
    for part in inside:
        number = sum(offset <= ast.begin(part) for offset in semicolons)
        if found[number] is not None:
            return None
        found[number] = part
    return Parts(found[0], found[1], found[2], body)


def _semicolons(loop: Cursor) -> list[int]:
    """The offsets of the two semicolons in the parentheses of *loop*."""
    depth, found = 0, []
    for token in loop.get_tokens():
        depth += {"(": 1, ")": -1}.get(token.spelling, 0)
        if token.spelling == ";" and depth == 1:
            found.append(int(token.extent.start.offset))
        if token.spelling == ")" and depth == 0:
            break
    return found


def assigned(loop: Cursor) -> Cursor | None:
    """The lvalue that the header of *loop* assigns first, None where it declares a variable or does neither."""
    found = parts(loop)
    first = found.first if found else None
    while first is not None and first.kind == CursorKind.PAREN_EXPR:
        (first,) = ast.children(first)
    if first is None or ast.operator(first) != "=":
        return None
    target: Cursor = ast.children(first)[0]
    return target


def counter_name(loop: Cursor) -> str:
    """What the program calls the counter of *loop*; "" where its header has none."""
    found, target = parts(loop), assigned(loop)
    first = found.first if found else None
    if target is None and first is not None and first.kind == CursorKind.DECL_STMT:
        target = ast.children(first)[0]
    return str(target.spelling) if target is not None else ""
