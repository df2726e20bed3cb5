"""The loopy kernel while it is being made: its arguments, locals, domains and instructions, and what names mean.

Used by `lower.statements` and `lower.opaque`, which decide what goes in.  Instructions depend on every earlier one that
they conflict with, so that loopy may reorder only what is independent; loops keep the order of the source by loop
priorities.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import loopy as lp
from loopy.symbolic import get_dependencies
from pymbolic import primitives as p
from pymbolic import var

from nomp.affine import Affine, Scope, is_exact
from nomp.arithmetic import is_float, is_launch_expr
from nomp.device_source import Value, Variant
from nomp.loops import INDEX, Header, header
from nomp.lower.expressions import Name, Speller, constant
from nomp.lower.target import loopy_dtype
from nomp.region import Expr, For, Param, Region, Var
from nomp.walks import Names, names, walk, walk_expr

_MEMORY = "*"
"""Stands for all arrays at once where they may overlap; no C name is like it."""


@dataclass(frozen=True, slots=True)
class Context:
    """Where a statement stands.

    *within*: the inames around it, *anchor* the innermost of them whose bounds depend on others.  *guard*: the
    predicates on it.  *bounds*: the device scalars that the domains need.  *leave* are the flags that ``break`` clears,
    *skip* those that ``continue`` clears.  *statement*: its number in the region, as `walks.walk` counts.
    """

    within: tuple[str, ...] = ()
    anchor: str | None = None
    guard: frozenset[Any] = frozenset()
    bounds: frozenset[str] = frozenset()
    leave: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    statement: int = 0

    def unguarded(self) -> Context:
        """The same place without its predicates."""
        return replace(self, guard=frozenset())


@dataclass(frozen=True, slots=True)
class Access:
    """What an instruction touches: the variables that it writes and those that it reads."""

    instruction: str
    written: frozenset[str]
    read: frozenset[str]

    def conflicts(self, later: Access) -> bool:
        """Whether *later* must stay behind this one."""
        return bool(self.written & (later.read | later.written) or self.read & later.written)


@dataclass(slots=True)
class Builder:
    """The kernel so far.

    *scripted*: a script may work on its loops.  *forms*, *stable* and *wide* are those of `affine.Scope`, *names* that
    of `Speller`; *data* are the arrays and locals, *shapes* their extents, *offsets* where arrays start.  *statements*
    says which statement of the region an instruction carries out, *numbered* has their numbers by their identity.
    """

    region: Region
    variant: Variant
    dialect: str
    scripted: bool = False
    domains: list[str] = field(default_factory=list)
    instructions: list[lp.InstructionBase] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    temporaries: dict[str, lp.TemporaryVariable] = field(default_factory=dict)
    arguments: list[Any] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    priorities: set[tuple[str, ...]] = field(default_factory=set)
    names: dict[str, Name] = field(default_factory=dict)
    forms: dict[str, Affine] = field(default_factory=dict)
    stable: set[str] = field(default_factory=set)
    wide: set[str] = field(default_factory=set)
    data: set[str] = field(default_factory=set)
    taken: Names = field(default_factory=Names)
    shapes: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    offsets: dict[str, Any] = field(default_factory=dict)
    numbers: Counter[str] = field(default_factory=Counter)
    statements: dict[str, int] = field(default_factory=dict)
    numbered: dict[int, int] = field(default_factory=dict)

    @property
    def spell(self) -> Speller:
        """The speller of expressions with the names known so far."""
        own = {function.name for function in self.region.functions}
        return Speller(self.names, self.stable, self.wide, self.variant.no_wrap, own)

    def extent(self, expr: Expr) -> Any:
        """The extent of an array, which is a size in memory: never so large that it could wrap around.

        loopy divides by extents and compares them: what is more than sums and products is computed at launch.
        """
        plain = all(is_exact(node, True, self.stable, self.wide) for node in walk_expr(expr))
        if not plain and is_launch_expr(expr, self.region.scalars):
            name = self.fresh("extent")
            self._value(name, INDEX, expr)
            return var(name)
        return replace(self.spell, no_wrap=True).index(expr)

    def fresh(self, name: str) -> str:
        """*name*, or a variation of it that is free."""
        return self.taken.unique(name)

    def parameters(self) -> None:
        """Declare the region's parameters; scalars first, because extents are made of them."""
        self.taken = names(self.region)
        self.numbered = {id(stmt): number for number, stmt in enumerate(walk(self.region.body))}
        for param in self.region.params:
            if param.kind == "scalar":
                self._scalar(param)
        for param in self.region.params:
            if param.kind in ("array", "table", "cell"):
                self._array(param)

    def _scalar(self, param: Param) -> None:
        # Integers come as signed 64-bit values, whatever their type: loopy's bounds and subscripts need them so.
        dtype = param.dtype if is_float(param.dtype) else INDEX
        self._value(param.name, dtype, Var(param.name, param.dtype))
        if dtype == INDEX:
            self.names[param.name] = Name(var(param.name))
            self.forms[param.name] = Affine(0, {param.name: 1})
            self.stable.add(param.name)
            self.wide |= {param.name} if param.dtype == "uint64" else set()

    def _value(self, name: str, dtype: str, expr: Expr | None, offset_of: str | None = None) -> None:
        self.values.append(Value(name, dtype, expr, offset_of))
        self.arguments.append(lp.ValueArg(name, loopy_dtype(dtype)))
        self.names[name] = Name(var(name), dtype)

    def _array(self, param: Param) -> None:
        offset: Any = 0
        if self.variant.offsets:
            offset = var(self.fresh(f"{param.name}_offset"))
            self._value(offset.name, INDEX, None, param.name)
            self.offsets[param.name] = offset
        shape: Any = tuple(None if extent is None else self.extent(extent) for extent in param.shape)
        if param.kind == "cell":
            shape = (1,)
            self.names[param.name] = Name(p.Subscript(var(param.name), (0,)), param.dtype)
        self.shapes[param.name] = shape
        shape = None if shape == (None,) else shape
        self.arguments.append(lp.GlobalArg(param.name, loopy_dtype(param.dtype), shape=shape, offset=offset))
        self.data.add(param.name)

    def assign(self, target: Any, value: Any, context: Context) -> None:
        """Append ``target = value``, to run after every earlier instruction that it conflicts with."""
        written = target.aggregate.name if isinstance(target, p.Subscript) else target.name
        subscript = target.index_tuple if isinstance(target, p.Subscript) else ()
        place = self.placed(written, {written}, self.data_in(value, *subscript), context)
        self.instructions.append(lp.Assignment(target, value, **place))

    def placed(self, name: str, written: Iterable[str], read: Iterable[str], context: Context) -> dict[str, Any]:
        """Where an instruction stands: its name, its loops, its predicates, and what it must come after."""
        reads = frozenset(read) | self.data_in(*context.guard) | context.bounds
        access = Access(f"{name}_{self.numbers[name]}", self._overlapping(written), self._overlapping(reads))
        self.numbers[name] += 1
        after = frozenset(earlier.instruction for earlier in self.accesses if earlier.conflicts(access))
        self.accesses.append(access)
        self.statements[access.instruction] = context.statement
        return {
            "id": access.instruction,
            "predicates": context.guard,
            "within_inames": frozenset(context.within),
            "within_inames_is_final": True,
            "depends_on": after,
            "depends_on_is_final": True,
        }

    def _overlapping(self, names: Iterable[str]) -> frozenset[str]:
        """*names*, and where arrays may overlap one more for all arrays."""
        arrays = {param.name for param in self.region.params if param.kind == "array"}
        touched = frozenset(names)
        return touched | {_MEMORY} if self.variant.aliased and touched & arrays else touched

    def data_in(self, *exprs: Any) -> frozenset[str]:
        """The arrays and locals that *exprs* name."""
        found: frozenset[str] = frozenset().union(*(get_dependencies(expr) for expr in exprs))
        return found & self.data

    def temporary(self, name: str, dtype: str, shape: tuple[Any, ...] = (), space: Any = lp.auto) -> None:
        """Declare a local; without a *space*, whether it is private or shared by a group is up to the schedule."""
        self.temporaries[name] = lp.TemporaryVariable(name, loopy_dtype(dtype), shape=shape, address_space=space)
        self.data.add(name)
        self.shapes[name] = shape
        if not shape:
            self.names[name] = Name(var(name), dtype)

    def loop(self, loop: For, context: Context) -> Context:
        """Open *loop*: its domain, its counter; the context of its body."""
        scope = Scope(self.forms, self.stable, self.wide, self.variant.no_wrap)
        head = header(loop, scope, self.fresh, from_zero=not self.scripted)
        for name, expr in head.computed:
            self._compute(name, expr, context)
        within = (*context.within, loop.iname)
        on_device = {name for name, _ in head.computed if name in self.temporaries}
        parameters = set(head.parameters)
        dependent = bool(on_device or parameters & set(context.within))
        if context.anchor and dependent:
            parameters.add(context.anchor)  # loopy nests domains by their parameters, and cannot have two side by side
        self.domains.append(f"[{', '.join(sorted(parameters))}] -> {{ [{loop.iname}] : {head.constraints} }}")
        self._counter(loop, head)
        self.priorities.add(within)  # of one loop, too: a script may split it
        anchor = loop.iname if dependent else context.anchor
        return replace(context, within=within, anchor=anchor, bounds=context.bounds | on_device)

    def _compute(self, name: str, expr: Expr, context: Context) -> None:
        """Make the scalar *name*: at launch if it can be, else on the device (0, so no trips, under a false guard)."""
        if is_launch_expr(expr, self.region.scalars):
            self._value(name, INDEX, expr)
            self.stable.add(name)
        else:
            self.temporary(name, INDEX)
            value = guarded(context, self.spell.value(expr), constant(0, INDEX))
            self.assign(var(name), value, context.unguarded())
        self.forms[name] = Affine(0, {name: 1})

    def _counter(self, loop: For, head: Header) -> None:
        """What the loop's counter means in its body."""
        iname = Affine(0, {loop.iname: 1})
        if head.base is None:
            self.names[loop.iname] = Name(var(loop.iname))
            self.forms[loop.iname] = iname
        else:
            step = var(head.step) if isinstance(head.step, str) else head.step
            value = var(loop.iname) if step == 1 else p.Product((step, var(loop.iname)))
            for name, coefficient in sorted(head.base.terms.items()):
                value = (var(name) if coefficient == 1 else coefficient * var(name)) + value
            self.names[loop.iname] = Name(value + head.base.constant if head.base.constant else value)
            if isinstance(head.step, int):
                self.forms[loop.iname] = head.base + iname.scaled(head.step)
        names = {*head.parameters, *(name for name, _ in head.computed), *(head.base.terms if head.base else ())}
        if names <= self.stable | {loop.iname}:
            self.stable.add(loop.iname)


def guarded(context: Context, value: Any, otherwise: Any) -> Any:
    """*value* where the guard of *context* holds, else *otherwise*."""
    if not context.guard:
        return value
    guards = tuple(sorted(context.guard, key=str))
    return p.If(guards[0] if len(guards) == 1 else p.LogicalAnd(guards), value, otherwise)
