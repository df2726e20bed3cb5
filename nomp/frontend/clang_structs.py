"""Whole structs: variables of a struct type that a region declares, and assignments of structs, member by member.

In: cursors of declarations and assignments.  Out: a declaration or an assignment for each member; padding is left
alone.  Called by `frontend.clang_statements`.  Raises N210, N211 and N220.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, product
from math import prod
from typing import Any

from clang.cindex import CursorKind

from nomp.arithmetic import cast
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor, Type
from nomp.frontend.clang_choices import perhaps
from nomp.frontend.clang_context import Context, Key, Local
from nomp.frontend.clang_expressions import element_of_path, scalar_of_path, spot_of, value
from nomp.frontend.clang_initialisers import refuse_many, row
from nomp.frontend.clang_paths import Path, path_of
from nomp.frontend.clang_records import Spot, element_of
from nomp.frontend.clang_types import is_array, is_in_union, is_record, is_unnamed, layout_of
from nomp.frontend.clang_writer import Statements
from nomp.region import Assign, Const, Declare, Expr, If, Load, Place, Stmt, Var
from nomp.walks import walk_expr

Fields = tuple[Cursor, ...]
Subscripts = tuple[int, ...]
_ZERO = Const(0, "int32")


@dataclass(frozen=True, slots=True)
class Member:
    """A scalar or an array of scalars in a struct, and the way to it."""

    fields: Fields
    dtype: str
    shape: tuple[int, ...]

    def places(self) -> Iterator[Subscripts]:
        """The subscripts of its elements; one empty one for a scalar."""
        return product(*map(range, self.shape))


Part = Callable[[Member, Subscripts], Var | Load]


def members(ctx: Context, cursor: Cursor, type_: Type, outer: Fields = ()) -> Iterator[Member]:
    """The members of the struct *type_*, nested ones included."""
    for field in type_.get_canonical().get_fields():
        fields, layout = (*outer, field), layout_of(field.type)
        shape = tuple(extent for extent in layout.extents if isinstance(extent, int))
        if field.is_bitfield() or is_in_union(field):
            raise _unusable(ctx, cursor, field, "is a bit-field or a member of a union")
        if is_record(field.type):
            yield from members(ctx, cursor, field.type, fields)
        elif layout.dtype is None or len(shape) != len(layout.extents):
            raise _unusable(ctx, cursor, field, f"has type '{field.type.spelling}'")
        else:
            yield Member(fields, layout.dtype, shape)


def _unusable(ctx: Context, cursor: Cursor, field: Cursor, why: str) -> Exception:
    advice = "use the other members one by one"
    message = f"a struct cannot be used as a whole: its member '{field.spelling}' {why}"
    return ctx.refusal("N211", cursor, message, advice)


def declare(ctx: Context, declared: Cursor, first: Cursor | None) -> Iterator[Stmt]:
    """A variable for each member of the struct that *declared* declares, set from its initialiser *first*."""
    key = ast.key(declared)
    for member in list(members(ctx, declared, declared.type)):
        name = ctx.names.unique("_".join([declared.spelling, *_names(member.fields)]))
        shape = tuple(Const(extent, "int64") for extent in member.shape)
        ctx.locals[(*key, *_names(member.fields))] = Local(name, member.dtype, shape)
        yield Declare(name, member.dtype, shape, None, ctx.place(declared))
    ctx.structs.add(key)
    if first is not None:
        yield from _chosen(ctx, declared, first, lambda given: tuple(
            Assign(target, value_, ctx.place(declared))
            for target, value_ in _set(ctx, declared, declared.type, lambda m, at: _own(ctx, key, m, at), given)
        ))  # fmt: skip


def _own(ctx: Context, key: Key, member: Member, place: Subscripts) -> Var | Load:
    local = ctx.locals[(*key, *_names(member.fields))]
    assert local is not None
    index = tuple(Const(i, "int64") for i in place)
    return Load(local.name, index, local.dtype) if index else Var(local.name, local.dtype)


@dataclass(frozen=True, slots=True)
class _Whole:
    """A struct that has been translated, to be read or written as often as need be: its members by *part*."""

    type: Type
    part: Part


def assign(ctx: Context, cursor: Cursor, target: Cursor, given: Cursor) -> Statements:
    """``target = given`` for structs, all of which is read before any of it is written."""

    def copy(found: Cursor | _Whole) -> Statements:
        return _copy(ctx, cursor, _Whole(target.type, _parts(ctx, target)), found)

    return _chosen(ctx, cursor, given, copy)


def _chosen(ctx: Context, cursor: Cursor, given: Cursor, copy: Callable[[Cursor | _Whole], Statements]) -> Statements:
    """What *copy* makes of the struct *given*: of each branch of a ``?:``, or of what an assignment sets."""
    inner = ast.bare(given)
    if inner.kind == CursorKind.CONDITIONAL_OPERATOR:
        first, then, other = ast.children(inner)
        test = value(ctx, first)
        one, two = (perhaps(ctx, partial(_chosen, ctx, cursor, branch, copy)) for branch in (then, other))
        return (If(test, (*one[0], *one[1]), (*two[0], *two[1]), ctx.place(cursor)),)
    if ast.operator(inner) == "=":
        target, source = ast.children(inner)
        kept, whole = _kept(ctx, target)
        return (*kept, *_chosen(ctx, inner, source, lambda found: _copy(ctx, inner, whole, found)), *copy(whole))
    return copy(given)


def _kept(ctx: Context, cursor: Cursor) -> tuple[Statements, _Whole]:
    """The struct that the lvalue *cursor* is, and the variables that keep its place while it is written."""
    path = path_of(cursor, ctx.places)
    if path and not ctx.is_element(path.key):
        return (), _Whole(cursor.type, _parts(ctx, cursor))
    spot, kept = spot_of(ctx, cursor).settled(ctx, "chained", cursor)
    return tuple(kept), _Whole(cursor.type, _parts_of_spot(ctx, cursor, spot))


def _copy(ctx: Context, cursor: Cursor, target: _Whole, given: Cursor | _Whole) -> Statements:
    pairs = list(_set(ctx, cursor, target.type, target.part, given))
    before = _Before(ctx, ctx.place(cursor), {part.name for part, _ in pairs if isinstance(part, Var)}, {})
    listed = not isinstance(given, _Whole) and _without_type(given).kind == CursorKind.INIT_LIST_EXPR
    assigned = [
        Assign(before.location(part), before.value(found) if listed else before.location(found), before.at)
        for part, found in pairs
    ]  # two structs are one, or apart
    return (*before.declared.values(), *assigned)


@dataclass(slots=True)
class _Before:
    """What an assignment reads that it may change, in variables that are declared before it.

    *written* are the variables that it sets; elements that it sets may be any that it reads.
    """

    ctx: Context
    at: Place
    written: set[str]
    declared: dict[Expr, Declare]

    def value(self, expr: Expr) -> Expr:
        """*expr* as it is before the assignment."""
        if not any(isinstance(n, Load) or (isinstance(n, Var) and n.name in self.written) for n in walk_expr(expr)):
            return expr
        if expr not in self.declared:
            self.declared[expr] = Declare(self.ctx.names.unique("before"), expr.dtype, (), expr, self.at)
        return Var(self.declared[expr].name, expr.dtype)

    def location(self, part: Any) -> Any:
        """The variable or element *part*, with subscripts as they are before the assignment."""
        return replace(part, index=tuple(map(self.value, part.index))) if isinstance(part, Load) else part


def _set(
    ctx: Context, cursor: Cursor, type_: Type, target: Part, given: Cursor | _Whole
) -> Iterator[tuple[Var | Load, Expr]]:
    """What *target* says of each member of the struct *type_*, with the value that it has in *given*."""
    found = list(members(ctx, cursor, type_))
    refuse_many(ctx, cursor, sum(prod(member.shape) for member in found))
    source = given.part if isinstance(given, _Whole) else _source(ctx, found, _without_type(given), type_)
    for member in found:
        for place in member.places():
            yield target(member, place), cast(source(member, place), member.dtype)


def _source(ctx: Context, found: list[Member], given: Cursor, type_: Type) -> Callable[[Member, Subscripts], Expr]:
    """What the members *found* are in the struct or initialiser list *given*; what a list leaves out is zero."""
    if given.kind != CursorKind.INIT_LIST_EXPR:
        return _parts(ctx, given)
    values: dict[tuple[tuple[str, ...], Subscripts], Expr]
    values = {(_names(member.fields), place): _ZERO for member in found for place in member.places()}
    for known, given_value in _values(ctx, given, type_):
        assert known in values
        values[known] = given_value
    return lambda member, place: values[_names(member.fields), place]


def _without_type(given: Cursor) -> Cursor:
    """The list in a compound literal; any other expression as it is."""
    given = ast.bare(given)
    return ast.children(given)[-1] if given.kind == CursorKind.COMPOUND_LITERAL_EXPR else given


def _names(fields: Fields) -> tuple[str, ...]:
    return tuple(field.spelling for field in fields if not is_unnamed(field))


def _parts(ctx: Context, cursor: Cursor) -> Part:
    """The members of the struct that the lvalue *cursor* is, which is translated once, with what it changes."""
    path = path_of(cursor, ctx.places)
    if path and not ctx.is_element(path.key):
        return lambda member, place: _part_of_path(ctx, cursor, path, member, place)
    if cursor.kind not in _LVALUES:
        advice = "assign its members one by one"
        raise ctx.refusal("N211", cursor, "a whole struct cannot be computed in a kernel", advice)
    return _parts_of_spot(ctx, cursor, spot_of(ctx, cursor))


def _parts_of_spot(ctx: Context, cursor: Cursor, whole: Spot) -> Part:
    def part(member: Member, place: Subscripts) -> Load:
        spot = whole
        for field in member.fields:
            spot = spot.field(field)
        for i in place:
            spot = spot.first()
            spot = spot.moved(Const(i, "int64"), spot.type.get_size())
        found = element_of(ctx, cursor, spot)
        return Load(found.array, found.index, found.dtype, ctx.place(cursor))

    return part


def _part_of_path(ctx: Context, cursor: Cursor, path: Path, member: Member, place: Subscripts) -> Var | Load:
    for field in member.fields:
        path = path.member(field)
    if not place:
        return scalar_of_path(ctx, cursor, path)
    whole = element_of_path(ctx, cursor, path)
    index = tuple(Const(i, "int64") for i in place)
    return Load(whole.array, index, whole.dtype, ctx.place(cursor))


_LVALUES = (CursorKind.ARRAY_SUBSCRIPT_EXPR, CursorKind.MEMBER_REF_EXPR, CursorKind.UNARY_OPERATOR,
            CursorKind.PAREN_EXPR, CursorKind.DECL_REF_EXPR)  # fmt: skip


def _values(
    ctx: Context, given: Cursor, type_: Type, outer: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[tuple[str, ...], Subscripts], Expr]]:
    """The values in the initialiser list *given* of a struct of *type_*, by member and subscripts."""
    fields = list(type_.get_canonical().get_fields())
    position: int | None = 0
    for child in ast.children(given):
        way, inner = _designated(ctx, child)
        if way[1:]:
            position, names, field, place = None, *_followed(ctx, way)
        elif position is None and not way:
            raise _odd(ctx, child, "name the member that it sets")
        else:
            position = [field.spelling for field in fields].index(way[0].spelling) if way else position or 0
            names, field, place = (), fields[position], ()
            position += 1
        here = (*outer, *names) if is_unnamed(field) else (*outer, *names, field.spelling)
        shape = [extent for extent in layout_of(field.type).extents if isinstance(extent, int)][len(place) :]
        if not shape and not is_record(field.type):
            yield (here, place), value(ctx, ast.children(inner)[0] if _braced(inner) else inner)
        elif not (_braced(inner) or (shape and inner.kind == CursorKind.STRING_LITERAL)):
            raise _odd(ctx, inner, "give each member that is a struct or an array braces of its own")
        elif is_record(field.type):
            parts = list(members(ctx, inner, field.type))
            yield from ((((*here, *_names(m.fields)), at), _ZERO) for m in parts for at in m.places())
            yield from _values(ctx, inner, field.type, here)
        else:
            places = list(product(*map(range, shape)))
            yield from (((here, (*place, *places[n])), found) for n, found in row(ctx, inner, 0, shape))


def _designated(ctx: Context, child: Cursor) -> tuple[list[Cursor], Cursor]:
    """The way to the member in ``.m[i].n = value``, and the value; any other *child* as it is."""
    *way, given = ast.children(child) or [child]
    named = child.kind == CursorKind.UNEXPOSED_EXPR and way and way[0].kind == CursorKind.MEMBER_REF
    return (way, given) if named else ([], child)


def _followed(ctx: Context, way: list[Cursor]) -> tuple[tuple[str, ...], Cursor, Subscripts]:
    """The names on the *way* to a member, the member, and the subscripts at its end.

    Structs without names are on the way, too, but nowhere in the source.
    """
    names: tuple[str, ...] = ()
    place: list[int] = []
    found = way[0].referenced
    for before, step in pairwise(way):
        number = ast.evaluate(step)
        if step.kind == CursorKind.MEMBER_REF and not place:
            names, found = (*names, *_names((found,))), step.referenced
        elif isinstance(number, int) and place and _is_range(ctx, before, step):
            raise _odd(ctx, step, "give the elements one by one")
        elif isinstance(number, int) and is_array(found.type) and len(place) < len(layout_of(found.type).extents):
            place.append(number)
        else:
            raise _odd(ctx, step, "give the struct in it braces of its own")
    return names, found, tuple(place)


def _is_range(ctx: Context, low: Cursor, high: Cursor) -> bool:
    """Whether ``[low ... high]`` stands in the source, or perhaps in a macro."""
    between = ctx.source.data[ast.end(low) : ast.begin(high)]
    return b"..." in between or b"]" not in between


def _odd(ctx: Context, cursor: Cursor, advice: str) -> Exception:
    return ctx.refusal("N220", cursor, "this initialiser cannot be used in a kernel", advice)


def _braced(cursor: Cursor) -> bool:
    return bool(cursor.kind == CursorKind.INIT_LIST_EXPR)
