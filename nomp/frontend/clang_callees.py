"""Functions of the program: which definition a call means, and whether its text must stand in for the call.

A function of numbers becomes a function of the kernel.  One that takes pointers, or that uses variables of the program,
has no meaning of its own on a device: its text is translated where it is called.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from clang.cindex import CursorKind, TranslationUnit, TypeKind

from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_constants import constant_of
from nomp.frontend.clang_paths import path_of
from nomp.frontend.clang_types import dtype_of, value_dtype

_independent: WeakKeyDictionary[TranslationUnit, dict[tuple[int, str], bool]] = WeakKeyDictionary()
"""What `is_independent` has found: it looks at all that a function reaches, and each call of it asks."""


def definition(call: Cursor) -> Cursor | None:
    """The definition of the function that *call* calls, None where it is not in this translation unit."""
    called = call.referenced
    if called is None or called.kind != CursorKind.FUNCTION_DECL:
        return None
    found: Cursor | None = called.get_definition()
    return found


def inlined(call: Cursor) -> Cursor | None:
    """The definition whose text stands in for *call*, None if there is none or it becomes a function."""
    found = definition(call)
    return found if found is not None and not is_independent(found) else None


def is_independent(function: Cursor) -> bool:
    """Whether the definition *function* takes numbers, gives one, and uses no variable but its own and constants."""
    known = _independent.setdefault(function.translation_unit, {})
    key = ast.key(function)
    if key not in known:
        known[key] = _is_independent(function)
    return known[key]


def _is_independent(function: Cursor) -> bool:
    if not value_dtype(function.result_type) or is_variadic(function):
        return False
    if not all(dtype_of(declared.type) for declared in function.get_arguments()):
        return False
    return not any(_uses_program(inner) for inner in reached(function, []))


def is_variadic(function: Cursor) -> bool:
    """Whether *function* is declared with ``...``."""
    return bool(function.type.kind == TypeKind.FUNCTIONPROTO and function.type.is_function_variadic())


def _uses_program(cursor: Cursor) -> bool:
    path = path_of(cursor) if cursor.kind == CursorKind.DECL_REF_EXPR else None
    if path is None or path.root.semantic_parent.kind != CursorKind.TRANSLATION_UNIT:
        return False
    return constant_of(path) is None


def reached(function: Cursor, seen: list[Cursor]) -> Iterator[Cursor]:
    """Everything in *function* and in the functions that it calls."""
    seen.append(function)
    for inner in ast.walk(function):
        yield inner
        callee = definition(inner) if inner.kind == CursorKind.CALL_EXPR else None
        if callee is not None and callee not in seen:
            yield from reached(callee, seen)
