"""Statements to loopy instructions.

In: a region's statements and a `Builder`.  Out: the builder's kernel.  Conditions become predicates: a condition on
counters and parameters is used as it stands, any other is first kept in a scalar, because the body may change what it
reads.  ``break`` and ``continue`` clear a flag that guards what follows them.  Called by `lower`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from loopy.symbolic import SubstitutionMapper
from pymbolic import primitives as p
from pymbolic import var
from pymbolic.mapper.dependency import DependencyMapper
from pymbolic.mapper.substitutor import make_subst_func

from nomp import jumps
from nomp.loops import INDEX
from nomp.lower.builder import Builder, Context, guarded
from nomp.lower.expressions import constant
from nomp.lower.opaque import carry
from nomp.region import (
    COMPARISONS,
    Assign,
    Binary,
    Break,
    Continue,
    Declare,
    Expr,
    For,
    If,
    Load,
    Stmt,
    Switch,
    Var,
    While,
)
from nomp.walks import operands, walk_expr

_WITH_CALLS = DependencyMapper(include_calls=True)
_FALSE, _TRUE = constant(0, "int32"), constant(1, "int32")


def lower_body(builder: Builder, stmts: Iterable[Stmt], context: Context) -> None:
    """Lower *stmts* in order."""
    for stmt in stmts:
        context = replace(context, statement=builder.numbered[id(stmt)])
        match stmt:
            case Assign(target=target, value=value):
                _assign(builder, target, builder.spell.value(value), context)
            case Declare():
                _declare(builder, stmt, context)
            case If():
                _if(builder, stmt, context)
            case For():
                _for(builder, stmt, context)
            case While():
                carry(builder, stmt, context)
            case Switch():
                _switch(builder, stmt, context)
            case Break():
                _clear(builder, context.leave, context)
            case Continue():
                _clear(builder, context.skip, context)


def _assign(builder: Builder, target: Var | Load, value: Any, context: Context) -> None:
    if isinstance(target, Var):
        builder.assign(builder.names[target.name].plain, value, context)
        return
    subscripts = builder.spell.subscripts(target.index)
    element = p.Subscript(var(target.array), subscripts)
    made = p.Subscript(element.aggregate, tuple(_subscript(builder, part, context) for part in subscripts))
    if made != element:  # where it is read, too, its place need not be found twice
        value = SubstitutionMapper(make_subst_func({element: made}))(value)
    builder.assign(made, value, context)


def _subscript(builder: Builder, spelled: Any, context: Context) -> Any:
    """A subscript of a written element; loopy resolves no calls there, so one with calls is computed before."""
    if not any(isinstance(part, p.Call) for part in _WITH_CALLS(spelled)):
        return spelled
    name = builder.fresh("index")
    builder.temporary(name, INDEX)
    builder.assign(var(name), guarded(context, spelled, constant(0, INDEX)), context.unguarded())
    return var(name)


def _declare(builder: Builder, stmt: Declare, context: Context) -> None:
    builder.temporary(stmt.name, stmt.dtype, tuple(builder.extent(extent) for extent in stmt.shape))
    if stmt.init is not None:
        builder.assign(var(stmt.name), builder.spell.value(stmt.init), context)


def _clear(builder: Builder, flags: tuple[str, ...], context: Context) -> None:
    # Not predicated: loopy allows no instruction to change what its own predicates read.
    for flag in flags:
        builder.assign(var(flag), guarded(context, _FALSE, var(flag)), context.unguarded())


def _if(builder: Builder, stmt: If, context: Context) -> None:
    condition = builder.spell.condition(stmt.cond)
    if not _is_invariant(builder, stmt.cond):
        condition = _keep(builder, condition, context)
    lower_body(builder, stmt.then, replace(context, guard=context.guard | {condition}))
    lower_body(builder, stmt.other, replace(context, guard=context.guard | {p.LogicalNot(condition)}))


def _switch(builder: Builder, stmt: Switch, context: Context) -> None:
    """A flag says whether control has entered: a matching label sets it, ``break`` clears it."""
    dtype, value = stmt.value.dtype, builder.fresh("switch_value")
    builder.temporary(value, dtype)
    chosen = guarded(context, builder.spell.value(stmt.value), constant(0, dtype))
    builder.assign(var(value), chosen, context.unguarded())
    on = _flag(builder, "switch_on", _FALSE, context.unguarded())
    entered = p.Comparison(var(on), "!=", _FALSE)
    labels = [number for case in stmt.cases for number in case.values]
    inside = replace(context, guard=context.guard | {entered}, leave=(on,))
    for case in stmt.cases:
        match = _equals_any(var(value), dtype, case.values)
        if case.default:
            match = p.LogicalOr((match, p.LogicalNot(_equals_any(var(value), dtype, labels))))
        builder.assign(var(on), p.If(match, _TRUE, var(on)), context.unguarded())
        lower_body(builder, case.body, inside)


def _is_invariant(builder: Builder, cond: Expr) -> bool:
    """Whether *cond* may be a predicate as it stands: integers of counters and parameters, nothing that traps."""
    if isinstance(cond, Binary) and cond.op in ("&&", "||"):
        return _is_invariant(builder, cond.left) and _is_invariant(builder, cond.right)
    compares = isinstance(cond, Binary) and cond.op in COMPARISONS
    names = {e.name for e in walk_expr(cond) if isinstance(e, Var)}
    return (
        compares
        and all(builder.spell.is_plain(side) for side in operands(cond))
        and not any(builder.data_in(builder.names[name].plain) for name in names)
    )


def _keep(builder: Builder, condition: Any, context: Context) -> Any:
    """The truth of *condition* in a scalar: 0, without evaluating it, where the guard around it does not hold."""
    name = builder.fresh("cond")
    builder.temporary(name, "int32")
    truth = p.If(condition, _TRUE, _FALSE)
    builder.assign(var(name), guarded(context, truth, _FALSE), context.unguarded())
    return p.Comparison(var(name), "!=", _FALSE)


def _for(builder: Builder, loop: For, context: Context) -> None:
    if not builder.scripted and any(isinstance(jump, Break) for jump in jumps.own(loop.body)):
        carry(builder, loop, context)  # a flag would leave it counting to its end
        return
    inner = builder.loop(loop, context)
    lower_body(builder, loop.body, _flags(builder, loop, context, inner))


def _flags(builder: Builder, loop: For, outer: Context, inner: Context) -> Context:
    """*inner* with the flags that the loop's own ``break`` and ``continue`` need."""
    own = set(map(type, jumps.own(loop.body)))
    leave: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    if Break in own:
        leave = (_flag(builder, f"{loop.iname}_going", _TRUE, outer.unguarded()),)
    if Continue in own:
        skip = (_flag(builder, f"{loop.iname}_live", var(*leave) if leave else _TRUE, inner.unguarded()),)
    live = (*skip, *leave)[:1]
    guard = inner.guard | {p.Comparison(var(flag), "!=", _FALSE) for flag in live}
    return replace(inner, guard=guard, leave=(*leave, *skip), skip=skip)


def _flag(builder: Builder, name: str, start: Any, context: Context) -> str:
    name = builder.fresh(name)
    builder.temporary(name, "int32")
    builder.assign(var(name), start, context)
    return name


def _equals_any(value: Any, dtype: str, numbers: Iterable[int]) -> Any:
    """Whether *value* is one of *numbers*."""
    return p.LogicalOr(tuple(p.Comparison(value, "==", constant(number, dtype)) for number in numbers) or (False,))
