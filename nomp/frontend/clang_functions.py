"""The program's own functions, called from a region.

In: a call and the definition that it means.  Out: for functions of numbers a `region.Function` (`define`); for those
that take pointers or use the program's variables their text, translated where it is called (`inline`).  Reached from
expressions through `Context`.  Raises N208.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path as FilePath
from typing import Any

from clang.cindex import CursorKind

from nomp.arithmetic import cast
from nomp.diagnostics import NompError
from nomp.frontend import clang_ast as ast
from nomp.frontend.clang_ast import Cursor, SourceText
from nomp.frontend.clang_callees import inlined, is_variadic
from nomp.frontend.clang_calls import is_reserved, refuse_recursion
from nomp.frontend.clang_captures import note, uses_of, written_by
from nomp.frontend.clang_context import Again, Context, Local
from nomp.frontend.clang_expressions import pointee, spot_of_pointer, value
from nomp.frontend.clang_initialisers import literal
from nomp.frontend.clang_paths import Path
from nomp.frontend.clang_records import Spot
from nomp.frontend.clang_scope import Site
from nomp.frontend.clang_types import dtype_of, is_pointer, is_record, layout_of, value_dtype
from nomp.frontend.clang_writer import Statements, Writer
from nomp.region import Declare, Expr, Function, Var

Translate = Callable[[Writer, Cursor], Statements]
Store = Callable[[Context, Cursor], Expr]
Settle = Callable[[Expr, Cursor], Expr]


def _source_of(ctx: Context, site: Site, function: Cursor) -> SourceText:
    """The text of the file that *function* is defined in."""
    name = function.location.file.name
    found = site.unit.sources.get(name)
    if ctx.source.path == name:
        return ctx.source
    return found if found is not None else SourceText.of(name, FilePath(name).read_bytes())


@contextmanager
def _translating(ctx: Context, function: Cursor) -> Iterator[None]:
    ctx.callees.calling.append(function)
    try:
        yield
    finally:
        ctx.callees.calling.pop()


# --------------------------------------------------------------------------------------------- functions of numbers


def definer(site: Site, translate: Translate, store: Store) -> Callable[[Context, Cursor, Cursor], Function]:
    """What makes a `region.Function` of a definition that a call at *site* means."""

    def define(ctx: Context, call: Cursor, function: Cursor) -> Function:
        source = _source_of(ctx, site, function)
        with _translating(ctx, function), ctx.reading(source, call):
            plain: set[tuple[object, ...]] = set()
            while True:
                try:
                    inside = Context(source, ctx.home, ctx.callees, plain=plain)
                    return _define(site, function, inside, translate, store)
                except Again:
                    continue
        raise NompError(())

    return define


def _define(site: Site, function: Cursor, ctx: Context, translate: Translate, store: Store) -> Function:
    dtype = value_dtype(function.result_type)
    body = ast.children(function)[-1]
    assert dtype is not None
    note(ctx, uses_of(ctx, [body]))
    params = []
    for declared in function.get_arguments():
        kind = dtype_of(declared.type)
        assert kind is not None
        local = Local(ctx.names.unique(declared.spelling or "unused"), kind)
        ctx.locals[ast.key(declared)] = local
        params.append((local.name, kind))
    inside = Site(ctx.source, site.unit, function, (function, body), ast.begin(body) + 1)
    writer = Writer(ctx, inside, translate, result=dtype)
    ctx.inline, ctx.store, ctx.literal = inliner(writer), partial(store, ctx), partial(literal, ctx)
    stmts = writer.statement(body)
    if ctx.failed:
        raise NompError(tuple(ctx.diagnostics))
    name = function.spelling + ("_" if is_reserved(function.spelling) else "")
    return Function(name, dtype, tuple(params), stmts)


# -------------------------------------------------------------------------------------- text in place of the call


def inliner(writer: Writer) -> Callable[[Cursor, Cursor], Expr | None]:
    """What translates a function's text where *writer*'s region calls it."""

    def inline(call: Cursor, function: Cursor) -> Expr | None:
        ctx = writer.ctx
        refuse_recursion(ctx, call, function)
        _refuse_parameters(ctx, call, function)
        *statements, last = [*ast.children(ast.children(function)[-1])] or [None]
        result = last if last is not None and last.kind == CursorKind.RETURN_STMT else None
        if last is not None and result is None:
            statements.append(last)
        returned = ast.children(result)[0] if result is not None and ast.children(result) else None
        if returned is not None and not statements and not _changes(returned):
            return _expression(writer, call, function, returned)
        if ctx.hoisted is None:
            advice = "call it in a statement of its own first, and use the value"
            message = f"'{call.spelling}' is called where it may be evaluated never or several times"
            raise ctx.refusal("N208", call, message, advice)
        return _statements(writer, call, function, statements, returned)

    return inline


def _changes(returned: Cursor, calling: tuple[Cursor, ...] = ()) -> bool:
    """Whether computing *returned* changes anything, also in functions whose text stands in for their call."""
    for inner in ast.walk(returned):
        callee = inlined(inner) if inner.kind == CursorKind.CALL_EXPR else None
        if written_by(inner) is not None:
            return True
        if callee is not None and callee not in calling and _changes(ast.children(callee)[-1], (*calling, callee)):
            return True
    return False


def _refuse_parameters(ctx: Context, call: Cursor, function: Cursor) -> None:
    if is_variadic(function) or len(list(call.get_arguments())) != len(list(function.get_arguments())):
        advice = "write its computation into the loop"
        raise ctx.refusal("N208", call, f"'{call.spelling}' takes any number of arguments", advice)
    for declared in (*function.get_arguments(), None):
        type_ = declared.type if declared is not None else function.result_type
        if is_record(type_) or (declared is None and is_pointer(type_)):
            what = "structs by value" if is_record(type_) else "a pointer"
            advice = "pass a pointer to the struct, or its members" if is_record(type_) else "return a number"
            message = f"'{call.spelling}' takes or returns {what}: a kernel cannot call it"
            raise ctx.refusal("N208", call, message, advice)


def _expression(writer: Writer, call: Cursor, function: Cursor, returned: Cursor) -> Expr:
    """The value of a function that is a single ``return``: nothing can change before it is computed."""
    ctx = writer.ctx
    _bind(ctx, call, function, lambda expr, _: expr)
    with _translating(ctx, function), ctx.reading(_source_of(ctx, writer.site, function), call):
        return cast(value(ctx, returned), value_dtype(function.result_type) or "")
    raise NompError(())


def _statements(
    writer: Writer, call: Cursor, function: Cursor, statements: list[Cursor], returned: Cursor | None
) -> Expr | None:
    """The value of a function, what it does going before the statement at hand."""
    ctx = writer.ctx
    assert ctx.hoisted is not None
    ready = ctx.hoisted
    changed = uses_of(ctx, statements).written

    def settle(expr: Expr, declared: Cursor) -> Expr:
        """*expr* as something that keeps its value while the function runs."""
        if ctx.is_settled(expr) and ast.key(declared) not in changed:
            return expr
        name = ctx.names.unique(declared.spelling)
        ready.append(Declare(name, expr.dtype, (), expr, ctx.place(call)))
        return Var(name, expr.dtype)

    _bind(ctx, call, function, settle)
    with _translating(ctx, function), ctx.reading(_source_of(ctx, writer.site, function), call):
        writer.inlined += 1
        outer, ctx.hoisted = ctx.hoisted, None
        try:
            ready += writer.block(statements)
        finally:
            ctx.hoisted = outer
            writer.inlined -= 1
        return _result(writer, call, function, returned) if returned is not None else None
    raise NompError(())


def _result(writer: Writer, call: Cursor, function: Cursor, returned: Cursor) -> Expr | None:
    ctx, dtype = writer.ctx, value_dtype(function.result_type)
    if dtype is None or ctx.hoisted is None:
        return None
    found = cast(value(ctx, returned), dtype)
    name = ctx.names.unique(f"{function.spelling}_value")
    ctx.hoisted.append(Declare(name, dtype, (), found, ctx.place(call)))
    return Var(name, dtype)


def _bind(ctx: Context, call: Cursor, function: Cursor, settle: Settle) -> None:
    """Let the parameters of an inlined function mean the arguments of *call*."""
    parameters = list(function.get_arguments())
    given = [_given(ctx, d, a, settle) for d, a in zip(parameters, call.get_arguments(), strict=True)]
    for declared, meaning in zip(parameters, given, strict=True):
        key = ast.key(declared)
        for known in (ctx.locals, ctx.values, ctx.aliases, ctx.spots, ctx.places):
            known.pop(key, None)  # of an earlier call
        if isinstance(meaning, Local):
            ctx.locals[key] = meaning
        elif isinstance(meaning, Path):
            ctx.places[key] = meaning
        elif isinstance(meaning, Spot):
            ctx.spots[key] = meaning
        elif dtype_of(declared.type):
            ctx.values[key] = meaning
        else:
            ctx.aliases[key] = meaning


def _given(ctx: Context, declared: Cursor, argument: Cursor, settle: Settle) -> Any:
    """What *argument* is to parameter *declared*: a value, a `Local` with it, an `Element`, `Var`, `Spot` or `Path`."""
    dtype = dtype_of(declared.type)
    if dtype:
        found = settle(cast(value(ctx, argument), dtype), declared)
        return Local(found.name, dtype) if isinstance(found, Var) and not ctx.is_settled(found) else found
    layout = layout_of(declared.type)
    if is_record(layout.element) and len(layout.extents) == 1:
        spot = spot_of_pointer(ctx, argument)
        if isinstance(spot, Path):
            return spot
        return replace(spot, terms=tuple((settle(term, declared), size) for term, size in spot.terms))
    element = pointee(ctx, argument)
    rank = 1 if isinstance(element, Var) else element.dimensions
    if (layout.dtype, len(layout.extents)) != (element.dtype, rank):
        advice = "pass an array of that type"
        message = f"parameter '{declared.spelling}' is not a pointer to what it is given"
        raise ctx.refusal("N208", argument, message, advice)
    if isinstance(element, Var):
        return element
    return replace(element, index=tuple(settle(expr, declared) for expr in element.index))
