"""C statements to `region` statements.

In: a statement's cursor and the region's `Context`, whose parameters are known.  Out: a tuple of statements (several
where one C statement makes several, none where it does nothing).  Called by `frontend.clang_regions`.  An error in one
statement does not hide those of the next: they are collected in the context.  Raises N207, N210, N211, N214 and N220.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from clang.cindex import CursorKind, StorageClass

from nomp.arithmetic import arithmetic_type, cast, promoted
from nomp.frontend import clang_ast as ast
from nomp.frontend import clang_control as control
from nomp.frontend import clang_structs as structs
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_captures import sizes_of, written_by
from nomp.frontend.clang_constants import is_static_constant
from nomp.frontend.clang_context import Context, Local
from nomp.frontend.clang_elements import Element, folded
from nomp.frontend.clang_expressions import effect, location, pointee, spot_of_pointer, value
from nomp.frontend.clang_initialisers import fill, initial
from nomp.frontend.clang_paths import Path
from nomp.frontend.clang_types import dtype_of, is_pointer, is_record, layout_of
from nomp.frontend.clang_writer import Statements, Writer
from nomp.region import Assign, Binary, Const, Declare, Expr, Load, Stmt, Var
from nomp.walks import variable, walk_expr


def translate(writer: Writer, cursor: Cursor) -> Statements:
    """The statement *cursor*, of whatever kind."""
    return _TRANSLATORS.get(cursor.kind, _expression)(writer, cursor)


def _compound(writer: Writer, cursor: Cursor) -> Statements:
    return writer.block(ast.children(cursor))


def _nothing(writer: Writer, cursor: Cursor) -> Statements:
    return ()


# -------------------------------------------------------------------------------------------------- declarations


def _declarations(writer: Writer, cursor: Cursor) -> Statements:
    return writer.block([declared for declared in ast.children(cursor) if declared.kind == CursorKind.VAR_DECL])


def _variable(writer: Writer, declared: Cursor) -> Statements:
    return tuple(_declare(writer, declared))


def _declare(writer: Writer, declared: Cursor) -> Iterator[Stmt]:
    ctx, key, name = writer.ctx, ast.key(declared), declared.spelling
    static = declared.storage_class == StorageClass.STATIC and not is_static_constant(declared)
    if static or declared.storage_class == StorageClass.EXTERN:
        advice = "declare it before the loop, or without 'static'"
        raise ctx.refusal("N210", declared, f"'{name}' is not an automatic variable", advice)
    if key in ctx.counted:
        return  # only loops use it, and each of them gets a counter of its own
    dtype, first = dtype_of(declared.type), ast.initialiser(declared)
    if dtype:
        init = None if first is None else initial(ctx, first, dtype)
        local = Local(ctx.names.unique(name), dtype)
        ctx.locals[key] = local
        yield Declare(local.name, dtype, (), init, ctx.place(declared))
        return
    if is_pointer(declared.type) and first is not None:
        yield from _alias(writer, declared, first)
        return
    if is_record(declared.type):
        yield from structs.declare(ctx, declared, first)
        return
    local = _local_array(writer, declared)
    ctx.locals[key] = local
    yield Declare(local.name, local.dtype, local.shape, None, ctx.place(declared))
    if first is not None:
        yield from fill(ctx, local, first)


def _alias(writer: Writer, declared: Cursor, first: Cursor) -> Iterator[Stmt]:
    """Note what the pointer *declared* points to, as long as it lives: what its subscripts are now, they stay."""
    ctx, layout, name, key = writer.ctx, layout_of(declared.type), declared.spelling, ast.key(declared)
    if key in ctx.written:
        advice = "use a subscript that changes instead"
        raise ctx.refusal("N211", declared, f"pointer '{name}' changes in the loop", advice)
    if is_record(layout.element) and len(layout.extents) == 1:
        spot = spot_of_pointer(ctx, first)
        if isinstance(spot, Path):
            ctx.places[key] = spot
            return
        spot, kept = spot.settled(ctx, name, declared)
        yield from kept
        ctx.spots[key] = spot
        return
    found = pointee(ctx, first)
    if isinstance(found, Element):
        index, kept = ctx.settled(found.index, name, declared)
        yield from kept
        found = replace(found, index=index)
    rank = 1 if isinstance(found, Var) else found.dimensions
    if (layout.dtype, len(layout.extents)) != (found.dtype, rank):
        advice = "subscript the array itself"
        raise ctx.refusal("N211", declared, f"'{name}' is not a pointer to what it is given", advice)
    ctx.aliases[key] = found


def _local_array(writer: Writer, declared: Cursor) -> Local:
    ctx, layout, name = writer.ctx, layout_of(declared.type), declared.spelling
    if layout.dtype is None or layout.extents[:1] in ((), (None,)):
        what, advice = f"of type '{declared.type.spelling}'", "kernels compute with _Bool, integers, float and double"
        if is_record(layout.element):
            what, advice = "an array of structs", "declare an array for each member"
        elif is_pointer(declared.type):
            what, advice = "a pointer", "subscript the array that it points into"
        raise ctx.refusal("N210", declared, f"'{name}' is {what}, which cannot be declared in a kernel", advice)
    if writer.inlined and not all(isinstance(extent, int) for extent in layout.extents):
        advice = "give it a constant size"
        raise ctx.refusal("N214", declared, f"the size of '{name}' is unknown when the kernel is compiled", advice)
    shape: list[Expr] = []
    for extent, size in zip(layout.extents, sizes_of(declared, layout), strict=True):
        with ctx.repeated():
            shape.append(value(ctx, size) if size is not None and extent == "" else Const(int(extent or 0), "int64"))
        _check_extent(ctx, declared, shape[-1])
    return Local(ctx.names.unique(name), layout.dtype, tuple(shape))


def _check_extent(ctx: Context, declared: Cursor, extent: Expr) -> None:
    hosts = {param.name: param.host for param in ctx.params.values()}
    for inner in walk_expr(extent):
        if isinstance(inner, Load) or (isinstance(inner, Var) and hosts.get(inner.name) not in ctx.jit):
            name = hosts.get(variable(inner), variable(inner))
            advice = f'name it in jit("{name}"), or use a constant size'
            message = (
                f"the size of '{declared.spelling}' depends on '{name}', which is unknown when the kernel is compiled"
            )
            raise ctx.refusal("N214", declared, message, advice)


# -------------------------------------------------------------------------------------------------- assignments


def _expression(writer: Writer, cursor: Cursor) -> Statements:
    """An expression as a statement."""
    ctx, operator = writer.ctx, ast.operator(cursor)
    if cursor.kind == CursorKind.PAREN_EXPR:
        return _expression(writer, ast.children(cursor)[0])
    if operator == "," and cursor.kind == CursorKind.BINARY_OPERATOR:
        return writer.block(ast.children(cursor))
    target = written_by(cursor)
    if target is not None and is_record(target.type):
        return structs.assign(ctx, cursor, target, ast.children(cursor)[1])
    if target is not None:
        return (_assign(ctx, cursor, target),)
    if cursor.kind == CursorKind.CALL_EXPR:
        effect(ctx, cursor)
        return ()
    if cursor.kind == CursorKind.UNEXPOSED_STMT and ast.children(cursor)[-1].kind.is_statement():
        return writer.statement(ast.children(cursor)[-1])  # one with an attribute, as '#pragma unroll' makes it
    if cursor.kind.is_statement() or cursor.kind.is_declaration():
        raise ctx.refusal("N207", cursor, "this statement cannot be in a kernel", "move it out of the loop")
    if cursor.kind == CursorKind.CSTYLE_CAST_EXPR and dtype_of(cursor.type) is None:
        cursor = ast.children(cursor)[-1]  # (void)x
    value(ctx, cursor)
    return ()  # it computes a value that nobody uses


def _assign(ctx: Context, cursor: Cursor, written: Cursor) -> Assign:
    if dtype_of(written.type) is None:
        value(ctx, written)
    target = location(ctx, written)
    return Assign(target, cast(_new_value(ctx, cursor, target), target.dtype), ctx.place(cursor))


def stored(ctx: Context, cursor: Cursor) -> Expr:
    """The value of the assignment or comma *cursor*, whose effect goes before the statement at hand.

    C leaves it undefined to use the variable elsewhere in the expression, but for what follows `&&`, `||`, `?` or a
    comma.
    """
    written = written_by(cursor)
    assert ctx.hoisted is not None
    if written is None:
        first, second = ast.children(cursor)
        _carry_out(ctx, first)
        return value(ctx, second)
    assign = _assign(ctx, cursor, written)
    target, before = assign.target, ast.operator(cursor) in ("x++", "x--")
    name = ctx.names.unique(f"{variable(target)}_value")
    result = Var(name, target.dtype)
    ctx.hoisted.append(Declare(name, target.dtype, (), target if before else assign.value, assign.place))
    ctx.hoisted.append(assign if before else replace(assign, value=result))
    return result


def _carry_out(ctx: Context, cursor: Cursor) -> None:
    """Evaluate *cursor* for its effect, before the statement at hand."""
    written = written_by(ast.bare(cursor))
    if written is not None and ctx.hoisted is not None and not is_record(written.type):
        assign = _assign(ctx, ast.bare(cursor), written)
        ctx.hoisted.append(assign)
    elif ast.bare(cursor).kind == CursorKind.CALL_EXPR:
        effect(ctx, ast.bare(cursor))
    else:
        value(ctx, cursor)


def _new_value(ctx: Context, cursor: Cursor, target: Var | Load) -> Expr:
    operator = ast.operator(cursor)
    if operator == "=":
        return value(ctx, ast.children(cursor)[1])
    if cursor.kind == CursorKind.UNARY_OPERATOR:
        return _updated(operator.replace("x", "")[0], target, Const(1, "int32"))
    return _updated(operator.removesuffix("="), target, value(ctx, ast.children(cursor)[1]))


def _updated(operator: str, target: Var | Load, amount: Expr) -> Expr:
    """``target operator amount`` in the type in which C computes it (clang does not show it)."""
    shifts = operator in ("<<", ">>")
    common = promoted(target.dtype) if shifts else arithmetic_type(target.dtype, amount.dtype)
    return folded(Binary(operator, cast(target, common), cast(amount, common), common))


_TRANSLATORS: dict[CursorKind, Callable[[Writer, Cursor], Statements]] = {
    CursorKind.COMPOUND_STMT: _compound,
    CursorKind.NULL_STMT: _nothing,
    CursorKind.DECL_STMT: _declarations,
    CursorKind.VAR_DECL: _variable,
    CursorKind.IF_STMT: control.if_,
    CursorKind.FOR_STMT: control.for_,
    CursorKind.WHILE_STMT: control.while_,
    CursorKind.DO_STMT: control.do,
    CursorKind.SWITCH_STMT: control.switch,
    CursorKind.BREAK_STMT: control.break_,
    CursorKind.CONTINUE_STMT: control.continue_,
    CursorKind.RETURN_STMT: control.return_,
    CursorKind.CASE_STMT: control.refused("a label in a block inside 'switch'", "put all labels into its own block"),
    CursorKind.DEFAULT_STMT: control.refused("a label in a block inside 'switch'", "put all labels into its own block"),
    CursorKind.GOTO_STMT: control.refused("'goto'", "use 'if', 'continue' or 'break'"),
    CursorKind.INDIRECT_GOTO_STMT: control.refused("'goto'", "use 'if', 'continue' or 'break'"),
    CursorKind.LABEL_STMT: control.refused("a label", "use 'if', 'continue' or 'break'"),
    CursorKind.ASM_STMT: control.refused("assembly", "write it in C"),
}
