"""One annotated Python loop, for given types, to a `Region`.

In: a `Loop` and what the program has under the names that it uses.  Out: `Translated`: the region, and where a launch
finds each of its parameters.  Called by `runtime.python`.  Raises `NompError` with everything found wrong.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from nomp.arithmetic import cast
from nomp.diagnostics import Diagnostic, NompError, Span, error
from nomp.frontend import private, reductions
from nomp.frontend.python_context import (
    Context,
    Given,
    Guard,
    Layout,
    Number,
    Shared,
    Source,
    Subscript,
    Unset,
    Wrapping,
)
from nomp.frontend.python_expressions import number_of
from nomp.frontend.python_functions import counters_of, settle
from nomp.frontend.python_halves import without_halves
from nomp.frontend.python_locals import declared
from nomp.frontend.python_names import Names, always_set, reads, stores
from nomp.frontend.python_statements import Bounds, Scope, counted, range_arguments
from nomp.frontend.python_types import as_type
from nomp.frontend.usage import with_use
from nomp.pragma import ForClauses
from nomp.pragma import Name as JitName
from nomp.region import NOWHERE, Clauses, Const, Declare, Expr, For, Param, Place, Reduction, Region, Var


@dataclass(frozen=True, slots=True)
class Loop:
    """An annotated loop of *file*.

    *arguments*: the names whose objects a launch is given.  *shared*: those of them that the loop writes, starting with
    their values.  *results*: what it leaves behind.  *after*: the names that are read after each loop in it.
    *visible*: the variables it sets that functions may read.  *text* has its lines.
    """

    file: str
    line: int
    node: ast.For
    clauses: ForClauses
    arguments: tuple[str, ...]
    shared: Names
    results: tuple[str, ...]
    after: Mapping[ast.stmt, Names]
    visible: Names = frozenset()
    text: tuple[str, ...] = ()

    @property
    def counter(self) -> str:
        """The variable that the loop counts with."""
        assert isinstance(self.node.target, ast.Name)
        return self.node.target.id

    def is_like(self, other: Loop) -> bool:
        """Whether *other* is this loop, of a text that was read once more."""
        return self._parts() == other._parts()

    def _parts(self) -> tuple[Any, ...]:
        node, after = ast.dump(self.node, include_attributes=True), list(self.after.values())
        words = self.file, self.line, self.text, self.clauses
        return *words, self.arguments, self.shared, self.results, self.visible, node, after

    @property
    def span(self) -> Span:
        """Where its ``for`` stands."""
        return Span(self.file, self.node.lineno, self.node.col_offset + 1, 3)


@dataclass(frozen=True, slots=True)
class Result:
    """A variable that the kernel sets: its parameter's position, the kinds that it is given, all in *dtype*.

    *flag* is the position of the parameter that says whether it is set, where it has no value before the loop.
    *stays*: it may keep the value that it has before the loop.
    """

    name: str
    position: int
    kinds: frozenset[str]
    dtype: str
    start: str | None
    flag: int | None = None
    stays: bool = False


@dataclass(frozen=True, slots=True)
class Translated:
    """A *region*; *sources* has one for each parameter, None for those that are `Result`s."""

    region: Region
    sources: tuple[Source | None, ...]
    results: tuple[Result, ...]
    subscripts: tuple[Subscript, ...]
    guards: tuple[Guard, ...]


def translate(loop: Loop, given: Mapping[str, Given], up: bool, wrapping: Wrapping) -> Translated:
    """*loop* for objects *given*; *up*: whether it counts up.  *wrapping*: see there."""
    node, shared = loop.node, Shared()
    assigned = stores(*node.body)
    counters = counters_of(node, loop.after, frozenset(loop.results) - {loop.counter} | loop.shared)
    ctx = Context(loop.file, dict(given), set(assigned | {loop.counter}) - counters, shared)
    ctx.wrapping = wrapping
    for name in sorted(loop.shared & ctx.kinds.keys()):
        ctx.kinds[name].start = _start(ctx, loop, name)
        if isinstance(ctx.given.get(name), Unset) and name in loop.results:
            ctx.flagged.append(name)
    made = settle(ctx, lambda: _made(ctx, loop, up))
    cells = [name for name in ctx.kinds if name in loop.shared or name in loop.results]
    locals_ = tuple(_declaration(ctx, name) for name in ctx.kinds if name not in cells and name in ctx.device_names)
    made = replace(made, body=declared(made.body, locals_))
    flags = [_flag(ctx.flag(name)) for name in ctx.flagged]
    params = [*ctx.params.values(), *(_cell(ctx, loop, name) for name in cells), *flags]
    region = Region(
        _name(loop), loop.file, loop.line, with_use(tuple(params), (made,)), (made,), first_line=loop.line,
        text=loop.text, functions=tuple(shared.functions.values()),
    )  # fmt: skip
    region = without_halves(region)
    _refuse_fixed(ctx, region, given)
    region = _with_clauses(ctx, region, loop)
    _refuse_hidden(ctx, loop)
    sources: tuple[Source | None, ...] = (*ctx.params, *(None for _ in (*cells, *flags)))
    places = {name: len(params) - len(flags) + k for k, name in enumerate(ctx.flagged)}
    results = tuple(
        _result(ctx, name, len(ctx.params) + k, places.get(name), name not in always_set(node.body))
        for k, name in enumerate(cells)
    )
    return Translated(region, sources, results, tuple(ctx.subscripts), tuple(shared.guards.values()))


def _result(ctx: Context, name: str, position: int, flag: int | None, stays: bool) -> Result:
    kinds = ctx.kinds[name]
    return Result(name, position, kinds.assigned or kinds.kinds, kinds.dtype or "int64", kinds.start, flag, stays)


def _name(loop: Loop) -> str:
    return loop.clauses.name.text if loop.clauses.name else f"_nomp_kernel_l{loop.line}"


def _start(ctx: Context, loop: Loop, name: str) -> str | None:
    """The kind of the variable *name*, which iterations share, before the loop; None if it has no value."""
    found = ctx.given.get(name)
    if isinstance(found, Unset):
        return None
    if isinstance(found, Number):
        return found.kind
    what = "an array" if isinstance(found, Layout) else getattr(found, "what", "no number")
    where = next((n for n in ast.walk(loop.node) if isinstance(n, ast.Name) and n.id == name), loop.node)
    advice = "give it a number before the loop, and use another name for other things"
    raise ctx.refusal("N233", where, f"'{name}' is assigned in the loop, and is {what} before it", advice)


def _made(ctx: Context, loop: Loop, up: bool) -> For:
    """The loop itself, with the parameters that it takes."""
    node = loop.node
    arguments = range_arguments(ctx, node)
    for name in _ordered_parameters(loop):
        if isinstance(ctx.given.get(name), Number) and name not in ctx.kinds:
            number_of(ctx, _mention(node, name))
    bounds = _bounds(ctx, loop, arguments, up)
    return counted(ctx, node, bounds, Scope())


def _ordered_parameters(loop: Loop) -> list[str]:
    """The names that the loop's header mentions: scripts know bounds by these."""
    return [name for name in loop.arguments if name in reads(loop.node.iter)]


def _mention(node: ast.For, name: str) -> ast.Name:
    return next(n for n in ast.walk(node.iter) if isinstance(n, ast.Name) and n.id == name)


def _bounds(ctx: Context, loop: Loop, arguments: list[ast.expr], up: bool) -> Bounds:
    if len(arguments) == 1:
        lower: Expr = Const(0, "int64")
    else:
        lower = _bound(ctx, arguments[0], "start", loop)
    upper = _bound(ctx, arguments[min(1, len(arguments) - 1)], "stop", loop)
    step: Expr = Const(1, "int64")
    if len(arguments) == 3:
        step = _bound(ctx, arguments[2], "step", loop)
    if isinstance(step, Const) and step.value == 0:
        raise ctx.refusal("N205", arguments[2], "the step of this range is 0", "step by another number")
    return Bounds(lower, upper, step, step.value > 0 if isinstance(step, Const) else up)


def _bound(ctx: Context, node: ast.expr, part: str, loop: Loop) -> Expr:
    """A number of the range: an expression over what the kernel is given, or computed by the program itself."""
    if _is_simple(ctx, node):
        return cast(as_type(number_of(ctx, node), "int64"), "int64")
    name = f"{loop.counter}_{part}"
    return ctx.parameter(("range", part), name, "int64", ast.unparse(node), ctx.place(node))


def _is_simple(ctx: Context, node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=int()):
            return True
        case ast.Name(id=name):
            found = ctx.given.get(name)
            return isinstance(found, Number) and found.kind in ("pyint", "int32", "int64") and name not in ctx.kinds
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_simple(ctx, operand)
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult(), left=left, right=right):
            return _is_simple(ctx, left) and _is_simple(ctx, right)
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant()):
            return isinstance(ctx.given.get(name), Layout)
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            return isinstance(ctx.given.get(name), Layout) and ctx.is_constant("len", len)
    return False


def _declaration(ctx: Context, name: str) -> Declare:
    return Declare(ctx.device_name(name), ctx.kinds[name].dtype or "int64")


def _cell(ctx: Context, loop: Loop, name: str) -> Param:
    dtype = ctx.kinds[name].dtype
    places = [at for at in ctx.kinds[name].found.values() if at]
    place = places[0] if places else ctx.place(loop.node)
    return Param(ctx.device_name(name), dtype or "int64", "cell", f"&({name})", writes=True, place=place)


def _flag(flag: Var) -> Param:
    return Param(flag.name, flag.dtype, "cell", f"&({flag.name})", writes=True)


def _refuse_hidden(ctx: Context, loop: Loop) -> None:
    """Refuse variables that the loop sets and that functions it calls read: they take these for constant."""
    for guard in ctx.shared.guards.values():
        if guard.name in loop.visible and guard.may_be_set_here:
            message = f"'{guard.name}' is set in the loop, and read by a function that the loop calls"
            raise ctx.refusal("N208", loop.node, message, "pass it to the function")


def _refuse_fixed(ctx: Context, region: Region, given: Mapping[str, Given]) -> None:
    for param in region.params:
        layout = given.get(param.host)
        if param.kind == "array" and param.writes and isinstance(layout, Layout) and layout.fixed:
            advice = "write into a copy: a.copy()"
            message = f"'{param.host}' is written in the loop, and {layout.fixed}"
            raise error("N234", message, region.span(param.place), help=advice)


# ---------------------------------------------------------------------------------------------------------- clauses


def _with_clauses(ctx: Context, region: Region, loop: Loop) -> Region:
    """*region* with the clauses of the pragma."""
    clauses, kept, wrong = loop.clauses, list[Reduction](), list[Diagnostic]()
    for found in clauses.reductions:
        try:
            region, name = reductions.apply(region, found)
            kept.append(Reduction(name, found.op, Place(found.span.line, found.span.column, found.span.length)))
        except NompError as problem:
            wrong += problem.diagnostics
    jit = tuple(name for clause in clauses.jit for name in _jit_parameter(region, clause, wrong))
    if not kept:
        kept = list(reductions.recognised(region))
    cells = {param.name for param in region.params if param.kind == "cell"} - {reduction.name for reduction in kept}
    region, alone = private.apply(region, cells, ctx.names.unique)
    if clauses.transforms and cells - alone:
        name = region.host_name(sorted(cells - alone)[0])
        advice = "set it at the beginning of each iteration, or name it in a reduce clause"
        message = f"'{name}', which iterations share, is written in the loop"
        wrong += error("N212", message, region.span(region.place), help=advice).diagnostics
    if wrong:
        raise NompError(tuple(wrong))
    return replace(region, clauses=Clauses(clauses.transforms, clauses.annotations, tuple(kept), jit))


def _jit_parameter(region: Region, clause: JitName, wrong: list[Diagnostic]) -> tuple[str, ...]:
    found = [param for param in region.params if param.variable == clause.text]
    if found and found[0].kind == "scalar":
        return (found[0].name,)
    advice = "jit takes scalars that keep their value in the loop"
    message = f"'{clause.text}' is not a scalar that the loop reads"
    wrong += error("N216", message, clause.span or region.span(NOWHERE), help=advice).diagnostics
    return ()
