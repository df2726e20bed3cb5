"""C expressions to typed `region` expressions.

In: a cursor and the region's `Context`.  Out: an expression whose types are those that clang gives after C's
conversions (its implicit casts are cursors of their own).  Pointers have no value in the loop IR: what points into an
array becomes an `Element` of it, which folds ``*p``, ``*(p + k)``, ``&a[k]`` and ``(p + i)[j]`` into subscripts.

Raises N208 to N213 and N220, each with its place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from clang.cindex import CursorKind

from nomp.arithmetic import cast, promoted
from nomp.diagnostics import NompError
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_callees import definition, is_independent
from nomp.frontend.clang_calls import call
from nomp.frontend.clang_choices import chosen, decided
from nomp.frontend.clang_constants import constant_of
from nomp.frontend.clang_context import Context
from nomp.frontend.clang_elements import Element, folded, number, offset_by
from nomp.frontend.clang_paths import Path, path_of, pointed
from nomp.frontend.clang_records import Spot, distances, is_member, member, spot, target
from nomp.frontend.clang_sizes import size_of
from nomp.frontend.clang_types import dtype_of, is_address, is_array, is_record, layout_of
from nomp.region import COMPARISONS, Binary, Const, Expr, Load, Unary, Var

_ARITHMETIC = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^")
_LITERALS = (CursorKind.INTEGER_LITERAL, CursorKind.CHARACTER_LITERAL, CursorKind.FLOATING_LITERAL,
             CursorKind.CXX_UNARY_EXPR, CursorKind.CXX_BOOL_LITERAL_EXPR)  # fmt: skip
_KINDS = {
    CursorKind.StmtExpr: "a statement expression",
    CursorKind.COMPOUND_LITERAL_EXPR: "a compound literal",
    CursorKind.INIT_LIST_EXPR: "an initialiser list",
    CursorKind.GENERIC_SELECTION_EXPR: "a generic selection",
    CursorKind.IMAGINARY_LITERAL: "a complex number",
    CursorKind.ADDR_LABEL_EXPR: "a label's address",
}
_ARRAYS = (CursorKind.STRING_LITERAL, CursorKind.COMPOUND_LITERAL_EXPR)
_ZERO = Const(0, "int32")


def value(ctx: Context, cursor: Cursor) -> Expr:
    """The value of the arithmetic expression *cursor*, in the type that C gives it."""
    return _TRANSLATORS.get(cursor.kind, _unknown)(ctx, cursor)


# --------------------------------------------------------------------------------------------- variables and elements


def location(ctx: Context, cursor: Cursor) -> Var | Load:
    """The scalar variable or array element that the lvalue *cursor* is."""
    path = variable_of(ctx, cursor)
    if path and dtype_of(path.type):
        return scalar_of_path(ctx, cursor, path)
    element = _element(ctx, cursor)
    if isinstance(element, Var):
        return replace(element, place=ctx.place(cursor))
    if len(element.index) < element.rank:
        advice = "use its elements one by one"
        raise ctx.refusal("N211", cursor, f"'{element.array}' is used without a subscript for each dimension", advice)
    return Load(element.array, element.index, element.dtype, ctx.place(cursor), element.flat)


def scalar_of_path(ctx: Context, cursor: Cursor, path: Path) -> Var:
    """The scalar variable *path*, which *cursor* mentions."""
    _check_member(ctx, cursor, path)
    if ctx.capture is not None:
        ctx.capture(cursor, path)
    local = ctx.counters.get(path.key) or ctx.locals.get(path.key) or ctx.params.get(path.key)
    if local is None and path.key in ctx.counted:
        raise ctx.be_variable(path.key)
    if local is None and path.key in ctx.values:
        advice = "use another variable for the value"
        raise ctx.refusal("N208", cursor, f"parameter '{path.host}' changes in a function that is called here", advice)
    if local is None:
        raise NompError(())  # what refused the variable said why
    return Var(local.name, local.dtype, ctx.place(cursor))


def _check_member(ctx: Context, cursor: Cursor, path: Path) -> None:
    if path.field is not None and path.field.is_bitfield():
        advice = "copy it to a variable before the loop"
        raise ctx.refusal("N210", cursor, f"'{path.host}' is a bit-field, which kernels cannot use", advice)


def variable_of(ctx: Context, cursor: Cursor) -> Path | None:
    """The variable that *cursor* is, a member of one included unless it counts as an array's element."""
    path = path_of(cursor, ctx.places)
    return None if path is None or ctx.is_element(path.key) else path


def _element(ctx: Context, cursor: Cursor) -> Element | Var:
    """The part of an array that the lvalue *cursor* is, or the variable that a parameter points to."""
    path = variable_of(ctx, cursor)
    if path:
        return element_of_path(ctx, cursor, path)
    if is_member(ctx, cursor):
        _be_silent_if_refused(ctx, cursor)
        return member(ctx, cursor, lambda index: _distance(ctx, index))
    if cursor.kind == CursorKind.PAREN_EXPR:
        return _element(ctx, ast.children(cursor)[0])
    if cursor.kind == CursorKind.ARRAY_SUBSCRIPT_EXPR:
        left, right = ast.children(cursor)
        base, index = (left, right) if is_address(left.type) else (right, left)
        return _moved(ctx, cursor, base, _subscript(ctx, index))
    if ast.operator(cursor) == "*":
        return pointee(ctx, ast.children(cursor)[0])
    if cursor.kind in _ARRAYS and is_array(cursor.type) and ctx.literal is not None:
        return ctx.literal(cursor)
    return _not_an_array(ctx, cursor)


def _moved(ctx: Context, cursor: Cursor, base: Cursor, offset: Expr) -> Element | Var:
    found = pointee(ctx, base)
    if isinstance(found, Element):
        base = ast.bare(base)
        path = path_of(base)
        return found.moved(offset, pointer=not is_array(base.type) or bool(path and path.key in ctx.aliases))
    if isinstance(offset, Const) and offset.value == 0:
        return found
    advice = "declare an array for it"
    raise ctx.refusal("N211", cursor, f"'{found.name}' is one variable, not an array", advice)


def _subscript(ctx: Context, cursor: Cursor) -> Expr:
    index = value(ctx, cursor)
    return cast(index, promoted(index.dtype))


def _distance(ctx: Context, cursor: Cursor) -> Expr:
    return cast(_subscript(ctx, cursor), "int64")


def spot_of_pointer(ctx: Context, cursor: Cursor) -> Spot | Path:
    """What the pointer to a struct *cursor* points to: an element of an array, or the path of another struct."""
    place = pointed(cursor, ctx.places)
    if place is not None and not ctx.is_element(place.key):
        return place
    return target(ctx, cursor, lambda index: _distance(ctx, index))


def spot_of(ctx: Context, cursor: Cursor) -> Spot:
    """The element of an array of structs that the lvalue *cursor* is."""
    return spot(ctx, cursor, lambda index: _distance(ctx, index))


def element_of_path(ctx: Context, cursor: Cursor, path: Path) -> Element:
    """The whole array, or all that a pointer points to, without a subscript."""
    _check_member(ctx, cursor, path)
    if path.key in ctx.aliases:
        return _not_an_array(ctx, cursor)
    if ctx.capture is not None:
        ctx.capture(cursor, path)
    local = ctx.locals.get(path.key)
    if local:
        return Element(local.name, local.dtype, len(local.shape))
    param = ctx.params.get(path.key)
    if param is None or not param.shape:
        if ctx.is_refused(path.key):
            raise NompError(())
        return _not_an_array(ctx, cursor)
    return Element(param.name, param.dtype, len(param.shape))


def pointee(ctx: Context, cursor: Cursor) -> Element | Var:
    """What the pointer *cursor* (or the array that decays to it) points to."""
    if cursor.kind == CursorKind.PAREN_EXPR:
        return pointee(ctx, ast.children(cursor)[0])
    if cursor.kind == CursorKind.UNEXPOSED_EXPR:
        (inner,) = ast.children(cursor)
        return pointee(ctx, inner)
    if cursor.kind == CursorKind.CSTYLE_CAST_EXPR:
        return _cast_pointer(ctx, cursor)
    path, operator = path_of(cursor), ast.operator(cursor)
    if path and path.key in ctx.aliases:
        return ctx.aliases[path.key]
    if operator in ("+", "-") and cursor.kind == CursorKind.BINARY_OPERATOR:
        return _moved_pointer(ctx, cursor, operator)
    if operator == "&":
        target = ast.children(cursor)[0]
        path = variable_of(ctx, target)
        if path and dtype_of(path.type):
            return scalar_of_path(ctx, target, path)
        found = _element(ctx, target)
        return found if isinstance(found, Var) or found.index else _not_an_array(ctx, cursor)
    found = _element(ctx, cursor)
    whole = isinstance(found, Var) or len(found.index) == found.rank
    return found if isinstance(found, Var) or whole else replace(found, index=(*found.index, _ZERO))


def _moved_pointer(ctx: Context, cursor: Cursor, operator: str) -> Element | Var:
    left, right = ast.children(cursor)
    base, offset = (left, right) if is_address(left.type) else (right, left)
    if is_address(offset.type):
        return _not_an_array(ctx, cursor)
    distance = _subscript(ctx, offset)
    moved = distance if operator == "+" else offset_by("-", _ZERO, distance)
    return _moved(ctx, cursor, base, moved)


def _cast_pointer(ctx: Context, cursor: Cursor) -> Element | Var:
    inner = ast.children(cursor)[-1]
    before, after = layout_of(ast.bare(inner).type), layout_of(cursor.type)
    same = (before.dtype, before.extents[1:]) == (after.dtype, after.extents[1:])
    if is_address(inner.type) and same and after.dtype:
        return pointee(ctx, inner)
    advice = "declare a pointer of that type before the loop"
    raise ctx.refusal("N211", cursor, "a pointer cannot be converted to another type in a kernel", advice)


def _be_silent_if_refused(ctx: Context, cursor: Cursor) -> None:
    """Raise an error without a message where a variable in *cursor* was refused before: that explains this one."""
    if any(path and ctx.is_refused(path.key) for path in map(path_of, ast.walk(cursor))):
        raise NompError(())


def _not_an_array(ctx: Context, cursor: Cursor) -> Element:
    _be_silent_if_refused(ctx, cursor)
    if cursor.kind in _KINDS:
        _unknown(ctx, cursor)
    what = "this pointer" if is_address(cursor.type) else "this"
    advice = "use elements a[i] of an array, or of a pointer that does not change in the loop"
    raise ctx.refusal("N211", cursor, f"{what} is not an array or an element of one", advice)


# --------------------------------------------------------------------------------------------------------- values


def _dtype(ctx: Context, cursor: Cursor) -> str:
    dtype = dtype_of(cursor.type)
    if dtype:
        return dtype
    if is_address(cursor.type):
        raise ctx.refusal("N211", cursor, "a pointer is used as a value", "use the elements that it points to")
    advice = "kernels compute with _Bool, integers, float and double"
    raise ctx.refusal("N210", cursor, f"type '{cursor.type.spelling}' cannot be used in a kernel", advice)


def _inner(ctx: Context, cursor: Cursor) -> Expr:
    return value(ctx, ast.children(cursor)[0])


def _implicit(ctx: Context, cursor: Cursor) -> Expr:
    inner = ast.children(cursor)
    if len(inner) != 1:
        return _unknown(ctx, cursor)
    dtype = _dtype(ctx, cursor)
    return cast(value(ctx, inner[0]), dtype)


def _constant(ctx: Context, cursor: Cursor) -> Expr:
    dtype = _dtype(ctx, cursor)
    found = ast.evaluate(cursor)
    return size_of(ctx, cursor) if found is None else number(found, dtype)


def _reference(ctx: Context, cursor: Cursor) -> Expr:
    declared = cursor.referenced
    if declared is not None and declared.kind == CursorKind.ENUM_CONSTANT_DECL:
        return Const(declared.enum_value, _dtype(ctx, cursor))
    if declared is not None and declared.kind == CursorKind.FUNCTION_DECL:
        advice = "call functions of <math.h> by their names"
        raise ctx.refusal("N208", cursor, f"function '{cursor.spelling}' is used as a value", advice)
    return _lvalue(ctx, cursor)


def _lvalue(ctx: Context, cursor: Cursor) -> Expr:
    path = path_of(cursor, ctx.places)
    if path and path.key in ctx.values:
        return ctx.values[path.key]
    constant = constant_of(path) if path else None
    if constant is not None:
        return constant
    if is_record(cursor.type):
        raise ctx.refusal("N211", cursor, "a whole struct cannot be used in a kernel", "use its members one by one")
    found = location(ctx, cursor)
    _dtype(ctx, cursor)
    return found


def _unary(ctx: Context, cursor: Cursor) -> Expr:
    operator = ast.operator(cursor)
    if operator == "*":
        return _lvalue(ctx, cursor)
    if operator.replace("x", "") in ("++", "--"):
        return _stored(ctx, cursor, f"'{operator.replace('x', '')}'")
    if operator not in ("+", "-", "~", "!"):
        return _unknown(ctx, cursor)
    operand, dtype = _inner(ctx, cursor), _dtype(ctx, cursor)
    return operand if operator == "+" else folded(Unary(operator, operand, dtype))


def _binary(ctx: Context, cursor: Cursor) -> Expr:
    operator = ast.operator(cursor)
    if operator not in (*_ARITHMETIC, *COMPARISONS, "&&", "||"):
        return _stored(ctx, cursor, "a comma" if operator == "," else "an assignment")
    first, second = ast.children(cursor)
    if is_address(first.type) and is_address(second.type) and operator not in ("&&", "||"):
        left, right = _places(ctx, cursor, first, second)
        return folded(Binary(operator, left, right, _dtype(ctx, cursor)))
    left, dtype = _operand(ctx, cursor, first), _dtype(ctx, cursor)
    if operator in ("&&", "||"):
        return decided(ctx, cursor, operator, left, lambda: _operand(ctx, cursor, second))
    right = _operand(ctx, cursor, second)
    if operator in ("<<", ">>"):
        right = cast(right, dtype)  # C converts each side by itself; counts that C defines fit either type
    return folded(Binary(operator, left, right, dtype))


def _stored(ctx: Context, cursor: Cursor, what: str) -> Expr:
    """The value of an assignment, which is carried out before the statement at hand."""
    _dtype(ctx, cursor)
    if ctx.hoisted is None or ctx.store is None:
        message = f"{what} is used as a value where it may be evaluated never or several times"
        raise ctx.refusal("N209", cursor, message, "make it a statement of its own")
    return ctx.store(cursor)


def _operand(ctx: Context, cursor: Cursor, child: Cursor) -> Expr:
    if is_address(child.type):
        raise ctx.refusal("N211", cursor, "a pointer is tested", "test it before the loop")
    return value(ctx, child)


def _places(ctx: Context, cursor: Cursor, first: Cursor, second: Cursor) -> tuple[Expr, Expr]:
    """How far two pointers into one array are from a place in it, in what they point to."""
    follow = spot_of_pointer if is_record(layout_of(first.type).element) else pointee
    found = distances(follow(ctx, first), follow(ctx, second))
    if found is None:
        message = "pointers are compared or subtracted that are not seen to point into one row of an array"
        raise ctx.refusal("N211", cursor, message, "compare subscripts instead")
    return found


def _conditional(ctx: Context, cursor: Cursor) -> Expr:
    dtype = _dtype(ctx, cursor)
    first, then, other = ast.children(cursor)
    return chosen(ctx, cursor, value(ctx, first), (partial(value, ctx, then), partial(value, ctx, other)), dtype)


def _explicit(ctx: Context, cursor: Cursor) -> Expr:
    dtype = _dtype(ctx, cursor)
    return cast(value(ctx, ast.children(cursor)[-1]), dtype)


def _compound_literal(ctx: Context, cursor: Cursor) -> Expr:
    """``(int){n}``."""
    given, dtype = ast.children(cursor)[-1], dtype_of(cursor.type)
    if dtype is None or len(ast.children(given)) != 1:
        return _unknown(ctx, cursor)
    return cast(_inner(ctx, given), dtype)


def _call(ctx: Context, cursor: Cursor) -> Expr:
    found = effect(ctx, cursor)
    if found is None:
        raise ctx.refusal("N208", cursor, f"'{cursor.spelling}' returns no value", "call it as a statement")
    return found


def effect(ctx: Context, cursor: Cursor) -> Expr | None:
    """The value of the call *cursor*, if it has one; what it does otherwise goes before the statement at hand."""
    callee = definition(cursor)
    arguments = list(cursor.get_arguments())
    if callee is not None and not is_independent(callee) and ctx.inline is not None:
        return ctx.inline(cursor, callee)
    if not all(dtype_of(argument.type) for argument in arguments):
        return call(ctx, cursor, ())
    return call(ctx, cursor, tuple(value(ctx, argument) for argument in arguments))


def _unknown(ctx: Context, cursor: Cursor) -> Expr:
    if dtype_of(cursor.type) and ast.evaluate(cursor) is not None:
        return _constant(ctx, cursor)  # offsetof and the like
    what = _KINDS.get(cursor.kind, "this expression")
    raise ctx.refusal("N220", cursor, f"{what} cannot be used in a kernel", "compute its value before the loop")


_TRANSLATORS: dict[CursorKind, Callable[[Context, Cursor], Expr]] = {
    CursorKind.PAREN_EXPR: _inner,
    CursorKind.UNEXPOSED_EXPR: _implicit,
    CursorKind.DECL_REF_EXPR: _reference,
    CursorKind.MEMBER_REF_EXPR: _lvalue,
    CursorKind.ARRAY_SUBSCRIPT_EXPR: _lvalue,
    CursorKind.UNARY_OPERATOR: _unary,
    CursorKind.BINARY_OPERATOR: _binary,
    CursorKind.COMPOUND_ASSIGNMENT_OPERATOR: _binary,
    CursorKind.CONDITIONAL_OPERATOR: _conditional,
    CursorKind.CSTYLE_CAST_EXPR: _explicit,
    CursorKind.COMPOUND_LITERAL_EXPR: _compound_literal,
    CursorKind.CALL_EXPR: _call,
} | dict.fromkeys(_LITERALS, _constant)
