"""Members of the elements of arrays of structs: each member is an array of its own, with a stride.

In: the lvalue ``p[i].pos.v[2]``.  Out: an `Element` of the array parameter ``p_pos_v``, whose element 0 is that of
``p[0]`` and whose subscript counts in elements of the member's type.  Called by `frontend.clang_expressions`.
Raises N210 and N211.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from clang.cindex import CursorKind

from nomp.arithmetic import SIZES, cast
from nomp.diagnostics import NompError
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor, Type
from nomp.frontend.clang_constants import is_table
from nomp.frontend.clang_context import Context, Key
from nomp.frontend.clang_elements import Element, folded, offset_by
from nomp.frontend.clang_paths import Path, path_of
from nomp.frontend.clang_types import is_address, is_array, is_in_union, is_pointer, is_record, is_unnamed, layout_of
from nomp.region import Binary, Const, Expr, Param, Stmt

Index = Callable[[Cursor], Expr]


@dataclass(frozen=True, slots=True)
class Spot:
    """A part of what *root* points to or holds.

    *host* is the C text of that part in the first struct; *offset* its bytes from there on; *terms* are subscripts with
    the bytes that they count.  *fields* are the members on the way, *union* says whether one on it is a union's.
    """

    root: Path
    host: str
    type: Type
    offset: int = 0
    terms: tuple[tuple[Expr, int], ...] = ()
    fields: tuple[Cursor, ...] = ()
    union: bool = False

    def first(self) -> Spot:
        """The first element of the array that this is."""
        return replace(self, host=f"({self.host})[0]", type=self.type.get_canonical().element_type)

    def field(self, field: Cursor) -> Spot:
        """The member *field* of the struct that this is."""
        inner = replace(self, type=field.type, union=self.union or is_in_union(field))
        if is_unnamed(field):
            return replace(inner, offset=self.offset + field.get_field_offsetof() // 8)
        offset = self.offset + self.type.get_canonical().get_offset(field.spelling) // 8
        return replace(inner, host=f"{self.host}.{field.spelling}", offset=offset, fields=(*self.fields, field))

    def moved(self, distance: Expr, size: int) -> Spot:
        """What is *distance* elements of *size* bytes further on."""
        return replace(self, terms=(*self.terms, (distance, size)))

    def settled(self, ctx: Context, name: str, cursor: Cursor) -> tuple[Spot, list[Stmt]]:
        """The same place whatever changes from now on, and the declarations, after *name*, that this takes."""
        distances, declared = ctx.settled([distance for distance, _ in self.terms], name, cursor)
        sizes = (size for _, size in self.terms)
        return replace(self, terms=tuple(zip(distances, sizes, strict=True))), declared


def member(ctx: Context, cursor: Cursor, index: Index) -> Element:
    """The member *cursor* of an array's element, as an element of that member's array."""
    return element_of(ctx, cursor, spot(ctx, cursor, index))


def element_of(ctx: Context, cursor: Cursor, spot: Spot) -> Element:
    """The member *spot*, which *cursor* mentions, as an element of that member's array."""
    layout = layout_of(spot.type)
    inner = [extent for extent in layout.extents if isinstance(extent, int)]
    if layout.dtype is None or len(inner) != len(layout.extents):
        advice = "kernels compute with _Bool, integers, float and double"
        message = f"member '{spot.fields[-1].spelling}' has type '{spot.type.spelling}'"
        raise ctx.refusal("N210", cursor, message, advice)
    for _ in inner:
        spot = spot.first()  # whatever part of a member is meant, its array is one
    size = SIZES[layout.dtype]
    _check_layout(ctx, cursor, spot, size)
    param = _parameter(ctx, cursor, spot, layout.dtype, size)
    return Element(param.name, layout.dtype, 1, (_sum(spot, size),))


def _sum(spot: Spot, size: int) -> Expr:
    total: Expr = Const(0, "int64")
    for distance, width in spot.terms:
        term = folded(Binary("*", distance, Const(width // size, "int64"), "int64"))
        total = offset_by("+", total, term)
    return total


def distances(one: object, other: object) -> tuple[Expr, Expr] | None:
    """How far two elements, or structs, are from a place in their row of an array; None where that is not known."""
    if isinstance(one, Element) and isinstance(other, Element):
        apart = replace(one, index=one.index[:-1]) != replace(other, index=other.index[:-1])
        return None if apart else (cast(one.index[-1], "int64"), cast(other.index[-1], "int64"))
    if not isinstance(one, Spot) or not isinstance(other, Spot):
        return None
    size = one.type.get_size()
    same = (one.root.key, one.host, one.offset) == (other.root.key, other.host, other.offset)
    if not same or any(width % size for _, width in (*one.terms, *other.terms)):
        return None
    return _sum(one, size), _sum(other, size)


def _check_layout(ctx: Context, cursor: Cursor, spot: Spot, size: int) -> None:
    for found in spot.fields:
        if found.is_bitfield():
            advice = "copy it to a variable before the loop"
            raise ctx.refusal("N210", cursor, f"'{found.spelling}' is a bit-field, which kernels cannot use", advice)
    if spot.union:
        advice = "use an array of its own for the value"
        message = f"'{spot.fields[-1].spelling}' is a member of a union in an array"
        raise ctx.refusal("N211", cursor, message, advice)
    if any(width % size for _, width in spot.terms) or spot.offset % size:
        advice = "keep this member in an array of its own"
        message = f"the structs' size is no multiple of that of member '{spot.fields[-1].spelling}'"
        raise ctx.refusal("N211", cursor, message, advice)


def _parameter(ctx: Context, cursor: Cursor, spot: Spot, dtype: str, size: int) -> Param:
    """The array parameter of this member of *spot*'s root."""
    host = f"&{spot.host}"
    key: Key = (*spot.root.key, "[]", host)
    if key not in ctx.params:
        name = "_".join([spot.root.name, *(found.spelling for found in spot.fields)])
        layout = layout_of(spot.root.type)
        known = is_array(spot.root.type) and all(isinstance(extent, int) for extent in layout.extents)
        loose = not known or (spot.root.root.kind == CursorKind.PARM_DECL and spot.root.field is None)
        extent = None if loose else Const((spot.root.type.get_size() - spot.offset) // size, "int64")
        kind = "table" if is_table(spot.root, layout) else "array"
        unique = ctx.names.unique(name)
        ctx.params[key] = Param(unique, dtype, kind, host, (extent,), place=ctx.place(cursor),  # type: ignore[arg-type]
                                record=spot.root.host, grid=tuple(_grid(spot)))  # fmt: skip
        ctx.fields[key] = spot.fields[-1]
    return ctx.params[key]


def _grid(spot: Spot) -> Iterator[tuple[int, int]]:
    """`Param.grid` of the member that *spot* is."""
    yield 1, layout_of(spot.root.type).element.get_size()
    for field in spot.fields:
        type_ = field.type.get_canonical()
        while is_array(type_):
            type_, count = type_.element_type.get_canonical(), type_.element_count
            yield count, type_.get_size()


# ------------------------------------------------------------------------------------------------ lvalues to spots


def is_member(ctx: Context, cursor: Cursor) -> bool:
    """Whether the lvalue *cursor* is a member of an array's element, or an element of such a member."""
    while cursor.kind != CursorKind.MEMBER_REF_EXPR:
        pointers = [c for c in ast.children(cursor) if is_address(c.type)]
        if cursor.kind == CursorKind.PAREN_EXPR:
            pointers = ast.children(cursor)
        if not pointers or cursor.kind not in _STEPS:
            return False
        cursor = pointers[0]
    path = path_of(cursor, ctx.places)
    return path is None or ctx.is_element(path.key)


_STEPS = (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR, CursorKind.ARRAY_SUBSCRIPT_EXPR, CursorKind.UNARY_OPERATOR,
          CursorKind.BINARY_OPERATOR)  # fmt: skip


def spot(ctx: Context, cursor: Cursor, index: Index) -> Spot:
    """The part that the lvalue *cursor* is."""
    path = path_of(cursor, ctx.places)
    holds = path is not None and is_array(path.type) and is_record(layout_of(path.type).element)
    if path and holds and not ctx.is_element(path.key):
        return Spot(path, path.host, path.type)
    inner = ast.children(cursor)
    if cursor.kind == CursorKind.PAREN_EXPR:
        return spot(ctx, inner[0], index)
    if cursor.kind == CursorKind.MEMBER_REF_EXPR and inner:
        base = target(ctx, inner[0], index) if is_address(inner[0].type) else spot(ctx, inner[0], index)
        return base.field(cursor.referenced)
    if cursor.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
        base, number = inner if is_address(inner[0].type) else inner[::-1]
        return target(ctx, base, index).moved(index(number), cursor.type.get_size())
    if ast.operator(cursor) == "*":
        return target(ctx, inner[0], index)
    raise _not_a_member(ctx, cursor)


def target(ctx: Context, cursor: Cursor, index: Index) -> Spot:
    """The part that the pointer *cursor* points to."""
    inner, operator, path = ast.children(cursor), ast.operator(cursor), path_of(cursor, ctx.places)
    if path and path.key in ctx.spots:
        known: Spot = ctx.spots[path.key]
        return known
    if path and path.key in ctx.places:
        advice = "use its members, ps->m"
        raise ctx.refusal("N211", cursor, f"'{path.host}' points to one struct, not to an array of them", advice)
    if path and is_pointer(path.type) and not ctx.is_element(path.key):
        element = layout_of(path.type).element
        if is_record(element):
            return Spot(path, f"({path.host})[0]", element)
    held = ast.bare(cursor)
    if cursor.kind == CursorKind.UNEXPOSED_EXPR and is_array(held.type) and held.kind != CursorKind.BINARY_OPERATOR:
        return spot(ctx, held, index).first()
    if cursor.kind in (CursorKind.PAREN_EXPR, CursorKind.UNEXPOSED_EXPR):
        return target(ctx, inner[0], index)
    if operator in ("+", "-") and cursor.kind == CursorKind.BINARY_OPERATOR and is_address(cursor.type):
        return _moved(ctx, cursor, index, operator)
    if operator == "&":
        return spot(ctx, inner[0], index)
    raise _not_a_member(ctx, cursor)


def _moved(ctx: Context, cursor: Cursor, index: Index, operator: str) -> Spot:
    left, right = ast.children(cursor)
    base, number = (left, right) if is_address(left.type) else (right, left)
    whole = cursor.type.get_canonical()
    distance = index(number)
    size = (whole.get_pointee() if is_pointer(whole) else whole.element_type).get_size()
    return target(ctx, base, index).moved(distance, size if operator == "+" else -size)


def _not_a_member(ctx: Context, cursor: Cursor) -> NompError:
    if cursor.kind == CursorKind.MEMBER_REF_EXPR and is_pointer(cursor.type):
        advice = "keep the elements that it points to in one array for all structs"
        return ctx.refusal("N211", cursor, f"'{cursor.spelling}' is a pointer in an array of structs", advice)
    advice = "use elements p[i].m of an array of structs, or of a pointer that does not change in the loop"
    return ctx.refusal("N211", cursor, "this is not an array of structs or an element of one", advice)
