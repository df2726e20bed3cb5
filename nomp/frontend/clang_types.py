"""C types in the loop IR: clang's types to dtypes and array shapes.

Called by the other ``clang_*`` modules.  Sizes are those of LP64 (a `long` has 64 bits).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from clang.cindex import CursorKind, TypeKind

from nomp.frontend.clang_ast import Cursor, Type

_DTYPES = {
    TypeKind.BOOL: "bool",
    TypeKind.CHAR_S: "int8",
    TypeKind.SCHAR: "int8",
    TypeKind.CHAR_U: "uint8",
    TypeKind.UCHAR: "uint8",
    TypeKind.SHORT: "int16",
    TypeKind.USHORT: "uint16",
    TypeKind.INT: "int32",
    TypeKind.UINT: "uint32",
    TypeKind.LONG: "int64",
    TypeKind.ULONG: "uint64",
    TypeKind.LONGLONG: "int64",
    TypeKind.ULONGLONG: "uint64",
    TypeKind.FLOAT: "float32",
    TypeKind.DOUBLE: "float64",
}
_ARRAYS = (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.VARIABLEARRAY)


def dtype_of(type_: Type) -> str | None:
    """The dtype of an arithmetic type, None for every other type and for volatile and atomic ones."""
    return None if type_.get_canonical().is_volatile_qualified() else value_dtype(type_)


def value_dtype(type_: Type) -> str | None:
    """`dtype_of` for the type of a function's result, in which ``volatile`` means nothing."""
    canonical = type_.get_canonical()
    if canonical.kind == TypeKind.ENUM:
        return dtype_of(canonical.get_declaration().enum_type)
    return _DTYPES.get(canonical.kind)


def is_record(type_: Type) -> bool:
    """Whether *type_* is a struct or union."""
    return bool(type_.get_canonical().kind == TypeKind.RECORD)


def is_unnamed(field: Any) -> bool:
    """Whether *field* is a struct or union without a name, whose members count as those of the struct around it."""
    return not field.spelling.isidentifier()


def members_of(record: Type) -> Iterator[Cursor]:
    """The members of *record* that have names, those of unnamed structs and unions in it included."""
    for field in record.get_canonical().get_fields():
        if is_unnamed(field):
            yield from members_of(field.type)
        else:
            yield field


def is_in_union(field: Cursor) -> bool:
    """Whether *field* shares its memory with members of other names."""
    parent = field.semantic_parent
    while parent.kind == CursorKind.STRUCT_DECL:  # one without a name, which is itself a member
        parent = parent.semantic_parent
    return bool(parent.kind == CursorKind.UNION_DECL)


def is_pointer(type_: Type) -> bool:
    """Whether *type_* is a pointer."""
    return bool(type_.get_canonical().kind == TypeKind.POINTER)


def is_array(type_: Type) -> bool:
    """Whether *type_* is an array."""
    return type_.get_canonical().kind in _ARRAYS


def is_address(type_: Type) -> bool:
    """Whether *type_* is a pointer, or an array, which is what libclang calls some parameters."""
    return is_pointer(type_) or is_array(type_)


@dataclass(frozen=True, slots=True)
class Layout:
    """What a pointer or array type holds.  *extents*: a number, None where C gives none, "" where it is a VLA's."""

    dtype: str | None
    element: Type
    extents: tuple[int | str | None, ...]


def layout_of(type_: Type) -> Layout:
    """The elements and extents behind *type_*; a pointer counts as an array of unknown extent, once, outermost."""
    extents: list[int | str | None] = []
    current = type_.get_canonical()
    if current.kind == TypeKind.POINTER:
        extents.append(None)
        current = current.get_pointee().get_canonical()
    while current.kind in _ARRAYS:
        known = {TypeKind.CONSTANTARRAY: current.element_count if current.kind == _ARRAYS[0] else None,
                 TypeKind.VARIABLEARRAY: ""}  # fmt: skip
        extents.append(known.get(current.kind))
        current = current.element_type.get_canonical()
    return Layout(dtype_of(current), current, tuple(extents))
