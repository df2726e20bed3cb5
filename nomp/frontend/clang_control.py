"""Loops, ``switch`` and jumps of C to `region` statements.

In: a statement's cursor and the `Writer` of its region.  Out: statements.  A ``for`` loop that can be counted becomes a
`For`; any other one inside the annotated loop is written out as ``while``.  Called through the table of
`frontend.clang_statements`.  Raises N205 to N207 and N213.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from clang.cindex import CursorKind

from nomp import jumps
from nomp.arithmetic import convert
from nomp.diagnostics import NompError, Span, error
from nomp.frontend import clang_ast as ast
from nomp.frontend import last_values
from nomp.frontend.clang_ast import Cursor
from nomp.frontend.clang_callees import inlined, reached
from nomp.frontend.clang_captures import may_change
from nomp.frontend.clang_context import Context, Local
from nomp.frontend.clang_expressions import location, value
from nomp.frontend.clang_headers import assigned, parts
from nomp.frontend.clang_loops import Counter, Header, header, may_leave_type, refuse_wrapping
from nomp.frontend.clang_paths import path_of
from nomp.frontend.clang_writer import Statements, Writer
from nomp.region import (
    Assign,
    Break,
    Case,
    Const,
    Continue,
    Declare,
    Expr,
    For,
    If,
    Param,
    Return,
    Stmt,
    Switch,
    Unary,
    Var,
    While,
)
from nomp.walks import expressions, variable, variables, walk

_TRUE = Const(1, "int32")


def if_(writer: Writer, cursor: Cursor) -> Statements:
    """``if``."""
    cond, then, *other = ast.children(cursor)
    test = value(writer.ctx, cond)
    return (If(test, writer.statement(then), writer.block(other), writer.ctx.place(cond)),)


# ------------------------------------------------------------------------------------------------- counted loops


def for_(writer: Writer, cursor: Cursor) -> Statements:
    """A ``for`` loop; all but the annotated one may have any header, and change their counter."""
    if writer.annotated:
        with writer.ctx.repeated():
            found = header(writer.ctx, cursor)
            refuse_wrapping(writer.ctx, cursor, found)
        return _counted(writer, cursor, found)
    reset = _mark(writer.ctx)
    try:
        found = header(writer.ctx, cursor)
        if not may_leave_type(found):
            return _counted(writer, cursor, found)
    except NompError as problem:
        if not problem.diagnostics or problem.diagnostics[0].code not in _ODD_HEADER:
            raise
    reset()
    return _written_out(writer, cursor)


_ODD_HEADER = ("N205", "N206", "N208", "N209")


def _mark(ctx: Context) -> Callable[[], None]:
    """What takes back all that is noted in *ctx* from now on."""
    taken, known, failed = set(ctx.names.taken), len(ctx.diagnostics), ctx.failed
    ready = len(ctx.hoisted or ())

    def reset() -> None:
        ctx.names.taken = taken | {param.name for param in ctx.params.values()}
        ctx.failed = failed
        del ctx.diagnostics[known:]
        if ctx.hoisted is not None:
            del ctx.hoisted[ready:]

    return reset


def _counted(writer: Writer, cursor: Cursor, found: Header) -> Statements:
    ctx, counter = writer.ctx, found.counter
    _refuse_other_changes(ctx, cursor, found)
    plain = not counter.inside and counter.key not in ctx.counted
    iname = ctx.names.unique(counter.name)
    final = None if counter.inside or plain else _final(writer, cursor, counter)
    ctx.counters[counter.key] = Local(iname, counter.dtype)
    try:
        body = writer.body("annotated" if writer.annotated else "loop", found.body)
    finally:
        del ctx.counters[counter.key]
    _refuse_moving_bounds(ctx, found, body)
    place = ctx.place(cursor)
    loop = For(iname, counter.dtype, found.lower, found.relation, found.upper, found.step, body, final, place)
    return _with_variable(writer, cursor, loop) if plain else (loop,)


def _with_variable(writer: Writer, cursor: Cursor, loop: For) -> Statements:
    """*loop* and the variable that it counts with: its last value is known before the loop, unless it is left."""
    target = assigned(cursor)
    assert target is not None
    own = location(writer.ctx, target)
    assert isinstance(own, Var)
    if own.name in variables(*expressions(loop)):
        raise _changes(writer.ctx, cursor, target.spelling)
    now = Assign(own, Var(loop.iname, loop.dtype), loop.place)
    body = jumps.before(Break, loop.body, (now,))
    return Assign(own, last_values.after(loop), loop.place), replace(loop, body=body)


def _refuse_other_changes(ctx: Context, cursor: Cursor, found: Header) -> None:
    """Refuse loops whose counter is another loop's, or changes in the body."""
    counter = found.counter
    if counter.key in ctx.counters or counter.key in ctx.addressed:
        raise _changes(ctx, cursor, counter.name)
    for inner in ast.walk(found.body):
        callee = inlined(inner) if inner.kind == CursorKind.CALL_EXPR else None
        called = reached(callee, []) if callee is not None else ()
        if may_change(inner, counter.key) or any(may_change(part, counter.key) for part in called):
            raise _changes(ctx, inner, counter.name)


def _changes(ctx: Context, cursor: Cursor, name: str) -> NompError:
    advice = "use 'continue' to skip, or another variable to count with"
    return ctx.refusal("N206", cursor, f"loop counter '{name}' changes in the loop's body", advice)


def _final(writer: Writer, cursor: Cursor, counter: Counter) -> str | None:
    """The parameter that takes the counter's last value, None where the region itself declares the counter."""
    ctx = writer.ctx
    if counter.key in ctx.locals:
        return None
    key = (*counter.key, "last value")
    if key not in ctx.params:
        name = ctx.names.unique(f"{counter.name}_last")
        host = f"&({counter.name})"
        ctx.params[key] = Param(name, counter.dtype, "counter", host, reads=False, writes=True, place=ctx.place(cursor))
    return ctx.params[key].name


def _refuse_moving_bounds(ctx: Context, found: Header, body: Statements) -> None:
    read = variables(found.upper, found.step)
    for stmt in walk(body):
        if isinstance(stmt, Assign) and variable(stmt.target) in read:
            advice = "copy the bound to another variable before the loop"
            message = f"'{variable(stmt.target)}', on which the bound or step of a loop depends, changes in its body"
            raise error("N206", message, Span(ctx.source.path, *stmt.place), help=advice)


# --------------------------------------------------------------------------------------------------- other loops


def _written_out(writer: Writer, cursor: Cursor) -> Statements:
    """``for (first; condition; step) body`` as ``first; while (condition) { body step }``."""
    ctx, found = writer.ctx, parts(cursor)
    if found is None:
        advice = "write the loop itself without the macro"
        raise ctx.refusal("N205", cursor, "the macros in this loop's header hide its parts", advice)
    target = assigned(cursor)
    path = path_of(target) if target is not None else None
    if path and path.key in ctx.counted:
        raise ctx.be_variable(path.key)
    start = writer.statement(found.first) if found.first is not None else ()
    test, cond = _condition(ctx, found.condition) if found.condition is not None else ((), _TRUE)
    body = writer.body("loop", found.body)
    step = writer.statement(found.step) if found.step is not None else ()
    declared, body = _ending(ctx, cursor, body, step)
    return (*start, *declared, While(cond, (*test, *body), place=ctx.place(cursor)))


def _ending(ctx: Context, cursor: Cursor, body: Statements, last: Statements) -> tuple[Statements, Statements]:
    """What must be declared before a loop for *last* to end its iterations, and *body* with it where they end."""
    if not any(isinstance(jump, Continue) for jump in jumps.own(body)):
        return (), (*body, *last)
    declared: list[Declare] = []
    last = tuple(_undeclared(last, declared))
    if any(isinstance(stmt, Declare | For) for stmt in walk(last)):
        advice = "call it in the body, with 'if' instead of 'continue'"
        message = "'continue' is used in a loop whose step or condition calls a function with a loop or a switch"
        raise ctx.refusal("N207", cursor, message, advice)
    return tuple(declared), (*jumps.before(Continue, body, last), *last)


def while_(writer: Writer, cursor: Cursor) -> Statements:
    """``while``."""
    first, body = ast.children(cursor)
    test, cond = _condition(writer.ctx, first)
    return (While(cond, (*test, *writer.body("loop", body)), place=writer.ctx.place(cursor)),)


def do(writer: Writer, cursor: Cursor) -> Statements:
    """``do ... while``."""
    ctx = writer.ctx
    body, last = ast.children(cursor)
    stmts, place = writer.body("loop", body), ctx.place(cursor)
    test, cond = _evaluated(ctx, last)
    if not test:
        return (While(cond, stmts, first=True, place=place),)
    again = Var(ctx.names.unique("again"), cond.dtype)
    declared, stmts = _ending(ctx, cursor, stmts, (*test, Assign(again, cond, ctx.place(last))))
    return (Declare(again.name, again.dtype, place=place), *declared, While(again, stmts, first=True, place=place))


def _condition(ctx: Context, cursor: Cursor) -> tuple[Statements, Expr]:
    """What a loop's body must begin with to have the condition *cursor*, and the condition that is left."""
    test, cond = _evaluated(ctx, cursor)
    if not test:
        return (), cond
    place = ctx.place(cursor)
    return (*test, If(Unary("!", cond, "int32"), (Break(place),), (), place)), _TRUE


def _evaluated(ctx: Context, cursor: Cursor) -> tuple[Statements, Expr]:
    """What evaluating the condition *cursor* does first, and its value then."""
    outer, ctx.hoisted = ctx.hoisted, []
    try:
        cond = value(ctx, cursor)
        return tuple(ctx.hoisted), cond
    finally:
        ctx.hoisted = outer


# -------------------------------------------------------------------------------------------------------- switch


@dataclass(slots=True)
class _Open:
    """A case that is being filled."""

    values: list[int] = field(default_factory=list)
    default: bool = False
    body: list[Cursor] = field(default_factory=list)


_LABELS = (CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT)
_MOST_LABELS = 4096


def switch(writer: Writer, cursor: Cursor) -> Statements:
    """``switch``; what its block declares is declared before it, because later cases may use it."""
    ctx = writer.ctx
    selector, body = ast.children(cursor)
    chosen = value(ctx, selector)
    found = _cases(ctx, ast.children(body) if body.kind == CursorKind.COMPOUND_STMT else [body], chosen.dtype)
    declared: list[Declare] = []
    cases = []
    with writer.inside("switch"):
        for case in found:
            stmts = tuple(s for s in _undeclared(writer.block(case.body), declared))
            cases.append(Case(tuple(case.values), case.default, stmts))
    if cases and not (cases[0].values or cases[0].default):
        del cases[0]  # never reached, but for its declarations
    return (*declared, Switch(chosen, tuple(cases), ctx.place(cursor)))


def _undeclared(stmts: Statements, declared: list[Declare]) -> Iterator[Stmt]:
    """*stmts* with declarations moved to *declared*, an assignment staying for an initialiser."""
    for stmt in stmts:
        match stmt:
            case Declare(init=init):
                declared.append(replace(stmt, init=None))
                if init is not None:
                    yield Assign(Var(stmt.name, stmt.dtype, stmt.place), init, stmt.place)
            case If(then=then, other=other):
                first, second = (tuple(_undeclared(branch, declared)) for branch in (then, other))
                yield replace(stmt, then=first, other=second)
            case _:
                yield stmt


def _cases(ctx: Context, statements: list[Cursor], dtype: str) -> list[_Open]:
    """The block *statements* cut at its labels; the first case holds what stands before them."""
    cases = [_Open()]
    for statement in statements:
        opened = _Open()
        while statement.kind in _LABELS:
            if statement.kind == CursorKind.DEFAULT_STMT:
                opened.default = True
            else:
                opened.values += _values(ctx, statement, dtype)
            statement = ast.children(statement)[-1]
        if opened.values or opened.default:
            cases.append(opened)
        cases[-1].body.append(statement)
    return cases


def _values(ctx: Context, label: Cursor, dtype: str) -> list[int]:
    """The numbers of ``case low:`` or ``case low ... high:``."""
    bounds = [ast.evaluate(child) for child in ast.children(label)[:-1]]
    low, high = (int(convert(bound or 0, dtype)) for bound in (bounds[0], bounds[-1]))
    if high - low >= _MOST_LABELS:
        advice = "use 'if' for it"
        raise ctx.refusal("N207", label, f"this label stands for more than {_MOST_LABELS} values", advice)
    return list(range(low, high + 1))


# --------------------------------------------------------------------------------------------------------- jumps


def break_(writer: Writer, cursor: Cursor) -> Statements:
    """``break``."""
    if not writer.around or writer.around[-1] == "annotated":
        advice = "let the remaining iterations do nothing (with 'if' or 'continue'), or annotate an inner loop"
        raise writer.ctx.refusal("N207", cursor, "'break' leaves the annotated loop", advice)
    return (Break(writer.ctx.place(cursor)),)


def continue_(writer: Writer, cursor: Cursor) -> Statements:
    """``continue``."""
    return (Continue(writer.ctx.place(cursor)),)


def return_(writer: Writer, cursor: Cursor) -> Statements:
    """``return`` in a function that the region calls."""
    ctx = writer.ctx
    if writer.inlined:
        advice = "return at the end of the function only"
        message = "a function that takes pointers or uses the program's variables cannot be left early in a kernel"
        raise ctx.refusal("N208", cursor, message, advice)
    if writer.result is None:
        advice = "set a variable, and return after the loop"
        raise ctx.refusal("N207", cursor, "'return' cannot be in a kernel", advice)
    return (Return(value(ctx, ast.children(cursor)[0]), ctx.place(cursor)),)


def refused(what: str, advice: str) -> Callable[[Writer, Cursor], Statements]:
    """A translator that refuses its statement."""

    def refuse(writer: Writer, cursor: Cursor) -> Statements:
        raise writer.ctx.refusal("N207", cursor, f"{what} cannot be in a kernel", advice)

    return refuse
