"""Python statements to those of the loop IR.

In: ``ast`` statements and the `Context`.  Out: `region` statements.  Called by `frontend.python_regions` and
`python_functions`.  An error in one statement does not hide those of the next.  Raises N205, N207, N231, N233, N238.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from nomp.arithmetic import cast
from nomp.frontend import python_arithmetic as arithmetic
from nomp.frontend.python_context import Array, Context
from nomp.frontend.python_expressions import binary_operator, condition, number_of, translate
from nomp.frontend.python_integers import counter_width, lowest
from nomp.frontend.python_names import reads, stores
from nomp.frontend.python_types import NoType, Value, as_type, is_integer, shown, value
from nomp.region import (
    Assign,
    Break,
    Const,
    Continue,
    Declare,
    Expr,
    For,
    If,
    Load,
    Relation,
    Return,
    Stmt,
    Var,
    While,
)
from nomp.walks import walk_expr

Statements = tuple[Stmt, ...]

_REFUSED: dict[type[ast.stmt], tuple[str, str]] = {
    ast.Try: ("'try'", "test for what may go wrong with 'if'"),
    ast.With: ("'with'", "put it around the loop"),
    ast.Raise: ("'raise'", "set a flag, and raise after the loop"),
    ast.Assert: ("'assert'", "set a flag, and assert after the loop"),
    ast.Delete: ("'del'", "leave the variable"),
    ast.Import: ("'import'", "import before the loop"),
    ast.ImportFrom: ("'import'", "import before the loop"),
    ast.Global: ("'global'", "declare it at the beginning of the function"),
    ast.Nonlocal: ("'nonlocal'", "copy the variable to a local one before the loop, and back after it"),
    ast.FunctionDef: ("a function definition", "define the function before the loop"),
    ast.AsyncFunctionDef: ("a function definition", "define the function before the loop"),
    ast.ClassDef: ("a class definition", "define the class before the loop"),
    ast.Match: ("'match'", "write 'if' and 'elif'"),
    ast.AsyncFor: ("'async for'", "write 'for i in range(...)'"),
    ast.AsyncWith: ("'async with'", "put it around the loop"),
}


@dataclass(frozen=True, slots=True)
class Scope:
    """What statements may do where they stand: *inner*: in a loop inside the annotated one; *function*: return."""

    inner: bool = False
    function: bool = False


def block(ctx: Context, body: list[ast.stmt], scope: Scope) -> Statements:
    """The statements *body*; what is wrong goes to the context."""
    made: list[Stmt] = []
    for stmt in body:
        with ctx.collecting():
            made += _statement(ctx, stmt, scope)
    return tuple(made)


def _statement(ctx: Context, stmt: ast.stmt, scope: Scope) -> list[Stmt]:
    handler = _HANDLERS.get(type(stmt))
    if handler is None:
        what, advice = _REFUSED.get(type(stmt), (f"'{type(stmt).__name__.lower()}'", "do it before or after the loop"))
        raise ctx.refusal("N231", stmt, f"a kernel cannot have {what}", advice)
    return list(handler(ctx, stmt, scope))


def _nothing(ctx: Context, stmt: ast.stmt, scope: Scope) -> Statements:
    return ()


def _expression(ctx: Context, stmt: ast.Expr, scope: Scope) -> Statements:
    """An expression whose value nobody uses: it is translated, so that what a kernel cannot do is refused."""
    if isinstance(stmt.value, ast.Constant):
        return ()
    with_value = translate(ctx, stmt.value)
    assert with_value is not None
    return ()


# ------------------------------------------------------------------------------------------------------ assignments


def _assign(ctx: Context, stmt: ast.Assign, scope: Scope) -> Iterator[Stmt]:
    targets = stmt.targets
    if isinstance(stmt.value, ast.Tuple) and all(isinstance(t, ast.Tuple) for t in targets):
        yield from _unpacked(ctx, stmt)
        return
    if any(isinstance(target, ast.Tuple | ast.List) for target in targets):
        raise ctx.refusal("N231", stmt, "a kernel cannot unpack this", "write one value for each variable")
    given = number_of(ctx, stmt.value)
    if len(targets) > 1 and not isinstance(given.expr, Const | Var):
        given, declared = _kept(ctx, given, "value")
        yield declared
    for target in targets:
        yield from _store(ctx, target, given, stmt)


def _unpacked(ctx: Context, stmt: ast.Assign) -> Iterator[Stmt]:
    """``x, y = y, x``: all values, then all targets."""
    assert isinstance(stmt.value, ast.Tuple)
    values = []
    for part in stmt.value.elts:
        given = number_of(ctx, part)
        if given.constant is None:
            given, declared = _kept(ctx, given, "value")
            yield declared
        values.append(given)
    for target in stmt.targets:
        assert isinstance(target, ast.Tuple)
        if len(target.elts) != len(values):
            message = f"{len(values)} values for {len(target.elts)} variables"
            raise ctx.refusal("N231", stmt, message, "write one value for each variable")
        for part, given in zip(target.elts, values, strict=True):
            yield from _store(ctx, part, given, stmt)


def _kept(ctx: Context, given: Value, name: str) -> tuple[Value, Stmt]:
    """*given* in a local of its own, and its declaration."""
    local = Var(ctx.names.unique(name), given.expr.dtype)
    return Value(local, given.kinds), Declare(local.name, local.dtype, (), given.expr)


def _store(ctx: Context, target: ast.expr, given: Value, stmt: ast.stmt) -> Statements:
    if isinstance(target, ast.Name):
        ctx.assigned(target.id, given, target)
        variable = ctx.variable(target.id, target)
        assert isinstance(variable.expr, Var)
        made = Assign(variable.expr, _converted(ctx, given, variable.expr.dtype, stmt), ctx.place(stmt))
        return (made, Assign(ctx.flag(target.id), Const(1, "bool"))) if target.id in ctx.flagged else (made,)
    if isinstance(target, ast.Subscript):
        place = _element(ctx, target)
        return (Assign(place, _converted(ctx, given, place.dtype, stmt), ctx.place(stmt)),)
    advice = "assign to variables and to elements of arrays"
    raise ctx.refusal("N231", target, f"a kernel cannot assign to '{ast.unparse(target)}'", advice)


def _element(ctx: Context, target: ast.Subscript) -> Load:
    found = translate(ctx, target)
    if isinstance(found, Value) and isinstance(found.expr, Load):
        return found.expr
    if isinstance(found, Array):
        number_of(ctx, target)  # says what is missing
    raise ctx.refusal("N231", target, f"a kernel cannot assign to '{ast.unparse(target)}'", "assign to an element")


def _converted(ctx: Context, given: Value, dtype: str, node: ast.stmt) -> Expr:
    try:
        if dtype == "bool":
            return cast(arithmetic.truth(given), "bool")
        return as_type(given, dtype)
    except NoType as reason:
        raise ctx.refusal("N236", node, str(reason), "use a wider type, or a number in its range") from None


def _augmented(ctx: Context, stmt: ast.AugAssign, scope: Scope) -> Iterator[Stmt]:
    target = stmt.target
    if isinstance(target, ast.Name):
        if target.id not in ctx.kinds:
            raise ctx.refusal("N237", target, f"'{target.id}' has no value here", "assign to it before the loop")
        before: Value = ctx.variable(target.id, target)
    elif isinstance(target, ast.Subscript):
        place = _element(ctx, target)
        before = value(place, place.dtype)
    else:
        raise ctx.refusal("N231", target, f"a kernel cannot assign to '{ast.unparse(target)}'", "use a variable")
    after = binary_operator(ctx, stmt, stmt.op, before, number_of(ctx, stmt.value))
    if isinstance(target, ast.Name):
        yield from _store(ctx, target, after, stmt)
    else:
        yield Assign(place, _converted(ctx, after, place.dtype, stmt), ctx.place(stmt))


def _annotated(ctx: Context, stmt: ast.AnnAssign, scope: Scope) -> Iterator[Stmt]:
    if stmt.value is not None:
        yield from _store(ctx, stmt.target, number_of(ctx, stmt.value), stmt)


# ---------------------------------------------------------------------------------------------------------- control


def _if(ctx: Context, stmt: ast.If, scope: Scope) -> Iterator[Stmt]:
    test = condition(ctx, stmt.test)
    yield If(test, block(ctx, stmt.body, scope), block(ctx, stmt.orelse, scope), ctx.place(stmt.test))


def _while(ctx: Context, stmt: ast.While, scope: Scope) -> Iterator[Stmt]:
    _refuse_else(ctx, stmt)
    test = condition(ctx, stmt.test)
    yield While(test, block(ctx, stmt.body, Scope(True, scope.function)), place=ctx.place(stmt.test))


def _refuse_else(ctx: Context, stmt: ast.While | ast.For) -> None:
    if stmt.orelse:
        message = f"a kernel cannot have 'else' after '{type(stmt).__name__.lower()}'"
        raise ctx.refusal("N231", stmt.orelse[0], message, "set a flag in the loop, and test it afterwards")


def _break(ctx: Context, stmt: ast.Break, scope: Scope) -> Iterator[Stmt]:
    if not scope.inner:
        advice = "let the other iterations do nothing, or move the search out of the kernel"
        raise ctx.refusal("N207", stmt, "'break' leaves the annotated loop", advice)
    yield Break(ctx.place(stmt))


def _continue(ctx: Context, stmt: ast.Continue, scope: Scope) -> Iterator[Stmt]:
    yield Continue(ctx.place(stmt))


def _return(ctx: Context, stmt: ast.Return, scope: Scope) -> Iterator[Stmt]:
    if not scope.function:
        advice = "set a variable, and return after the loop"
        raise ctx.refusal("N207", stmt, "'return' leaves the annotated loop", advice)
    if stmt.value is None:
        raise ctx.refusal("N208", stmt, "a function that a kernel calls returns a number", "return a number")
    given = number_of(ctx, stmt.value)
    ctx.assigned(RESULT, given, stmt)
    variable = ctx.variable(RESULT, stmt)
    yield Return(_converted(ctx, given, variable.expr.dtype, stmt), ctx.place(stmt))


RESULT = "return"
"""What the value of a function is called among its variables: no name of Python's."""


# ------------------------------------------------------------------------------------------------------------ loops


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a counter goes through, as int64."""

    lower: Expr
    upper: Expr
    step: Expr
    up: bool

    @property
    def is_empty(self) -> bool:
        """Whether these are constants that leave no iteration."""
        parts = [part.value for part in (self.lower, self.upper, self.step) if isinstance(part, Const)]
        return len(parts) == 3 and not range(*map(int, parts))

    @property
    def relation(self) -> Relation:
        """That between the counter and the upper bound."""
        return "<" if self.up else ">"


def range_arguments(ctx: Context, stmt: ast.For) -> list[ast.expr]:
    """The arguments of ``range`` that *stmt* loops over."""
    _refuse_else(ctx, stmt)
    if not isinstance(stmt.target, ast.Name):
        raise ctx.refusal("N205", stmt.target, "a loop must count with one variable", "write for i in range(...)")
    found = stmt.iter
    plain = isinstance(found, ast.Call) and isinstance(found.func, ast.Name) and not found.keywords
    if not plain or not ctx.is_constant(found.func.id, range):  # type: ignore[attr-defined]
        advice = "write for i in range(len(a)), and use a[i]"
        raise ctx.refusal("N205", found, "a kernel loops over a range only", advice)
    assert isinstance(found, ast.Call)
    if not 1 <= len(found.args) <= 3 or any(isinstance(part, ast.Starred) for part in found.args):
        raise ctx.refusal("N205", found, "range takes one to three numbers", "write range(start, stop, step)")
    return found.args


def _for(ctx: Context, stmt: ast.For, scope: Scope) -> Iterator[Stmt]:
    arguments = range_arguments(ctx, stmt)
    bounds = _bounds(ctx, stmt, arguments)
    if bounds.is_empty:
        return
    if not all(isinstance(part, Const) for part in (bounds.lower, bounds.upper, bounds.step)):
        bounds, kept = _settled(ctx, stmt, bounds)
        yield from kept
    yield counted(ctx, stmt, bounds, Scope(True, scope.function))


def _bounds(ctx: Context, stmt: ast.For, arguments: list[ast.expr]) -> Bounds:
    numbers = [number_of(ctx, part) for part in arguments]
    for part, given in zip(arguments, numbers, strict=True):
        if not is_integer(given.kinds):
            message = f"range takes integers, and this is {shown(given.kinds)}"
            raise ctx.refusal("N205", part, message, "write int(...) around it")
    parts = [as_type(given, "int64") for given in numbers]
    if len(parts) == 1:
        parts.insert(0, Const(0, "int64"))
    step = parts[2] if len(parts) == 3 else Const(1, "int64")
    return Bounds(parts[0], parts[1], step, _direction(ctx, arguments[-1], step))


def _direction(ctx: Context, node: ast.expr, step: Expr) -> bool:
    """Whether *step* leads up."""
    if isinstance(step, Const):
        if step.value == 0:
            raise ctx.refusal("N205", node, "the step of this range is 0", "step by another number")
        return step.value > 0
    if (lowest(ctx, step) or 0) < 1:
        advice = "write a constant step, and compute the other index in the loop"
        raise ctx.refusal("N205", node, "whether this step leads up or down is not known before the loop", advice)
    return True


def _settled(ctx: Context, stmt: ast.For, bounds: Bounds) -> tuple[Bounds, Statements]:
    """*bounds* in locals of their own, if the loop changes what they are computed from: Python computes them once."""
    written = {ctx.params["array", name].name for name in _subscripted(stmt) if ("array", name) in ctx.params}
    nodes = [node for part in (bounds.lower, bounds.upper, bounds.step) for node in walk_expr(part)]
    used = {node.array for node in nodes if isinstance(node, Load)}
    if not (reads(stmt.iter) & stores(stmt)) and not (used & written):
        return bounds, ()
    made: list[Stmt] = []
    parts = list[Expr]()
    for part, name in zip((bounds.lower, bounds.upper, bounds.step), ("first", "end", "step"), strict=True):
        if isinstance(part, Const):
            parts.append(part)
            continue
        kept, declared = _kept(ctx, value(part, "pyint"), f"{stmt.target.id}_{name}")  # type: ignore[attr-defined]
        made.append(declared)
        parts.append(kept.expr)
    return Bounds(parts[0], parts[1], parts[2], bounds.up), tuple(made)


def _subscripted(stmt: ast.stmt) -> set[str]:
    """The arrays to whose elements *stmt* assigns."""
    found = [n for n in ast.walk(stmt) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    return {name.id for target in found for name in ast.walk(target.value) if isinstance(name, ast.Name)}


def counted(ctx: Context, stmt: ast.For, bounds: Bounds, scope: Scope, first: Statements = ()) -> For:
    """The loop *stmt* over *bounds*; *first* comes before its body."""
    assert isinstance(stmt.target, ast.Name)
    name = stmt.target.id
    iname = ctx.names.unique(name)
    counter = Var(iname, "int64", ctx.place(stmt.target))
    low = lowest(ctx, bounds.lower)
    if not bounds.up:
        low = lowest(ctx, bounds.upper)
        low = low + 1 if low is not None else None
    if low is not None:
        ctx.lowest[iname], ctx.widths[iname] = low, counter_width(ctx, low, bounds.step)
    outer = ctx.counters.pop(name, None)
    if name in ctx.kinds:
        first = (*first, *_store(ctx, stmt.target, value(counter, "pyint"), stmt))
    else:
        ctx.counters[name] = counter
    body = (*first, *block(ctx, stmt.body, scope))
    ctx.counters.pop(name, None)
    if outer is not None:
        ctx.counters[name] = outer
    return For(iname, "int64", bounds.lower, bounds.relation, bounds.upper, bounds.step, body, place=ctx.place(stmt))


_HANDLERS: dict[type[ast.stmt], Callable[..., Iterator[Stmt] | Statements]] = {
    ast.Assign: _assign, ast.AugAssign: _augmented, ast.AnnAssign: _annotated, ast.Expr: _expression,
    ast.If: _if, ast.While: _while, ast.For: _for, ast.Break: _break, ast.Continue: _continue,
    ast.Return: _return, ast.Pass: _nothing,
}  # fmt: skip
