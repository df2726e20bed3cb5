"""Walks over the loop IR: subexpressions and nested statements, in program order; and its rewriting.

Used by every stage that looks for something in a region; `region` itself only says what the nodes are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from nomp.region import (
    NOWHERE,
    Assign,
    Binary,
    Call,
    Cast,
    Const,
    Declare,
    Expr,
    For,
    If,
    Load,
    Place,
    Region,
    Return,
    Select,
    Stmt,
    Switch,
    Unary,
    Var,
    While,
)


def operands(expr: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions of *expr*, in evaluation order."""
    match expr:
        case Load(index=index):
            return index
        case Unary(operand=operand) | Cast(operand=operand):
            return (operand,)
        case Binary(left=left, right=right):
            return (left, right)
        case Select(cond=cond, then=then, other=other):
            return (cond, then, other)
        case Call(args=args):
            return args
    return ()


def walk_expr(expr: Expr) -> Iterator[Expr]:
    """*expr* and all its subexpressions, outermost first."""
    yield expr
    for operand in operands(expr):
        yield from walk_expr(operand)


def walk(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """All statements of *body*, nested ones included, in program order."""
    for stmt in body:
        yield stmt
        for part in bodies(stmt):
            yield from walk(part)


def bodies(stmt: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The statement lists inside *stmt*."""
    match stmt:
        case For(body=body) | While(body=body):
            return (body,)
        case If(then=then, other=other):
            return then, other
        case Switch(cases=cases):
            return tuple(case.body for case in cases)
    return ()


def expressions(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions that *stmt* itself evaluates (a written element's index, but not nested statements)."""
    match stmt:
        case Assign(target=Load(index=index), value=value):
            return (*index, value)
        case Assign(value=value):
            return (value,)
        case Declare(shape=shape, init=init):
            return (*shape, init) if init is not None else shape
        case If(cond=cond) | While(cond=cond):
            return (cond,)
        case Switch(value=value) | Return(value=value):
            return (value,)
        case For(lower=lower, upper=upper, step=step):
            return (lower, upper, step)
    return ()


def place_of(stmt: Stmt) -> Place:
    """Where *stmt* is in the source."""
    return stmt.target.place if isinstance(stmt, Assign) else stmt.place


def mentioned(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions of *stmt* itself, and the variable or element that it writes."""
    return (*expressions(stmt), stmt.target) if isinstance(stmt, Assign) else expressions(stmt)


def loads(stmt: Stmt) -> Iterator[Load]:
    """The array elements that *stmt* itself reads or writes."""
    for expr in mentioned(stmt):
        for node in walk_expr(expr):
            if isinstance(node, Load):
                yield node


def variable(node: Var | Load) -> str:
    """The scalar or array that *node* mentions."""
    return node.array if isinstance(node, Load) else node.name


def variables(*exprs: Expr) -> set[str]:
    """The scalars and arrays that *exprs* mention."""
    return {variable(node) for expr in exprs for node in walk_expr(expr) if isinstance(node, Var | Load)}


def written_in(body: tuple[Stmt, ...]) -> set[str]:
    """The scalars and arrays that *body* assigns to."""
    return {variable(stmt.target) for stmt in walk(body) if isinstance(stmt, Assign)}


def changed_in(body: tuple[Stmt, ...]) -> set[str]:
    """The scalars and arrays that *body* declares or assigns to."""
    return written_in(body) | {stmt.name for stmt in walk(body) if isinstance(stmt, Declare)}


def mentioned_in(body: tuple[Stmt, ...]) -> set[str]:
    """The scalars and arrays that *body* declares, assigns to or reads."""
    return changed_in(body) | variables(*(expr for stmt in walk(body) for expr in expressions(stmt)))


_ISL_WORDS = {"and", "ceil", "ceild", "exists", "false", "floor", "floord", "implies", "infinity", "infty", "max",
              "min", "mod", "nan", "not", "or", "rat", "true"}  # fmt: skip


@dataclass(slots=True)
class Names:
    """Hands out the names of one region, each of them once.

    They are ASCII, none is a word of isl's, whatever its case, and none begins as the device's names of functions do.
    """

    taken: set[str] = field(default_factory=set)

    def unique(self, name: str) -> str:
        """*name*, with ``_`` appended until it is free; from now on it is taken."""
        name = re.sub(r"^nomp_", "c_nomp_", re.sub(r"[^A-Za-z0-9_]", "_", name))
        while name in self.taken or name.lower() in _ISL_WORDS:
            name += "_"
        self.taken.add(name)
        return name


def names(region: Region) -> Names:
    """The names of *region*: of its parameters, its counters and what it declares."""
    taken = {param.name for param in region.params}
    for stmt in walk(region.body):
        if isinstance(stmt, For):
            taken.add(stmt.iname)
        elif isinstance(stmt, Declare):
            taken.add(stmt.name)
    return Names(taken)


def rewritten(node: Any, change: Callable[[Any], Any]) -> Any:
    """*node* (a node, a tuple of nodes or a plain value) with *change* applied to every node, innermost first."""
    if isinstance(node, Place):
        return change(node)
    if isinstance(node, tuple):
        return tuple(rewritten(item, change) for item in node)
    if is_dataclass(node) and not isinstance(node, type):
        parts = {part.name: rewritten(getattr(node, part.name), change) for part in fields(node)}
        return change(replace(node, **parts))
    return node


def with_values(node: Any, known: Mapping[str, Expr]) -> Any:
    """*node* with what *known* says in place of those scalars."""
    return rewritten(node, lambda inner: known.get(inner.name, inner) if isinstance(inner, Var) else inner)


def fixed(region: Region, values: Mapping[str, int | float]) -> Region:
    """*region* with the parameters *values* replaced by these constants."""
    known = {param.name: Const(values[param.name], param.dtype) for param in region.params if param.name in values}
    params = tuple(with_values(param, known) for param in region.params if param.name not in known)
    jit = tuple(name for name in region.clauses.jit if name not in known)
    clauses = replace(region.clauses, jit=jit)
    return replace(region, params=params, body=with_values(region.body, known), clauses=clauses)


def without_places(node: Any) -> Any:
    """*node* with all places forgotten, so that two texts of one meaning are equal."""
    return rewritten(node, lambda inner: NOWHERE if isinstance(inner, Place) else inner)
