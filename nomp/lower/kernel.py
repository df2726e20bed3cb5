"""Statements to loopy instructions.

One `Builder` lowers one region.  Instructions depend on every earlier one that they conflict with, so that loopy may
reorder only what is independent; loops keep the order of the source by loop priorities.  Conditions become predicates:
a condition on counters and parameters is used as it stands, any other is first kept in a scalar, because the body may
change what it reads.  ``break`` and ``continue`` clear a flag that guards what follows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import islpy as isl
import loopy as lp
from loopy.symbolic import get_dependencies
from pymbolic import primitives as p
from pymbolic import var
from pymbolic.mapper.dependency import DependencyMapper

from nomp.affine import Affine, Scope
from nomp.arithmetic import is_float, is_launch_expr
from nomp.device_source import Value, Variant
from nomp.loops import INDEX, Header, header
from nomp.lower.expressions import COMPARISONS, Name, Speller, constant
from nomp.lower.target import loopy_dtype
from nomp.region import (
    Assign,
    Binary,
    Break,
    Continue,
    Declare,
    Expr,
    For,
    If,
    Load,
    Param,
    Region,
    Stmt,
    Var,
    operands,
    walk,
    walk_expr,
)  # fmt: skip

_WITH_CALLS = DependencyMapper(include_calls=True)
_FALSE, _TRUE = constant(0, "int32"), constant(1, "int32")


@dataclass(frozen=True, slots=True)
class Context:
    """Where a statement stands.

    *within*: the inames around it, *domain* their constraints.  *guard*: the predicates on it.  *bounds*: the device
    scalars that the domain needs.  *live* is cleared by ``continue`` and ``break`` of the innermost loop, *going* by
    ``break``.
    """

    within: tuple[str, ...] = ()
    domain: tuple[str, ...] = ()
    guard: frozenset[Any] = frozenset()
    bounds: frozenset[str] = frozenset()
    live: str | None = None
    going: str | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """What an instruction touches: the variable that it writes and those that it reads."""

    instruction: str
    written: str
    read: frozenset[str]

    def conflicts(self, written: str, read: frozenset[str]) -> bool:
        """Whether a later instruction that touches these must stay behind this one."""
        return self.written in read or self.written == written or written in self.read


@dataclass(slots=True)
class Builder:
    """The kernel so far.  *forms* and *stable* are those of `affine.Scope`, *names* that of `Speller`."""

    region: Region
    variant: Variant
    domains: list[str] = field(default_factory=list)
    instructions: list[lp.Assignment] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    temporaries: dict[str, lp.TemporaryVariable] = field(default_factory=dict)
    arguments: list[Any] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    priorities: set[tuple[str, ...]] = field(default_factory=set)
    names: dict[str, Name] = field(default_factory=dict)
    forms: dict[str, Affine] = field(default_factory=dict)
    stable: set[str] = field(default_factory=set)
    data: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    @property
    def spell(self) -> Speller:
        """The speller of expressions with the names known so far."""
        return Speller(self.names, self.stable, self.variant.no_wrap)

    def fresh(self, name: str) -> str:
        """*name*, or the first of ``name_``, ``name__`` ... that is free."""
        while name in self.used:
            name += "_"
        self.used.add(name)
        return name

    def parameters(self) -> None:
        """Declare the region's parameters; scalars first, because extents are made of them."""
        self.used = {param.name for param in self.region.params} | set(_declared(self.region.body))
        for param in self.region.params:
            if param.kind == "scalar":
                self._scalar(param)
        for param in self.region.params:
            if param.kind in ("array", "cell"):
                self._array(param)

    def _scalar(self, param: Param) -> None:
        # Integers come as signed 64-bit values, whatever their type: loopy's bounds and subscripts need them so.
        dtype = param.dtype if is_float(param.dtype) else INDEX
        self._value(param.name, dtype, Var(param.name, param.dtype))
        if dtype == INDEX:
            self.names[param.name] = Name(var(param.name))
            self.forms[param.name] = Affine(0, {param.name: 1})
            self.stable.add(param.name)

    def _value(self, name: str, dtype: str, expr: Expr | None, offset_of: str | None = None) -> None:
        self.values.append(Value(name, dtype, expr, offset_of))
        self.arguments.append(lp.ValueArg(name, loopy_dtype(dtype)))
        self.names[name] = Name(var(name), dtype)

    def _array(self, param: Param) -> None:
        offset: Any = 0
        if self.variant.offsets:
            offset = var(self.fresh(f"{param.name}_offset"))
            self._value(offset.name, INDEX, None, param.name)
        shape: Any = tuple(None if extent is None else self.spell.index(extent) for extent in param.shape)
        if param.kind == "cell":
            shape = (1,)
            self.names[param.name] = Name(p.Subscript(var(param.name), (0,)), param.dtype)
        shape = None if shape == (None,) else shape
        self.arguments.append(lp.GlobalArg(param.name, loopy_dtype(param.dtype), shape=shape, offset=offset))
        self.data.add(param.name)

    def body(self, stmts: Iterable[Stmt], context: Context) -> None:
        """Lower *stmts* in order."""
        for stmt in stmts:
            match stmt:
                case Assign(target=target, value=value):
                    self.assign(self._target(target, context), self.spell.value(value), context)
                case Declare():
                    self._declare(stmt, context)
                case If():
                    self._if(stmt, context)
                case For():
                    self._for(stmt, context)
                case Break():
                    self._clear((context.going, context.live), context)
                case Continue():
                    self._clear((context.live,), context)

    def _target(self, target: Var | Load, context: Context) -> Any:
        if isinstance(target, Var):
            return self.names[target.name].plain
        return p.Subscript(var(target.array), tuple(self._subscript(index, context) for index in target.index))

    def _subscript(self, index: Expr, context: Context) -> Any:
        """A subscript of a written element; loopy resolves no calls there, so one with calls is computed before."""
        spelled = self.spell.index(index)
        if not any(isinstance(part, p.Call) for part in _WITH_CALLS(spelled)):
            return spelled
        name = self.fresh("index")
        self.temporary(name, INDEX)
        self.assign(var(name), _guarded(context, spelled, constant(0, INDEX)), replace(context, guard=frozenset()))
        return var(name)

    def assign(self, target: Any, value: Any, context: Context) -> None:
        """Append ``target = value``, to run after every earlier instruction that it conflicts with."""
        written = target.aggregate.name if isinstance(target, p.Subscript) else target.name
        subscript = target.index_tuple if isinstance(target, p.Subscript) else ()
        read = self._data_in(value, *subscript, *context.guard) | context.bounds
        after = frozenset(a.instruction for a in self.accesses if a.conflicts(written, read))
        name = f"{written}_{sum(a.written == written for a in self.accesses)}"
        self.accesses.append(Access(name, written, read))
        self.instructions.append(
            lp.Assignment(
                target,
                value,
                id=name,
                predicates=context.guard,
                within_inames=frozenset(context.within),
                within_inames_is_final=True,
                depends_on=after,
                depends_on_is_final=True,
            )
        )

    def _data_in(self, *exprs: Any) -> frozenset[str]:
        found: frozenset[str] = frozenset().union(*(get_dependencies(expr) for expr in exprs))
        return found & self.data

    def temporary(self, name: str, dtype: str, shape: tuple[Any, ...] = ()) -> None:
        """Declare a local; whether it is private or shared by a group is up to the schedule."""
        self.temporaries[name] = lp.TemporaryVariable(name, loopy_dtype(dtype), shape=shape, address_space=lp.auto)
        self.data.add(name)
        if not shape:
            self.names[name] = Name(var(name), dtype)

    def _declare(self, stmt: Declare, context: Context) -> None:
        self.temporary(stmt.name, stmt.dtype, tuple(self.spell.index(extent) for extent in stmt.shape))
        if stmt.init is not None:
            self.assign(var(stmt.name), self.spell.value(stmt.init), context)

    def _clear(self, flags: tuple[str | None, ...], context: Context) -> None:
        # Not predicated: loopy allows no instruction to change what its own predicates read.
        for flag in dict.fromkeys(flags):
            if flag:
                self.assign(var(flag), _guarded(context, _FALSE, var(flag)), replace(context, guard=frozenset()))

    def _if(self, stmt: If, context: Context) -> None:
        condition = self.spell.condition(stmt.cond)
        if not self._is_invariant(stmt.cond):
            condition = self._keep(condition, context)
        self.body(stmt.then, replace(context, guard=context.guard | {condition}))
        self.body(stmt.other, replace(context, guard=context.guard | {p.LogicalNot(condition)}))

    def _is_invariant(self, cond: Expr) -> bool:
        """Whether *cond* may be a predicate as it stands: integers of counters and parameters, nothing that traps."""
        if isinstance(cond, Binary) and cond.op in ("&&", "||"):
            return self._is_invariant(cond.left) and self._is_invariant(cond.right)
        compares = isinstance(cond, Binary) and cond.op in COMPARISONS
        names = {e.name for e in walk_expr(cond) if isinstance(e, Var)}
        return (
            compares
            and all(self.spell.is_plain(side) for side in operands(cond))
            and not any(self._data_in(self.names[name].plain) for name in names)
        )

    def _keep(self, condition: Any, context: Context) -> Any:
        """The truth of *condition* in a scalar: 0, without evaluating it, where the guard around it does not hold."""
        name = self.fresh("cond")
        self.temporary(name, "int32")
        truth = p.If(condition, _TRUE, _FALSE)
        self.assign(var(name), _guarded(context, truth, _FALSE), replace(context, guard=frozenset()))
        return p.Comparison(var(name), "!=", _FALSE)

    def _for(self, loop: For, context: Context) -> None:
        inner = self.loop(loop, context)
        if inner is not None:
            self.body(loop.body, self._flags(loop, context, inner))

    def loop(self, loop: For, context: Context) -> Context | None:
        """Open *loop*: its domain, its counter; the context of its body, None if that never runs."""
        head = header(loop, Scope(self.forms, self.stable, self.variant.no_wrap), self.fresh)
        for name, expr in head.computed:
            self._compute(name, expr, context)
        within, domain = (*context.within, loop.iname), (*context.domain, head.constraints)
        if _is_empty(within, domain, self.forms):
            return None
        self.domains.append(f"[{', '.join(sorted(head.parameters))}] -> {{ [{loop.iname}] : {head.constraints} }}")
        self._counter(loop, head)
        bounds = context.bounds | {name for name, _ in head.computed if name in self.temporaries}
        self.priorities |= {within} if len(within) > 1 else set()
        return replace(context, within=within, domain=domain, bounds=bounds)

    def _compute(self, name: str, expr: Expr, context: Context) -> None:
        """Make the scalar *name*: at launch if it can be, else on the device (0, so no trips, under a false guard)."""
        scalars = {param.name for param in self.region.params if param.kind == "scalar"}
        if is_launch_expr(expr, scalars):
            self._value(name, INDEX, expr)
            self.stable.add(name)
        else:
            self.temporary(name, INDEX)
            value = _guarded(context, self.spell.value(expr), constant(0, INDEX))
            self.assign(var(name), value, replace(context, guard=frozenset()))
        self.forms[name] = Affine(0, {name: 1})

    def _counter(self, loop: For, head: Header) -> None:
        """What the loop's counter means in its body."""
        iname = Affine(0, {loop.iname: 1})
        if head.base is None:
            self.names[loop.iname] = Name(var(loop.iname))
            self.forms[loop.iname] = iname
        else:
            step = var(head.step) if isinstance(head.step, str) else head.step
            value = p.Product((step, var(loop.iname)))
            for name, coefficient in sorted(head.base.terms.items()):
                value = (var(name) if coefficient == 1 else coefficient * var(name)) + value
            self.names[loop.iname] = Name(value + head.base.constant if head.base.constant else value)
            if isinstance(head.step, int):
                self.forms[loop.iname] = head.base + iname.scaled(head.step)
        names = {*head.parameters, *(name for name, _ in head.computed), *(head.base.terms if head.base else ())}
        if names <= self.stable | {loop.iname}:
            self.stable.add(loop.iname)

    def _flags(self, loop: For, outer: Context, inner: Context) -> Context:
        """*inner* with the flags that the loop's own ``break`` and ``continue`` need."""
        own = set(map(type, _own_jumps(loop.body)))
        going = live = None
        if Break in own:
            going = self._flag(f"{loop.iname}_going", _TRUE, replace(outer, guard=frozenset()))
        if Continue in own:
            start = _TRUE if going is None else var(going)
            live = self._flag(f"{loop.iname}_live", start, replace(inner, guard=frozenset()))
        live = live or going
        guard = inner.guard | ({p.Comparison(var(live), "!=", _FALSE)} if live else set())
        return replace(inner, guard=guard, live=live, going=going)

    def _flag(self, name: str, start: Any, context: Context) -> str:
        name = self.fresh(name)
        self.temporary(name, "int32")
        self.assign(var(name), start, context)
        return name


def _is_empty(within: tuple[str, ...], domain: tuple[str, ...], forms: Iterable[str]) -> bool:
    """Whether no values of the parameters give the nest an iteration (loopy makes no loops of empty domains)."""
    parameters = ", ".join(sorted(set(forms) - set(within)))
    return bool(isl.Set(f"[{parameters}] -> {{ [{', '.join(within)}] : {' and '.join(domain)} }}").is_empty())


def _guarded(context: Context, value: Any, otherwise: Any) -> Any:
    """*value* where the guard of *context* holds, else *otherwise*."""
    if not context.guard:
        return value
    guards = tuple(sorted(context.guard, key=str))
    return p.If(guards[0] if len(guards) == 1 else p.LogicalAnd(guards), value, otherwise)


def _declared(body: tuple[Stmt, ...]) -> Iterator[str]:
    """The names that *body* declares."""
    for stmt in walk(body):
        if isinstance(stmt, For):
            yield stmt.iname
        elif isinstance(stmt, Declare):
            yield stmt.name


def _own_jumps(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """The ``break`` and ``continue`` of *body* that belong to the loop around it."""
    for stmt in body:
        if isinstance(stmt, Break | Continue):
            yield stmt
        elif isinstance(stmt, If):
            yield from _own_jumps(stmt.then)
            yield from _own_jumps(stmt.other)
