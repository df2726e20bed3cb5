"""Variables and members as the host program names them: ``n``, ``s->a``, ``(*p).n``.

A `Path` is what a region captures as one parameter.  *places* are the pointers of the region that point to one struct,
with its path.  Called by the modules that translate expressions and captures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from clang.cindex import CursorKind

from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor, Type
from nomp.frontend.clang_context import Key
from nomp.frontend.clang_types import is_address, is_in_union, is_pointer, is_record, is_unnamed

_VARIABLES = (CursorKind.VAR_DECL, CursorKind.PARM_DECL)


@dataclass(frozen=True, slots=True)
class Path:
    """A variable, or a member reached from one without a subscript.  *host* is its C text, *name* a name for it."""

    key: Key
    host: str
    name: str
    type: Type
    root: Cursor
    field: Cursor | None = None  # the last member's declaration
    union: bool = False  # whether it shares its memory with members of other names

    def member(self, field: Cursor) -> Path:
        """The member *field* of the struct that this is."""
        union = self.union or is_in_union(field)
        if is_unnamed(field):
            return replace(self, type=field.type, union=union)
        key, name = (*self.key, field.spelling), f"{self.name}_{field.spelling}"
        return Path(key, f"{self.host}.{field.spelling}", name, field.type, self.root, field, union)


Places = Mapping[Key, Path]
_NONE: Places = {}


def path_of(cursor: Cursor, places: Places = _NONE) -> Path | None:
    """The path that *cursor* is, None for every other expression."""
    if cursor.kind == CursorKind.PAREN_EXPR:
        return path_of(ast.children(cursor)[0], places)
    if cursor.kind == CursorKind.DECL_REF_EXPR:
        declared = cursor.referenced
        if declared is None or declared.kind not in _VARIABLES:
            return None
        return Path(ast.key(declared), cursor.spelling, cursor.spelling, declared.type, declared)
    if cursor.kind == CursorKind.MEMBER_REF_EXPR:
        return _member(cursor, places)
    if cursor.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
        pointer, index = ast.children(cursor)
        known = pointed(pointer, places)
        return known if known is not None and ast.evaluate(index) == 0 else None
    if ast.operator(cursor) == "*" and is_record(cursor.type):
        (pointer,) = ast.children(cursor)
        known, base = pointed(pointer, places), path_of(ast.bare(pointer))
        unknown = base and Path((*base.key, "*"), f"(*{base.host})", base.name, cursor.type, base.root, base.field)
        return known or unknown
    return None


def pointed(cursor: Cursor, places: Places) -> Path | None:
    """The struct that the pointer *cursor* is known to point to, None where it is no path or not known."""
    cursor = ast.bare(cursor)
    if ast.operator(cursor) == "&":
        found = path_of(ast.children(cursor)[0], places)
        return found if found is not None and is_record(found.type) else None
    path = path_of(cursor)
    return places.get(path.key) if path is not None else None


def _member(cursor: Cursor, places: Places) -> Path | None:
    (inner,) = ast.children(cursor)[:1] or [None]
    while inner is not None and _is_unnamed_part(ast.bare(inner)):
        (inner,) = ast.children(ast.bare(inner))
    known = pointed(inner, places) if inner is not None and is_address(inner.type) else None
    if known is not None:
        return known.member(cursor.referenced)
    base = path_of(ast.bare(inner), places) if inner else None
    if base is None:
        return None
    arrow = is_address(inner.type)
    if arrow and not is_pointer(base.type):
        return None  # of an array: one of its elements
    key = (*base.key, *(["*"] if arrow else []), cursor.spelling)
    host = f"{base.host}{'->' if arrow else '.'}{cursor.spelling}"
    field, name = cursor.referenced, f"{base.name}_{cursor.spelling}"
    return Path(key, host, name, cursor.type, base.root, field, is_in_union(field) or (base.union and not arrow))


def _is_unnamed_part(cursor: Cursor) -> bool:
    """Whether *cursor* is a struct or union without a name within another, whose members the program names directly."""
    return cursor.kind == CursorKind.MEMBER_REF_EXPR and is_unnamed(cursor)
