"""C statements to `region` statements.

In: a statement's cursor and the region's `Context`, whose parameters are known.  Out: a tuple of statements (several
where one C statement makes several, none where it does nothing).  Called by `frontend.clang_regions`.  An error in one
statement does not hide those of the next: they are collected in the context.  Raises N205 to N214 and N220.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from clang.cindex import CursorKind, StorageClass

from nomp.diagnostics import Span, error
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_captures import Counters, extents, written_by
from nomp.frontend.clang_context import Context, Local
from nomp.frontend.clang_elements import Element, folded
from nomp.frontend.clang_expressions import location, pointee, value
from nomp.frontend.clang_loops import Counter, Header, header
from nomp.frontend.clang_paths import path_of
from nomp.frontend.clang_scope import Site
from nomp.frontend.clang_types import arithmetic_type, converted, dtype_of, is_pointer, is_record, layout_of, promoted
from nomp.region import (
    Assign,
    Binary,
    Break,
    Const,
    Continue,
    Declare,
    Expr,
    For,
    If,
    Load,
    Param,
    Stmt,
    Var,
    walk,
    walk_expr,
)

Statements = tuple[Stmt, ...]


@dataclass(slots=True)
class Writer:
    """Translates the statements of one region; *depth* is the number of loops around the statement at hand."""

    ctx: Context
    site: Site
    counters: Counters
    depth: int = 0

    def statement(self, cursor: Cursor) -> Statements:
        """The statement *cursor*; what was wrong with it goes to the context, and the rest is returned."""
        with self.ctx.collecting():
            return _TRANSLATORS.get(cursor.kind, _expression)(self, cursor)
        return ()

    def block(self, cursors: list[Cursor]) -> Statements:
        """All of *cursors*, in order."""
        return tuple(stmt for cursor in cursors for stmt in self.statement(cursor))


def _compound(writer: Writer, cursor: Cursor) -> Statements:
    return writer.block(ast.children(cursor))


def _nothing(writer: Writer, cursor: Cursor) -> Statements:
    return ()


# -------------------------------------------------------------------------------------------------- declarations


def _declarations(writer: Writer, cursor: Cursor) -> Statements:
    stmts: list[Stmt] = []
    for declared in ast.children(cursor):
        if declared.kind == CursorKind.VAR_DECL:
            with writer.ctx.collecting():
                stmts += _declare(writer, declared)
    return tuple(stmts)


def _declare(writer: Writer, declared: Cursor) -> Iterator[Stmt]:
    ctx, key, name = writer.ctx, ast.key(declared), declared.spelling
    if declared.storage_class in (StorageClass.STATIC, StorageClass.EXTERN):
        advice = "declare it before the loop, or without 'static'"
        raise ctx.refusal("N210", declared, f"'{name}' is not an automatic variable", advice)
    if key in writer.counters.loops and key not in writer.counters.strays:
        return  # only loops use it, and each of them gets a counter of its own
    dtype, first = dtype_of(declared.type), ast.initialiser(declared)
    if dtype:
        init = None if first is None else _initial(ctx, first, dtype)
        local = Local(ctx.names.unique(name), dtype)
        ctx.locals[key] = local
        yield Declare(local.name, dtype, (), init, ctx.place(declared))
        return
    if is_pointer(declared.type) and first is not None:
        ctx.aliases[key] = _alias(writer, declared, first)
        return
    local = _local_array(writer, declared)
    ctx.locals[key] = local
    yield Declare(local.name, local.dtype, local.shape, None, ctx.place(declared))
    if first is not None:
        yield from _fill(ctx, local, first)


def _alias(writer: Writer, declared: Cursor, first: Cursor) -> Element:
    """What the pointer *declared* points to, as long as it lives: neither it nor its subscripts may change."""
    ctx, layout, name = writer.ctx, layout_of(declared.type), declared.spelling
    if ast.key(declared) in ctx.written:
        raise ctx.refusal(
            "N211", declared, f"pointer '{name}' changes in the loop", "use a subscript that changes instead"
        )
    found = pointee(ctx, first)
    fixed = {param.name for param in ctx.params.values() if param.kind == "scalar"}
    fixed |= {counter.name for counter in ctx.counters.values()}
    inner = [part for expr in found.index for part in walk_expr(expr)]
    if any(isinstance(part, Load) or (isinstance(part, Var) and part.name not in fixed) for part in inner):
        advice = "subscript the array itself"
        raise ctx.refusal("N211", declared, f"'{name}' points to an element that may change while it is used", advice)
    if (layout.dtype, len(layout.extents)) != (found.dtype, found.rank - len(found.index) + 1):
        advice = "subscript the array itself"
        raise ctx.refusal("N211", declared, f"'{name}' is not a pointer to what it is given", advice)
    return found


def _initial(ctx: Context, first: Cursor, dtype: str) -> Expr:
    inner = ast.children(first) if first.kind == CursorKind.INIT_LIST_EXPR else [first]
    return converted(value(ctx, inner[0]), dtype)


def _local_array(writer: Writer, declared: Cursor) -> Local:
    ctx, layout, name = writer.ctx, layout_of(declared.type), declared.spelling
    if layout.dtype is None or layout.extents[:1] in ((), (None,)):
        what, advice = f"of type '{declared.type.spelling}'", "kernels compute with _Bool, integers, float and double"
        if is_record(declared.type):
            what, advice = "a struct", "declare its members as variables of their own"
        elif is_pointer(declared.type):
            what, advice = "a pointer", "subscript the array that it points into"
        raise ctx.refusal("N210", declared, f"'{name}' is {what}, which cannot be declared in a kernel", advice)
    shape = extents(ctx, declared, declared, layout, writer.site, name)
    for extent in shape:
        assert extent is not None
        _check_extent(ctx, declared, extent)
    return Local(ctx.names.unique(name), layout.dtype, tuple(e for e in shape if e is not None))


def _check_extent(ctx: Context, declared: Cursor, extent: Expr) -> None:
    for inner in walk_expr(extent):
        if isinstance(inner, Load) or (isinstance(inner, Var) and inner.name not in ctx.jit):
            name = inner.name if isinstance(inner, Var) else inner.array
            advice = f'name it in jit("{name}"), or use a constant size'
            message = (
                f"the size of '{declared.spelling}' depends on '{name}', which is unknown when the kernel is compiled"
            )
            raise ctx.refusal("N214", declared, message, advice)


def _fill(ctx: Context, local: Local, first: Cursor) -> Iterator[Stmt]:
    """The initialiser list *first* of an array as assignments; what it leaves out is zero."""
    if first.kind != CursorKind.INIT_LIST_EXPR:
        advice = "assign the elements one by one"
        raise ctx.refusal("N220", first, "this initialiser cannot be used in a kernel", advice)
    shape = [int(extent.value) for extent in local.shape if isinstance(extent, Const)]
    given = dict(_listed(ctx, first, 0, shape))
    for position, index in enumerate(product(*map(range, shape))):
        target = Load(local.name, tuple(Const(i, "int64") for i in index), local.dtype, ctx.place(first))
        yield Assign(target, converted(given.get(position, Const(0, "int32")), local.dtype), ctx.place(first))


def _listed(ctx: Context, cursor: Cursor, position: int, shape: list[int]) -> Iterator[tuple[int, Expr]]:
    """The values in the list *cursor*, which fills the array of *shape* at *position*, by their number in row order.

    A row without braces of its own takes as many values as it has elements.
    """
    width = prod(shape[1:])
    for child in ast.children(cursor):
        if child.kind != CursorKind.INIT_LIST_EXPR:
            yield position, value(ctx, child)
            position += 1
        elif position % width == 0 and len(shape) > 1:
            yield from _listed(ctx, child, position, shape[1:])
            position += width
        else:
            advice = "give each row braces of its own, or none at all"
            raise ctx.refusal("N220", child, "this initialiser cannot be used in a kernel", advice)


# -------------------------------------------------------------------------------------------------- assignments


def _expression(writer: Writer, cursor: Cursor) -> Statements:
    """An expression as a statement."""
    ctx, operator = writer.ctx, ast.operator(cursor)
    if cursor.kind == CursorKind.PAREN_EXPR:
        return _expression(writer, ast.children(cursor)[0])
    if operator == "," and cursor.kind == CursorKind.BINARY_OPERATOR:
        return writer.block(ast.children(cursor))
    target = written_by(cursor)
    if target is not None:
        return (_assign(ctx, cursor, target),)
    if cursor.kind == CursorKind.UNEXPOSED_STMT and ast.children(cursor)[-1].kind.is_statement():
        return writer.statement(ast.children(cursor)[-1])  # one with an attribute, as '#pragma unroll' makes it
    if cursor.kind.is_statement() or cursor.kind.is_declaration():
        raise ctx.refusal("N207", cursor, "this statement cannot be in a kernel", "move it out of the loop")
    if cursor.kind == CursorKind.CSTYLE_CAST_EXPR and dtype_of(cursor.type) is None:
        cursor = ast.children(cursor)[-1]  # (void)x
    value(ctx, cursor)
    return ()  # it computes a value that nobody uses


def _assign(ctx: Context, cursor: Cursor, written: Cursor) -> Assign:
    _refuse_counter_write(ctx, cursor, written)
    if dtype_of(written.type) is None:
        value(ctx, written)
    target = location(ctx, written)
    return Assign(target, converted(_new_value(ctx, cursor, target), target.dtype), ctx.place(cursor))


def _refuse_counter_write(ctx: Context, cursor: Cursor, written: Cursor) -> None:
    path = path_of(written)
    if path and path.key in ctx.counters:
        advice = "use 'continue' to skip, or another variable to count with"
        raise ctx.refusal("N206", cursor, f"loop counter '{path.host}' changes in the loop's body", advice)


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
    return folded(Binary(operator, converted(target, common), converted(amount, common), common))


# -------------------------------------------------------------------------------------------------- control flow


def _if(writer: Writer, cursor: Cursor) -> Statements:
    cond, then, *other = ast.children(cursor)
    test = value(writer.ctx, cond)
    return (If(test, writer.statement(then), writer.block(other), writer.ctx.place(cond)),)


def _for(writer: Writer, cursor: Cursor) -> Statements:
    ctx = writer.ctx
    found = header(ctx, cursor)
    counter = found.counter
    if counter.key in ctx.counters:
        advice = "use one counter for each loop"
        raise ctx.refusal("N206", cursor, f"loop counter '{counter.name}' changes in the loop's body", advice)
    _refuse_strays(writer, counter)
    iname = ctx.names.unique(counter.name)
    final = None if counter.inside else _final(writer, cursor, counter)
    ctx.counters[counter.key] = Local(iname, counter.dtype)
    writer.depth += 1
    body = writer.statement(found.body)
    writer.depth -= 1
    del ctx.counters[counter.key]
    _refuse_moving_bounds(ctx, found, body)
    place = ctx.place(cursor)
    return (For(iname, counter.dtype, found.lower, found.relation, found.upper, found.step, body, final, place),)


def _refuse_strays(writer: Writer, counter: Counter) -> None:
    stray = None if counter.inside else writer.counters.strays.get(counter.key)
    if stray is not None:
        advice = "use another variable for the value, or declare the counter in the loop's header"
        raise writer.ctx.refusal("N213", stray, f"loop counter '{counter.name}' is used outside its loop", advice)


def _final(writer: Writer, cursor: Cursor, counter: Counter) -> str | None:
    """The parameter that takes the counter's last value, None where the region itself declares the counter."""
    ctx = writer.ctx
    if counter.key in ctx.locals:
        return None
    key = (*counter.key, "last value")
    if key not in ctx.params:
        name = ctx.names.unique(f"{counter.name}_last")
        host = f"&({counter.host})"
        ctx.params[key] = Param(name, counter.dtype, "counter", host, reads=False, writes=True, place=ctx.place(cursor))
    return ctx.params[key].name


def _refuse_moving_bounds(ctx: Context, found: Header, body: Statements) -> None:
    read = {name for expr in (found.upper, found.step) for name in _names(expr)}
    for stmt in walk(body):
        if isinstance(stmt, Assign) and _name(stmt.target) in read:
            advice = "copy the bound to another variable before the loop"
            message = f"'{_name(stmt.target)}', on which the bound or step of a loop depends, changes in its body"
            raise error("N206", message, Span(ctx.source.path, *stmt.place), help=advice)


def _names(expr: Expr) -> Iterator[str]:
    for inner in walk_expr(expr):
        if isinstance(inner, Var | Load):
            yield _name(inner)


def _name(target: Var | Load) -> str:
    return target.name if isinstance(target, Var) else target.array


def _break(writer: Writer, cursor: Cursor) -> Statements:
    if writer.depth < 2:
        advice = "let the remaining iterations do nothing (with 'if' or 'continue'), or annotate an inner loop"
        raise writer.ctx.refusal("N207", cursor, "'break' leaves the annotated loop", advice)
    return (Break(writer.ctx.place(cursor)),)


def _continue(writer: Writer, cursor: Cursor) -> Statements:
    return (Continue(writer.ctx.place(cursor)),)


def _refused(what: str, advice: str) -> Callable[[Writer, Cursor], Statements]:
    def refuse(writer: Writer, cursor: Cursor) -> Statements:
        raise writer.ctx.refusal("N207", cursor, f"{what} cannot be in a kernel", advice)

    return refuse


_TRANSLATORS: dict[CursorKind, Callable[[Writer, Cursor], Statements]] = {
    CursorKind.COMPOUND_STMT: _compound,
    CursorKind.NULL_STMT: _nothing,
    CursorKind.DECL_STMT: _declarations,
    CursorKind.IF_STMT: _if,
    CursorKind.FOR_STMT: _for,
    CursorKind.BREAK_STMT: _break,
    CursorKind.CONTINUE_STMT: _continue,
    CursorKind.WHILE_STMT: _refused("a 'while' loop", "write a 'for' loop with a bound, and leave it with 'break'"),
    CursorKind.DO_STMT: _refused("a 'do' loop", "write a 'for' loop with a bound, and leave it with 'break'"),
    CursorKind.SWITCH_STMT: _refused("'switch'", "write it with 'if' and 'else'"),
    CursorKind.RETURN_STMT: _refused("'return'", "set a variable, and return after the loop"),
    CursorKind.GOTO_STMT: _refused("'goto'", "use 'if', 'continue' or 'break'"),
    CursorKind.INDIRECT_GOTO_STMT: _refused("'goto'", "use 'if', 'continue' or 'break'"),
    CursorKind.LABEL_STMT: _refused("a label", "use 'if', 'continue' or 'break'"),
    CursorKind.ASM_STMT: _refused("assembly", "write it in C"),
}
